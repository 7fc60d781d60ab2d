"""Celery workers over a real Redis: a hint is enough and never needed; whatever the broker does, callers do not notice.

Workers and beat are processes of their own, started by the command line.
"""

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
from memgraph_server.command_line.operating import examine
from memgraph_server.memory.turns import TurnState
from memgraph_server.settings import InvalidSetting, Settings
from memgraph_server.workers import hints
from memgraph_server.workers.celery_app import READ, Limits, celery_app
from memgraph_server.workers.hints import Hints
from memgraph_server.workers.tasks import SLICE_SECONDS, SWEEP_HINTS
from tests.api.serving import QUICK, Running, running
from tests.services.rabbitmq_server import RabbitMqServer
from tests.services.redis_server import RedisServer

AT = "2024-05-08T12:00:00Z"


def settings_of(folder: Path, broker: RedisServer | RabbitMqServer, **changes: Any) -> Settings:
    """Each test has a queue of its own."""
    given = {"store": f"sqlite:///{folder}/store.db", "broker_url": broker.url, "broker_queue": folder.name}
    return Settings(**{**QUICK, **given, "log_level": "warning", **changes})


@contextmanager
def process(settings: Settings, *command: str, module: str = "memgraph_server") -> Iterator[subprocess.Popen[bytes]]:
    """A command of this project with these settings; ended by SIGTERM, as a service manager does."""
    changed = {name: value for name in Settings.__slots__ if (value := getattr(settings, name)) != getattr(PLAIN, name)}
    variables = {f"MEMGRAPH_SERVER_{name.upper()}": str(value) for name, value in changed.items()}
    log = settings.store_file.with_name(f"{command[0]}.log")
    with log.open("ab") as output:
        started = subprocess.Popen(
            [sys.executable, "-m", module, *command], env=os.environ | variables, stdout=output, stderr=output
        )
    try:
        yield started
        assert started.poll() is None, log.read_text()
    finally:
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) == 0, log.read_text()


PLAIN = Settings()


@contextmanager
def serving(folder: Path, settings: Settings) -> Iterator[Running]:
    with running(folder, **{name: getattr(settings, name) for name in ("broker_url", "broker_queue")}) as server:
        yield server


def say(server: Running, *texts: str, session: str = "s", wait: float = 0) -> dict[str, Any]:
    turns = [{"id": f"{session}-{n}", "speaker": "Ann", "text": text, "at": AT} for n, text in enumerate(texts)]
    answer = server.namespace("ann").post("/turns", {"session_id": session, "turns": turns}, params={"wait": wait})
    assert answer.status_code == 202, answer.text
    stored: dict[str, Any] = answer.json()
    return stored


def until(server: Running, seconds: float = 60, **expected: Any) -> dict[str, Any]:
    ends = time.monotonic() + seconds
    while True:
        document: dict[str, Any] = server.client.get("/readyz").json()
        if all(document[part] == value for part, value in expected.items()):
            return document
        assert time.monotonic() < ends, f"never {expected}: {document}"
        time.sleep(0.05)


def tails(server: Running) -> list[str]:
    return [fact["tail"] for fact in server.namespace("ann").timeline("Ann")]


def fill_the_queue(settings: Settings, monkeypatch: pytest.MonkeyPatch, *, sessions: int, queued: int) -> None:
    """Hint at so many sessions, twice each; the queue then holds just `queued`."""
    monkeypatch.setattr(hints, "COUNT_SECONDS", 0.0)
    broker = wiring.broker(settings)
    sender = Hints(broker)
    assert broker.queued() == 0
    for number in range(sessions):
        sender.wake("ann", f"s{number}")
        sender.wake("ann", f"s{number}")  # the same session: one hint
    sender.start()
    sender.stop(30)
    assert broker.queued() == queued
    broker.close()


def test_a_hint_is_enough_and_readiness_knows_the_worker(tmp_path: Path, redis_server: RedisServer) -> None:
    settings = settings_of(tmp_path, redis_server)
    with serving(tmp_path, settings) as server:
        assert until(server, broker="ok")["workers"] == "none answers"
        with process(settings, "worker", "--processes", "1"):  # and no beat
            assert until(server, workers="ok", ready=True)["workers_answering"] == 1
            assert say(server, "I live in Paris.", "I like tea.", wait=60)["job"]["state"] == "done"
            assert sorted(tails(server)) == ["Paris", "tea"]
            findings = {one.what: one for one in examine(settings)}
            assert findings["broker"].ok
            assert findings["workers"].found == "1 answer"
        assert "memgraph_server_workers_answering" in server.client.get("/metrics").text


def test_what_nobody_hinted_is_found_by_beat_and_dead_brokers_slow_nobody(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = settings_of(tmp_path, redis_server, beat_seconds=0.5)
    with serving(tmp_path, settings) as server:
        redis_server.signal(signal.SIGKILL)
        say(server, "I live in Paris.", session="first")
        redis_server.start()
        redis_server.signal(signal.SIGSTOP)  # takes connections and answers nothing
        try:
            began = time.monotonic()
            for number in range(20):
                say(server, f"I like thing{number}.", session=f"s{number}")
            assert time.monotonic() - began < 10
            document = until(server, broker="unreachable")
            assert (document["ready"], document["workers"], document["store"]) == (False, "unknown", "ok")
        finally:
            redis_server.signal(signal.SIGCONT)
        redis_server.wipe()
    with process(settings, "worker", "--beat"), serving(tmp_path, settings) as server:
        until(server, pending=0, dead=0)
        assert len(tails(server)) == 21


def test_a_turn_on_which_the_model_hangs_is_given_up_and_the_others_are_read(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = settings_of(
        tmp_path, redis_server, task_seconds=2.0, max_attempts=2, beat_seconds=0.5, worker_processes=1
    )
    with serving(tmp_path, settings) as server:
        say(server, "I like tea.", "I hang my coat.", "I live in Paris.")
        with process(settings, "worker", "--beat", module="tests.workers.hanging_worker"):
            until(server, pending=0, seconds=120)
        status = server.services.store.turn_status("ann", "s-1")
        assert status.state is TurnState.DEAD
        assert status.reason is not None
        assert "time limit" in status.reason
        assert sorted(tails(server)) == ["Paris", "tea"]


def test_a_full_queue_gets_no_more_hints(
    tmp_path: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "MOST_QUEUED", 50)
    fill_the_queue(settings_of(tmp_path, redis_server), monkeypatch, sessions=200, queued=50)


def test_the_sweep_fills_the_queue_up_and_no_further(tmp_path: Path, redis_server: RedisServer) -> None:
    settings = settings_of(tmp_path, redis_server, beat_seconds=0.1)
    with serving(tmp_path, settings) as server:
        server.app.state.readers.hints.stop()  # nobody hints
        for session in range(40):
            say(server, "I like tea.", session=f"s{session}")
        time.sleep(0.15)
        app = wiring.celery_worker(settings)
        broker = wiring.broker(settings)
        for expected in (SWEEP_HINTS, SWEEP_HINTS):
            app.tasks["memgraph_server.sweep"].apply(throw=True)
            assert broker.queued() == expected
        app.tasks[READ].apply(throw=True)  # one hint without a session is enough for all of them
        assert server.services.store.overall().pending == 0
        broker.close()
        app.close()


def test_hints_twice_late_and_for_nobody_change_nothing(tmp_path: Path, redis_server: RedisServer) -> None:
    settings = settings_of(tmp_path, redis_server)
    with serving(tmp_path, settings) as server:
        server.app.state.readers.hints.stop()
        say(server, "I live in Paris.")
        app = wiring.celery_worker(settings)
        for arguments in (("ann", "s"), ("ann", "s"), ("ann", "nobody"), ("nobody", "s"), ()):
            app.tasks[READ].apply(args=arguments, throw=True)
        assert tails(server) == ["Paris"]
        assert server.services.store.turn_status("ann", "s-0").attempts == 1
        app.close()


def test_no_message_is_given_to_another_while_its_task_may_run(tmp_path: Path, redis_server: RedisServer) -> None:
    limits = Limits(300)
    assert limits.soft_seconds < limits.hard_seconds < limits.visibility_seconds / 2
    assert limits.soft_seconds > 2 * SLICE_SECONDS
    app = celery_app(redis_server.url, tmp_path.name, limits, sweep_seconds=1, patient=True)
    assert app.conf.broker_transport_options["visibility_timeout"] == limits.visibility_seconds
    assert app.conf.accept_content == ["json"]
    assert app.conf.result_backend is None


def test_a_language_model_has_the_time_that_its_calls_may_take() -> None:
    settings = Settings(extractor="llm", llm_timeout_seconds=60, llm_retries=4, broker_url="redis://127.0.0.1:1/0")
    app = wiring.celery_worker(settings)
    assert app.conf.task_soft_time_limit > 60 * 5
    app.close()


def test_a_broker_that_is_none_is_named() -> None:
    with pytest.raises(InvalidSetting, match="amqp"):
        Settings.read({"MEMGRAPH_SERVER_BROKER_URL": "http://127.0.0.1"})
    with pytest.raises(InvalidSetting) as raised:
        Settings.read({"MEMGRAPH_SERVER_BROKER_URL": "http://user:secret@127.0.0.1"})
    assert "secret" not in str(raised.value)


def test_with_a_broker_serving_reads_nothing_itself_unless_told() -> None:
    given = {"MEMGRAPH_SERVER_BROKER_URL": "redis://127.0.0.1:6379/0"}
    assert Settings.read({}).reads_here
    assert not Settings.read(given).reads_here
    assert Settings.read(given, worker=True).reads_here
    assert not Settings.read({}, worker=False).reads_here
