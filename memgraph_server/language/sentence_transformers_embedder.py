"""Any sentence-transformers model as the embedder: a directory, or a hub name that is in the local cache already.

Rules:
- Nothing is downloaded, ever: a hub name is resolved to a snapshot on this disk, and the model is loaded from there.
  No code that comes with a model is run.
- The package (extra `sentence-transformers`) and torch are imported when the first text is encoded.
- One forward pass gives the pooled vector, as the model's own pooling and normalization define it (mean for MiniLM,
  [CLS] for BGE-m3), and the token vectors. Where a layer after pooling changes the dimension there are no token
  vectors to compare with, and none are given.
- Texts run one at a time, so that a text's vectors do not depend on what it is padded with.
- What was said before a text is not read along: the model's own pooling is defined over all that it reads.
- A text longer than the model's limit, or than LONGEST_PIECES, loses the rest.
- A text is data: a literal "[SEP]" in it is text.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.encodings import EncodingCache, absent, alone, clean, encoding
from memgraph_server.language.port import Encoding, InContext

LONGEST_PIECES = 1024  # attention is quadratic: BGE-m3's 8,192 would take gigabytes a text
LONGEST_CHARACTERS = 65_536
_MEBIBYTE = 2**20
_MODEL_FILES = {".json", ".txt", ".model", ".safetensors", ".bin"}


class SentenceTransformersEmbedder:
    """An `Embedder` (language.port).

    model: a directory with `modules.json`, or a hub name ("BAAI/bge-m3").
    revision: of a hub name: branch, tag or commit; None: the cache's main.
    device: "cpu", "cuda", …; None: CPU, so that the same store gets the same vectors.
    cache_folder: the hub's cache; None: where HF_HOME or its default says.
    """

    def __init__(
        self,
        model: Path | str,
        revision: str | None = None,
        device: str | None = None,
        cache_folder: Path | str | None = None,
    ) -> None:
        self._given = str(model)
        self._revision = revision
        self._device = device or "cpu"
        self._cache_folder = cache_folder
        self._lock = threading.Lock()  # the tokenizer keeps a text's settings while it works: one text at a time
        self._cache = EncodingCache()
        self._name: str | None = None
        self._model: Any = None

    @property
    def name(self) -> str:
        """Model and revision: a hub name and its commit, or a directory's last part and a digest of its files."""
        if self._name is None:
            folder = self._folder()
            if self._is_directory():
                self._name = f"{folder.name}@{_digest(folder)}"
            else:
                self._name = f"{self._given}@{folder.name[:12]}"
        return self._name

    @property
    def dimension(self) -> int:
        return int(self._loaded().get_embedding_dimension())

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        """One encoding a text, in order; arrays are read-only."""
        return self._cache.through([alone(text) for text in texts], self._encode)

    def _encode(self, texts: list[str]) -> list[Encoding]:
        model = self._loaded()
        with self._lock:
            return [self._encode_one(model, clean(text[:LONGEST_CHARACTERS])) for text in texts]

    def _encode_one(self, model: Any, text: str) -> Encoding:
        try:
            (output,) = model.encode([text], output_value=None, batch_size=1, show_progress_bar=False)
        except Exception as error:  # torch raises what it likes: out of memory, a device gone
            raise ModelUnavailable(f"the embedding model {self._given} failed: {error}") from error
        return _encoding(model, output)

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder(), self._device)
            return self._model

    def _is_directory(self) -> bool:
        return bool(self._given) and Path(self._given).is_dir()  # "" would be the working directory

    def _folder(self) -> Path:
        """The directory the model is loaded from. Raises ModelUnavailable where it is not on this disk."""
        if self._is_directory():
            return Path(self._given).resolve()
        _package()
        from huggingface_hub import snapshot_download

        try:
            found = snapshot_download(
                self._given, revision=self._revision, cache_dir=self._cache_folder, local_files_only=True
            )
        except Exception as error:  # not in the cache, or no name of a model at all
            raise ModelUnavailable(
                f"the embedding model {self._given} is neither a directory nor in the local cache, and nothing is "
                "downloaded at run time: fetch it beforehand, then name its directory"
            ) from error
        return Path(found)


def _package() -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise ModelUnavailable(
            f"sentence-transformers is not installed, or broken ({error}): "
            "install memgraph-server[sentence-transformers]"
        ) from error
    return sentence_transformers


def _load(folder: Path, device: str) -> Any:
    package = _package()
    from transformers.utils import logging

    logging.disable_progress_bar()  # of loading weights: stderr is for the server's own log
    try:
        model = package.SentenceTransformer(str(folder), device=device, local_files_only=True, trust_remote_code=False)
        model.max_seq_length = min(model.max_seq_length or LONGEST_PIECES, LONGEST_PIECES)
        model.tokenizer.split_special_tokens = True
    except Exception as error:  # whatever a broken directory makes the library raise
        raise ModelUnavailable(f"the embedding model in {folder} cannot be loaded: {error}") from error
    return model


def _encoding(model: Any, output: Any) -> Encoding:
    """From the features of one text: rows that are neither padding nor the model's own control tokens."""
    ids = output["input_ids"].cpu().numpy()
    tokenizer = model.tokenizer
    control = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    keep = (output["attention_mask"].cpu().numpy() > 0) & ~np.isin(ids, list(control))
    pooled = output["sentence_embedding"].float().cpu().numpy()
    if not keep.any():
        return absent(len(pooled))
    tokens = output["token_embeddings"].float().cpu().numpy()[keep]
    pieces = tokenizer.convert_ids_to_tokens(ids[keep].tolist())
    if tokens.shape[1] != len(pooled):
        tokens, pieces = np.zeros((0, len(pooled)), np.float32), []
    return encoding(pooled, tokens, pieces)


def _digest(folder: Path) -> str:
    """Of names, sizes, and the first and last mebibyte of each model file: tells models apart without reading 2 GB."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _MODEL_FILES and path.is_file()):
        size = path.stat().st_size
        total.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            total.update(file.read(_MEBIBYTE))
            file.seek(max(size - _MEBIBYTE, 0))
            total.update(file.read(_MEBIBYTE))
    return total.hexdigest()[:12]
