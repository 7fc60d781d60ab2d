"""An operator's own Cypher: reads, and cannot do anything else, whatever it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.errors import InvalidInput, StoreUnavailable
from memgraph_server.stores.neo4j_store import Neo4jStore, Target
from memgraph_server.stores.neo4j_store.console import Answer, ask
from tests.command_line.test_commands import Shell
from tests.services.neo4j_server import emptied
from tests.stores.material import DIMENSION, EMBEDDER, NOW, Relations, claim, outcome, tell, turn


@pytest.fixture(scope="module")
def store(neo4j_server: Target) -> Iterator[Neo4jStore]:
    store = emptied(Neo4jStore(neo4j_server, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION))
    store.append_turns("n", [turn("t0", "Hello.")], job_id="j", now=NOW)
    store.apply_outcome("n", outcome("t0", claim("Ann", "likes", "tea")), lease=None, now=NOW)
    tell(store, "n", *(claim("Ann", "likes", f"thing {i}") for i in range(30)))
    yield store
    store.close()


def asked(store: Neo4jStore, text: str, *, seconds: float = 20.0, limit: int = 100, **parameters: Any) -> Answer:
    return ask(store.connection, text, parameters, seconds=seconds, limit=limit)


def test_a_reading_query_answers_columns_and_rows(store: Neo4jStore) -> None:
    text = "MATCH (e:Entity {namespace: $ns}) WHERE e.name IN ['Ann', 'tea'] RETURN e.name AS name ORDER BY name"
    answer = asked(store, text, ns="n")
    assert answer == Answer(("name",), (("Ann",), ("tea",)), more=False)


def test_rows_beyond_the_limit_are_not_fetched_and_said_to_be_there(store: Neo4jStore) -> None:
    answer = asked(store, "UNWIND range(1, 1000000000) AS n RETURN n", limit=3)
    assert (answer.rows, answer.more) == (((1,), (2,), (3,)), True)


WRITES = [
    "CREATE (x:Entity {namespace: 'n', id: 'x'}) RETURN x",
    "MATCH (t:Turn) SET t.text = 'changed' RETURN count(t)",
    "MATCH (t:Turn) DETACH DELETE t",
    "MERGE (x:Other {id: 1}) RETURN x",
    "MATCH (t:Turn) CALL (t) { DETACH DELETE t } IN TRANSACTIONS",
    "CALL db.create.setNodeVectorProperty(null, 'x', [1.0])",
    "CALL db.clearQueryCaches()",
    "CALL dbms.killConnection('bolt-0')",
    "CREATE INDEX other IF NOT EXISTS FOR (n:Other) ON (n.x)",
    "DROP CONSTRAINT turn_id",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'abcdefgh1'",
    "CREATE USER other SET PASSWORD 'abcdefgh1'",
    "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "/* RETURN 1 */ MATCH (t:Turn) REMOVE t.text",
    "RETURN 1 AS x UNION ALL MATCH (t:Turn) SET t.text = '' RETURN 2 AS x",
]


@pytest.mark.parametrize("text", WRITES)
def test_what_does_more_than_read_is_refused_and_does_nothing(store: Neo4jStore, text: str) -> None:
    before = list(store.dump("n"))
    with pytest.raises(InvalidInput, match="nothing was run") as refused:
        asked(store, text)
    assert refused.value.field == "query"
    assert list(store.dump("n")) == before


def test_words_in_texts_are_no_reason_to_refuse(store: Neo4jStore) -> None:
    assert asked(store, "RETURN 'CREATE (x) DELETE x' AS set // SET").rows == (("CREATE (x) DELETE x",),)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "RETURN 1; RETURN 2", "RETURN $absent", "RETURN 1 / 0", "PROFILE RETURN 1"]
)
def test_a_query_that_is_wrong_is_the_callers_and_says_what_neo4j_says(store: Neo4jStore, text: str) -> None:
    with pytest.raises(InvalidInput, match="Neo4j refuses the query") as refused:
        asked(store, text)
    assert refused.value.field == "query"


def test_a_query_that_takes_too_long_is_ended(store: Neo4jStore) -> None:
    text = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a WHERE a < 0 RETURN a"
    with pytest.raises(InvalidInput, match="longer than") as refused:
        asked(store, text, seconds=0.5)
    assert refused.value.field == "timeout"


def test_what_is_found_is_plain_values(store: Neo4jStore) -> None:
    text = """
        MATCH path = (h:Entity {namespace: 'n', name: 'Ann'})-[f:FACT]->(t:Entity {name: 'tea'})
        MATCH (u:Turn {namespace: 'n', id: 't0'})
        RETURN h, f, path, u.pooled, datetime({epochMillis: 0}) AS at, [1, {a: null}] AS listed"""
    ((head, fact, path, pooled, at, listed),) = asked(store, text).rows
    assert head["labels"] == ["Entity"]
    assert head["properties"]["name"] == "Ann"
    assert (fact["type"], fact["properties"]["relation"]) == ("FACT", "likes")
    assert [sorted(part) for part in path] == [
        ["labels", "properties"],
        ["properties", "type"],
        ["labels", "properties"],
    ]
    assert isinstance(pooled, str)
    assert at.startswith("1970-01-01T00:00:00")
    assert listed == [1, {"a": None}]


def test_a_wrong_password_is_said(neo4j_server: Target) -> None:
    wrong = Target(neo4j_server.url, "neo4j", "not this one")
    store = Neo4jStore(wrong, Relations(), embedder_name=EMBEDDER, dimension=DIMENSION)
    with pytest.raises(StoreUnavailable, match="not accepted"):
        asked(store, "RETURN 1")
    store.close()


def test_the_command_prints_a_table_or_json(store: Neo4jStore, neo4j_server: Target, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    there = {"MEMGRAPH_SERVER_STORE": neo4j_server.url, "MEMGRAPH_SERVER_NEO4J_PASSWORD": neo4j_server.password}
    text = "UNWIND $numbers AS n RETURN n, $word AS word"
    given = ("cypher", text, "--param", "numbers=[1, 2]", "--param", "word=[red]tea[/red]")
    document = shell.json(*given, **there)
    assert document["columns"] == ["n", "word"]
    assert document["rows"] == [{"n": n, "word": "[red]tea[/red]"} for n in (1, 2)]
    shown = shell.run(*given, "--limit", "1", **there)
    assert "[red]tea[/red]" in shown.stdout
    assert "the first 1 rows" in shown.stderr
    assert "nothing was run" in shell.run("cypher", "CREATE (x) RETURN x", code=2, **there).stderr


def test_an_sqlite_store_says_what_to_do_instead(tmp_path: Path) -> None:
    said = shell_words(Shell(tmp_path).run("cypher", "RETURN 1", code=2).stderr)
    assert "Cypher needs a store on Neo4j" in said
    assert "export" in said
    assert not (tmp_path / "memgraph-server.db").exists()


def test_a_parameter_without_a_value_is_refused(tmp_path: Path) -> None:
    done = Shell(tmp_path).run("cypher", "RETURN 1", "-p", "x", "--store", "neo4j://127.0.0.1:1", code=2)
    assert "is not NAME=VALUE" in shell_words(done.stderr)


def shell_words(text: str) -> str:
    return " ".join(text.split())
