"""What all embedders share: text made acceptable, vectors made unit and read-only, encodings remembered.

A text without any word piece (empty, white space) is absent: its pooled vector is zeros, which are near to nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from memgraph_server.language.port import Encoding, Floats, InContext

Text = TypeVar("Text", bound=str | InContext)

CACHED_CHARACTERS = 200  # questions, triples and short turns come again; long turns do not


def clean(text: str) -> str:
    """What tokenizers accept: pairs of surrogates joined, lone ones and NUL dropped."""
    text = text.replace("\x00", "")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return text


def alone(text: str | InContext) -> str:
    """The text without its context, for embedders that do not read along."""
    return text.text if isinstance(text, InContext) else text


def encoding(pooled: Floats, tokens: Floats, pieces: Sequence[str]) -> Encoding:
    """Scaled to unit length and read-only, since equal texts share one encoding. A zero vector stays zero."""
    return Encoding(_read_only(_unit(pooled)), _read_only(_unit(tokens)), tuple(pieces))


def absent(dimension: int) -> Encoding:
    return encoding(np.zeros(dimension, np.float32), np.zeros((0, dimension), np.float32), ())


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = (rows / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    return scaled


def _read_only(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


class EncodingCache:
    """The encodings of short texts used last, up to about `limit` bytes. Thread-safe. What has a context is not kept:
    it does not come again."""

    def __init__(self, limit: int = 16 * 2**20) -> None:
        self._limit = limit
        self._held = 0
        self._entries: OrderedDict[str | InContext, Encoding] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._held

    def through(self, texts: Sequence[Text], encode: Callable[[list[Text]], list[Encoding]]) -> list[Encoding]:
        """Encodings of `texts` in order; `encode` is asked once, for those not held, each of them once."""
        found = {text: held for text in texts if (held := self._get(text)) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            found.update(zip(missing, encode(missing), strict=True))
        for text in missing:
            self._put(text, found[text])
        return [found[text] for text in texts]

    def _get(self, text: str | InContext) -> Encoding | None:
        with self._lock:
            if text in self._entries:
                self._entries.move_to_end(text)
            return self._entries.get(text)

    def _put(self, text: str | InContext, held: Encoding) -> None:
        if isinstance(text, InContext) or len(text) > CACHED_CHARACTERS:
            return
        with self._lock:
            if text not in self._entries:
                self._entries[text] = held
                self._held += _size(held)
            while self._held > self._limit:
                self._held -= _size(self._entries.popitem(last=False)[1])


def _size(held: Encoding) -> int:
    return held.pooled.nbytes + held.tokens.nbytes + 60 * len(held.pieces) + 500
