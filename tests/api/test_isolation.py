"""Two namespaces with the same names, sessions and ids, through every route: neither sees or changes the other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import Namespace, Running, assert_problem

HIDDEN = "Reykjavik"


def fill(space: Namespace, city: str) -> dict[str, str]:
    """One turn, one claim, under the same ids in every namespace; what the namespace calls its things."""
    turn = {"id": "t1", "role": "user", "speaker": "Ann", "text": f"I live in {city}.", "at": "2024-05-08T12:00:00Z"}
    call = {"session_id": "s1", "turns": [turn]}
    stored = space.post("/turns", call, params={"wait": 30}, headers={"Idempotency-Key": "k"}).json()
    space.claim({"id": "c1", "head": "Ann", "relation": "likes", "tail": f"{city} tea"})
    lives = space.timeline("Ann", relation="lives_in")[0]
    return {
        "job": stored["job"]["id"], "fact": lives["id"], "head": lives["head_id"], "tail": lives["tail_id"],
        "turn": "t1", "claim": "c1", "made": lives["supports"][0],
    }  # fmt: skip


#: Every route below a namespace: method, path, body; `{…}` are ids of the *other* namespace.
READS: list[tuple[str, str, Any]] = [
    ("GET", "/jobs/{job}", None),
    ("GET", "/turns/{turn}", None),
    ("POST", "/turns/fetch", {"ids": ["{turn}"]}),
    ("POST", "/query", {"query": "Where does Ann live?"}),
    ("POST", "/answer", {"query": "Where does Ann live?"}),
    ("GET", "/timeline?name=Ann", None),
    ("GET", "/timeline?entity={head}", None),
    ("GET", "/facts", None),
    ("GET", "/facts?entity={head}", None),
    ("GET", "/facts?tail_entity={tail}", None),
    ("GET", "/facts/{fact}", None),
    ("GET", "/assertions/{claim}", None),
    ("GET", "/assertions/{made}", None),
    ("GET", "/entities", None),
    ("GET", "/entities?like=Reyk", None),
    ("GET", "/entities/{tail}", None),
    ("GET", "/export", None),
]
WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/turns", {"session_id": "s1", "turns": [
        {"id": "{turn}", "speaker": "Ann", "text": "I live in Oslo.", "at": "2024-05-08T12:00:00Z"}]}),
    ("POST", "/assertions", {"assertions": [{"head": "Ann", "relation": "lives_in", "tail": "Oslo"}]}),
    ("POST", "/assertions/{made}/retract", {"reason": "not yours"}),
    ("POST", "/assertions/{claim}/retract", {"reason": "not yours"}),
    ("POST", "/facts/{fact}/retract", {"reason": "not yours"}),
    ("POST", "/entities/{head}/merge", {"into": "{tail}"}),
    ("POST", "/entities/{head}/unmerge", None),
    ("POST", "/import", None),
    ("DELETE", "", None),
]  # fmt: skip


def call(space: Namespace, method: str, path: str, body: Any, ids: dict[str, str]) -> Any:
    def filled(part: Any) -> Any:
        if isinstance(part, str):
            for name, value in ids.items():
                part = part.replace(f"{{{name}}}", value)
            return part
        if isinstance(part, dict):
            return {key: filled(value) for key, value in part.items()}
        return [filled(value) for value in part] if isinstance(part, list) else part

    return space.client.request(method, space.path + filled(path), json=filled(body))


def test_the_tables_here_name_every_route(served: Running) -> None:
    patterns = {"{job}": "{job_id}", "{turn}": "{turn_id}", "{fact}": "{fact_id}", "{claim}": "{assertion_id}",
                "{made}": "{assertion_id}", "{head}": "{entity_id}", "{tail}": "{entity_id}"}  # fmt: skip
    covered = set()
    for method, path, _ in READS + WRITES:
        bare = path.split("?")[0]
        for ours, theirs in patterns.items():
            bare = bare.replace(ours, theirs)
        covered.add((method.lower(), f"/v1/namespaces/{{ns}}{bare}"))
    paths = served.client.get("/openapi.json").json()["paths"]
    routes = {(method, path) for path, item in paths.items() if "{ns}" in path for method in item}
    assert routes <= covered


@pytest.mark.parametrize(("method", "path", "body"), READS, ids=lambda part: str(part)[:40])
def test_no_read_tells_anything_of_another_namespace(
    ann: Namespace, bob: Namespace, method: str, path: str, body: Any
) -> None:
    ids = fill(ann, HIDDEN)
    fill(bob, "Bergen")
    answer = call(bob, method, path, body, ids)
    assert answer.status_code in {200, 404, 503}  # 503: without a language model there are no answers
    assert HIDDEN not in answer.text
    assert HIDDEN in call(ann, method, path, body, ids).text or path in {"/jobs/{job}", "/answer"}


@pytest.mark.parametrize(("method", "path", "body"), WRITES, ids=lambda part: str(part)[:40])
def test_no_write_changes_anything_of_another_namespace(
    ann: Namespace, bob: Namespace, method: str, path: str, body: Any
) -> None:
    ids = fill(ann, HIDDEN)
    before = everything(ann, ids)
    call(bob, method, path, body, ids)
    assert everything(ann, ids) == before


def everything(space: Namespace, ids: dict[str, str]) -> list[Any]:
    paths = ["/facts", "/entities", "/turns/t1", "/assertions/c1", f"/facts/{ids['fact']}", f"/jobs/{ids['job']}"]
    answers = [space.get(path) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json() for answer in answers]


def test_an_erased_namespace_is_gone_and_its_neighbour_is_whole(ann: Namespace, bob: Namespace) -> None:
    ids, others = fill(ann, HIDDEN), fill(bob, "Bergen")
    before = everything(bob, others)
    receipt = ann.client.delete(ann.path).json()
    assert receipt["namespace"] == ann.name
    assert sum(receipt["removed"].values()) > 0
    assert ann.get("/facts").json()["facts"] == []
    assert ann.get("/entities").json()["entities"] == []
    for path in ("/turns/t1", "/assertions/c1", f"/facts/{ids['fact']}", f"/jobs/{ids['job']}"):
        assert_problem(ann.get(path), 404, "not_found")
    assert everything(bob, others) == before
    assert sum(ann.client.delete(ann.path).json()["removed"].values()) == 0


def test_an_erased_namespace_may_begin_again(ann: Namespace) -> None:
    fill(ann, HIDDEN)
    ann.client.delete(ann.path)
    fill(ann, "Bergen")
    assert [fact["tail"] for fact in ann.timeline("Ann", relation="lives_in")] == ["Bergen"]


@pytest.mark.parametrize("other", ["upper", "prefix", "suffix", "space"])
def test_namespaces_are_compared_exactly(ann: Namespace, served: Running, other: str) -> None:
    fill(ann, HIDDEN)
    names = {"upper": ann.name.upper(), "prefix": ann.name[:-1], "suffix": f"{ann.name}x", "space": f"{ann.name} "}
    assert served.namespace(names[other]).get("/facts").json()["facts"] == []
