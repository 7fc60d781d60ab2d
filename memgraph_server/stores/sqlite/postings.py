"""Postings of the inverted index, those of frequent terms kept by each process (schema/sqlite/0002_search.sql).

A posting is never changed and turns are numbered as they arrive, so what is kept is refreshed by the rows above the
last turn seen, and finds what other processes wrote. A term in more than `CEILING` turns says nothing about one of
them: only their number is kept.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memgraph_server.stores.port import Posting

CEILING = 50_000
#: A term in at least so many turns is kept.
FREQUENT = 1_000
#: Postings kept by a process, of all namespaces: 12 bytes each. The term unused longest is dropped first.
KEPT = 4_000_000

_PACK = 65_536


@dataclass(frozen=True, slots=True)
class _Term:
    """`last`: the last turn counted."""

    posting: Posting
    last: int

    @property
    def size(self) -> int:
        return self.posting.handles.size


_UNSEEN = _Term(Posting(0, np.zeros(0, np.int64), np.zeros(0, np.int32)), -1)


class Postings:
    """The postings of one store. Several threads may ask at once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], _Term] = OrderedDict()
        self._size = 0
        self._guard = threading.Lock()

    def of(self, connection: sqlite3.Connection, namespace: int, terms: Sequence[str]) -> dict[str, Posting]:
        """Of each term that occurs anywhere in the namespace."""
        found = {term: self._refreshed(connection, namespace, term) for term in dict.fromkeys(terms)}
        return {term: posting for term, posting in found.items() if posting.documents}

    def forget(self, namespace: int) -> None:
        """Drop what is kept of a namespace that was erased."""
        with self._guard:
            for key in [key for key in self._kept if key[0] == namespace]:
                self._size -= self._kept.pop(key).size

    def _refreshed(self, connection: sqlite3.Connection, namespace: int, term: str) -> Posting:
        with self._guard:
            known = self._kept.get((namespace, term), _UNSEEN)
        now = _with_news(connection, namespace, term, known)
        if now.posting.documents >= FREQUENT:
            self._keep((namespace, term), now)
        return now.posting

    def _keep(self, key: tuple[int, str], term: _Term) -> None:
        with self._guard:
            before = self._kept.get(key)
            if before is None or before.last <= term.last:
                self._size += term.size - (0 if before is None else before.size)
                self._kept[key] = term
            self._kept.move_to_end(key)
            while self._size > KEPT:
                self._size -= self._kept.popitem(last=False)[1].size


def _with_news(connection: sqlite3.Connection, namespace: int, term: str, known: _Term) -> _Term:
    # As one text of packed numbers: tens of thousands of rows cost a third of what they do one by one.
    query = """
        SELECT count(*), max(turn), group_concat(turn * 65536 + min(count, 65535))
        FROM posting WHERE namespace = ? AND term = ? AND turn > ?"""
    count, last, text = connection.execute(query, (namespace, term, known.last)).fetchone()
    if not count:
        return known
    documents = known.posting.documents + count
    if documents > CEILING:
        return _Term(replace(_UNSEEN.posting, documents=documents), last)
    news = np.sort(np.fromstring(text, dtype=np.int64, sep=","), kind="stable")
    handles = np.concatenate([known.posting.handles, news // _PACK])
    counts = np.concatenate([known.posting.counts, (news % _PACK).astype(np.int32)])
    return _Term(Posting(documents, handles, counts), last)
