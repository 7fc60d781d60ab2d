"""A turn that kills its process each time it is read is dead in the end, and takes nobody with it; on both stores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memgraph_server import wiring
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.actions.read_turns import LOST_PATIENCE, Retries
from memgraph_server.actions.store_turns import store_turns
from memgraph_server.memory.turns import TurnState
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services
from tests.services.neo4j_server import emptied

ATTEMPTS = 2
QUICK: dict[str, Any] = {"embedder": "hashed", "extractor": "patterns", "lease_seconds": 0.3, "sweep_seconds": 0.05}


@contextmanager
def opened(settings: Settings) -> Iterator[Services]:
    services = wiring.services(settings)
    try:
        yield services
    finally:
        services.close()


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.xdist_group("neo4j"))])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    if request.param == "sqlite":
        return Settings(store=f"sqlite:///{tmp_path}/store.db", max_attempts=ATTEMPTS, **QUICK)
    target = request.getfixturevalue("neo4j_server")
    found = Settings(store=target.url, neo4j_password=target.password, max_attempts=ATTEMPTS, **QUICK)
    with opened(found) as services:
        emptied(services.store)  # type: ignore[arg-type]
    return found


def say(services: Services, session: str, *texts: str) -> None:
    given = [
        GivenTurn(text, "2024-05-08T12:00:00Z", speaker="Ann", id=f"{session}-{place}")
        for place, text in enumerate(texts)
    ]
    store_turns(services.store, "ann", session, given, now=wiring.clock(), new_id=wiring.new_id)


def lost_workers(services: Services, settings: Settings, log: Path, seconds: float = 120) -> int:
    """Workers started, one after the other, until nothing is pending; how many were killed."""
    named = {name: str(value) for name, value in QUICK.items()}
    named |= {"store": settings.store, "neo4j_password": settings.neo4j_password, "max_attempts": str(ATTEMPTS)}
    environment = {**os.environ, **{f"MEMGRAPH_SERVER_{name.upper()}": value for name, value in named.items()}}
    killed, ends = 0, time.monotonic() + seconds
    with log.open("ab") as output:
        while services.store.readiness("ann").pending:
            command = [sys.executable, "-m", "tests.workers.killing_worker", "worker"]
            worker = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
            while worker.poll() is None and services.store.readiness("ann").pending:
                assert time.monotonic() < ends, log.read_text()
                time.sleep(0.02)
            if worker.poll() is None:
                worker.terminate()
                assert worker.wait(30) == 0, log.read_text()
            else:
                assert worker.returncode == -signal.SIGKILL, log.read_text()
                killed += 1
    return killed


def test_a_turn_that_kills_its_process_is_dead_after_twice_the_tries(settings: Settings, tmp_path: Path) -> None:
    with opened(settings) as services:
        say(services, "s", "I live in Paris.", "I like tea.", "kill", "I work at Acme.", "I like cake.")
        say(services, "other", *(f"I like dish{number}." for number in range(40)))
        killed = lost_workers(services, settings, tmp_path / "log")
        states = [services.store.turn_status("ann", f"s-{place}") for place in range(5)]
        assert [each.state for each in states] == [*[TurnState.DONE] * 2, TurnState.DEAD, *[TurnState.DONE] * 2]
        assert states[2].attempts == ATTEMPTS * LOST_PATIENCE
        assert "process" in (states[2].reason or "")
        assert (
            killed == 1 + ATTEMPTS * LOST_PATIENCE
        )  # with its neighbours, which were found innocent by that, and alone
        tails = {view.tail_name for view in services.store.timeline("ann").facts}
        assert tails >= {"Paris", "tea", "Acme", "cake", "dish0", "dish39"}
        assert services.store.check() == []


def test_a_lost_worker_has_more_patience_than_a_failure_and_no_wait_the_first_time() -> None:
    retries = Retries(attempts=5, first_seconds=1.0, longest_seconds=6.0)
    assert [retries.final(tries, lost=True) for tries in (5, 9, 10)] == [False, False, True]
    assert retries.wait_lost(1) == 0
    for tries, wait in ((2, 1), (3, 2), (9, 6)):
        waits = {retries.wait_lost(tries) for _ in range(50)}
        assert len(waits) > 1
        assert min(waits) >= 0.75 * wait
        assert max(waits) <= 1.25 * wait
