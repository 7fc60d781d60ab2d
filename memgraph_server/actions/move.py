"""Export and import: whole namespaces as JSON Lines (stores/records.py), out of one store and into another.

A file is verified to its end before the first of its records is written, so that a bad line changes nothing. Then each
of its namespaces is loaded on its own: one that is there already with the same content is passed over, so that an
import that was cut off is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from memgraph_server.errors import InvalidInput
from memgraph_server.stores.consistency import consistent
from memgraph_server.stores.port import GraphStore
from memgraph_server.stores.records import Header, Record, read_lines, sections, to_line

#: Told each record that is done, for a progress bar.
Heard = Callable[[Record], None]


@dataclass(frozen=True, slots=True)
class Moved:
    """A namespace of a file. `new`: it was loaded now; else the very same was there. `counts`: records by kind."""

    namespace: str
    new: bool
    counts: dict[str, int]


def silence(_: Record) -> None:
    """Nobody listens."""


def export(store: GraphStore, namespaces: Iterable[str], heard: Heard = silence) -> Generator[bytes, None, None]:
    """Lines, each with its end; to be read to the end or closed. Raises NotFound for an unknown namespace."""
    for namespace in namespaces:
        with closing(store.dump(namespace)) as records:
            for record in records:
                yield to_line(record)
                heard(record)


def verify(lines: Iterable[bytes], heard: Heard = silence) -> list[Header]:
    """What the file holds. Raises InvalidInput with the number of the first line that is wrong, and its field."""
    headers = []
    for record in consistent(read_lines(lines)):
        heard(record)
        if isinstance(record, Header):
            headers.append(record)
    return headers


def bring_in(store: GraphStore, lines: Iterable[bytes], heard: Heard = silence) -> Iterator[Moved]:
    """Each namespace as it is done. The lines are verified. Raises Conflict where other content is there."""
    for header, records in sections(read_lines(lines)):
        new = store.load(header.namespace, _told(records, heard))
        yield Moved(header.namespace, new, header.counts)


def bring_in_one(store: GraphStore, namespace: str, lines: Callable[[], Iterable[bytes]]) -> Moved:
    """A file that holds this namespace and no other. `lines` begins anew at each call."""
    headers = verify(lines())
    if [header.namespace for header in headers] != [namespace]:
        found = ", ".join(repr(header.namespace) for header in headers[:5])
        raise InvalidInput(f"the file must hold the namespace {namespace!r} alone; it holds {found}", field="namespace")
    (moved,) = bring_in(store, lines())
    return moved


def _told(records: Iterable[Record], heard: Heard) -> Iterator[Record]:
    for record in records:
        heard(record)
        yield record
