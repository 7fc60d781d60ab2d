"""`jobs`: what waits to be read, what was given up and why, and giving it another try. All of it from the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgraph_server.command_line.options import AsJson, Namespace, Store, services_of, settings_of
from memgraph_server.command_line.output import print_json, table

if TYPE_CHECKING:
    from memgraph_server.memory.interval import Instant

app = typer.Typer(help="Turns that wait to be read, and those that were given up.", no_args_is_help=True)

_PAGE = 500


@app.command(name="list")
def list_waiting(store: Store = None, as_json: AsJson = False) -> None:
    """Show each namespace in which turns wait or were given up.

    Example: memgraph-server jobs list --store sqlite:///memory.db
    """
    from memgraph_server.wiring import clock

    found: list[dict[str, Any]] = []
    with services_of(settings_of(store=store)) as services:
        for namespace in services.store.namespaces():
            one = services.store.readiness(namespace)
            if one.pending or one.dead:
                since = one.oldest_pending_at
                waited = None if since is None else round(max(0, clock() - since) / 1e6, 1)
                found.append(
                    {"namespace": namespace, "pending": one.pending, "oldest_pending_seconds": waited, "dead": one.dead}
                )
    if as_json:
        print_json({"namespaces": found})
        return
    rows = [
        (one["namespace"], str(one["pending"]), _seconds(one["oldest_pending_seconds"]), str(one["dead"]))
        for one in found
    ]
    table("Turns to be read", ("namespace", "pending", "oldest waits (s)", "dead"), rows)


@app.command()
def dead(
    namespace: Namespace = "default",
    limit: Annotated[int, typer.Option(help="turns shown at most", min=1, max=100_000)] = 100,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Show the turns that were given up after bounded retries, and why.

    Example: memgraph-server jobs dead --namespace ann
    """
    with services_of(settings_of(store=store)) as services:
        found, cursor = services.store.dead_turns(namespace, min(limit, _PAGE), None)
        while cursor is not None and len(found) < limit:
            more, cursor = services.store.dead_turns(namespace, min(limit - len(found), _PAGE), cursor)
            found += more
    if as_json:
        rows = [
            {"turn": one.turn_id, "attempts": one.attempts, "reason": one.reason, "stored": _time(one.recorded_at)}
            for one in found
        ]
        print_json({"dead": rows, "more": cursor is not None})
        return
    shown = [(one.turn_id, str(one.attempts), one.reason, _time(one.recorded_at)) for one in found]
    table(f"Dead turns of {namespace}", ("turn", "attempts", "reason", "stored"), shown)
    if cursor is not None:
        typer.echo(f"there are more than {limit}", err=True)


@app.command()
def replay(
    namespace: Namespace = "default",
    turn: Annotated[list[str] | None, typer.Option(help="only this turn; repeatable")] = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Have dead turns read again.

    Example: memgraph-server jobs replay --namespace ann --turn t17
    """
    from memgraph_server.wiring import clock

    with services_of(settings_of(store=store)) as services:
        count = services.store.replay(namespace, turn, now=clock())
    if as_json:
        print_json({"replayed": count})
    else:
        typer.echo(f"{count} turns are pending again")


def _seconds(waited: float | None) -> str:
    return "" if waited is None else f"{waited:.0f}"


def _time(at: Instant) -> str:
    return datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="seconds")
