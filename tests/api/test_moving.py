"""A namespace as a file over REST: out of one server and into another, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memgraph_server.access import KeyFile, Role, new_key
from tests.api.serving import Namespace, Running, assert_problem, running


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as server:
        yield server


def fill(space: Namespace) -> None:
    space.say("I live in Paris.", at="2020-05-08T12:00:00Z")
    space.say("I moved to Rome.", at="2022-05-08T12:00:00Z")
    (made,) = space.claim({"head": "Ann", "relation": "likes", "tail": "tea"})
    space.claim({"id": "c", "head": "Ann", "relation": "likes", "tail": "cake"})
    space.post(f"/assertions/{made}/retract", {"reason": "a slip"})


def taken_in(server: Running, name: str, body: bytes) -> httpx.Response:
    return server.client.post(f"/v1/namespaces/{name}/import", content=body)


def told(space: Namespace) -> list[Any]:
    answers = [space.get("/facts"), space.get("/entities"), space.get("/assertions/c"), space.get("/facts?limit=1")]
    answers.append(space.post("/query", {"query": "Where does Ann live?", "reference_time": "2024-01-01"}))
    assert {answer.status_code for answer in answers} == {200}
    return [without(answer.json(), "usage", "next_cursor", "version") for answer in answers]


def without(document: Any, *members: str) -> Any:
    if isinstance(document, dict):
        return {name: without(part, *members) for name, part in document.items() if name not in members}
    return [without(part, *members) for part in document] if isinstance(document, list) else document


def test_a_namespace_moves_from_one_server_to_another(ann: Namespace, elsewhere: Running) -> None:
    fill(ann)
    exported = ann.get("/export")
    assert exported.headers["content-type"].startswith("application/jsonl")
    assert int(exported.headers["content-length"]) == len(exported.content)
    kinds = [json.loads(line)["kind"] for line in exported.content.splitlines()]
    assert kinds[0] == "namespace"
    answer = taken_in(elsewhere, ann.name, exported.content).json()
    assert (answer["namespace"], answer["new"]) == (ann.name, True)
    assert answer["counts"]["turn"] == kinds.count("turn") == 2
    there = elsewhere.namespace(ann.name)
    assert told(there) == told(ann)
    assert there.get("/export").content == exported.content


def test_the_same_file_a_second_time_changes_nothing(ann: Namespace, elsewhere: Running) -> None:
    fill(ann)
    exported = ann.get("/export").content
    assert taken_in(elsewhere, ann.name, exported).json()["new"]
    assert taken_in(elsewhere, ann.name, exported).json()["new"] is False
    elsewhere.namespace(ann.name).claim({"head": "Ann", "relation": "likes", "tail": "figs"})
    before = elsewhere.namespace(ann.name).get("/export").content
    assert_problem(taken_in(elsewhere, ann.name, exported), 409, "conflict", "namespace")
    assert elsewhere.namespace(ann.name).get("/export").content == before


def test_a_file_of_another_namespace_is_refused(ann: Namespace, elsewhere: Running) -> None:
    fill(ann)
    problem = assert_problem(taken_in(elsewhere, "x", ann.get("/export").content), 422, "invalid_input", "namespace")
    assert ann.name in problem["detail"]
    assert_problem(elsewhere.client.get("/v1/namespaces/x/export"), 404, "not_found")


def test_a_bad_line_is_named_and_changes_nothing(ann: Namespace, elsewhere: Running) -> None:
    fill(ann)
    lines = ann.get("/export").content.splitlines(keepends=True)
    place = next(index for index, line in enumerate(lines) if json.loads(line)["kind"] == "fact")
    fact = json.loads(lines[place]) | {"confidence": 2}
    body = b"".join([*lines[:place], json.dumps(fact).encode() + b"\n", *lines[place + 1 :]])
    problem = assert_problem(taken_in(elsewhere, ann.name, body), 422, "invalid_input", "confidence")
    assert f"line {place + 1}:" in problem["detail"]
    assert_problem(elsewhere.client.get(f"/v1/namespaces/{ann.name}/export"), 404, "not_found")


@pytest.mark.parametrize("body", [b"", b"\n", b"nonsense", b"{}", b"[]", b'{"kind":"turn"}', b"\xff\xfe"])
def test_what_is_no_export_is_refused(elsewhere: Running, body: bytes) -> None:
    assert_problem(taken_in(elsewhere, "x", body), 422, "invalid_input")


def test_only_an_operator_may_export_and_import(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        keys = KeyFile(server.services.settings.keys_path)
        made = {role: new_key(["n"], role, "", "") for role in Role}
        for _, key in made.values():
            keys.add(key)
        for role, (secret, _) in made.items():
            headers = {"Authorization": f"Bearer {secret}"}
            exported = server.client.get("/v1/namespaces/n/export", headers=headers)
            loaded = server.client.post("/v1/namespaces/n/import", headers=headers, content=b"")
            expected = [404, 422] if role is Role.OPERATOR else [403, 403]
            assert [exported.status_code, loaded.status_code] == expected
