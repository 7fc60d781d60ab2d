"""Killed at any moment, the server has every turn that it acknowledged, once, and in the end believes the same."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.workers.ingesting import Facts, Sender, calls, check_turns, conversation, facts_of, finished
from tests.workers.killed_server import Killable

QUICK: dict[str, Any] = {
    "embedder": "hashed", "extractor": "patterns", "lease_seconds": 0.2, "sweep_seconds": 0.02, "log_level": "warning",
}  # fmt: skip


def undisturbed(folder: Path, sent: list[dict[str, Any]], **settings: Any) -> Facts:
    server = Killable(folder, **settings)
    with server.running() as client:
        for call in sent:
            assert client.post("/v1/namespaces/ann/turns", json=call).status_code == 202
        finished(client)
        return facts_of(client)


def killed_again_and_again(server: Killable, sender: Sender, kills: int, per_kill: int, longest: float) -> None:
    """Kill at random moments, from before the first answer to the middle of reading; on a slow machine oftener, until
    something was stored between the kills."""
    chance = random.Random(20240508)
    killed = 0
    while killed < kills or (sender.acknowledged == 0 and killed < 10 * kills):
        killed += 1
        sender.allowed = min(len(sender.calls), sender.allowed + per_kill)
        server.start()
        if chance.random() < 0.8:  # else killed while it starts
            server.wait_until_answering()
        time.sleep(chance.random() * longest)
        server.kill()


def check(server: Killable, sender: Sender, expected: Facts) -> None:
    with server.running() as client:
        sender.allowed = len(sender.calls)
        ends = time.monotonic() + 120
        while sender.acknowledged < len(sender.calls):
            assert time.monotonic() < ends, f"{sender.acknowledged} of {len(sender.calls)} calls are acknowledged"
            time.sleep(0.01)
        finished(client)
        check_turns(client, sender.calls)
        assert facts_of(client) == expected
    assert sender.refusals == []


@pytest.mark.slow
def test_a_hundred_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    sent = calls(conversation(900))
    (tmp_path / "calm").mkdir()
    expected = undisturbed(tmp_path / "calm", sent, **QUICK)
    assert len(expected) > 30
    server = Killable(tmp_path, **QUICK)
    sender = Sender([server.url], sent)
    thread = threading.Thread(target=sender.run)
    thread.start()
    try:
        killed_again_and_again(server, sender, kills=100, per_kill=3, longest=0.12)
        assert 0 < sender.acknowledged < len(sent)
        check(server, sender, expected)
    finally:
        sender.stopped = True
        thread.join(30)


@pytest.mark.slow
def test_kills_in_the_middle_of_real_models_lose_and_double_nothing(tmp_path: Path) -> None:
    sent = calls(conversation(60))
    settings = {"lease_seconds": 1.0, "sweep_seconds": 0.05, "log_level": "warning"}
    (tmp_path / "calm").mkdir()
    expected = undisturbed(tmp_path / "calm", sent, **settings)
    assert expected
    server = Killable(tmp_path, **settings)
    sender = Sender([server.url], sent, allowed=len(sent))
    thread = threading.Thread(target=sender.run)
    thread.start()
    try:
        chance = random.Random(7)
        with httpx.Client(base_url=server.url, timeout=10, trust_env=False) as client:
            for _ in range(4):
                server.start()
                server.wait_until_answering()
                while client.get("/readyz").json()["model"] == "loading":
                    time.sleep(0.01)
                time.sleep(chance.random() * 0.8)
                server.kill()
        check(server, sender, expected)
    finally:
        sender.stopped = True
        thread.join(30)
