"""What callers send. Shapes and types only; what the values may be is in `actions/inputs.py`, for all edges alike.

A member that is not known is refused, since it is a misspelt one (`valid_form`) whose value would be lost silently;
attachments alone may carry more than is kept. Times are text here: their rules have one home.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat

from memgraph_server.actions.assert_facts import GivenAssertion
from memgraph_server.actions.inputs import MAX_ASSERTIONS, MAX_ID, MAX_IDS, MAX_NAME, MAX_TURNS, GivenTurn

Id = Annotated[str, Field(description=f"1 to {MAX_ID} characters, no slashes or control characters")]
Time = Annotated[str, Field(description="RFC 3339 with a zone", examples=["2023-05-08T13:56:00-04:00"])]
Date = Annotated[
    str,
    Field(
        description="RFC 3339 with a zone, or a day, month or year in UTC, which stands for its first instant",
        examples=["2020-03", "2020-03-05T10:00:00Z"],
    ),
]
Name = Annotated[str, Field(description=f"1 to {MAX_NAME} characters")]


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Attachment(Payload):
    """A shared image or file; its caption is what is kept and searched, other members are not kept."""

    model_config = ConfigDict(extra="ignore")

    caption: str = ""


class TurnIn(Payload):
    """One utterance, kept verbatim."""

    id: Id | None = None
    role: Annotated[str, Field(description="user, assistant, system or tool")] = "user"
    speaker: Annotated[str | None, Field(description="the speaker's name, where there is one")] = None
    text: Annotated[str, Field(description="at most 256 KiB of UTF-8; empty only beside a caption")]
    at: Time
    attachments: list[Attachment] | None = None

    def given(self) -> GivenTurn:
        captions = tuple(attachment.caption for attachment in self.attachments or ())
        return GivenTurn(self.text, self.at, self.role, self.speaker or "", self.id, captions)


class TurnsIn(Payload):
    session_id: Id
    turns: Annotated[list[TurnIn], Field(description=f"1 to {MAX_TURNS}, oldest first")]


class AssertionIn(Payload):
    """A claim, or the ending of one, asserted without a model."""

    id: Id | None = None
    head: Name
    relation: Annotated[str, Field(description="a relation's name, such as lives_in; any text", examples=["lives_in"])]
    tail: Annotated[str | None, Field(description="may be left out by an ending, which then ends every tail")] = None
    valid_from: Annotated[Date | None, Field(description="left out: evidence_at; of an ending: its instant")] = None
    valid_to: Date | None = None
    confidence: Annotated[StrictFloat | None, Field(description="0 to 1; left out: 1; below 0.8 it is hedged")] = None
    intent: Annotated[str | None, Field(description="FACT (default), CAUSAL, TEMPORAL, CONTRAST or EVOLUTION")] = None
    polarity: Annotated[str | None, Field(description="claim (default) or ending")] = None
    ongoing: Annotated[
        StrictBool | None,
        Field(description="it holds while being said; left out: true where it is open and evidence_at was given"),
    ] = None
    evidence_at: Annotated[Date | None, Field(description="when it was said; left out: now")] = None
    turn_id: Annotated[Id | None, Field(description="the turn that says so, if one does")] = None

    def given(self) -> GivenAssertion:
        return GivenAssertion(**self.model_dump())


class AssertionsIn(Payload):
    assertions: Annotated[list[AssertionIn], Field(description=f"1 to {MAX_ASSERTIONS}; all are stored or none")]


class ReasonIn(Payload):
    reason: Annotated[str, Field(description="why, kept beside what is withdrawn")] = ""


class MergeIn(Payload):
    into: Annotated[Id, Field(description="the entity that stands for both from now on")]


class IdsIn(Payload):
    ids: Annotated[list[Id], Field(description=f"1 to {MAX_IDS} turn ids")]


class QueryIn(Payload):
    """A question. `known_at` answers from what was believed then; `reference_time` is the instant it is about."""

    query: str
    reference_time: Date | None = None
    known_at: Date | None = None
    token_budget: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 2048
    speaker: Annotated[str | None, Field(description="who asks, or is asked about as I")] = None
    session_id: Id | None = None
    history: Annotated[
        list[str | dict[str, Any]] | None,
        Field(description="the live prompt, oldest first: texts, or chat messages with role and content"),
    ] = None
    evaluator: Annotated[
        str | None,
        Field(description="local: scores without a language model; llm: it reads the question and judges the paths"),
    ] = None
    beams: Annotated[int, Field(ge=1, le=50, strict=True)] = 5
    depth: Annotated[int, Field(ge=1, le=10, strict=True)] = 3
    candidates: Annotated[int, Field(ge=1, le=50, strict=True)] = 5
    explain: StrictBool = False
