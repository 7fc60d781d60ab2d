"""What a vector costs, in time and memory, and what its sign bits lose.

    python -m tests.performance.embedding --locomo FILE [--threads N] [--sentence-transformers DIR] [--json OUT]

Turns and questions are of the file's first conversation, each text once, so that nothing comes from the cache. The
search figures are over its turns (recall of bits against exact cosines) and over a million random rows (time).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.language.onnx_embedder import OnnxEmbedder
from memgraph_server.language.port import Embedder, Encoding
from memgraph_server.language.sentence_transformers_embedder import SentenceTransformersEmbedder
from memgraph_server.stores.vectors import BitIndex, sign_bits
from tests.evaluation.data import LOCOMO
from tests.performance.figures import Figure, arguments, present

ROWS = 1_000_000


def resident() -> float:
    """Of this process, in MB."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1e3


def times(embedder: Embedder, turns: Sequence[str], questions: Sequence[str]) -> tuple[list[Figure], list[Encoding]]:
    """Loading, a turn among others, a question alone, the same question again, and the memory of it all."""
    before, start = resident(), time.perf_counter()
    embedder.encode(["the first text loads the model"])
    loaded, model = time.perf_counter(), resident() - before
    encoded = embedder.encode(turns)
    done = time.perf_counter()
    fresh, again = ([milliseconds(embedder, question) for question in questions] for _ in range(2))
    return [
        Figure("loading", loaded - start, "s"),
        Figure("a turn, the whole conversation at once", (done - loaded) / len(turns) * 1e3, "ms"),
        Figure("word pieces a turn", statistics.mean(len(one.pieces) for one in encoded)),
        Figure("a question, alone: median", statistics.median(fresh), "ms"),
        Figure("a question, alone: slowest of twenty", statistics.quantiles(fresh, n=20)[-1], "ms"),
        Figure("the same question again", statistics.median(again), "ms"),
        Figure("memory of the model", model, "MB"),
        Figure("and with the conversation's vectors, 1.5 kB a word piece", resident() - before, "MB"),
    ], encoded


def milliseconds(embedder: Embedder, text: str) -> float:
    start = time.perf_counter()
    embedder.encode([text])
    return (time.perf_counter() - start) * 1e3


def recall(vectors: np.ndarray, queries: np.ndarray, wanted: int, taken: int) -> float:
    """Of the `wanted` rows with the greatest cosine, the share among the `taken` nearest by bits, in percent."""
    index = BitIndex(vectors.shape[1])
    index.extend(np.arange(len(vectors)), sign_bits(vectors))
    shares = []
    for query in queries:
        best = np.argsort(-(vectors @ query), kind="stable")[:wanted]
        shares.append(np.isin(best, index.nearest(query, taken)[0]).mean())
    return float(np.mean(shares)) * 100


def search_times(dimension: int) -> list[Figure]:
    """Of a million random rows: all of them, a hub with half of them, and a group of about ten."""
    rng = np.random.default_rng(0)
    a = np.where(np.arange(ROWS) % 2, 0, rng.integers(1, ROWS // 10, ROWS))
    index = BitIndex(dimension)
    index.extend(np.arange(ROWS), rng.integers(0, 256, (ROWS, dimension // 8), np.uint8), a=a)
    query = rng.standard_normal(dimension)

    def median(group: int | None) -> float:
        taken = []
        for _ in range(15):
            start = time.perf_counter()
            index.nearest(query, 200, group)
            taken.append((time.perf_counter() - start) * 1e3)
        return statistics.median(taken)

    return [
        Figure("200 nearest of 10⁶ rows", median(None), "ms"),
        Figure("200 nearest of a hub with half of them", median(0), "ms"),
        Figure("nearest of a group of about 5", median(1), "ms"),
        Figure("memory of 10⁶ rows with a group each", index.nbytes / 1e6, "MB"),
    ]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--locomo", type=Path, default=LOCOMO, metavar="FILE")
    parser.add_argument("--threads", type=int, default=None, help="of the ONNX embedder")
    parser.add_argument("--sentence-transformers", type=Path, metavar="DIR", help="measure this model instead")
    given = parser.parse_args()
    conversation = read_conversations(given.locomo)[0]
    turns = list(dict.fromkeys(turn.full_text() for turn in conversation.turns))
    questions = list(dict.fromkeys(probe.text for probe in conversation.probes))
    embedder: Embedder = OnnxEmbedder(threads=given.threads)
    if given.sentence_transformers:
        embedder = SentenceTransformersEmbedder(given.sentence_transformers)
    figures, encoded = times(embedder, turns, questions)
    vectors = np.stack([one.pooled for one in encoded])
    queries = np.stack([one.pooled for one in embedder.encode(questions)])
    figures.append(Figure("top 10 by cosine that are in the top 50 by bits", recall(vectors, queries, 10, 50), "%"))
    figures += search_times(vectors.shape[1])
    present(f"Embedding with {embedder.name}", figures, given.json, turns=len(turns), questions=len(questions))


if __name__ == "__main__":
    main()
