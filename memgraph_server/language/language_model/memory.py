"""Answers of language models, kept for a while by a hash of all that they depend on.

In memory only, and bounded: what a user said must be gone when it is erased, wherever a copy of it is; a process that
ends, a quarter of an hour that passes, or `clear` leaves nothing. (docs/decisions/0008-language-models.md)
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memgraph_server.language.port import Message, Trouble


@dataclass(frozen=True, slots=True)
class Given:
    """What an endpoint gave: its text; `cut`: it ended at the limit of tokens."""

    text: str
    trouble: Trouble = Trouble.NONE
    cut: bool = False


@dataclass(slots=True)
class Answers:
    """Thread-safe; the least recently used go first."""

    most: int = 4096
    seconds: float = 900.0
    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[str, tuple[float, Given]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: str) -> Given | None:
        with self._lock:
            since, given = self._kept.get(key, (0.0, None))
            if given is None:
                return None
            if self.clock() - since > self.seconds:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return given

    def put(self, key: str, given: Given) -> None:
        with self._lock:
            self._kept[key] = (self.clock(), given)
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


def key_of(place: tuple[str, str], messages: Sequence[Message], schema: str, max_tokens: int) -> str:
    """Endpoint, model, prompt (whose text is its version), material and form."""
    said = [*place, schema, max_tokens, *((one.role, one.text) for one in messages)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
