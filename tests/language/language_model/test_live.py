"""A real model, end to end: one LoCoMo session is ingested, asked, judged and answered, and it is told what that took.

    MEMGRAPH_SERVER_LLM_BASE_URL=http://127.0.0.1:8089/v1 MEMGRAPH_SERVER_LLM_MODEL=local pytest -m live -s

What is tested is the wire and what code makes of rough replies, not how good the model is: a small one will do.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from memgraph_server.evaluation.locomo import conversations
from memgraph_server.memory.interval import isoformat
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.port import FactView
from tests.api.serving import Namespace, Running, running
from tests.evaluation.data import LOCOMO

URL, MODEL = (os.environ.get(f"MEMGRAPH_SERVER_LLM_{name}", "") for name in ("BASE_URL", "MODEL"))

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not (URL and MODEL), reason="MEMGRAPH_SERVER_LLM_BASE_URL and …_MODEL name no model"),
    pytest.mark.skipif(not LOCOMO.exists(), reason="LoCoMo is not here (MEMGRAPH_SERVER_TEST_DATA)"),
]

#: Turns read; a slow model takes some six seconds for each.
MOST_TURNS = int(os.environ.get("MEMGRAPH_LIVE_TURNS", "20"))


class Dropped(logging.Handler):
    """Hears how many of the facts that the model proposed did not hold."""

    NAME = "memgraph_server.language.language_model.extraction"

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.facts = 0
        self.log = logging.getLogger(self.NAME)
        self.log.setLevel(logging.INFO)
        self.log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and isinstance(record.args[0], int):
            self.facts += record.args[0]


@dataclass
class Session:
    server: Running
    space: Namespace
    turns: list[Turn]
    seconds: float
    dropped: Dropped

    @property
    def spending(self) -> Any:
        assert self.server.services.language_model is not None
        return self.server.services.language_model.model.spending


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    conversation = conversations(json.loads(LOCOMO.read_text("utf-8")))[0]
    first = conversation.turns[0].session_id
    turns = [turn for turn in conversation.turns if turn.session_id == first][:MOST_TURNS]
    dropped = Dropped()
    with running(
        tmp_path_factory.mktemp("live"),
        extractor="llm",
        embedder="onnx-minilm",
        llm_base_url=URL,
        llm_model=MODEL,
        llm_fallback="local",
        llm_timeout_seconds=180.0,
        llm_concurrency=1,
        answer_threshold=0.0,
    ) as server:
        space = server.namespace("live")
        began = time.monotonic()
        body = [
            {"id": turn.id, "role": turn.role.value, "speaker": turn.speaker, "text": turn.text,
             "at": isoformat(turn.at), "attachments": [{"caption": caption} for caption in turn.captions]}
            for turn in turns
        ]  # fmt: skip
        assert space.post("/turns", {"session_id": "s1", "turns": body}).status_code == 202
        while server.services.store.readiness("live").pending:
            assert time.monotonic() - began < 1800, "the turns are not read after half an hour"
            time.sleep(0.5)
        yield Session(server, space, turns, time.monotonic() - began, dropped)
    dropped.log.removeHandler(dropped)


def told(session: Session, role: str) -> str:
    usage = session.spending.sums()[role, MODEL]
    return (
        f"{usage.calls} calls, {usage.prompt_tokens} + {usage.completion_tokens} tokens, {usage.retries} retries, "
        f"{usage.seconds:.0f} s"
    )


def line_of(view: FactView) -> str:
    since = isoformat(view.fact.valid_from)[:10]
    return f"{view.head_name} {view.fact.relation} {view.tail_name} [{view.fact.confidence}, {since}]"


def test_a_session_is_read(session: Session) -> None:
    views = session.server.services.store.facts_of_turns("live", [turn.id for turn in session.turns])
    by_source: dict[str, set[str]] = {}
    facts: Counter[str] = Counter()
    for turn_id, found in views.items():
        for support in {support for view in found for support in view.supports}:
            assertion = session.server.services.store.assertion("live", support).assertion
            if assertion.turn_id == turn_id:
                by_source.setdefault(assertion.source, set()).add(turn_id)
                facts[assertion.source] += 1
    troubles = session.spending.troubles()
    print(f"\n{len(session.turns)} turns in {session.seconds:.0f} s; extract: {told(session, 'extract')}")
    for source, turns in by_source.items():
        print(f"  {source}: facts of {len(turns)} turns, {facts[source]} assertions")
    print(f"  {session.dropped.facts} proposed facts dropped; troubles: {dict(troubles)}")
    costs = [session.space.get(f"/turns/{turn.id}").json()["usage"] for turn in session.turns]
    means = {name: sum(cost[name] for cost in costs) / len(costs) for name in costs[0]}
    print(f"  a turn: {means}, {session.seconds / len(session.turns):.0f} s")
    for turn in session.turns:
        lines = [line_of(view) for view in views.get(turn.id, [])]
        print(f"  {turn.speaker}: {turn.text[:110]!r}\n      " + "\n      ".join(lines or ["–"]))
    assert all(session.server.services.store.turn_status("live", turn.id).state == "done" for turn in session.turns)
    assert sum(cost["model_prompt_tokens"] for cost in costs) > 0
    model = by_source.get(f"llm:{MODEL}/extract-1", set())
    assert len(model) >= len(session.turns) // 5, "the model's replies gave facts for few turns"


def test_every_fact_of_the_model_stands_in_its_turn(session: Session) -> None:
    texts = {turn.id: turn.text for turn in session.turns}
    views = session.server.services.store.facts_of_turns("live", list(texts))
    for view in (view for found in views.values() for view in found):
        for support in view.supports:
            assertion = session.server.services.store.assertion("live", support).assertion
            if assertion.source.startswith("llm:"):
                assert assertion.span is not None
                assert assertion.turn_id is not None
                start, end = assertion.span
                assert 0 <= start < end <= len(texts[assertion.turn_id])


@pytest.mark.parametrize("question", ["What did Caroline go to?", "What does Melanie do?"])
def test_a_question_is_read_judged_and_answered(session: Session, question: str) -> None:
    began = time.monotonic()
    asked = {"query": question, "evaluator": "llm", "beams": 2, "depth": 2, "candidates": 3, "token_budget": 500}
    found = session.space.client.post(f"{session.space.path}/query", json=asked, timeout=600)
    assert found.status_code == 200, found.text
    usage = {name: value for name, value in found.json()["usage"].items() if name.startswith("model_")}
    print(f"\n{question} {time.monotonic() - began:.0f} s, {usage}")
    assert usage["model_calls"] + usage["model_cached"] >= 1
    plain = {"query": question, "token_budget": 500, "include_evidence": True}
    answer = session.space.client.post(f"{session.space.path}/answer", json=plain, timeout=600)
    assert answer.status_code == 200, answer.text
    document = answer.json()
    known = {one["id"] for one in document["evidence"]["turns"]}
    known |= {one["id"] for one in document["evidence"]["subgraph"]["edges"]}
    print(
        f"  {document['answer']!r} {[one['mark'] for one in document['citations']]}, abstained {document['abstained']}"
    )
    print(f"  answer: {told(session, 'answer')}")
    assert {one["id"] for one in document["citations"]} <= known
