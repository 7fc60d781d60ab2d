"""`ingest`: transcripts of this and other programs, stored and read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_server.command_line.options import AsJson, Namespace, Store, services_of, settings_of
from memgraph_server.command_line.output import print_json, progress
from memgraph_server.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    from rich.progress import Progress

    from memgraph_server.actions.inputs import GivenTurn
    from memgraph_server.command_line.readers import Session
    from memgraph_server.wiring import Services

_CALL = 1_000
_LOOK_SECONDS = 0.1


@dataclass
class Ingested:
    """What came of a file. `skipped`: why turns could not be taken, by turn id."""

    format: str = ""
    namespaces: list[str] = field(default_factory=list)
    sessions: int = 0
    turns: int = 0
    new: int = 0
    known: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    dead: int = 0
    pending: int = 0
    seconds: float = 0.0


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON or JSON Lines; - is not supported", exists=True, dir_okay=False)],
    *,
    namespace: Namespace = "default",
    at: Annotated[
        str | None, typer.Option(help="when a conversation without times began, RFC 3339 with a zone")
    ] = None,
    read: Annotated[
        bool, typer.Option("--read/--store-only", help="read the facts now, or leave it to a server")
    ] = True,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Store a file's conversations and read their facts.

    Reads this project's JSON, OpenAI chat messages, ChatGPT and Claude exports, and LoCoMo; which one it is is seen
    from its shape. The same file twice stores each turn once. A file with several memories (LoCoMo) gets a namespace
    for each: NAMESPACE.ID.

    Example: memgraph-server ingest conversations.json --namespace ann
    """
    from memgraph_server.command_line.readers import read_file

    found, sessions = read_file(file, at)
    with services_of(settings_of(store=store)) as services:
        done = ingest_sessions(services, namespace, sessions, read=read)
    done.format = found
    _report(done, as_json=as_json)
    if done.dead or (done.turns and not done.new and not done.known):
        raise typer.Exit(1)


def _report(done: Ingested, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(done))
        return
    typer.echo(
        f"{done.format}: {done.sessions} sessions, {done.new} turns new, {done.known} known, "
        f"{len(done.skipped)} skipped, {done.dead} dead, {done.pending} pending, {done.seconds:.1f} s"
    )
    typer.echo(f"namespace: {', '.join(done.namespaces)}")
    for turn_id, why in list(done.skipped.items())[:20]:
        typer.echo(f"skipped {turn_id!a}: {why}", err=True)


def ingest_sessions(services: Services, namespace: str, sessions: Sequence[Session], *, read: bool = True) -> Ingested:
    """Store them, and wait until their turns are read. Progress goes to stderr."""
    done, began = Ingested(sessions=len(sessions)), time.perf_counter()
    spaces = {one.conversation: _namespace(namespace, one.conversation) for one in sessions}
    done.namespaces = sorted(set(spaces.values()))
    with progress() as shown:
        task = shown.add_task("storing", total=sum(len(one.turns) for one in sessions))
        for one in sessions:
            _store(services, spaces[one.conversation], one, done)
            shown.advance(task, len(one.turns))
        if read:
            _read(services, done, shown)
    states = [services.store.readiness(space) for space in done.namespaces]
    done.pending, done.dead = sum(state.pending for state in states), sum(state.dead for state in states)
    done.seconds = round(time.perf_counter() - began, 3)
    return done


def _namespace(namespace: str, conversation: str) -> str:
    from memgraph_server.actions import inputs

    return inputs.namespace(f"{namespace}.{conversation}" if conversation else namespace)


def _store(services: Services, namespace: str, session: Session, done: Ingested) -> None:
    from memgraph_server.actions.store_turns import store_turns
    from memgraph_server.wiring import clock, new_id

    fit = [turn for turn in session.turns if _fits(turn, session.session_id, done)]
    done.turns += len(session.turns)
    for start in range(0, len(fit), _CALL):
        accepted = store_turns(
            services.store, namespace, session.session_id, fit[start : start + _CALL], now=clock(), new_id=new_id
        )
        done.new += len(accepted.new)
        done.known += len(accepted.known)


def _fits(turn: GivenTurn, session_id: str, done: Ingested) -> bool:
    """Whether it may be stored; a turn that may not be does not keep the others out."""
    from memgraph_server.actions import inputs

    try:
        inputs.turn_of(turn, id=turn.id or "turn", session_id=session_id, field="turn")
    except (InvalidInput, TooLarge) as error:
        done.skipped[turn.id or f"{session_id}/?"] = error.message
        return False
    return True


def _read(services: Services, done: Ingested, shown: Progress) -> None:
    """By a worker in this process; turns that another process reads count too."""
    from memgraph_server.wiring import worker

    working = worker(services)
    pending = _pending(services, done)
    task = shown.add_task("reading", total=pending)
    working.start()
    try:
        while pending:
            time.sleep(_LOOK_SECONDS)
            left = _pending(services, done)
            shown.advance(task, pending - left)
            pending = left
    finally:
        working.stop()


def _pending(services: Services, done: Ingested) -> int:
    return sum(services.store.readiness(space).pending for space in done.namespaces)
