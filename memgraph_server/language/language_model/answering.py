"""Answers with citations, from evidence and from nothing else (REAL, §III-C).

Facts and turns are given to the model under marks, F1, T1, not under their ids: a mark that was not given is no
citation, and is taken out of the text, also while it streams. "UNKNOWN" is an abstention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memgraph_server.language.language_model.wire import clean
from memgraph_server.memory.facts import STABLE_THRESHOLD
from memgraph_server.memory.interval import isoformat
from memgraph_server.memory.proposals import triple_text
from memgraph_server.memory.turns import Turn
from memgraph_server.retrieval.evidence import Evidence, EvidenceFact

MOST_TOKENS = 400
#: What an abstention says.
NOT_FOUND = "The memory does not hold the answer to this."

_MARK = re.compile(r"\[\s*((?:[FT]\d+)(?:\s*[,;]\s*[FT]\d+)*)\s*\]", re.IGNORECASE)
#: Anything in brackets that looks like a citation, whichever it names.
_CITATION = re.compile(r"\s?\[[^\]\[\n]{0,80}\]")
#: In brackets, letters and digits together: an id that was never given. "[sic]" and "[2021]" are none.
_LIKE_AN_ID = re.compile(r"[^\W\d].*\d|\d.*[^\W\d]")
#: Longest citation that is held back while it streams.
_LONGEST = 82
_UNKNOWN = re.compile(r"\W*(?:UNKNOWN\b|unknown\W*\Z)")


@dataclass(frozen=True, slots=True)
class Citation:
    """`kind`: "fact" or "turn"; `id`: of what was given under the mark."""

    mark: str
    kind: str
    id: str


def sources(evidence: Evidence) -> dict[str, Citation]:
    """Marks of all that may be cited."""
    facts = [Citation(f"F{n}", "fact", one.fact.id) for n, one in enumerate(evidence.facts, start=1)]
    turns = [Citation(f"T{n}", "turn", one.turn.id) for n, one in enumerate(evidence.turns, start=1)]
    return {one.mark: one for one in (*facts, *turns)}


def material(evidence: Evidence) -> Mapping[str, Any]:
    """The user message: question, time, and the evidence under its marks."""
    return {
        "question": clean(evidence.question.text),
        "now": isoformat(evidence.reference_time),
        "asked_by": clean(evidence.question.speaker or ""),
        "facts": {f"F{number}": _fact(one) for number, one in enumerate(evidence.facts, start=1)},
        "turns": {f"T{number}": turn_material(one.turn) for number, one in enumerate(evidence.turns, start=1)},
    }


def turn_material(turn: Turn) -> Mapping[str, str]:
    """A turn as the model is shown it."""
    return {
        "at": isoformat(turn.at),
        "speaker": clean(turn.speaker or turn.role.value),
        "text": clean(turn.full_text()),
    }


def _fact(one: EvidenceFact) -> str:
    start, end = isoformat(one.fact.valid_from)[:10], one.fact.valid_to
    until = "" if end is None else f" to {isoformat(end)[:10]}"
    doubt = f"{', uncertain' if one.confidence < STABLE_THRESHOLD else ''}{', inferred' if one.rule else ''}"
    return clean(f"{triple_text(one.head_name, one.fact.relation, one.tail_name)} (from {start}{until}{doubt})")


def is_unknown(text: str) -> bool:
    """The model's word for an abstention, or nothing at all."""
    return not text.strip() or _UNKNOWN.match(text) is not None


def without_marks(text: str) -> str:
    """The statements alone."""
    return _MARK.sub("", text).replace(" .", ".").replace(" ,", ",").strip()


def cited(text: str, known: Mapping[str, Citation]) -> tuple[Citation, ...]:
    """What the text cites, in order, each once."""
    marks = [mark.upper() for found in _MARK.finditer(text) for mark in re.split(r"\s*[,;]\s*", found[1])]
    return tuple(known[mark] for mark in dict.fromkeys(marks) if mark in known)


def checked(pieces: Iterable[str], known: Mapping[str, Citation]) -> Iterator[str]:
    """The text as it comes, with citations of what was not given taken out; a bracket is held back until it closes."""
    held = ""
    for piece in pieces:
        held += piece
        ready, held = _ready(held)
        if ready:
            yield _without_unknown(ready, known)
    if held:
        yield _without_unknown(held, known)


def _ready(text: str) -> tuple[str, str]:
    """What can be passed on, and what waits: from an open bracket, and from a space that may stand before one."""
    opening = text.rfind("[")
    if opening >= 0 and "]" not in text[opening:] and len(text) - opening < _LONGEST:
        start = opening - (text[opening - 1 : opening] == " ")
        return text[:start], text[start:]
    return (text[:-1], " ") if text.endswith(" ") else (text, "")


def _without_unknown(text: str, known: Mapping[str, Citation]) -> str:
    def kept(found: re.Match[str]) -> str:
        inner = _MARK.fullmatch(found[0].strip())
        if inner is None:
            return "" if _LIKE_AN_ID.search(found[0]) else found[0]
        marks = [mark.upper() for mark in re.split(r"\s*[,;]\s*", inner[1]) if mark.upper() in known]
        return f"{' ' if found[0][:1].isspace() else ''}[{', '.join(marks)}]" if marks else ""

    return _CITATION.sub(kept, text)
