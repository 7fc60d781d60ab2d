"""Questions in, answers with citations out; whole, or as server-sent events while they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictBool
from starlette.responses import Response, StreamingResponse

from memgraph_server.actions import answer as answers
from memgraph_server.actions.questions import question_of
from memgraph_server.api import problems
from memgraph_server.api.dependencies import Has, Readable
from memgraph_server.api.evidence_answers import EvidenceOut
from memgraph_server.api.payloads import QueryIn
from memgraph_server.errors import MemgraphServerError
from memgraph_server.memory.interval import isoformat
from memgraph_server.wiring import clock

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["query"])

_EVENTS = "text/event-stream"


class AnswerIn(QueryIn):
    """A question, as for `POST …/query`; what it finds is what the answer may rest on."""

    stream: Annotated[StrictBool, Field(description="send the answer as server-sent events while it is written")] = (
        False
    )
    include_evidence: Annotated[StrictBool, Field(description="send the evidence along, as `query` does")] = False


class CitationOut(BaseModel):
    """What a mark in the answer's text stands for; `kind`: fact or turn."""

    mark: str
    kind: str
    id: str


class AnswerOut(BaseModel):
    """`abstained`: the memory does not hold the answer, and `answer` says so; then nothing is cited."""

    answer: str
    abstained: bool
    citations: list[CitationOut]
    answerability: float
    reference_time: str
    model: Annotated[str, Field(description="the model that wrote it; empty where none was asked")]
    usage: dict[str, float]
    evidence: EvidenceOut | None = None

    @classmethod
    def of(cls, one: answers.Answer, *, with_evidence: bool) -> AnswerOut:
        return cls(
            answer=one.text,
            abstained=one.abstained,
            citations=[CitationOut(mark=each.mark, kind=each.kind, id=each.id) for each in one.citations],
            answerability=one.evidence.answerability,
            reference_time=isoformat(one.evidence.reference_time),
            model=one.model,
            usage=one.usage,
            evidence=EvidenceOut.of(one.evidence) if with_evidence else None,
        )


@router.post(
    "/answer",
    summary="An answer with citations",
    response_model=AnswerOut,
    responses={200: {"content": {_EVENTS: {"schema": {"type": "string"}}}}},
)
def answer(ns: Readable, body: AnswerIn, services: Has) -> Any:
    """Needs a language model (503 without one, saying what to set). Cites facts and turns that were found for the
    question, by mark; abstains where the memory is not likely to hold the answer, or the model finds none in it.

    With `stream`, events of type `delta` carry pieces of the text (`{"text": …}`), and the last one, of type `answer`,
    the whole answer; `problem` ends a stream that broke off. A problem before the first word is a plain response.
    """
    question = question_of(body, clock())
    if not body.stream:
        whole = answers.answer(services, ns, question, body.evaluator)
        return AnswerOut.of(whole, with_evidence=body.include_evidence)
    coming = answers.begin(services, ns, question, body.evaluator)
    return _streamed(coming, with_evidence=body.include_evidence)


def _streamed(coming: answers.Answering, *, with_evidence: bool) -> Response:
    def events() -> Iterator[str]:
        try:
            for piece in coming:
                yield _event("delta", json.dumps({"text": piece}))
            yield _event("answer", AnswerOut.of(coming.answer, with_evidence=with_evidence).model_dump_json())
        except MemgraphServerError as error:
            yield _event("problem", bytes(problems.problem(error).body).decode())
        except Exception as error:  # noqa: BLE001 - the stream has begun: the edge can send no problem any more
            yield _event("problem", bytes(problems.problem(problems.of_surprise(error)).body).decode())

    return StreamingResponse(
        events(), media_type=_EVENTS, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


def _event(kind: str, data: str) -> str:
    return f"event: {kind}\ndata: {data}\n\n"
