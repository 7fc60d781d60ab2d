"""Killed at any moment, the server has every turn that it acknowledged, once, and in the end believes the same."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.workers.killed_server import Killable

QUICK: dict[str, Any] = {
    "embedder": "hashed", "extractor": "patterns", "lease_seconds": 0.2, "sweep_seconds": 0.02, "log_level": "warning",
}  # fmt: skip
PATH = "/v1/namespaces/ann"
SESSIONS = 4
BATCH = 3


def conversation(turns: int) -> list[dict[str, Any]]:
    """Turns with facts that replace, repeat, end and stand beside each other."""
    texts = [
        "I live in City{}.",
        "I like Dish{}.",
        "Bob works at Firm{}.",
        "I moved to Town{}. I like tea.",
        "Nice, {}!",
    ]
    return [
        {
            "id": f"t{number}",
            "speaker": "Ann",
            "text": texts[number % len(texts)].format(number % 17),
            "at": f"2024-{1 + number // 28 % 12:02}-{1 + number % 28:02}T12:{number % 60:02}:00Z",
        }
        for number in range(turns)
    ]


def calls(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In batches, by sessions in turn."""
    batches = [turns[start : start + BATCH] for start in range(0, len(turns), BATCH)]
    return [{"session_id": f"s{index % SESSIONS}", "turns": batch} for index, batch in enumerate(batches)]


@dataclass
class Sender:
    """Sends calls one after the other, again and again until each is acknowledged."""

    url: str
    calls: list[dict[str, Any]]
    acknowledged: int = 0
    refusals: list[str] = field(default_factory=list)
    allowed: int = 0  # calls that may be sent by now
    stopped: bool = False

    def run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=10, trust_env=False) as client:
            while not self.stopped and self.acknowledged < len(self.calls):
                if self.acknowledged < self.allowed:
                    self._send(client)
                else:
                    time.sleep(0.001)

    def _send(self, client: httpx.Client) -> None:
        try:
            answer = client.post(f"{PATH}/turns", json=self.calls[self.acknowledged])
        except httpx.TransportError:  # killed meanwhile, or not there yet
            time.sleep(0.002)
            return
        if answer.status_code == 202:
            self.acknowledged += 1
        else:
            self.refusals.append(answer.text)
            time.sleep(0.01)


def finished(client: httpx.Client, seconds: float = 120) -> None:
    ends = time.monotonic() + seconds
    while client.get("/readyz").json()["pending"] != 0:
        assert time.monotonic() < ends, client.get("/readyz").text
        time.sleep(0.02)


def turns_of(client: httpx.Client, ids: list[str]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for start in range(0, len(ids), 1000):
        turns += client.post(f"{PATH}/turns/fetch", json={"ids": ids[start : start + 1000]}).json()["turns"]
    return turns


def facts_of(client: httpx.Client) -> Counter[tuple[Any, ...]]:
    """What is believed, without ids and times of recording."""
    found: Counter[tuple[Any, ...]] = Counter()
    cursor: str | None = None
    while True:
        page = client.get(f"{PATH}/facts", params={"limit": 1000} | ({"cursor": cursor} if cursor else {})).json()
        for fact in page["facts"]:
            members = ("head", "relation", "tail", "valid_from", "valid_to", "confidence", "stratum", "intent")
            found[(*(fact[member] for member in members), tuple(fact["turns"]))] += 1
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def undisturbed(folder: Path, sent: list[dict[str, Any]], **settings: Any) -> Counter[tuple[Any, ...]]:
    server = Killable(folder, **settings)
    with server.running() as client:
        for call in sent:
            assert client.post(f"{PATH}/turns", json=call).status_code == 202
        finished(client)
        return facts_of(client)


def killed_again_and_again(server: Killable, sender: Sender, kills: int, per_kill: int, longest: float) -> None:
    """Kill at random moments, from before the first answer to the middle of reading."""
    chance = random.Random(20240508)
    for _ in range(kills):
        sender.allowed = min(len(sender.calls), sender.allowed + per_kill)
        server.start()
        if chance.random() < 0.8:  # else killed while it starts
            server.wait_until_answering()
        time.sleep(chance.random() * longest)
        server.kill()


def check(server: Killable, sender: Sender, expected: Counter[tuple[Any, ...]]) -> None:
    with server.running() as client:
        sender.allowed = len(sender.calls)
        while sender.acknowledged < len(sender.calls):
            time.sleep(0.01)
        finished(client)
        ids = [turn["id"] for call in sender.calls for turn in call["turns"]]
        turns = turns_of(client, ids)
        assert [turn["id"] for turn in turns] == ids
        sent = {turn["id"]: turn["text"] for call in sender.calls for turn in call["turns"]}
        assert {turn["id"]: turn["text"] for turn in turns} == sent
        places = Counter((turn["session_id"], turn["position"]) for turn in turns)
        assert max(places.values()) == 1
        assert len(places) == len(ids)
        for session in range(SESSIONS):
            positions = sorted(place for name, place in places if name == f"s{session}")
            assert positions == list(range(len(positions)))
        assert client.get("/readyz").json()["dead"] == 0
        assert facts_of(client) == expected
    assert sender.refusals == []


@pytest.mark.slow
def test_a_hundred_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    sent = calls(conversation(900))
    (tmp_path / "calm").mkdir()
    expected = undisturbed(tmp_path / "calm", sent, **QUICK)
    assert len(expected) > 30
    server = Killable(tmp_path, **QUICK)
    sender = Sender(server.url, sent)
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
    sender = Sender(server.url, sent, allowed=len(sent))
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
