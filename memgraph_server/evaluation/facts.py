"""`memgraph-server eval --facts`: how good the facts themselves are, for each extractor that is set up, in one table.

Rules:
- no store: turns are extracted as the pipeline extracts them (each with the turns before it in its session), and the
  facts' texts are embedded;
- RealMem names what should have been remembered of a session (`gold_memories`): a fact says the same when the cosine
  between its text and the memory's content, as both stand, is at least `SAME`. The best single sentence of the session
  is measured beside it: what keeping the words themselves would reach;
- elsewhere evidence counts: turns that answer a question (its category must need no more than what was said), and
  whether a fact points to them;
- where a conversation has gold memories only their sessions are read, since nothing else of it is measured;
- a turn that a language model could not read, and the local extractor did, is counted as such (`fallback_turns`).
"""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from memgraph_server.actions.read_turns import in_context
from memgraph_server.errors import InvalidInput
from memgraph_server.evaluation.gold_memories import GoldMemory, gold_memories
from memgraph_server.evaluation.progress import progress_on
from memgraph_server.evaluation.report import a_turn
from memgraph_server.evaluation.transcripts import Conversation, read_conversations
from memgraph_server.language.port import Embedder, Extraction, Extractor, Floats, TurnInContext, Usage
from memgraph_server.memory.proposals import triple_text
from memgraph_server.memory.turns import Turn
from memgraph_server.settings import Settings
from memgraph_server.wiring import models_alone

#: Cosine from which on a text says the same as a gold memory.
SAME = 0.7
#: Turns that an extractor is given at once, as a worker takes them.
_BATCH = 32
_NEEDS_MORE_THAN_WAS_SAID = {"open_domain"}
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Session:
    """What is measured of one session. `evidence`: the turns that answer questions, a set for each category."""

    id: str
    turns: tuple[Turn, ...]
    memories: tuple[GoldMemory, ...] = ()
    evidence: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The text of a session that is nearest to one of its gold memories; "" and 0 where it has none."""

    memory: GoldMemory
    text: str
    cosine: float


@dataclass(slots=True)
class Measured:
    """Of one extractor. `evidence`: for each category, turn -> whether a fact points to it; `seconds` of reading."""

    turns: int = 0
    facts: int = 0
    seconds: float = 0.0
    fallback_turns: int = 0
    usage: Usage = field(default_factory=Usage)
    evidence: dict[str, dict[tuple[str, str], bool]] = field(default_factory=lambda: defaultdict(dict))
    nearest: list[Nearest] = field(default_factory=list)


def evaluate_facts(
    path: Path,
    *,
    settings: Settings,
    json_path: Path | None = None,
    limit: int | None = None,
    sessions: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure the facts of a file (or folder); the report, as written to `json_path`.

    `limit`: only the first so many conversations; `sessions`: only the first so many measured sessions of each.
    Raises InvalidInput for a file that cannot be measured, ModelUnavailable where a model that is set cannot be used.
    """
    console = console or Console(quiet=True)
    memories = gold_memories(path)
    chosen = [s for c in read_conversations(path)[:limit] for s in measured_sessions(c, memories, sessions)]
    if not any(s.memories or s.evidence for s in chosen):
        raise InvalidInput(f"{path.name} names no gold memories and no evidence turns", field="path")
    with models_alone(settings) as (embedder, extractors), progress_on(console) as progress:
        sentences = _ticking(progress, "best sentences", chosen)
        by_sentence = [n for s in sentences for n in nearest(s.memories, sentences_of(s.turns), embedder)]
        of = {e.name: measure(_ticking(progress, e.name, chosen), e, embedder) for e in extractors}
        result = report(path.name, embedder.name, len(chosen), by_sentence, of)
    show(result, console)
    if json_path is not None:
        json_path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return result


# -- what is measured


def measured_sessions(
    conversation: Conversation, memories: Mapping[str, Sequence[GoldMemory]], most: int | None = None
) -> list[Session]:
    """The sessions with gold memories, or all of them where the conversation has none; at most `most`."""
    by_id = {sid: tuple(turns) for sid, turns in groupby(conversation.turns, key=lambda turn: turn.session_id)}
    wanted = [sid for sid in by_id if memories.get(sid)] or list(by_id)
    asked = [p for p in conversation.probes if p.answerable and p.category not in _NEEDS_MORE_THAN_WAS_SAID]
    evidence: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    session_of = {turn.id: turn.session_id for turn in conversation.turns}
    for probe in asked:
        for turn_id in probe.evidence_turns:
            evidence[session_of[turn_id]][probe.category].add(turn_id)
    return [
        Session(
            f"{conversation.id}/{sid}",
            by_id[sid],
            tuple(memories.get(sid, ())),
            {category: frozenset(turns) for category, turns in evidence[sid].items()},
        )
        for sid in wanted[:most]
    ]


def sentences_of(turns: Iterable[Turn]) -> list[str]:
    """Each sentence and line of the turns once, with their captions."""
    pieces = (piece.strip() for turn in turns for piece in _SENTENCE_ENDS.split(turn.full_text()))
    return list(dict.fromkeys(piece for piece in pieces if piece))


# -- measuring


def measure(sessions: Iterable[Session], extractor: Extractor, embedder: Embedder) -> Measured:
    """One extractor over sessions."""
    measured = Measured()
    for session in sessions:
        began = time.perf_counter()
        extractions = _extracted(session, extractor)
        measured.seconds += time.perf_counter() - began
        _note(measured, session, extractions)
        texts = [triple_text(p.head, p.relation, p.tail or "").strip() for each in extractions for p in each.proposals]
        measured.nearest += nearest(session.memories, list(dict.fromkeys(texts)), embedder)
    return measured


def _extracted(session: Session, extractor: Extractor) -> list[Extraction]:
    speakers = list(dict.fromkeys(turn.speaker for turn in session.turns))
    contexts: list[TurnInContext] = list(in_context((), session.turns, speakers))
    batches = (contexts[start : start + _BATCH] for start in range(0, len(contexts), _BATCH))
    return [extraction for batch in batches for extraction in extractor.extract(batch)]


def _note(measured: Measured, session: Session, extractions: Sequence[Extraction]) -> None:
    measured.turns += len(session.turns)
    measured.facts += sum(len(each.proposals) for each in extractions)
    measured.fallback_turns += sum(bool(each.trouble) for each in extractions)
    measured.usage = sum((each.usage for each in extractions), measured.usage)
    with_facts = {turn.id for turn, each in zip(session.turns, extractions, strict=True) if each.proposals}
    for category, turn_ids in session.evidence.items():
        measured.evidence[category].update({(session.id, t): t in with_facts for t in turn_ids})


def nearest(memories: Sequence[GoldMemory], texts: Sequence[str], embedder: Embedder) -> list[Nearest]:
    """For each memory the text that is nearest to it."""
    if not memories:
        return []
    if not texts:
        return [Nearest(memory, "", 0.0) for memory in memories]
    cosines = _vectors(embedder, [m.text for m in memories]) @ _vectors(embedder, texts).T
    best = cosines.argmax(axis=1)
    return [
        Nearest(memory, texts[place], round(float(row[place]), 4))
        for memory, row, place in zip(memories, cosines, best, strict=True)
    ]


def _vectors(embedder: Embedder, texts: Sequence[str]) -> Floats:
    return np.stack([encoding.pooled for encoding in embedder.encode(texts)])


# -- reporting


def report(
    name: str, embedder: str, sessions: int, by_sentence: Sequence[Nearest], of: Mapping[str, Measured]
) -> dict[str, Any]:
    """Shares in percent, None where there is nothing to measure; `memories` lists each gold memory with what is
    nearest to it, for marking by hand."""
    return {
        "file": name,
        "embedder": embedder,
        "same_from_cosine": SAME,
        "sessions": sessions,
        "gold_memories": len(by_sentence),
        "best_sentence": {"gold_memories_said": _said(by_sentence)},
        "extractors": {name: _figures(measured) for name, measured in of.items()},
        "memories": list(_memories(by_sentence, of)),
    }


def _figures(measured: Measured) -> dict[str, Any]:
    each = {category: _share(turns.values()) for category, turns in sorted(measured.evidence.items())}
    together = {turn: there for turns in measured.evidence.values() for turn, there in turns.items()}
    usage = measured.usage
    return {
        "turns": measured.turns,
        "facts": measured.facts,
        "facts_a_turn": round(measured.facts / max(1, measured.turns), 2),
        "turns_a_second": round(measured.turns / max(1e-9, measured.seconds), 1),
        "gold_memories_said": _said(measured.nearest),
        "evidence_turns": len(together),
        "evidence_turns_with_a_fact": {"all": _share(together.values()), **each},
        "fallback_turns": measured.fallback_turns,
        "calls": usage.calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "cost_of_a_turn": a_turn(usage, measured.turns),
    }


def _said(found: Sequence[Nearest]) -> float | None:
    return _share([n.cosine >= SAME for n in found])


def _share(them: Iterable[bool]) -> float | None:
    each = list(them)
    return round(100 * sum(each) / len(each), 1) if each else None


def _memories(by_sentence: Sequence[Nearest], of: Mapping[str, Measured]) -> Iterator[dict[str, Any]]:
    for place, sentence in enumerate(by_sentence):
        facts = {name: measured.nearest[place] for name, measured in of.items()}
        yield {
            "id": sentence.memory.id,
            "text": sentence.memory.text,
            "sentence": {"text": sentence.text, "cosine": sentence.cosine},
            "facts": {name: {"text": n.text, "cosine": n.cosine} for name, n in facts.items()},
        }


def show(result: Mapping[str, Any], console: Console) -> None:
    """One row an extractor, and one for the sentences."""
    table = Table(
        title=f"How good the facts are: {result['file']}, {result['sessions']} sessions", title_justify="left"
    )
    for column in ("", "turns", "facts a turn", "turns/s", "gold memories said", "evidence turns with a fact"):
        table.add_column(column, justify="left" if not column else "right")
    for name, figures in result["extractors"].items():
        said, evidence = figures["gold_memories_said"], figures["evidence_turns_with_a_fact"]
        row = (figures["turns"], figures["facts_a_turn"], figures["turns_a_second"], _percent(said))
        table.add_row(name, *map(str, row), _by_category(evidence))
    if result["gold_memories"]:
        table.add_row("best single sentence", "", "", "", _percent(result["best_sentence"]["gold_memories_said"]), "")
    console.print(table)
    for name, figures in result["extractors"].items():
        if figures["calls"] or figures["fallback_turns"]:
            console.print(f"{name}: {figures['calls']} calls, {figures['tokens']} tokens, "
                          f"{figures['fallback_turns']} turns read by the fallback", markup=False)  # fmt: skip


def _by_category(shares: Mapping[str, float | None]) -> str:
    return "\n".join(f"{name.replace('_', ' ')} {_percent(share)}" for name, share in shares.items())


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1f} %"


def _ticking(progress: Progress, what: str, sessions: Sequence[Session]) -> Iterator[Session]:
    """The sessions, with a bar that moves as each is done."""
    task = progress.add_task(what, total=len(sessions))
    for session in sessions:
        yield session
        progress.advance(task)


__all__ = ["SAME", "Measured", "Nearest", "Session", "evaluate_facts", "measure", "measured_sessions", "nearest"]
