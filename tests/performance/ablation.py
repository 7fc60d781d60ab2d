"""What each part of the ranking adds: recall of all evidence without it, over the same signals of the same turns.

    python -m tests.performance ablation FILE [--budget 512 1024 2048 4096] [--keep FOLDER] [--json OUT]

Every conversation is read and asked as `eval` does it; the signals of each question's candidates (those of 4,096
tokens: the 256 best) are kept, and weighed anew for every row. `--keep`: as of `eval`, where all is asked at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.progress import Progress

from memgraph_server.actions.ask import shipped_ranking
from memgraph_server.evaluation.learn import Seen, ranked, seen_of, without_tokens
from memgraph_server.evaluation.pipeline import Pipeline, namespace_of, opened
from memgraph_server.evaluation.run import can_be_kept
from memgraph_server.evaluation.transcripts import Conversation, read_conversations
from memgraph_server.retrieval.fusion import Ranking
from memgraph_server.settings import Settings
from memgraph_server.stores.port import TurnCard
from tests.performance.figures import Figure, arguments, present

BUDGETS = (512, 1024, 2048, 4096)
#: Tokens whose candidates are kept.
KEPT = 4096
#: And of these, by category.
SPLIT_AT = 2048
#: What a row leaves out, by name: signals whose weight becomes 0.
PARTS: Mapping[str, tuple[str, ...]] = {
    "without facts in the ranking": ("facts", "graph", "hop"),
    "without the walk's own weight": ("graph",),
    "without the second hop": ("hop",),
    "without token vectors": ("late", "own", "hop"),
    "without pooled vectors": ("pooled",),
    "without words": ("lexical",),
    "without turn search": ("lexical", "late", "own", "pooled", "hop"),
    "without the speaker": ("speaker",),
    "without time": ("time",),
    "without recency": ("recency",),
    "without lowering questions": ("question",),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and what it takes to rank its candidates anew."""

    category: str
    seen: Seen


def rankings() -> dict[str, Ranking]:
    """By row: the ranking that ships, and what is left of it without a part."""
    shipped = shipped_ranking()
    rows = {"as it ships": shipped}
    for name, parts in PARTS.items():
        rows[name] = shipped.without(*parts)
    rows["without taking out length"] = replace(shipped, length=0.0)
    rows["without a session's strength"] = replace(shipped, session=0.0)
    rows["without repetition"] = replace(shipped, repeat={})
    rows["repetition counted alike for every question (1.3)"] = replace(
        shipped, repeat=dict.fromkeys(shipped.repeat, 1.3)
    )
    return rows


def asked(conversations: Sequence[Conversation], keep: Path | None) -> Iterator[Asked]:
    """By the real pipeline and query path; no question sees its future."""
    with opened(Settings(), keep) as services, Progress() as progress:
        for conversation in conversations:
            pipeline = Pipeline(services, namespace_of(conversation, services))
            ready = keep is not None and can_be_kept(conversation) and pipeline.holds(conversation)
            if not ready:
                pipeline.erase()
            reading = progress.add_task(conversation.id, total=len(conversation.turns))
            cards: dict[int, TurnCard] = {}
            for said, probes in conversation.steps():
                if not ready:
                    pipeline.ingest(said, lambda more, task=reading: progress.advance(task, more))  # type: ignore[misc]
                for probe in probes:
                    if probe.answerable:
                        found = without_tokens(ranked(pipeline, probe, KEPT), cards)
                        yield Asked(probe.category, seen_of(probe, found))


def figures(questions: Sequence[Asked], budgets: Sequence[int]) -> list[Figure]:
    """Percent of questions: each row at each budget, and at 2,048 tokens by category."""
    found = []
    for name, ranking in rankings().items():
        each_found = [each.seen.found_by(ranking, *budgets) for each in questions]
        hits = {budget: [one[place] for one in each_found] for place, budget in enumerate(budgets)}
        found += [Figure(f"{name}, {budget:,}", percent(whole), "%") for budget, whole in hits.items()]
        if SPLIT_AT in hits:
            found += split(f"{name}, {SPLIT_AT:,}", [each.category for each in questions], hits[SPLIT_AT])
    return found


def split(name: str, keys: Sequence[str], hits: Sequence[bool]) -> list[Figure]:
    by_key: defaultdict[str, list[bool]] = defaultdict(list)
    for key, hit in zip(keys, hits, strict=True):
        by_key[key].append(hit)
    return [Figure(f"{name}, {key}", percent(of_key), "%") for key, of_key in sorted(by_key.items())]


def percent(hits: Sequence[bool]) -> float:
    return round(100.0 * float(np.mean(hits)), 1) if hits else 0.0


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("file", type=Path, help="LoCoMo's file, RealMem's folder, or transcripts of your own")
    parser.add_argument("--budget", type=int, nargs="+", default=list(BUDGETS))
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    questions = list(asked(read_conversations(options.file), options.keep))
    present("What each part adds", figures(questions, options.budget), options.json, questions=len(questions))


if __name__ == "__main__":
    main()
