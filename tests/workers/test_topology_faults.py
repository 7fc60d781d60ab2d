"""Neo4j, Redis, two API processes, three workers and beat, each killed or stopped while a conversation comes in.

After each fault: every acknowledged turn is there once and read, the facts are those of an undisturbed run, and what
could not be served meanwhile was answered 503 with Retry-After. Nothing is started again by hand but what a test
stopped on purpose.
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from memgraph_server import wiring
from memgraph_server.settings import Settings
from memgraph_server.workers.celery_app import READ
from memgraph_server.workers.hints import MOST_QUEUED
from tests.services.needed import absent
from tests.services.neo4j_server import neo4j_is_to_be_had
from tests.services.redis_server import is_there
from tests.services.topology import Part, Topology
from tests.services.waiting import PATIENCE_SECONDS, until
from tests.workers.ingesting import Facts, Sender, calls, check_turns, conversation, facts_of, finished

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]  # longer than all that a test waits for

TURNS = 120
OUTAGE_SECONDS = 30.0
KILLS = 100


@dataclass
class Stage:
    """The topology, and what the conversation comes to where nothing disturbs it."""

    topology: Topology
    client: httpx.Client
    sent: list[dict[str, Any]]
    expected: Facts

    @contextmanager
    def ingesting(self, namespace: str, *, allowed: int | None = None) -> Iterator[Sender]:
        """A sender at work; at the end of the context everything has been sent, and all of it is checked."""
        sender = Sender(
            self.topology.urls, self.sent, namespace, allowed=len(self.sent) if allowed is None else allowed
        )
        thread = threading.Thread(target=sender.run)
        thread.start()
        try:
            yield sender
            sender.allowed = len(self.sent)
            thread.join(PATIENCE_SECONDS)
            assert sender.acknowledged == len(self.sent), self.topology.logs()
        finally:
            sender.stopped = True
            thread.join(90)
        self.check(namespace)

    def check(self, namespace: str) -> None:
        finished(self.client, PATIENCE_SECONDS)
        check_turns(self.client, self.sent, namespace)
        assert facts_of(self.client, namespace) == self.expected

    def settings(self) -> Settings:
        return Settings(broker_url=self.topology.redis.url)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    if not is_there():
        absent("Redis", "install it, for instance apt-get install redis-server")
    neo4j_is_to_be_had()
    topology = Topology(tmp_path_factory.mktemp("topology"))
    sent = calls(conversation(TURNS))
    with topology.running(), httpx.Client(base_url=topology.urls[0], timeout=60, trust_env=False) as client:
        for call in sent:
            assert client.post("/v1/namespaces/calm/turns", json=call).status_code == 202
        finished(client)
        expected = facts_of(client, "calm")
        assert len(expected) > 30
        stage = Stage(topology, client, sent, expected)
        stage.check("calm")
        yield stage


def hold(workers: list[Part]) -> None:
    """Until SIGCONT; one that is being started again is waited for."""
    for worker in workers:
        until(lambda worker=worker: worker.alive)
        worker.signal(signal.SIGSTOP)


def a_hint(stage: Stage) -> bytes:
    """The message that hints at a session of nobody, by way of a queue that no worker takes from."""
    aside = dataclasses.replace(stage.settings(), broker_queue="aside")
    broker = wiring.broker(aside)
    broker.send(READ, ("nobody", "s"))
    broker.close()
    with stage.topology.redis.client() as client:
        message = client.lpop(aside.broker_queue)
    assert isinstance(message, bytes)
    return message


def kill_somewhere(worker: Part, chance: random.Random) -> bool:
    """A whole worker, or one of the processes that read for it; whether there was one to be killed."""
    children = worker.children()
    if children and chance.random() < 0.5:
        with suppress(ProcessLookupError):
            os.kill(chance.choice(children), signal.SIGKILL)
            return True
        return False
    if not worker.alive:
        return False
    worker.signal(signal.SIGKILL)
    return True


def test_workers_killed_a_hundred_times(stage: Stage) -> None:
    """A hundred times, and on a slow machine oftener: until they were killed while they worked, not only while they
    started."""
    chance = random.Random(20240508)
    kills = 0
    ends = time.monotonic() + 2 * PATIENCE_SECONDS

    def have_worked() -> bool:
        return bool(stage.client.get("/readyz").json()["pending"] < TURNS * 0.9)

    with stage.ingesting("kills", allowed=0) as sender:
        while kills < KILLS or not have_worked():
            assert time.monotonic() < ends, stage.topology.logs()
            sender.allowed = max(1, min(len(stage.sent), len(stage.sent) * kills // KILLS))
            worker = chance.choice(stage.topology.workers)
            if chance.random() < 0.8:  # else it may be killed while it starts
                until(worker.children)
            time.sleep(chance.random() * 0.4)
            kills += kill_somewhere(worker, chance)
    assert sender.refusals == []
    assert sum(worker.starts for worker in stage.topology.workers) > KILLS / 4


def test_an_api_process_killed(stage: Stage) -> None:
    apis = [stage.topology.parts[name] for name in ("api-1", "api-2")]
    with stage.ingesting("api", allowed=0) as sender:
        for number, api in enumerate(apis * 2, 1):
            sender.allowed = len(stage.sent) * number // 5
            until(lambda: sender.acknowledged >= sender.allowed - 3)  # in the middle of sending
            starts = api.starts
            api.signal(signal.SIGKILL)
            until(lambda api=api, starts=starts: api.starts > starts)
    assert sender.refusals == []


def test_beat_killed_and_redis_wiped(stage: Stage) -> None:
    """All hints are lost; what is left is the sweep, of a beat that was started again."""
    beat = stage.topology.parts["beat"]
    hold(stage.topology.workers)
    with stage.ingesting("wiped") as sender:
        until(lambda: sender.acknowledged == len(stage.sent))
        stage.topology.redis.wipe()
        starts = beat.starts
        beat.signal(signal.SIGKILL)
        until(lambda: beat.starts > starts)
        for worker in stage.topology.workers:
            worker.signal(signal.SIGCONT)
    assert sender.refusals == []


def test_redis_stopped_for_thirty_seconds(stage: Stage) -> None:
    """Nobody who stores turns notices; they are read afterwards."""
    redis = stage.topology.redis
    with stage.ingesting("redis", allowed=20) as sender:
        until(lambda: sender.acknowledged >= 10)
        redis.signal(signal.SIGKILL)
        began = time.monotonic()
        sender.allowed = len(stage.sent)
        until(lambda: sender.acknowledged == len(stage.sent), OUTAGE_SECONDS)
        until(lambda: stage.client.get("/readyz").json()["broker"] == "unreachable")  # it remembers for 5 s
        document = stage.client.get("/readyz").json()
        assert (document["broker"], document["store"], document["ready"]) == ("unreachable", "ok", False)
        time.sleep(max(0.0, OUTAGE_SECONDS - (time.monotonic() - began)))
        redis.start()
    assert sender.refusals == []
    stage.topology.wait_until_ready()


def test_neo4j_stopped_for_thirty_seconds(stage: Stage) -> None:
    neo4j = stage.topology.neo4j
    with stage.ingesting("stopped", allowed=20) as sender:
        until(lambda: sender.acknowledged >= 10)
        neo4j.stop()
        began = time.monotonic()
        sender.allowed = len(stage.sent)
        until(lambda: sender.refusals)
        assert stage.client.get("/readyz").status_code == 503
        assert stage.client.get("/healthz").status_code == 200
        time.sleep(max(0.0, OUTAGE_SECONDS - (time.monotonic() - began)))
        neo4j.wanted = True
    check_refusals(sender)


def test_neo4j_killed(stage: Stage) -> None:
    with stage.ingesting("killed", allowed=20) as sender:
        until(lambda: sender.acknowledged >= 10)
        sender.allowed = len(stage.sent)
        stage.topology.neo4j.kill()
        until(lambda: sender.refusals)
    check_refusals(sender)


def check_refusals(sender: Sender) -> None:
    """What could not be served was said to be the store's fault, and when to come again."""
    assert {(status, code) for status, _, code in sender.refusals} == {(503, "store_unavailable")}
    assert all(after is not None and int(after) >= 1 for _, after, _ in sender.refusals)


def test_messages_delivered_twice_and_workers_given_one_session(stage: Stage) -> None:
    """Every message thrice, and a session hinted to all of them at once."""
    queue = stage.settings().broker_queue
    hold(stage.topology.workers)
    with stage.ingesting("twice") as sender:
        until(lambda: sender.acknowledged == len(stage.sent))
        with stage.topology.redis.client() as client:
            until(lambda: client.llen(queue) > 0)
            messages = [message for message in client.lrange(queue, 0, -1) if READ.encode() in message]
            assert messages
            client.rpush(queue, *messages, *messages)
        broker = wiring.broker(stage.settings())
        for _ in range(20):
            broker.send(READ, ("twice", "s1"))
        broker.close()
        for worker in stage.topology.workers:
            worker.signal(signal.SIGCONT)
    attempts = {
        stage.client.get(f"/v1/namespaces/twice/turns/{turn['id']}").json()["attempts"]
        for call in stage.sent
        for turn in call["turns"]
    }
    assert attempts == {1}


def test_a_full_queue(stage: Stage) -> None:
    """The queue is full of hints for nobody: servers add none, and everything is read all the same."""
    queue = stage.settings().broker_queue
    hold(stage.topology.workers)
    broker = wiring.broker(stage.settings())
    with stage.topology.redis.client() as client:
        message = a_hint(stage)
        missing = MOST_QUEUED + 100 - broker.queued()
        client.rpush(queue, *[message] * missing)
        time.sleep(1.5)  # servers look how long it is once a second
        full = broker.queued()
        with stage.ingesting("full") as sender:
            until(lambda: sender.acknowledged == len(stage.sent))
            time.sleep(0.5)
            assert broker.queued() - full <= 5  # beat's, which workers throw away when they are late
            for worker in stage.topology.workers:
                worker.signal(signal.SIGCONT)
    broker.close()
    assert sender.refusals == []
