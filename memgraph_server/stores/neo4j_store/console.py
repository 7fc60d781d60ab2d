"""An operator's own Cypher, read-only: the one place where a query's text comes from outside.

Three locks, none of which looks for words in the text: the server plans the query first (EXPLAIN) and says of what type
it is, and only a reading one goes on; what reads no graph but files, or ends others' transactions, is known by its
operators in that plan; and it runs in access mode READ, in which the server refuses every write, inside a transaction
that is taken back. It has a time limit, which the server keeps, and rows beyond the limit are not fetched.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import neo4j
from neo4j import exceptions

from memgraph_server.errors import InvalidInput
from memgraph_server.stores.neo4j_store.connection import Connection, in_our_words

#: Operators of statements that the server counts as reading, and that are none of a memory.
_REFUSED = ("LoadCSV", "TerminateTransactions")


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows in plain values: numbers, texts, lists and maps. `more`: there were more rows than asked for."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool


def ask(connection: Connection, text: str, parameters: Mapping[str, Any], *, seconds: float, limit: int) -> Answer:
    """Raises InvalidInput for a query that does not read, is wrong, or takes longer; StoreUnavailable."""
    try:
        with connection.session(default_access_mode=neo4j.READ_ACCESS) as session:
            _require_reading(session, text, parameters, seconds)
            with session.begin_transaction(timeout=seconds) as transaction:
                result = transaction.run(_plainly(text), dict(parameters))
                rows = [tuple(plain(value) for value in record.values()) for record in _first(result, limit + 1)]
                answer = Answer(tuple(result.keys()), tuple(rows[:limit]), len(rows) > limit)
                transaction.rollback()
                return answer
    except exceptions.AuthError as error:
        raise in_our_words(error, connection.target) from error
    except exceptions.ClientError as error:
        raise _in_words(error, seconds) from error
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        raise in_our_words(error, connection.target) from error


def _plainly(text: str) -> Any:
    """As the driver takes it: its types want a constant, and this is the one query that is none."""
    return text


def _require_reading(session: neo4j.Session, text: str, parameters: Mapping[str, Any], seconds: float) -> None:
    with session.begin_transaction(timeout=seconds) as transaction:
        summary = transaction.run(_plainly(f"EXPLAIN {text}"), dict(parameters)).consume()
        transaction.rollback()
    refused = [operator for operator in _operators(summary.plan or {}) if operator.startswith(_REFUSED)]
    if summary.query_type != "r" or refused:
        raise InvalidInput("the query does more than read the graph; nothing was run", field="query")


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield str(plan.get("operatorType", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _first(result: neo4j.Result, count: int) -> Iterator[neo4j.Record]:
    for record in result:
        yield record
        count -= 1
        if count <= 0:
            return


def _in_words(error: exceptions.ClientError, seconds: float) -> Exception:
    code = error.code or ""
    if "TransactionTimedOut" in code or "Terminated" in code:
        return InvalidInput(
            f"the query took longer than {seconds:g} seconds; narrow it, or allow more with --timeout", field="timeout"
        )
    if "AccessMode" in code:
        return InvalidInput("the query does more than read the graph; nothing was run", field="query")
    return InvalidInput(f"Neo4j refuses the query: {error.message}", field="query")


def plain(value: Any) -> Any:
    """What JSON can hold. Bytes are base64; nodes and relationships are maps of what they are and hold."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, neo4j.graph.Node | neo4j.graph.Relationship | neo4j.graph.Path):
        return _of_graph(value)  # before mappings, which nodes are as well
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


def _of_graph(value: neo4j.graph.Node | neo4j.graph.Relationship | neo4j.graph.Path) -> Any:
    if isinstance(value, neo4j.graph.Node):
        return {"labels": sorted(value.labels), "properties": plain(dict(value))}
    if isinstance(value, neo4j.graph.Relationship):
        return {"type": value.type, "properties": plain(dict(value))}
    pairs = zip(value.nodes, [*value.relationships, None], strict=True)
    return [_of_graph(part) for pair in pairs for part in pair if part is not None]
