"""Health is about work being done, not about a process being there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.access import KeyFile, Role, new_key
from memgraph_server.errors import ModelUnavailable
from tests.api.serving import Running, running

PARTS = {"store", "broker", "workers", "model", "pending", "oldest_pending_seconds", "dead"}


def until(server: Running, **expected: Any) -> dict[str, Any]:
    """Readiness, when it has become this."""
    for _ in range(400):
        document: dict[str, Any] = server.client.get("/readyz").json()
        if all(document[part] == value for part, value in expected.items()):
            return document
        time.sleep(0.025)
    raise AssertionError(f"never {expected}: {document}")


def test_readiness_tells_every_part(served: Running) -> None:
    document = until(served, ready=True)
    assert document.keys() >= PARTS
    assert (document["store"], document["workers"], document["model"]) == ("ok", "ok", "ok")


def test_health_is_about_the_process(served: Running) -> None:
    assert served.client.get("/healthz").json()["status"] == "ok"


def test_health_may_be_asked_for_by_its_head_alone(served: Running) -> None:
    until(served, ready=True)
    for path in ("/healthz", "/readyz", "/readyz?for=requests"):
        answer = served.client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_a_model_that_cannot_be_loaded_is_told_and_turns_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = True
    from memgraph_server.language import pattern_extractor

    made = pattern_extractor.PatternExtractor.__init__

    def sometimes(self: Any, canonical: Any) -> None:
        if broken:
            raise ModelUnavailable("not installed")
        made(self, canonical)

    monkeypatch.setattr(pattern_extractor.PatternExtractor, "__init__", sometimes)
    monkeypatch.setattr("memgraph_server.wiring._TRY_AGAIN_SECONDS", 0.05)
    with running(tmp_path) as server:
        ann = server.namespace("ann")
        turn = {"id": "t1", "speaker": "Ann", "text": "I live in Paris.", "at": "2024-05-08T12:00:00Z"}
        assert ann.post("/turns", {"session_id": "s", "turns": [turn]}).status_code == 202
        document = until(server, model="failed", workers="waiting: model_unavailable", pending=1)
        assert document["ready"] is False
        assert document["oldest_pending_seconds"] >= 0
        assert ann.get("/turns/t1").json()["attempts"] == 0
        broken = False
        until(server, ready=True, pending=0, dead=0)
        assert [fact["tail"] for fact in ann.timeline("Ann")] == ["Paris"]


def test_without_a_worker_turns_wait_and_readiness_says_who_should_read_them(tmp_path: Path) -> None:
    with running(tmp_path, worker=False) as server:
        turn = {"text": "I live in Paris.", "at": "2024-05-08T12:00:00Z"}
        server.namespace("ann").post("/turns", {"session_id": "s", "turns": [turn]})
        assert until(server, pending=1)["workers"] == "external"


def test_a_worker_that_has_ended_is_not_ready(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        until(server, ready=True)
        server.app.state.readers.worker.stop()
        document = until(server, workers="stopped")
        assert document["ready"] is False
        assert server.client.get("/readyz").status_code == 503


def test_without_its_broker_a_process_still_serves_requests_and_says_so_to_a_load_balancer(tmp_path: Path) -> None:
    with running(tmp_path, broker_url="redis://127.0.0.1:9/0") as server:
        assert until(server, store="ok", model="ok", broker="unreachable")["ready"] is False
        answer = server.client.get("/readyz", params={"for": "requests"})
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
        turn = {"text": "I live in Paris.", "at": "2024-05-08T12:00:00Z"}
        stored = server.namespace("ann").post("/turns", {"session_id": "s", "turns": [turn]})
        assert stored.status_code == 202


def test_a_process_that_cannot_serve_requests_says_so_to_a_load_balancer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(*_: Any) -> Any:
        raise ModelUnavailable("not installed")

    monkeypatch.setattr("memgraph_server.wiring._loaded", absent)
    with running(tmp_path) as server:
        until(server, model="failed")
        assert server.client.get("/readyz", params={"for": "requests"}).status_code == 503


def test_a_key_file_that_cannot_be_read_is_told_once_by_the_log_and_by_readiness(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "store.db.keys.json"
    file.write_text("{broken", encoding="utf-8")
    with running(tmp_path) as server:
        assert server.services.settings.keys_path == file
        said = [record.getMessage() for record in caplog.records if record.name == "memgraph_server.access"]
        assert len(said) == 1  # before any request
        assert str(file) in said[0]
        document = until(server, model="ok", keys="unreadable")
        assert document["ready"] is False
        answer = server.client.get("/readyz", params={"for": "requests"})
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
        assert server.namespace("ann").get("/facts").status_code in {401, 503}
        file.unlink()
        assert until(server, ready=True)["keys"] == "none"
        file.write_text("[]", encoding="utf-8")
        until(server, keys="unreadable")
        KeyFile(tmp_path / "other.json").add(new_key(["ann"], Role.READER, "", "")[1])
        (tmp_path / "other.json").replace(file)
        assert until(server, ready=True)["keys"] == "ok"
        said = [record.getMessage() for record in caplog.records if record.name == "memgraph_server.access"]
        assert len(said) == 2


def test_readiness_is_asked_for_all_or_for_requests(served: Running) -> None:
    assert served.client.get("/readyz", params={"for": "fun"}).status_code == 422


def test_metrics_count_requests_and_turns_and_name_no_namespace(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.namespace("ann-the-first").say("I live in Paris.")
        server.client.request("BREW", "/healthz")
        text = server.client.get("/metrics").text
        assert (
            'memgraph_server_requests_total{method="POST",route="/v1/namespaces/{ns}/turns",status="202"} 1.0' in text
        )
        assert "memgraph_server_turns_read 1.0" in text
        assert "memgraph_server_pending_turns 0.0" in text
        assert 'method="other"' in text
        assert "ann-the-first" not in text
        assert "BREW" not in text
