"""`memgraph-server eval --passages`: are all supporting passages of a multi-hop question among the best ranked?

A folder of MuSiQue as HippoRAG prepared it: questions with their paragraphs (`is_supporting`), the corpus, and open
triples of each passage (`docs[].extracted_triples`). Told apart by their shape, not their names.

Rules:
- a passage is a turn, in a session of its own, title before text; its triples are its facts. Nothing is extracted, so
  what is measured is the graph and the search over it;
- the real query path ranks; what it returned is taken best first;
- a question counts at k when all its supporting passages are among the first k; the share of them is beside it;
- the memory without the second hop, and without its facts at all (their weight in the ranking, that of the walk and
  that of the second hop 0), BM25 and dense vectors rank the same passages in the same run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from memgraph_server import wiring
from memgraph_server.actions.ask import find_evidence, shipped_ranking
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.baselines import Bm25, Dense, words
from memgraph_server.evaluation.pipeline import opened
from memgraph_server.evaluation.progress import progress_on
from memgraph_server.evaluation.transcripts import load
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.retrieval.evidence import Question
from memgraph_server.retrieval.fusion import Ranking
from memgraph_server.settings import Settings
from memgraph_server.stores.port import TurnOutcome, TurnVectors

FIRST = (5, 10)
NAMESPACE = "passages"
#: Tokens: passages are some hundred long, and the best ten must fit.
BUDGET = 8192
_BATCH = 64
_FIELDS = ("id", "question", "paragraphs")

Triple = tuple[str, str, str]
Ranker = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Passage:
    """`id`: its place in the corpus."""

    id: str
    title: str
    text: str
    triples: tuple[Triple, ...]

    def turn(self, at: int) -> Turn:
        return Turn(self.id, self.id, Role.USER, "", f"{self.title}\n{self.text}", at)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the ids of all passages that its answer needs."""

    text: str
    hops: int
    supporting: frozenset[str]


@dataclass(slots=True)
class Found:
    """Of one ranker, by k: whether all were found, and the share that was, a question each."""

    whole: dict[int, list[bool]] = field(default_factory=lambda: {k: [] for k in FIRST})
    share: dict[int, list[float]] = field(default_factory=lambda: {k: [] for k in FIRST})

    def note(self, ranked: Sequence[str], supporting: frozenset[str]) -> None:
        for k in FIRST:
            share = len(supporting & set(ranked[:k])) / len(supporting)
            self.share[k].append(share)
            self.whole[k].append(share == 1.0)

    def figures(self) -> dict[str, float]:
        whole = {f"all_at_{k}": _percent(self.whole[k]) for k in FIRST}
        return whole | {f"share_at_{k}": _percent(self.share[k]) for k in FIRST}


def evaluate_passages(
    path: Path,
    *,
    settings: Settings,
    json_path: Path | None = None,
    limit: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure a folder; the report, as written to `json_path`. `limit`: only the first questions.

    Raises InvalidInput where the folder does not hold questions, a corpus and triples.
    """
    console = console or Console(quiet=True)
    passages, questions = read_folder(path)
    questions = questions[:limit]
    with opened(settings, None) as services, progress_on(console) as progress:
        store_passages(services, passages, progress)
        rankers = _rankers(services, passages)
        found = {name: Found() for name in rankers}
        asking = progress.add_task("questions", total=len(questions))
        for question in questions:
            for name, rank in rankers.items():
                found[name].note(rank(question.text), question.supporting)
            progress.advance(asking)
    result = {
        "folder": path.name,
        "passages": len(passages),
        "triples": sum(len(passage.triples) for passage in passages),
        "questions": len(questions),
        "rankers": {name: each.figures() for name, each in found.items()},
    }
    show(result, console)
    if json_path is not None:
        json_path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


# -- reading


def read_folder(path: Path) -> tuple[list[Passage], list[Asked]]:
    """Raises InvalidInput naming what is missing."""
    if not path.is_dir():
        raise InvalidInput(f"{path} is no folder; see docs/evaluation-format.md", field="path")
    documents = [load(file) for file in sorted(path.glob("*.json"))]
    triples = next((d["docs"] for d in documents if isinstance(d, dict) and isinstance(d.get("docs"), list)), None)
    lists = [d for d in documents if isinstance(d, list) and d and isinstance(d[0], dict)]
    corpus = next((d for d in lists if {"title", "text"} <= d[0].keys()), None)
    questions = next((d for d in lists if set(_FIELDS) <= d[0].keys()), None)
    for name, found in (("questions", questions), ("a corpus", corpus), ("triples (docs)", triples)):
        if found is None:
            raise InvalidInput(f"{path} holds no JSON file with {name}; see docs/evaluation-format.md", field="path")
    try:
        passages = _passages(corpus or [], triples or [])
        places = {(passage.title, passage.text): passage.id for passage in passages}
        return passages, [_asked(question, places) for question in questions or []]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path}: not MuSiQue's form ({error!r})", field="path") from error


def _passages(corpus: Sequence[Mapping[str, Any]], docs: Sequence[Mapping[str, Any]]) -> list[Passage]:
    extracted = {(str(doc["title"]), str(doc["text"])): doc["extracted_triples"] for doc in docs}
    return [
        Passage(
            f"p{place}",
            str(each["title"]),
            str(each["text"]),
            tuple(_triples(extracted.get((each["title"], each["text"]), ()))),
        )
        for place, each in enumerate(corpus)
    ]


def _triples(rows: Iterable[Sequence[object]]) -> Iterable[Triple]:
    """A model wrote them: those that are not three texts are passed over."""
    for row in rows:
        parts = [str(part).strip() for part in row if isinstance(part, str)]
        if len(row) == len(parts) == 3 and all(parts):
            yield parts[0], parts[1], parts[2]


def _asked(question: Mapping[str, Any], places: Mapping[tuple[str, str], str]) -> Asked:
    wanted = [each for each in question["paragraphs"] if each["is_supporting"]]
    if not wanted:
        raise ValueError(f"question {question['id']!r} has no supporting paragraph")
    supporting = frozenset(places[each["title"], each["paragraph_text"]] for each in wanted)
    return Asked(str(question["question"]), len(wanted), supporting)


# -- the memory


def store_passages(services: wiring.Services, passages: Sequence[Passage], progress: Progress) -> None:
    """Turns, their vectors and the given facts, as a worker brings them."""
    reading = progress.add_task("passages", total=len(passages))
    now = wiring.clock()
    for start in range(0, len(passages), _BATCH):
        batch = passages[start : start + _BATCH]
        turns = [passage.turn(now + start + place) for place, passage in enumerate(batch)]
        services.store.append_turns(NAMESPACE, turns, job_id=f"j{start}", now=wiring.clock())
        for outcome in _outcomes(services, batch, turns):
            services.store.apply_outcome(NAMESPACE, outcome, lease=None, now=wiring.clock())
        progress.advance(reading, len(batch))


def _outcomes(services: wiring.Services, passages: Sequence[Passage], turns: Sequence[Turn]) -> Iterable[TurnOutcome]:
    texts = list(dict.fromkeys(triple_text(*triple) for passage in passages for triple in passage.triples))
    encodings = services.embedder.get().encode([*(turn.full_text() for turn in turns), *texts])
    vectors = {text: encoding.pooled for text, encoding in zip(texts, encodings[len(turns) :], strict=True)}
    for passage, turn, encoding in zip(passages, turns, encodings, strict=False):
        said = tuple(
            Proposal(head, relation, tail, turn.at, turn.at, turn_id=turn.id)
            for head, relation, tail in dict.fromkeys(passage.triples)
        )
        read = TurnVectors(encoding.pooled, encoding.tokens, encoding.pieces)
        yield TurnOutcome(turn.id, said, (), read, vectors)


def _rankers(services: wiring.Services, passages: Sequence[Passage]) -> dict[str, Ranker]:
    ids = [passage.id for passage in passages]
    turns = [passage.turn(place) for place, passage in enumerate(passages)]
    bm25, dense = Bm25(words), Dense(services.embedder.get())
    for each in (bm25, dense):
        each.add(turns)
    shipped = shipped_ranking()
    one_hop, without = shipped.without("hop"), shipped.without("facts", "graph", "hop")
    return {
        "memory": lambda text: _ranked(services, text, shipped),
        "memory, without the second hop": lambda text: _ranked(services, text, one_hop),
        "memory, without its facts": lambda text: _ranked(services, text, without),
        "bm25": lambda text: [ids[place] for place in bm25.ranked(text)],
        "dense": lambda text: [ids[place] for place in dense.ranked(text)],
    }


def _ranked(services: wiring.Services, text: str, ranking: Ranking) -> list[str]:
    found = find_evidence(
        services.store,
        NAMESPACE,
        services.embedder.get(),
        Question(text=text, now=wiring.clock(), token_budget=BUDGET),
        ranking=ranking,
        registry=services.relations,
    )
    return [one.turn.id for one in sorted(found.turns, key=lambda one: -one.score)]


# -- reporting


def _percent(values: Sequence[float]) -> float:
    return round(100.0 * float(np.mean(values)), 1) if values else 0.0


def show(result: Mapping[str, Any], console: Console) -> None:
    columns = [(f"{what}_at_{k}", f"{what} at {k}") for what in ("all", "share") for k in FIRST]
    counts = f"{result['questions']} questions, {result['passages']:,} passages, {result['triples']:,} triples"
    table = Table(title="Supporting passages found, percent", caption=counts)
    table.add_column("ranked by")
    for _, title in columns:
        table.add_column(title, justify="right")
    for name, figures in result["rankers"].items():
        table.add_row(name, *(f"{figures[key]:.1f}" for key, _ in columns))
    console.print(table)
