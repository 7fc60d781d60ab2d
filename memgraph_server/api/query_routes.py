"""Questions in; a compact subgraph and the turns it points to out."""

from __future__ import annotations

from fastapi import APIRouter

from memgraph_server.actions.model_evidence import gather
from memgraph_server.actions.questions import question_of
from memgraph_server.api.dependencies import Has, Readable
from memgraph_server.api.evidence_answers import EvidenceOut
from memgraph_server.api.payloads import QueryIn
from memgraph_server.wiring import clock

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["query"])


@router.post("/query", summary="The evidence for a question")
def query(ns: Readable, body: QueryIn, services: Has) -> EvidenceOut:
    """The turns' texts together stay within `token_budget` (four characters a token), in order of time."""
    return EvidenceOut.of(gather(services, ns, question_of(body, clock()), body.evaluator))
