"""Celery workers over a real RabbitMQ: the broker by the URL alone. Left out where none is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgraph_server.command_line.operating import examine
from memgraph_server.workers import hints
from tests.services.rabbitmq_server import RabbitMqServer
from tests.workers.ingesting import calls, check_turns, conversation, facts_of, finished
from tests.workers.test_celery import fill_the_queue, process, say, serving, settings_of, tails, until
from tests.workers.test_durability import QUICK, undisturbed


def test_a_conversation_is_read_over_amqp_and_a_broker_that_was_killed_is_found_again(
    tmp_path: Path, rabbitmq_server: RabbitMqServer
) -> None:
    settings = settings_of(tmp_path, rabbitmq_server, beat_seconds=0.5, worker_processes=2)
    sent = calls(conversation(90))
    (tmp_path / "calm").mkdir()
    expected = undisturbed(tmp_path / "calm", sent, **QUICK)
    assert len(expected) > 10
    with serving(tmp_path, settings) as server, process(settings, "worker", "--beat"):
        assert until(server, broker="ok", workers="ok", ready=True)["workers_answering"] == 1
        for number, call in enumerate(sent):
            if number == len(sent) // 2:
                rabbitmq_server.kill()
            assert server.client.post("/v1/namespaces/ann/turns", json=call).status_code == 202
        until(server, broker="unreachable")
        rabbitmq_server.start()
        until(server, broker="ok", workers="ok", pending=0, dead=0)
        finished(server.client)
        check_turns(server.client, sent)
        assert facts_of(server.client) == expected


def test_a_hint_is_enough_over_amqp(tmp_path: Path, rabbitmq_server: RabbitMqServer) -> None:
    settings = settings_of(tmp_path, rabbitmq_server)
    with serving(tmp_path, settings) as server:
        assert until(server, broker="ok")["workers"] == "none answers"
        with process(settings, "worker", "--processes", "1"):  # and no beat
            until(server, workers="ok", ready=True)
            assert say(server, "I live in Paris.", "I like tea.", wait=60)["job"]["state"] == "done"
            assert sorted(tails(server)) == ["Paris", "tea"]
            assert {one.what: one for one in examine(settings)}["workers"].found == "1 answer"


def test_a_full_queue_gets_no_more_hints_over_amqp(
    tmp_path: Path, rabbitmq_server: RabbitMqServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "MOST_QUEUED", 20)
    fill_the_queue(settings_of(tmp_path, rabbitmq_server), monkeypatch, sessions=50, queued=20)
