"""docs/cypher-cookbook.md: each of its queries is run on a real conversation, answers something, and goes by an index.

And docs/neo4j-browser.grass: what it gives a colour or a caption is in the schema, and nothing of it is forgotten.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from memgraph_server.memory.facts import Polarity
from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from memgraph_server.stores.neo4j_store.console import ask
from memgraph_server.stores.port import Cost
from memgraph_server.wiring import clock
from tests.stores.material import NOW, claim, entity_id, outcome, turn
from tests.stores.moved_sample import NAMESPACE, read_sample, services
from tests.stores.test_neo4j_plans import SCANS, WALKS, operators

DOCS = Path(__file__).parent.parent.parent / "docs"
RECIPE = re.compile(r"^## (?P<title>[^\n]+)\n(?:(?!^## ).)*?```cypher\n(?P<query>.*?)```", re.DOTALL | re.MULTILINE)
RECIPES = {each["title"]: each["query"] for each in RECIPE.finditer((DOCS / "cypher-cookbook.md").read_text("utf-8"))}
EXCERPT = re.compile(r"```cypher\n(?P<query>.*?)```\n\n```text\n(?P<text>.*?)```", re.DOTALL)
_SHOWN = {each["query"]: each["text"] for each in EXCERPT.finditer((DOCS / "cypher-cookbook.md").read_text("utf-8"))}
EXCERPTS = {title: _SHOWN[query] for title, query in RECIPES.items()}
#: Kinds of relationships that are few at the node they are followed from, and the direction.
FEW = ("MERGED_INTO", ":STATES]->", ":ABOUT]->", "(u)<-[:HAS_TURN]-(s)")

Given = dict[str, Any]


@pytest.fixture(scope="module")
def memory(neo4j_server: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neo4jStore, Given]]:
    """The sample, with what every operator's question needs: a dead turn, a withdrawal, a merge, names that differ."""
    folder = tmp_path_factory.mktemp("cookbook")
    with services(f"sqlite:///{folder}/s.db") as read, services(neo4j_server.url, neo4j_server.password) as opened:
        read_sample(read)
        opened.store.load(NAMESPACE, read.store.dump(NAMESPACE))
        store: Any = opened.store
        began, at = clock(), NOW
        store.append_turns(NAMESPACE, [turn("poison", "Nobody can read this.")], job_id="p", now=clock())
        store.append_turns(NAMESPACE, [turn("greeting", "Hello Zed.")], job_id="p", now=clock())
        greeting = dataclasses.replace(outcome("greeting", mentions=(("Zed", ""),)), cost=Cost(2, 300, 40))
        store.apply_outcome(NAMESPACE, greeting, lease=None, now=clock())
        store.fail_turn(NAMESPACE, "poison", reason="no model", final=True, retry_at=0, now=clock())
        told = [
            claim("Ann", "lives_in", "Paris", at),
            claim("Ann", "likes", "tea", at),
            claim("Ann", "likes", "cake", at),
        ]
        told += [
            claim("Ann", "owns", "the boat", at),
            claim("Ann", "likes", "boats", at),
            claim("A. Ann", "owns", "a van"),
        ]
        made = store.assert_facts(
            NAMESPACE, [*told, claim("Bob", "left", "Rome", at, turn_id="poison")], {}, now=clock()
        )
        store.assert_facts(
            NAMESPACE, [claim("Ann", "likes", "cake", at + 5, polarity=Polarity.ENDING)], {}, now=clock()
        )
        store.retract_assertion(NAMESPACE, made[3], reason="a slip", now=clock())
        store.merge(NAMESPACE, entity_id(store, NAMESPACE, "A. Ann"), entity_id(store, NAMESPACE, "Ann"), now=clock())
        fact = (
            store.timeline(NAMESPACE, entity_id=entity_id(store, NAMESPACE, "Ann"), relation="lives_in").facts[0].fact
        )
        store.set_cardinality(NAMESPACE, "drives", True, reason="seen", now=clock())
        given = {"namespace": NAMESPACE, "name": "ann", "at": at + 1, "known_at": clock(), "since": began}
        yield store, given | {"fact": fact.id, "turn": "poison", "limit": 20}


def run(store: Neo4jStore, title: str, given: Given) -> list[dict[str, Any]]:
    answer = ask(store.connection, RECIPES[title], given, seconds=60, limit=100)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def test_there_are_recipes() -> None:
    assert len(RECIPES) >= 14


@pytest.mark.parametrize("title", RECIPES)
def test_every_recipe_answers_on_a_real_memory(memory: tuple[Neo4jStore, Given], title: str) -> None:
    store, given = memory
    found = run(store, title, given)
    assert found, title
    assert list(found[0]) == EXCERPTS[title].split("\n")[0].split()


@pytest.mark.parametrize("title", RECIPES)
def test_every_recipe_goes_by_an_index(memory: tuple[Neo4jStore, Given], title: str) -> None:
    store, given = memory
    with store.connection.session(default_access_mode=neo4j.READ_ACCESS) as session:
        plan = session.run(f"CYPHER 25 PROFILE {RECIPES[title]}", given).consume().profile  # type: ignore[arg-type]
    assert plan is not None
    for operator, details, lesser in operators(plan):
        assert operator != "CartesianProduct" or lesser <= 1, (operator, details)
        assert not any(scan in operator for scan in SCANS), (operator, details)
        if operator.startswith(WALKS):
            assert any(kind in details for kind in FEW), (operator, details)


@pytest.mark.parametrize("title", RECIPES)
def test_no_recipe_tells_anything_of_another_namespace(memory: tuple[Neo4jStore, Given], title: str) -> None:
    store, given = memory
    rows = run(store, title, given | {"namespace": "nobody"})
    assert all(row.get("turns", 0) == 0 for row in rows)
    assert not rows or title == "What waits, and how long has it?"


def test_what_the_recipes_say_is_so(memory: tuple[Neo4jStore, Given]) -> None:
    store, given = memory
    believed = {(row["relation"], row["tail"]) for row in run(store, "What do we believe about Ann now?", given)}
    assert {("lives_in", "Paris"), ("likes", "tea"), ("owns", "a van")} <= believed
    then = run(store, "As it was in March, as known in May", given)
    assert {("lives_in", "Paris"), ("likes", "cake")} <= {(row["relation"], row["tail"]) for row in then}
    early = run(store, "As it was in March, as known in May", given | {"known_at": given["since"]})
    assert early == []
    assert [row["turn"] for row in run(store, "Which turns failed, and why?", given)] == ["poison"]
    assert [row["reason"] for row in run(store, "What was claimed and is not believed?", given)] == ["a slip"]
    (why,) = run(store, "Why is a fact believed?", given)
    assert "Paris" in why["fact"]
    assert ["boats", "the boat"] in [sorted(row["names"]) for row in run(store, "Which entities may be one?", given)]
    (sound,) = run(store, "Is it whole?", given)
    assert set(sound.values()) == {0}
    waits = {row["state"]: row["turns"] for row in run(store, "What waits, and how long has it?", given)}
    assert (waits["pending"], waits["dead"]) == (0, 1)
    (took,) = run(store, "What did reading take?", given)
    assert took == {"turns": 1, "calls": 2, "prompt_tokens": 300, "completion_tokens": 40}
    conflicts = run(store, "Which relations have conflicting values?", given)
    assert any(row["relation"] == "likes" and "Ann" in row["facts"][0] for row in conflicts)


# -- the style of Neo4j Browser

GRASS = (DOCS / "neo4j-browser.grass").read_text("utf-8")
RULE = re.compile(r"(?P<what>node|relationship)(?:\.(?P<kind>\w+))?\s*\{(?P<body>[^{}]*(?:\{\w+\}[^{}]*)*)\}")
PROPERTY = re.compile(r"^\s*(?P<name>[A-Za-z-]+)\s*:\s*(?P<value>[^;]+);\s*$")


def rules() -> dict[tuple[str, str | None], dict[str, str]]:
    found = {}
    for match in RULE.finditer(GRASS):
        lines = [line for line in match["body"].splitlines() if line.strip()]
        parsed = [PROPERTY.match(line) for line in lines]
        assert all(parsed), (match["kind"], lines)
        found[match["what"], match["kind"]] = {each["name"]: each["value"] for each in parsed if each is not None}
    assert RULE.sub("", GRASS).strip() == ""
    return found


def schema(store: Neo4jStore, what: str) -> dict[str, set[str]]:
    """Labels, or types of relationships, each with the properties that some of them has."""
    procedure = {
        "node": "db.schema.nodeTypeProperties() YIELD nodeLabels",
        "relationship": "db.schema.relTypeProperties() YIELD relType",
    }[what]
    kind = {"node": "nodeLabels[0]", "relationship": "replace(replace(relType, ':`', ''), '`', '')"}[what]
    text = f"CALL {procedure}, propertyName RETURN {kind} AS kind, collect(propertyName) AS properties"
    return {kind: set(properties) for kind, properties in ask(store.connection, text, {}, seconds=60, limit=99).rows}


@pytest.mark.parametrize("what", ["node", "relationship"])
def test_the_browser_style_names_what_there_is_and_all_of_it(memory: tuple[Neo4jStore, Given], what: str) -> None:
    there = schema(memory[0], what)
    styled = {kind: style for (place, kind), style in rules().items() if place == what and kind is not None}
    assert styled.keys() == there.keys() - {"Migration", "SchemaLock"}
    for kind, style in styled.items():
        for caption in re.findall(r"\{(\w+)\}", style["caption"]):
            assert caption in there[kind], (kind, caption)


def test_colours_are_colours_and_texts_can_be_read_on_them() -> None:
    for place, style in rules().items():
        for name, value in style.items():
            if "color" in name:
                assert re.fullmatch(r"#[0-9A-F]{6}", value), (place, name)
        if place[0] == "node" and "text-color-internal" in style:
            assert contrast(style["color"], style["text-color-internal"]) >= 2, place


def contrast(one: str, other: str) -> float:
    """Of two colours, as WCAG has it."""
    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
