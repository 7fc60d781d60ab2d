"""What the embedded store costs as it grows: `python -m tests.performance.store_growth`.

Three tables, medians and ratios in one run (design: bars, "Speed and size"):
1. applying one fact as the store grows, where one person (a hub) holds half of the facts; keys stay equally small;
2. applying one assertion to a key that has many against one that has ten, for three shapes, in order and late;
3. reading turns into memory without models, against writing the same rows raw in as many transactions.

Wall time includes the disk's (every verb is on disk when it returns); CPU time is this process's alone.
"""

from __future__ import annotations

import argparse
import itertools
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.port import AsOf, Floats, TurnOutcome, TurnVectors
from memgraph_server.stores.sqlite import SqliteStore
from tests.performance.multiplied import multiply

DIMENSION = 384
NOW = 1_700_000_000_000_000
DAY = 86_400_000_000


class Relations:
    def cardinality(self, name: str) -> str:
        return "single" if name == "lives_in" else "multi"

    def antonym(self, name: str) -> str | None:
        return {"likes": "dislikes", "dislikes": "likes"}.get(name)


@dataclass(frozen=True)
class Spent:
    """Medians in milliseconds."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


def open_store(folder: Path, name: str) -> SqliteStore:
    store = SqliteStore(folder / f"{name}.db", Relations(), embedder_name="random", dimension=DIMENSION)
    store.migrate()
    return store


def vectors(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)


def measured(act: Callable[[int], object], times: int, undo: Callable[[object], object] | None = None) -> Spent:
    """`undo` is given what `act` gave, and not counted."""
    wall, cpu = [], []
    for index in range(times):
        started, used = time.perf_counter(), time.process_time()
        done = act(index)
        wall.append(time.perf_counter() - started)
        cpu.append(time.process_time() - used)
        if undo is not None:
            undo(done)
    return Spent(statistics.median(wall) * 1000, statistics.median(cpu) * 1000)


def claim(head: str, relation: str, tail: str, at: int) -> Proposal:
    return Proposal(head, relation, tail, at, at)


# -- 1: growth


def crowd(start: int, stop: int) -> Iterator[Proposal]:
    """Every other fact is the hub's; ten tails a key, so that keys stay equally small."""
    for index in range(start, stop):
        head = "Hub" if index % 2 else f"p{index // 20}"
        yield claim(head, f"relation_{index // 20}" if index % 2 else "likes", f"x{index}", NOW + index)


def fill(store: SqliteStore, proposals: Iterable[Proposal], batch: int = 2000) -> None:
    for number, group in enumerate(iter_batches(proposals, batch)):
        embedded = vectors(len(group), number)
        texts = [triple_text(each.head, each.relation, each.tail or "") for each in group]
        store.assert_facts("n", group, dict(zip(texts, embedded, strict=True)), now=NOW)


def iter_batches(proposals: Iterable[Proposal], size: int) -> Iterator[list[Proposal]]:
    each = iter(proposals)
    while group := list(itertools.islice(each, size)):
        yield group


def growth(folder: Path, sizes: Sequence[int], samples: int, rounds: int) -> Iterator[tuple[object, ...]]:
    """A store of each size, measured in turn, round after round, so that a slow moment of the machine meets them all.
    Stores that are there already are used again."""
    stores = {size: open_grown(folder, size, [*sizes[:index], size]) for index, size in enumerate(sizes)}
    spent: dict[int, list[list[Spent]]] = {size: [] for size in sizes}
    for number in range(rounds):
        for size, store in stores.items():
            mark = f"{size}_{number}_{time.time_ns()}"
            ordinary = measured(partial(apply_to_anybody, store, mark), samples)
            hub = measured(partial(apply_to_hub, store, mark), samples)
            spent[size].append([ordinary, hub, hub_question(store, samples)])
    for store in stores.values():
        store.close()
    for index, what in enumerate(("anybody", "the hub", "hub's neighbours")):
        base = middle(each[index] for each in spent[sizes[0]])
        for size in sizes:
            here = middle(each[index] for each in spent[size])
            yield what, size, here.wall, here.cpu, here.wall / base.wall, here.cpu / base.cpu


def middle(spent: Iterable[Spent]) -> Spent:
    each = list(spent)
    return Spent(statistics.median(one.wall for one in each), statistics.median(one.cpu for one in each))


def open_grown(folder: Path, size: int, sizes: Sequence[int]) -> SqliteStore:
    """A store of `size` facts; a multiple of the next smaller one is made of copies of its rows."""
    name, smaller = f"growth_{size}", (sizes[-2] if len(sizes) > 1 else 0)
    if not (folder / f"{name}.db").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.part.db").unlink(missing_ok=True)
        if smaller and size % smaller == 0:
            parts = (folder / f"growth_{smaller}.db", folder / f"{name}.part.db")
            multiply(*parts, size // smaller, hub="Hub", same_relations=False)
        else:
            store = open_store(folder, f"{name}.part")
            fill(store, crowd(0, size))
            store.close()
        (folder / f"{name}.part.db").rename(folder / f"{name}.db")
    return open_store(folder, name)


def apply_to_anybody(store: SqliteStore, mark: str, index: int) -> None:
    apply_one(store, f"new{mark}_{index // 10}", "likes", f"y{mark}_{index}")


def apply_to_hub(store: SqliteStore, mark: str, index: int) -> None:
    apply_one(store, "Hub", f"new{mark}_{index // 10}", f"z{mark}_{index}")


def apply_one(store: SqliteStore, head: str, relation: str, tail: str) -> None:
    said = claim(head, relation, tail, NOW)
    vector = vectors(1, hash((head, tail)) % 2**32)[0]
    store.assert_facts("n", [said], {triple_text(head, relation, tail): vector}, now=NOW)


def hub_question(store: SqliteStore, samples: int) -> Spent:
    hub = store.resolve("n", "Hub")
    assert hub is not None
    asked = vectors(samples + 1, 7)

    def ask(index: int) -> None:
        store.neighbours("n", hub.id, vector=asked[index], as_of=AsOf(), minimum_confidence=0.0, intents=None, limit=5)

    ask(samples)  # the index is read once, at first use
    return measured(ask, samples)


# -- 2: large keys

SHAPES: dict[str, Callable[[int], tuple[str, str]]] = {
    "many tails": lambda i: ("likes", f"x{i}"),
    "successive tails": lambda i: ("lives_in", f"x{i}"),
    "one tail repeated": lambda _: ("likes", "x"),
}


def large_keys(folder: Path, small: int, large: int, samples: int) -> Iterator[tuple[object, ...]]:
    store = open_store(folder, "keys")
    for shape, made in SHAPES.items():
        for order in ("in order", "late"):
            spent = []
            for size in (small, large):
                key = LargeKey(store, f"{shape} {order} {size}", made, size, order)
                key.fill()
                spent.append(measured(key.apply, samples, key.withdraw))
            base, grown = spent
            yield shape, order, base.wall, grown.wall, grown.wall / base.wall, grown.cpu / base.cpu
    store.close()


@dataclass(frozen=True)
class LargeKey:
    """A key of `size` assertions, a day apart, and one more: at the end, or between two that are there."""

    store: SqliteStore
    head: str
    made: Callable[[int], tuple[str, str]]
    size: int
    order: str

    def fill(self) -> None:
        rows = [claim(self.head, *self.made(i), NOW + i * DAY) for i in range(self.size)]
        for group in iter_batches(rows, 1000):
            self.store.assert_facts("n", group, {}, now=NOW)

    def apply(self, index: int) -> str:
        place = self.size + index if self.order == "in order" else (index * 7919) % self.size
        at = NOW + place * DAY + (0 if self.order == "in order" else DAY // 2 + index)
        return self.store.assert_facts("n", [claim(self.head, *self.made(self.size + index), at)], {}, now=NOW)[0]

    def withdraw(self, assertion: object) -> None:
        """Keys stay as large as they were."""
        self.store.retract_assertion("n", str(assertion), reason="measured", now=NOW)


# -- 3: against raw rows

PHASES = (
    ("turn", "reading", "posting", "session", "speaker", "job", "job_turn"),
    ("turn_vector", "entity", "name", "mention", "assertion", "placement", "stake", "triple", "triple_vector", "fact"),
)
_ORDERED_BY = {"reading": "turn", "posting": "turn", "stake": "assertion", "mention": "turn"}


def overhead(folder: Path, turns: int, rounds: int) -> Iterator[tuple[object, ...]]:
    """The round whose ratio of the whole is the middle one."""
    done = []
    for number in range(rounds):
        part = folder / f"round{number}"
        part.mkdir()
        done.append(overhead_once(part, turns))
    done.sort(key=lambda pairs: pairs[-1][0].wall / pairs[-1][1].wall)
    for phase, (spent, raw) in zip(("append", "apply", "both"), done[rounds // 2], strict=True):
        yield phase, turns, spent.wall / turns, raw.wall / turns, spent.wall / raw.wall, spent.cpu / raw.cpu


def overhead_once(folder: Path, turns: int) -> list[tuple[Spent, Spent]]:
    """(memory, raw rows) of appending, of applying, and of both."""
    store = open_store(folder, "ingest")
    material = [turn_with_facts(index) for index in range(turns)]
    append = timed(lambda: [store.append_turns("n", [t], job_id=t.id, now=NOW) for t, _ in material])
    apply = timed(lambda: [store.apply_outcome("n", o, lease=None, now=NOW) for _, o in material])
    store.close()
    raw = [timed(raw_writer(folder, tables, turns)) for tables in PHASES]
    return [(append, raw[0]), (apply, raw[1]), (append + apply, raw[0] + raw[1])]


def turn_with_facts(index: int) -> tuple[Turn, TurnOutcome]:
    words = np.random.default_rng(index).zipf(1.3, size=24)
    turn = Turn(
        f"t{index}", f"s{index // 20}", Role.USER, "Ann", " ".join(f"word{w % 5000}" for w in words), NOW + index
    )
    said = [
        replace(claim(f"p{index % 50}", f"r{index % 7}", f"x{index}_{n}", NOW + index), turn_id=turn.id)
        for n in range(2)
    ]
    embedded = vectors(30, index)
    embedded /= np.linalg.norm(embedded, axis=1, keepdims=True)
    texts = [triple_text(each.head, each.relation, each.tail or "") for each in said]
    read = TurnVectors(embedded[0], embedded[2:], tuple(f"piece{n}" for n in range(28)))
    return turn, TurnOutcome(turn.id, tuple(said), (("Ann", "person"),), read, dict(zip(texts, embedded, strict=False)))


def timed(act: Callable[[], object]) -> Spent:
    started, used = time.perf_counter(), time.process_time()
    act()
    return Spent((time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000)


def raw_writer(folder: Path, tables: Sequence[str], transactions: int) -> Callable[[], None]:
    """The rows of these tables, as they were stored, in equal parts and in the order in which they came."""
    source = sqlite3.connect(folder / "ingest.db")
    rows = {
        table: source.execute(f"SELECT * FROM {table} ORDER BY {_ORDERED_BY.get(table, 1)}").fetchall()
        for table in tables
    }
    source.close()
    name = f"raw_{tables[0]}"
    open_store(folder, name).close()
    target = sqlite3.connect(folder / f"{name}.db", isolation_level=None)
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "cache_size = -32768",
        "wal_autocheckpoint = 4000",
    ):
        target.execute(f"PRAGMA {pragma}")
    inserts = {
        table: f"INSERT INTO {table} VALUES ({', '.join('?' * len(some[0]))})" for table, some in rows.items() if some
    }

    def write() -> None:
        for part in range(transactions):
            target.execute("BEGIN IMMEDIATE")
            for table, insert in inserts.items():
                share = rows[table][
                    part * len(rows[table]) // transactions : (part + 1) * len(rows[table]) // transactions
                ]
                target.executemany(insert, share)
            target.execute("COMMIT")
        target.close()

    return write


def show(title: str, heads: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    print(f"\n{title}\n" + "  ".join(f"{head:>18}" for head in heads))
    for row in rows:
        print("  ".join(f"{cell:>18.2f}" if isinstance(cell, float) else f"{cell:>18}" for cell in row), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[1_000, 10_000, 20_000], help="facts; 10000 100000 1000000"
    )
    parser.add_argument("--key", type=int, default=10_000, help="assertions of the large key")
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument(
        "--rounds", type=int, default=3, help="of the first and the last table; the middle one is shown"
    )
    parser.add_argument("--keep", type=Path, help="where the filled stores of the growth table are kept and used again")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="where the stores are made; a temporary folder by default")
    parser.add_argument(
        "--only", choices=["growth", "keys", "overhead"], nargs="+", default=["growth", "keys", "overhead"]
    )
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        if "overhead" in given.only:
            heads = ("phase", "turns", "ms a turn", "raw ms a turn", "wall ratio", "cpu ratio")
            show("Against raw rows", heads, overhead(folder, given.turns, given.rounds))
        if "keys" in given.only:
            heads = ("shape", "order", "ms at 10", f"ms at {given.key}", "wall ratio", "cpu ratio")
            show("Applying one assertion", heads, large_keys(folder, 10, given.key, given.samples))
        if "growth" in given.only:
            heads = ("who", "facts", "wall ms", "cpu ms", "wall ratio", "cpu ratio")
            kept = given.keep or folder
            show("One more fact", heads, growth(kept, given.sizes, given.samples, given.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
