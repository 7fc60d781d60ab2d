"""A filled SQLite store grown by copies of its rows under other names: what the store itself would have written, in a
fraction of the time. One entity, the hub, stays itself and gets the copies' facts too.

Every copy's handles are moved beyond the last ones, its ids and names get a suffix, and its vectors are drawn at
random, so that no two are alike. The result passes the store's own integrity check (test_benchmarks.py).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

#: Kinds of handles, and the table that counts each.
_COUNTED = {"entity": "entity", "assertion": "assertion", "triple": "triple", "turn": "turn", "session": "session"}
#: Of each table the columns that are handles, with their kinds, and those that are ids or names.
_TABLES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "entity": ({"handle": "entity"}, ("id", "name")),
    "name": ({"entity": "entity"}, ("normalized",)),
    "assertion": ({"handle": "assertion", "head": "entity", "tail": "entity"}, ("id", "relation", "turn_id")),
    "placement": ({"assertion": "assertion", "head": "entity", "tail": "entity"}, ("relation",)),
    "stake": ({"assertion": "assertion", "head": "entity", "tail": "entity"}, ("id", "relation")),
    "triple": ({"number": "triple", "head": "entity", "tail": "entity"}, ("relation", "text")),
    "triple_vector": ({"triple": "triple", "head": "entity", "tail": "entity"}, ()),
    "fact": ({"triple": "triple", "head": "entity", "tail": "entity"}, ("id", "relation")),
    "session": ({"handle": "session"}, ("id",)),
    "speaker": ({"session": "session"}, ()),
    "turn": ({"handle": "turn", "session": "session", "ordinal": "ordinal"}, ("id",)),
    "reading": ({"turn": "turn", "session": "session"}, ()),
    "posting": ({"turn": "turn"}, ()),
    "turn_vector": ({"turn": "turn"}, ()),
    "mention": ({"entity": "entity", "turn": "turn"}, ()),
}
_NAMES = frozenset({"name", "normalized", "text"})
_VECTORS = ("turn_vector", "triple_vector")
#: Columns that SQLite numbers anew.
_NUMBERED = {"placement": "number", "triple_vector": "number", "fact": "version", "turn_vector": "number"}
_CHUNK = 20_000


def multiply(source: Path, target: Path, times: int, *, hub: str, same_relations: bool) -> None:
    """Write `target`: the one namespace of `source`, `times` as large. `same_relations`: else the copies' relations are
    others, so that keys stay as small as they are."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -400000", "foreign_keys = OFF"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN")
        _copy_all(connection, times, hub, same_relations)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


def _copy_all(connection: sqlite3.Connection, times: int, hub: str, same_relations: bool) -> None:
    hub_handle = connection.execute("SELECT handle FROM entity WHERE name = ?", (hub,)).fetchone()[0]
    steps = {
        kind: connection.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()[0]
        for kind, table in _COUNTED.items()
    }
    steps["ordinal"] = connection.execute("SELECT count(*) FROM turn").fetchone()[0]
    last = {
        table: connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()[0] for table in _VECTORS
    }
    for table, (handles, texts) in _TABLES.items():
        connection.execute(f"CREATE TEMP TABLE original AS SELECT * FROM {table}")
        kept = tuple(name for name in texts if name != "relation" or not same_relations)
        columns = [
            row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != _NUMBERED.get(table)
        ]
        but = {"entity": f"WHERE handle <> {hub_handle}", "name": f"WHERE entity <> {hub_handle}"}.get(table, "")
        for copy in range(1, times):
            values = [_copied(column, copy, handles, kept, hub_handle, steps) for column in columns]
            connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM temp.original {but}"
            )
        connection.execute("DROP TABLE temp.original")
    for table in _VECTORS:
        _randomize(connection, table, last[table])
    connection.execute("UPDATE namespace SET turns = turns * ?, terms = terms * ?", (times, times))


def _copied(  # noqa: PLR0917  what a copy is made of
    column: str, copy: int, handles: dict[str, str], texts: tuple[str, ...], hub: int, steps: dict[str, int]
) -> str:
    """The column's value in the copy, as SQL."""
    if column in handles:
        moved = f"{column} + {copy * steps[handles[column]]}"
        return f"CASE {column} WHEN {hub} THEN {hub} ELSE {moved} END" if handles[column] == "entity" else moved
    if column in texts:
        mark = f"{steps['entity']}.{copy}"  # unlike that of an earlier multiplication
        return f"{column} || ' {mark}'" if column in _NAMES else f"{column} || '_{mark}'"
    return column


def _randomize(connection: sqlite3.Connection, table: str, last: int) -> None:
    """Vectors of the copies: a unit vector each, quantized as stores/sqlite/vectors.py does."""
    row = connection.execute(f"SELECT length(pooled) - 4 FROM {table} LIMIT 1").fetchone()
    if row is None:
        return
    numbers = [n for (n,) in connection.execute(f"SELECT number FROM {table} WHERE number > ?", (last,))]
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        rows = (
            (pooled, bits, number)
            for (pooled, bits), number in zip(_drawn(len(chunk), row[0], start), chunk, strict=True)
        )
        connection.executemany(f"UPDATE {table} SET pooled = ?, bits = ? WHERE number = ?", rows)


def _drawn(count: int, dimension: int, seed: int) -> Iterator[tuple[bytes, bytes]]:
    values = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    scales = (np.abs(values).max(axis=1) / 127.0).astype("<f4")
    whole = np.rint(values / scales[:, None]).astype(np.int8)
    bits = np.packbits(values > 0, axis=1)
    for scale, numbers, signs in zip(scales, whole, bits, strict=True):
        yield scale.tobytes() + numbers.tobytes(), signs.tobytes()
