"""Every error is a problem document, whatever was sent, and the next request is answered as if nothing had been."""

from __future__ import annotations

import http.client
import json
import logging
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.serving import Namespace, Running, assert_problem, running

JSON = {"Content-Type": "application/json"}


def raw(server: Running, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Any:
    """By a client that changes nothing of the path."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, answer.headers["content-type"], text


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/v1/namespaces", 404, "not_found"),
        ("GET", "/v1/namespaces/ann/nothing", 404, "not_found"),
        ("POST", "/v1/namespaces//turns", 404, "not_found"),
        ("PUT", "/v1/namespaces/ann/turns", 405, "method_not_allowed"),
        ("DELETE", "/healthz", 405, "method_not_allowed"),
        ("GET", "/v1/namespaces/ann", 405, "method_not_allowed"),
    ],
)
def test_a_path_or_method_that_is_not_there(served: Running, method: str, path: str, status: int, code: str) -> None:
    answer = served.client.request(method, path)
    assert_problem(answer, status, code)
    assert (status == 405) == ("allow" in answer.headers)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"{bad", b"[1,", b"\xff\xfe", b'"\xc3"', b"nul", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 6000,
     b'{"session_id": "s", "turns": [' + b"9" * 5000 + b"]}"],
    ids=lambda body: repr(body[:12]),
)  # fmt: skip
def test_a_body_that_is_no_json_is_the_callers_fault(ann: Namespace, body: bytes) -> None:
    answer = ann.client.post(f"{ann.path}/turns", content=body, headers=JSON)
    assert answer.status_code == 422
    assert assert_problem(answer, 422, answer.json()["code"])["fault"] == "caller"


def test_malformed_json_has_its_own_code_and_says_where(ann: Namespace) -> None:
    answer = ann.client.post(f"{ann.path}/turns", content=b'{"session_id": oops}', headers=JSON)
    assert "character 15" in assert_problem(answer, 422, "malformed_json")["detail"]


def test_a_number_that_is_too_long_is_among_what_may_be_wrong(ann: Namespace) -> None:
    answer = ann.client.post(f"{ann.path}/query", content=b'{"token_budget": ' + b"9" * 5000 + b"}", headers=JSON)
    assert "thousands of digits" in assert_problem(answer, 422, "malformed_json")["detail"]


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_does_not_say_it_is_json_is_refused(ann: Namespace, media_type: str | None) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    answer = ann.client.post(f"{ann.path}/turns", content=b'{"session_id": "s", "turns": []}', headers=headers)
    assert_problem(answer, 422, "invalid_input", "body")


@pytest.mark.parametrize(
    "path",
    ["/v1/namespaces/a%2Fb/facts", "/v1/namespaces/a%2ffacts", "/v1/namespaces/a%00b/facts",
     "/v1/namespaces/a%0Ab/facts", "/v1/namespaces/%2E%2E/facts", "/v1/namespaces/./facts", "/v1/namespaces/%FF/facts",
     f"/v1/namespaces/{'x' * 129}/facts", "/v1/namespaces/%ED%A0%80/facts", "/v1/namespaces/ann/turns/a%2Fb"],
)  # fmt: skip
def test_a_namespace_or_id_that_a_path_cannot_name_is_refused(served: Running, path: str) -> None:
    status, media_type, text = raw(served, "GET", path)
    assert (status, media_type) == (422, "application/problem+json"), text
    assert json.loads(text)["code"] == "invalid_input"


def test_a_namespace_in_any_script_is_one(served: Running) -> None:
    for name in ("团队 %", "ann@example.org", "a.b~c", "👩‍👩‍👧"):
        space = served.namespace(name)
        answer = space.client.get("/v1/namespaces/" + "".join(f"%{byte:02X}" for byte in name.encode()) + "/facts")
        assert answer.status_code == 200


def test_a_body_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with running(tmp_path, max_body_bytes=10_000, worker=False) as server:
        where = urlsplit(server.url)
        assert where.hostname
        with socket.create_connection((where.hostname, where.port or 0), timeout=30) as connection:
            head = (
                f"POST /v1/namespaces/a/turns HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 99999999999\r\n\r\n"
            )
            connection.sendall(head.encode())
            assert b" 413 " in connection.recv(65536).split(b"\r\n")[0]

        def pieces() -> Any:
            yield from (b"x" * 1000 for _ in range(50))

        answer = server.client.post("/v1/namespaces/a/turns", content=pieces(), headers=JSON)
        assert_problem(answer, 413, "too_large", "body")
        assert server.client.get("/healthz").status_code == 200


def test_a_surprise_is_a_problem_and_its_words_are_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path, worker=False) as server:

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("the text of a turn: I live in Paris")

        monkeypatch.setattr(server.services.store, "timeline", fail, raising=True)
        with caplog.at_level(logging.DEBUG):
            answer = server.namespace("ann").get("/facts")
        document = assert_problem(answer, 500, "internal")
        assert document["fault"] == "server"
        assert "Paris" not in answer.text
        assert "Paris" not in caplog.text
        assert "RuntimeError" in caplog.text
        assert server.client.get("/healthz").status_code == 200


def test_what_callers_send_is_not_logged(ann: Namespace, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="memgraph_server"):
        ann.say("I live in Zanzibar.")
        ann.post("/turns", {"session_id": "s", "turns": [{"text": "Zanzibar\0", "at": "x"}]})
        ann.client.post(f"{ann.path}/turns", content=b'{"Zanzibar', headers=JSON)
    assert "Zanzibar" not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("mem"))


def test_a_full_queue_is_answered_with_when_to_come_back(tmp_path: Path) -> None:
    with running(tmp_path, worker=False, max_pending=3) as server:
        ann = server.namespace("ann")
        turns = [{"text": f"hello {i}", "at": "2024-05-08T12:00:00Z"} for i in range(3)]
        assert ann.post("/turns", {"session_id": "s", "turns": turns}).status_code == 202
        answer = ann.post("/turns", {"session_id": "s", "turns": turns[:1]})
        assert assert_problem(answer, 429, "over_quota")["retry"] is True
        assert int(answer.headers["retry-after"]) >= 1
        other = server.namespace("bob").post("/turns", {"session_id": "s", "turns": turns})
        assert other.status_code == 202


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
MEMBERS = st.sampled_from(["session_id", "turns", "text", "at", "role", "id", "assertions", "head", "tail", "relation",
                           "valid_from", "query", "token_budget", "ids", "history", "into", "reason"])  # fmt: skip
SHAPED = st.dictionaries(MEMBERS, JSON_VALUES | st.lists(st.dictionaries(MEMBERS, JSON_VALUES, max_size=4), max_size=2))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["/turns", "/assertions", "/query", "/turns/fetch", "/facts/x/retract", "/entities/x/merge"]),
    body=SHAPED | JSON_VALUES,
)
def test_any_json_is_answered_without_a_fault_of_the_server(ann: Namespace, path: str, body: Any) -> None:
    content = json.dumps(body)
    answer = ann.client.post(f"{ann.path}{path}", content=content, headers=JSON)
    assert answer.status_code < 500, (answer.text, content)
    if answer.status_code >= 400:
        assert_problem(answer, answer.status_code, answer.json()["code"])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["/timeline", "/facts", "/entities", "/turns/x", "/jobs/x"]),
    parameters=st.dictionaries(
        st.sampled_from(["name", "entity", "relation", "tail", "valid_at", "known_at", "limit", "cursor", "like"]),
        st.text(st.characters(codec="utf-8"), max_size=30),
    ),
)
def test_any_parameters_are_answered_without_a_fault_of_the_server(
    ann: Namespace, path: str, parameters: dict[str, str]
) -> None:
    answer = ann.get(path, **parameters)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert_problem(answer, answer.status_code, answer.json()["code"])


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/timeline?name=Ann&known_att=2020", "known_att"),
        ("/timeline?name=Ann&valid_at=2020&valid_at=2021", "valid_at"),
        ("/facts?head=Ann", "head"),
        ("/entities?name=Ann", "name"),
        ("/facts/none?known_at=2020", "known_at"),
        ("/facts?%ff=1", "\ufffd"),
    ],
)
def test_a_parameter_that_would_be_ignored_is_refused(ann: Namespace, path: str, field: str) -> None:
    answer = ann.client.get(f"{ann.path}{path}")
    assert assert_problem(answer, 422, "invalid_input")["field"] == field


def test_a_whole_number_is_a_confidence_and_known_parameters_are_taken(ann: Namespace) -> None:
    claim = {"head": "Ann", "relation": "likes", "tail": "tea", "valid_from": "2020", "confidence": 1}
    assert ann.post("/assertions", {"assertions": [claim]}).status_code == 200
    answer = ann.get("/timeline", name="Ann", relation="likes", valid_at="2021", limit=5)
    assert [fact["tail"] for fact in answer.json()["facts"]] == ["tea"]
