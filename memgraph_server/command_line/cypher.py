"""`cypher`: an operator's own questions to the graph, read-only (docs/cypher-cookbook.md has some to begin with)."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from memgraph_server.command_line.options import AsJson, Store, settings_of
from memgraph_server.command_line.output import console, print_json, table
from memgraph_server.errors import InvalidInput

#: Numbers of a list that a table shows; a vector has hundreds.
_SHOWN = 12


def cypher(
    query: Annotated[str, typer.Argument(help="what to ask; values belong into --param")],
    *,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="NAME=VALUE for $NAME; JSON, or else a text; repeatable")
    ] = None,
    timeout: Annotated[float, typer.Option(help="seconds after which the server ends the query", min=0.01)] = 30.0,
    limit: Annotated[int, typer.Option(help="rows that are fetched at most", min=1)] = 1000,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Ask the graph in Cypher: reading only, whatever the query says, with a time limit.

    Example: memgraph-server cypher 'MATCH (e:Entity {namespace: $ns}) RETURN e.name LIMIT 5' -p ns=ann
    """
    settings = settings_of(store=store)
    if not settings.on_neo4j:
        raise InvalidInput(
            "Cypher needs a store on Neo4j, and this one is an SQLite file: ask it with `memgraph-server timeline` and "
            "`query`, or move it: `memgraph-server export`, then `import` with --store neo4j://HOST:PORT",
            field="store",
        )
    parameters = dict(map(_parameter, param or []))
    from memgraph_server.wiring import open_console

    with open_console(settings) as ask:
        answer = ask(query, parameters, seconds=timeout, limit=limit)
    if as_json:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        print_json({"columns": list(answer.columns), "rows": rows, "more": answer.more})
        return
    table("", answer.columns, ([_cell(value) for value in row] for row in answer.rows))
    if answer.more:
        console(stderr=True).print(f"the first {limit} rows; more with --limit")


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidInput(f"--param {text[:40]!r} is not NAME=VALUE", field="param")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(_short(value), ensure_ascii=False)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > _SHOWN and all(isinstance(part, float) for part in value):
        return f"({len(value)} numbers)"
    return [_short(part) for part in value]
