"""The forms in which language models are asked to reply. No ids: a model is never asked for one, nor believed one.

Members are lenient: numbers for texts, texts for numbers, other names (`also`); what is out of
range is brought into it.
What a member means is said in `prompts/`; whether it is believed, in `extraction.py`, `reading.py` and `judging.py`.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from memgraph_server.language.language_model.wire import clean

#: Longest text of one member that is looked at.
LONGEST = 600
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORDS = {"high": 0.9, "certain": 0.95, "sure": 0.95, "medium": 0.6, "moderate": 0.6, "low": 0.4, "unsure": 0.4}
_YES = frozenset({"true", "yes", "1", "y"})


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        value = ", ".join(str(one) for one in value if isinstance(one, str | int | float))
    if isinstance(value, dict):
        value = value.get("name", "")
    return clean(str(value).strip()[:LONGEST])


def share(value: Any) -> float | None:
    """A number in [0, 1] out of a number, "0.9", "90%" or a word; None where it says nothing."""
    if isinstance(value, str):
        word, found = value.strip().lower(), _NUMBER.search(value)
        if found is None:
            return _WORDS.get(word)
        value = float(found[0]) / (100 if "%" in value else 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return min(1.0, max(0.0, float(value)))


def _number(value: Any) -> int:
    found = _NUMBER.search(str(value))
    return int(float(found[0])) if found is not None and len(found[0]) < 9 else 0


def _flag(value: Any) -> bool:
    return value is True or str(value).strip().lower() in _YES


Text = Annotated[str, BeforeValidator(_text)]
Share = Annotated[float | None, BeforeValidator(share)]
Number = Annotated[int, BeforeValidator(_number)]
Flag = Annotated[bool, BeforeValidator(_flag)]


def _member(default: Any, *also: str) -> Any:
    extra: Any = {"also": list(also)}
    return Field(default, json_schema_extra=extra)


class FactForm(BaseModel):
    """One fact that a turn states."""

    turn: Number = _member(0, "turn_number", "turn_id", "n")
    head: Text = _member(..., "subject", "entity", "who", "source", "from", "entity1")
    relation: Text = _member(..., "predicate", "rel", "property", "relationship", "verb")
    tail: Text = _member(..., "object", "value", "target", "to", "entity2")
    evidence: Text = _member("", "quote", "text", "span", "source_text", "words", "sentence")
    when: Text = _member("", "time", "date", "temporal", "at", "timestamp")
    kind: Text = _member("", "type", "tense", "manner")
    ended: Flag = _member(False, "is_ended", "ending", "end", "no_longer")
    confidence: Share = _member(None, "certainty", "score", "probability")
    intent: Text = _member("", "label", "intention")


class FactsForm(BaseModel):
    facts: list[FactForm] = Field(
        default_factory=list, json_schema_extra={"also": ["triples", "results", "items", "memories", "relations"]}
    )


class RootForm(BaseModel):
    name: Text = _member(..., "entity", "root", "head")
    intent: Text = _member("", "label", "intention", "type")


class QuestionForm(BaseModel):
    roots: list[RootForm] = Field(default_factory=list, json_schema_extra={"also": ["entities", "root_entities"]})
    when: Text = _member("", "time", "date", "reference_time", "temporal")
    uncertain: Flag = _member(False, "is_uncertain", "uncertainty", "hypothetical")


class ScoreForm(BaseModel):
    path: Number = _member(..., "path_id", "number", "n", "id")
    relevance: Share = _member(None, "query_relevance", "s_qr", "qr")
    coherence: Share = _member(None, "logical_coherence", "s_lc", "lc")
    sufficiency: Share = _member(None, "answer_sufficiency", "s_as", "as")
    stop: Flag = _member(False, "is_stop", "done", "decision")


class GradeForm(BaseModel):
    """Whether an answer is right, as a judge of answers sees it."""

    reason: Text = _member("", "explanation", "reasoning", "why")
    verdict: Text = _member(..., "label", "grade", "judgement", "judgment", "correct", "is_correct", "result")


class ScoresForm(BaseModel):
    scores: list[ScoreForm] = Field(
        default_factory=list, json_schema_extra={"also": ["paths", "judgements", "judgments", "results"]}
    )
