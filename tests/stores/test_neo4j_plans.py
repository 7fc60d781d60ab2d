"""How the database carries out each query of the adapter: by an index, always (issue 4, point 3).

Every query that the store sends in a scenario with a hub is profiled with the values it was sent with: none may scan
a label, all nodes or all relationships, none may multiply two sets of rows, and none may walk the relationships of an
entity that has thousands. Every query of the package must have been seen.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.terms import terms
from memgraph_server.stores import neo4j_store
from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from memgraph_server.stores.neo4j_store.connection import Query, Statements
from memgraph_server.stores.port import AsOf
from memgraph_server.stores.records import Header
from tests.services.neo4j_server import emptied
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, claim, entity_id, outcome, tell, turn, vector

HUB = 400
#: Operators that look at everything; and those that walk an entity's relationships, which only a few kinds may.
SCANS = ("AllNodesScan", "LabelScan", "AllRelationshipsScan", "RelationshipTypeScan")
WALKS = ("Expand", "VarLengthExpand", "OptionalExpand")
#: Kinds of relationships that are few at any node, or are one: walking them costs nothing that grows.
SMALL_KINDS = ("NEXT", "MERGED_INTO", "(t)-[:MENTIONS]->")  # what a turn mentions; not who mentions a hub

Seen = dict[str, tuple[Query, dict[str, Any]]]


def all_queries() -> dict[str, Query]:
    """Of every module of the package, by name."""
    found: dict[str, Query] = {}
    for module in pkgutil.iter_modules(neo4j_store.__path__, f"{neo4j_store.__name__}."):
        for member in vars(importlib.import_module(module.name)).values():
            parts = member.values() if isinstance(member, dict) else member if isinstance(member, tuple) else [member]
            found |= {part.name: part for part in parts if isinstance(part, Query)}
    return found


@pytest.fixture(scope="module")
def empty(neo4j_server: Target) -> tuple[Neo4jStore, dict[str, set[str]]]:
    """A store with nothing in it, and what each query would walk there."""
    store = emptied(Neo4jStore(neo4j_server, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION))
    return store, _walked(store)


def _walked(store: Neo4jStore) -> dict[str, set[str]]:
    """By query: indexes of which a plan made now reads all entries of a namespace."""
    whole = re.compile(r"(?:INDEX|UNIQUE) (.*) WHERE namespace = \$given.namespace AND \w+ IS NOT NULL")
    found: dict[str, set[str]] = {}
    with store.connection.session() as session:
        session.run("CALL db.clearQueryCaches()").consume()
        for name, query in all_queries().items():
            if name in NOT_PROFILED:
                continue
            plan = session.run(query.sent.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1), given={}).consume().plan  # type: ignore[arg-type]
            details = [whole.search(detail) for _, detail, _ in operators(plan or {})]
            found[name] = {match.group(1) for match in details if match}
    return found


@pytest.fixture(scope="module")
def seen(empty: tuple[Neo4jStore, dict[str, set[str]]]) -> Iterator[tuple[Neo4jStore, Seen]]:
    """A store with a hub, and the last values that each query was sent with while everything was asked of it."""
    store, _ = empty
    found: Seen = {}
    store.connection.watch = lambda query, values: found.__setitem__(query.name, (query, dict(values)))
    _write(store)
    _ask(store)
    store.connection.watch = None
    yield store, found
    store.close()


def _write(store: Neo4jStore) -> None:
    others = [claim(f"p{i}", "knows", f"q{i}", NOW + i) for i in range(HUB)]
    hub = [claim("Hub", "knows", f"x{i}", NOW + i) for i in range(HUB)]
    back = [claim(f"y{i}", "knows", "Hub", NOW + i) for i in range(HUB)]
    tell(store, "n", *others, *hub, *back)
    tell(store, "n", *(claim("Hub", "lives_in", f"city{i}", NOW + i, turn_id=f"t{i % 9}") for i in range(100)))
    store.append_turns(
        "n", [turn(f"t{i}", f"Hello number {i}", session=f"s{i % 20}") for i in range(HUB)], job_id="j", now=NOW
    )
    for number in range(4):
        store.apply_outcome(
            "n", outcome(f"t{number}", claim("Hub", "likes", "tea"), mentions=(("Hub", "person"),)), lease=None, now=NOW
        )
    store.fail_turn("n", "t9", reason="poison", final=True, retry_at=NOW, now=NOW)
    _large_keys(store)
    _change(store)


def _large_keys(store: Neo4jStore) -> None:
    """Claims and endings, plain and hedged, in keys that are too large to be read whole."""
    single = [
        claim("Ann", "lives_in", f"city{i % 7}", NOW + 5 * i, ongoing=True, evidence_at=NOW + 5 * i + 2)
        for i in range(90)
    ]
    hedged = [claim("Ann", "lives_in", f"city{i % 5}", NOW + 7 * i, confidence=0.5) for i in range(40)]
    several = [claim("Ann", "likes", "tea", NOW + 5 * i, valid_to=NOW + 5 * i + 3) for i in range(90)]
    tell(store, "n", *single, *hedged, *several)
    late = {"polarity": Polarity.ENDING}
    tell(
        store,
        "n",
        claim("Ann", "lives_in", "city3", NOW + 77, **late),
        claim("Ann", "lives_in", None, NOW + 203, **late),
    )
    tell(
        store,
        "n",
        claim("Ann", "lives_in", "city4", NOW + 101, valid_to=NOW + 140),
        claim("Ann", "likes", "tea", NOW + 33),
    )
    tell(
        store,
        "n",
        claim("Ann", "lives_in", "city1", NOW + 60, confidence=0.4),
        claim("Ann", "likes", "tea", NOW + 99, **late),
    )
    tell(
        store,
        "n",
        claim("Ann", "likes", "tea", NOW + 20, confidence=0.5),
        claim("Ann", "likes", "tea", NOW + 55, confidence=0.5, **late),
    )
    (said,) = tell(store, "n", claim("Ann", "lives_in", "city2", NOW + 110))
    store.retract_assertion("n", said, reason="", now=NOW + 1)
    (said,) = tell(store, "n", claim("Ann", "likes", "tea", NOW + 44))
    store.retract_assertion("n", said, reason="", now=NOW + 1)


def _change(store: Neo4jStore) -> None:
    p3, p4 = entity_id(store, "n", "p3"), entity_id(store, "n", "p4")
    store.merge("n", p3, p4, now=NOW + 2)
    store.unmerge("n", p3, now=NOW + 3)
    fact = store.timeline("n", entity_id=entity_id(store, "n", "p7")).facts[0].fact.id
    store.retract_fact("n", fact, reason="", now=NOW + 4)
    for single in (True, None):
        store.set_cardinality("n", "drives", single, reason="", now=NOW + 5)
    store.replay("n", None, now=NOW)
    store.replace_vectors("n", EMBEDDER, {"t5": outcome("t5").vectors}, {"Hub knows x3": vector("z")})
    store.replace_vectors("n", EMBEDDER, {"t6": None}, {"Hub knows x4": None})
    lease = store.lease("w", now=NOW + 10**9, seconds=60, limit=4)
    assert lease is not None
    assert store.renew(lease, now=NOW + 10**9, seconds=60) is not None
    store.release(lease)
    asked = store.lease("w", now=NOW + 10**9, seconds=60, limit=4, session=("n", lease.session_id))
    assert asked is not None
    store.release(asked)


def _ask(store: Neo4jStore) -> None:
    hub, then = entity_id(store, "n", "Hub"), AsOf(known_at=NOW + 10**9)
    around: dict[str, Any] = {"minimum_confidence": 0.0, "intents": None, "limit": 5}
    for as_of in (AsOf(), then):
        store.neighbours("n", hub, vector=vector("q"), as_of=as_of, **around)
        store.neighbours("n", hub, vector=None, as_of=as_of, **around)
        early = dataclasses.replace(as_of, valid_at=NOW + 20)  # so that filters leave too few of the nearest
        store.neighbours("n", hub, vector=vector("q"), as_of=early, **around | {"limit": 60})
        store.search_facts("n", vector("q"), as_of=as_of, minimum_confidence=0.0, limit=5)
        store.facts_between("n", hub, ["knows", "likes"], as_of=as_of, limit=5)
        store.facts_between("n", hub, ["knows", "likes"], as_of=as_of, limit=5, reverse=True)
        first = store.timeline("n", as_of=as_of, limit=3)
        store.timeline("n", as_of=as_of, limit=3, cursor=first.next_cursor)
        store.timeline("n", entity_id=hub, as_of=as_of, limit=3)
        store.timeline("n", entity_id=hub, relation="knows", as_of=as_of, limit=3)
        store.timeline("n", tail_id=hub, as_of=as_of, limit=3)
        store.facts_of_turns("n", ["t0", "t1"], as_of)
        store.ends_of_turns("n", ["t0", "t1"], as_of.known_at)
    fact = store.timeline("n", entity_id=hub, limit=1).facts[0].fact.id
    store.fact_versions("n", fact)
    _ask_the_rest(store)


def _ask_the_rest(store: Neo4jStore) -> None:
    (
        store.job("n", "j"),
        store.turns("n", ["t1", "t2"]),
        store.turn_status("n", "t1"),
        store.previous_turns("n", "t40", 2),
    )
    store.session_speakers("n", "s1"), store.dead_turns("n", 5, None), store.cardinalities("n")
    store.entities("n", limit=5), store.entities("n", limit=5, like="x1")
    store.assertion("n", tell(store, "n", claim("Ann", "drives", "a van"))[0])
    store.corpus_size("n"), store.postings("n", terms("hello number 7")), store.nearest_turns("n", vector("t1"), 5)
    handles = list(store.handles("n", ["t1", "t2"]).values())
    store.turn_cards("n", handles), store.turn_vectors("n", handles)
    (
        store.sample_turns("n", 5),
        store.readiness("n"),
        store.overall(),
        store.stale_vectors("other", 5),
        store.outdated_vectors("other"),
        list(store.namespaces()),
    )
    store.check()
    store.append_turns("gone", [turn("t")], job_id="j", now=NOW)
    tell(store, "gone", claim("Ann", "likes", "tea"))
    store.erase("gone", now=NOW)
    store.merge("n", entity_id(store, "n", "p8"), entity_id(store, "n", "p9"), now=NOW)
    header, *records = store.dump("n")
    assert isinstance(header, Header)
    store.load("copy", [dataclasses.replace(header, namespace="copy"), *records])
    store.erase("copy", now=NOW)  # so that what was created can be created again while it is profiled


def operators(plan: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """(name, details, the lesser number of rows of two that are joined) of a profile, from the root down."""
    arguments = plan.get("args", {})
    rows = [int(child.get("rows", 0)) for child in plan.get("children", ())]
    yield plan["operatorType"].split("@")[0], str(arguments.get("Details", "")), min(rows, default=0)
    for child in plan.get("children", ()):
        yield from operators(child)


def profile(store: Neo4jStore, query: Query, values: dict[str, Any]) -> dict[str, Any]:
    """Carries it out and takes it back."""

    def work(ask: Statements) -> dict[str, Any]:
        text = query.sent.replace("CYPHER 25", "CYPHER 25 PROFILE", 1)
        summary = ask._transaction.run(text, given=values).consume()
        found.update(summary.profile or {})
        raise _TakenBack

    found: dict[str, Any] = {}
    with pytest.raises(_TakenBack):
        store.connection.writing(work)
    return found


#: What may stand between an order and the index that it is put upon.
_BETWEEN = ("Projection", "CacheProperties", "Filter")
#: Rows that may be sorted: as many as one answer may hold, or an index has in another order.
SORTED = 64
#: Sorted by what is in no index: all of a kind that is few, or facts that lead to one tail.
UNORDERED = ("write out merges", "lead to a tail", "every version")


def sorted_rows(plan: dict[str, Any]) -> Iterator[int]:
    """Rows that come from an index and are put in order before the first few of them are taken."""
    children = plan.get("children", ())
    if plan["operatorType"].split("@")[0] in ("Top", "PartialTop"):
        below = children[0]
        while below["operatorType"].split("@")[0] in _BETWEEN:
            (below,) = below["children"]
        if "IndexSeek" in below["operatorType"]:
            yield int(below.get("rows", 0))
    for child in children:
        yield from sorted_rows(child)


class _TakenBack(Exception):
    """Ends a transaction without its changes."""


#: Schema changes and the wait for them are no queries of data.
NOT_PROFILED = {"one node to lock", "one record a migration", "wait for new indexes"}
#: Sent only by a migration.
OF_MIGRATION = {"wait for whoever migrates", "record a migration"}


def test_no_plan_walks_a_namespace_because_it_was_made_when_there_was_little(
    empty: tuple[Neo4jStore, dict[str, set[str]]], seen: tuple[Neo4jStore, Seen]
) -> None:
    """Plans are kept, and made anew only when there is much more: what is fit for nothing is what the first thousands
    of facts are asked with."""
    (_, at_first), (store, _) = empty, seen
    later = _walked(store)
    assert {name: walked - later[name] for name, walked in at_first.items() if walked - later[name]} == {}


@pytest.mark.parametrize("name", sorted(all_queries().keys() - NOT_PROFILED - OF_MIGRATION))
def test_every_query_goes_by_an_index(seen: tuple[Neo4jStore, Seen], name: str) -> None:
    store, found = seen
    assert name in found, "the scenario must send every query of the package"
    plan = profile(store, *found[name])
    steps = list(operators(plan))
    assert steps
    if not any(part in name for part in UNORDERED):
        assert max(sorted_rows(plan), default=0) <= SORTED, "the first few are to be read in the order of an index"
    for operator, details, lesser in steps:
        assert operator != "CartesianProduct" or lesser <= 1, "rows of a subquery beside one row are no product"
        assert not any(scan in operator for scan in SCANS), (operator, details)
        if operator.startswith(WALKS):
            assert any(kind in details for kind in SMALL_KINDS), (operator, details)
