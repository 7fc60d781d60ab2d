"""What finds turns: postings of the inverted index, vectors, and the cards that ranking reads (0001, 0005)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from memgraph_server.stores.neo4j_store.connection import Query, Row, Statements
from memgraph_server.stores.neo4j_store.vectors import candidates_for, similarities
from memgraph_server.stores.port import CardVectors, CorpusSize, Floats, Posting, TurnCard
from memgraph_server.stores.quantized import Space, restored

#: A term in more turns than this says nothing about one of them; its postings are not read.
CEILING = 50_000
CORPUS = Query("the corpus of a namespace", "MATCH (n:Namespace {name: $namespace}) RETURN n.turns, n.terms")
POSTINGS = Query(
    "postings of terms",
    """
    UNWIND $terms AS term
    MATCH (t:Term {namespace: $namespace, term: term})
    OPTIONAL CALL (t) {
        MATCH (p:Posting) WHERE t.documents <= $ceiling AND p.namespace = $namespace AND p.term = t.term
            AND p.segment >= 0
        RETURN p.segment AS segment, p.handles AS handles, p.counts AS counts
    }
    RETURN t.term, t.documents, segment, handles, counts ORDER BY t.term, segment""",
)
NEAREST = Query(
    "the nearest turns of a namespace",
    """
    MATCH (t:Turn)
    SEARCH t IN (
        VECTOR INDEX embedding FOR $vector
        WHERE t.namespace = $namespace AND t.embedder = $embedder AND t.handle >= 0 LIMIT $limit
    ) SCORE AS score
    RETURN collect([t.handle, t.pooled])""",
    listed=True,
)
CARDS = Query(
    "cards of turns",
    """
    UNWIND $handles AS handle
    MATCH (t:Turn {namespace: $namespace, handle: handle})
    OPTIONAL MATCH (before:Turn)-[:NEXT]->(t)
    OPTIONAL MATCH (t)-[:NEXT]->(after:Turn)
    RETURN collect([t.handle, t.id, t.session, t.position, t.role, t.speaker, t.at, t.recorded_at, t.length,
        t.characters, before.handle, after.handle])""",
    listed=True,
)
VECTORS = Query(
    "vectors of turns",
    """
    UNWIND $handles AS handle
    MATCH (t:Turn {namespace: $namespace, handle: handle}) WHERE t.embedder = $embedder
    RETURN collect([t.handle, t.pooled, t.token_bits, t.pieces])""",
    listed=True,
)


def corpus_size(ask: Statements, namespace: str) -> CorpusSize:
    row = ask.one(CORPUS, namespace=namespace)
    return CorpusSize(0, 0) if row is None else CorpusSize(*row)


def postings(ask: Statements, namespace: str, terms: Sequence[str]) -> dict[str, Posting]:
    """Of each term that occurs anywhere in the namespace."""
    segments: defaultdict[str, list[Row]] = defaultdict(list)
    documents: dict[str, int] = {}
    wanted = list(dict.fromkeys(terms))
    for term, count, segment, handles, counts in (
        ask(POSTINGS, namespace=namespace, terms=wanted, ceiling=CEILING) if wanted else ()
    ):
        documents[term] = count
        if segment is not None:
            segments[term].append([handles, counts])
    return {term: _posting(count, segments[term]) for term, count in documents.items()}


def _posting(documents: int, segments: Sequence[Row]) -> Posting:
    handles = np.array([handle for part, _ in segments for handle in part], dtype=np.int64)
    counts = np.array([count for _, part in segments for count in part], dtype=np.int32)
    return Posting(documents, handles, counts)


def nearest_turns(ask: Statements, namespace: str, vector: Floats, limit: int, space: Space) -> list[tuple[int, float]]:
    """Candidates by the index, then by the quantized vectors."""
    query = space.usable(vector)
    if query is None or limit == 0:
        return []
    values = {"namespace": namespace, "embedder": space.embedder, "vector": query.tolist()}
    stored = ask.pairs(NEAREST, **values, limit=candidates_for(limit))
    found = similarities(space, query, stored)
    return sorted(found.items(), key=lambda scored: (-scored[1], scored[0]))[:limit]


def turn_cards(ask: Statements, namespace: str, handles: Sequence[int]) -> dict[int, TurnCard]:
    wanted = [int(handle) for handle in dict.fromkeys(handles)]
    rows = ask(CARDS, namespace=namespace, handles=wanted) if wanted else []
    return {row[0]: TurnCard(*row) for row in rows}


def turn_vectors(ask: Statements, namespace: str, handles: Sequence[int], space: Space) -> dict[int, CardVectors]:
    wanted = [int(handle) for handle in dict.fromkeys(handles)]
    rows = ask(VECTORS, namespace=namespace, handles=wanted, embedder=space.embedder) if wanted else []
    return {row[0]: _vectors(row, space) for row in rows if row[1] is not None and len(row[1]) == space.width + 4}


def _vectors(row: Row, space: Space) -> CardVectors:
    handle, pooled, bits, pieces = row
    tokens = np.frombuffer(bits, dtype=np.uint8).reshape(-1, space.width // 8)
    return CardVectors(handle, restored(pooled)[: space.dimension], tokens, tuple(pieces))


def sample_turns(ask: Statements, namespace: str, count: int) -> list[int]:
    """By order of arrival within the namespace, first and last included: handles count from 1 without gaps."""
    turns = corpus_size(ask, namespace).turns
    taken = min(count, turns)
    if taken <= 0:
        return []
    sampled: list[int] = (np.unique(np.linspace(0, turns - 1, taken).round().astype(np.int64)) + 1).tolist()
    return sampled
