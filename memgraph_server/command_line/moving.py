"""`export` and `import`: a memory as one file, out of any store and into any other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from memgraph_server.command_line.options import AsJson, Store, services_of, settings_of
from memgraph_server.command_line.output import print_json, progress, table
from memgraph_server.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from memgraph_server.stores.records import Record


def export(
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", "-n", help="only this one; repeatable; all where none is named")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="the file to write; standard output where none is named")
    ] = None,
    store: Store = None,
) -> None:
    """Write memories as JSON Lines: every turn, claim, belief and id, with both clocks and the vectors.

    Example: memgraph-server export --namespace ann -o ann.jsonl
    """
    from memgraph_server.actions import move

    with services_of(settings_of(store=store, worker=False)) as services:
        names = list(dict.fromkeys(namespace or services.store.namespaces()))
        if not names:
            raise NotFound("the store holds no namespace yet")
        with (
            _written(output) as file,
            _shown("exporting") as heard,
            closing(move.export(services.store, names, heard)) as lines,
        ):
            file.writelines(lines)


def import_(
    file: Annotated[Path, typer.Argument(help="what export wrote", exists=True, dir_okay=False, readable=True)],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Read what export wrote into a store where these namespaces are not yet; the whole file is verified first.

    Example: memgraph-server import ann.jsonl --store neo4j://127.0.0.1:7687
    """
    from memgraph_server.actions import move

    with services_of(settings_of(store=store, worker=False)) as services:
        with file.open("rb") as lines, _shown("verifying") as heard:
            move.verify(lines, heard)
        with file.open("rb") as lines, _shown("importing") as heard:
            done = list(move.bring_in(services.store, lines, heard))
    if as_json:
        print_json([{"namespace": each.namespace, "new": each.new, "counts": each.counts} for each in done])
        return
    kinds = list(dict.fromkeys(kind for each in done for kind in each.counts))
    rows = [
        (each.namespace, "imported" if each.new else "was there", *(str(each.counts.get(kind, 0)) for kind in kinds))
        for each in done
    ]
    table("Imported", ("namespace", "", *kinds), rows)


@contextmanager
def _written(output: Path | None) -> Iterator[BinaryIO]:
    """Under another name until it is complete, and for its owner alone: a memory is private."""
    if output is None:
        if sys.stdout.isatty():
            raise InvalidInput("name a file with -o, or send the output into one", field="output")
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    part = output.with_name(f"{output.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise InvalidInput(f"{output} cannot be written: {error.strerror}", field="output") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(output)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def _shown(what: str) -> Iterator[Callable[[Record], None]]:
    """A bar on standard error: how many records are done, of how many that the headers so far have promised."""
    from memgraph_server.stores.records import Header

    with progress() as bar:
        task = bar.add_task(what, total=None)
        total = 0

        def heard(record: Record) -> None:
            nonlocal total
            if isinstance(record, Header):
                total += 1 + sum(record.counts.values())
                bar.update(task, total=total, description=what)
            bar.advance(task)

        yield heard
