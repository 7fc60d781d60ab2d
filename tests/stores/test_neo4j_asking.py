"""A question of `POST /query` is answered alike whichever store is under it, after the same random history on both.

Histories are drawn by the contract's strategy and told as a conversation: each proposal is a sentence of a turn, and is
applied with that turn, as a worker would. What is compared is the whole document that the route answers with: facts,
their order, turns, paths, the text for a prompt. Numbers of versions are in none of it.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memgraph_server.actions.model_evidence import gather
from memgraph_server.actions.questions import question_of
from memgraph_server.actions.read_turns import outcomes
from memgraph_server.api.evidence_answers import EvidenceOut
from memgraph_server.api.payloads import QueryIn
from memgraph_server.errors import InvalidInput, MemgraphServerError
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.facts import Polarity
from memgraph_server.memory.interval import Instant, isoformat
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.turns import Turn
from memgraph_server.stores.neo4j_store import Neo4jStore, Target, neighbours, search
from memgraph_server.wiring import Services
from tests.stores.contract_histories import HEADS, RELATIONS, TAILS, proposals
from tests.stores.material import DAY, NOW, turn
from tests.stores.moved_sample import services

Both = tuple[Services, Services]
#: Histories; each is asked a dozen questions on both.
EXAMPLES = 8
QUESTIONS = (
    "Where does Ann live?",
    "What does Ann like, and what does Bob dislike?",
    "Who likes cake?",
    "Did Bob drive tea before 2024?",
    "When did Ann stop liking tea?",
    "Why does Bob not live with Ann any more?",
    "What did we talk about in December 2023?",
    "tea",
    "我喜欢什么?",
)
_SAID = {
    "lives_in": "{head} lives in {tail}.", "likes": "{head} likes {tail}.",
    "dislikes": "{head} dislikes {tail}.", "drives": "{head} drives {tail}.",
}  # fmt: skip
#: Of an answer, what the clock says and not the memory.
_TIMES = ("read_ms", "graph_ms", "turns_ms", "total_ms")


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two documents differ, for the reader of a failure."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [each for name in one for each in differences(one[name], other[name], f"{place}.{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = enumerate(zip(one, other, strict=True))
        return [each for number, pair in parts for each in differences(*pair, f"{place}[{number}]")]
    return [] if one == other else [f"{place}: {one!r} / {other!r}"]


@dataclass(frozen=True)
class Step:
    """`said`: a turn of `session` that states these, or, where `session` is None, assertions without a turn. `change`
    comes afterwards, with what it is about drawn as numbers."""

    said: list[Proposal]
    session: str | None
    change: str
    drawn: tuple[int, int]


def steps() -> st.SearchStrategy[list[Step]]:
    one = st.builds(
        Step,
        st.lists(proposals(), min_size=3, max_size=6),
        st.sampled_from(["s0", "s1", "s2", None]),
        st.sampled_from(["", "", "withdraw", "learn", "merge", "unmerge"]),
        st.tuples(st.integers(0, 99), st.integers(0, 99)),
    )
    return st.lists(one, min_size=7, max_size=10)


@dataclass
class History:
    """The same told to both memories, step by step, a day apart."""

    both: Both
    namespace: str
    now: Instant = NOW
    ids: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def tell(self, step: Step) -> None:
        self.now += DAY
        said = [
            dataclasses.replace(
                each,
                id=f"{step.drawn[0]}-{len(self.ids) + place}",
                valid_from=NOW + each.valid_from * DAY,
                valid_to=None if each.valid_to is None else NOW + each.valid_to * DAY,
                evidence_at=NOW + each.evidence_at * DAY,
                turn_id=None,
            )
            for place, each in enumerate(step.said)
        ]
        self.ids += [str(each.id) for each in said]
        if step.session is None:
            self._assert(said)
        else:
            self._converse(said, step.session)
        self._same(lambda memory: self._change(memory, step))

    def _converse(self, said: list[Proposal], session: str) -> None:
        told = turn(
            f"t{len(self.turns)}", " ".join(map(sentence, said)), session=session, at=self.now, speaker=said[0].head
        )
        self.turns.append(told)
        mentions = tuple((each.tail, "") for each in said if each.tail is not None)
        context, extraction = TurnInContext(told), Extraction(tuple(said), mentions)
        for memory in self.both:
            (outcome,) = outcomes(memory.embedder.get(), [context], [extraction])
            memory.store.append_turns(self.namespace, [told], job_id=told.id, now=self.now)
            assert memory.store.apply_outcome(self.namespace, outcome, lease=None, now=self.now)

    def _assert(self, said: list[Proposal]) -> None:
        """With the vectors that a worker adds later."""
        context, extraction = TurnInContext(turn("none")), Extraction(tuple(said))
        for memory in self.both:
            (outcome,) = outcomes(memory.embedder.get(), [context], [extraction])
            memory.store.assert_facts(self.namespace, said, outcome.triple_vectors, now=self.now)

    def _change(self, memory: Services, step: Step) -> Any:
        store, (one, other) = memory.store, step.drawn
        now, names = self.now + DAY // 2, sorted({*HEADS, *TAILS})
        if step.change == "withdraw":
            store.retract_assertion(self.namespace, self.ids[one % len(self.ids)], reason="drawn", now=now)
        elif step.change == "learn":
            single = (True, False, None)[other % 3]
            store.set_cardinality(self.namespace, RELATIONS[one % len(RELATIONS)], single, reason="drawn", now=now)
        elif step.change:
            chosen = [names[each % len(names)] for each in step.drawn]
            found = [store.resolve(self.namespace, name) for name in chosen]
            if found[0] is None or found[1] is None:
                return None
            if step.change == "merge":
                return store.merge(self.namespace, found[0].id, found[1].id, now=now)
            return store.unmerge(self.namespace, found[0].id, now=now)
        return None

    def _same(self, work: Any) -> Any:
        """An error is an answer, too."""

        def answer(memory: Services) -> Any:
            try:
                return work(memory)
            except MemgraphServerError as error:
                return type(error).__name__, error.message

        one, other = map(answer, self.both)
        assert one == other
        return one

    def ask(self, body: QueryIn) -> dict[str, Any]:
        """The document, which is the same of both, to the last digit."""
        question = question_of(body, self.now + 400 * DAY)
        one, other = (
            EvidenceOut.of(gather(memory, self.namespace, question, body.evaluator)).model_dump()
            for memory in self.both
        )
        for document in (one, other):
            for name in _TIMES:
                del document["usage"][name]
        assert not differences(one, other), body
        return one


def sentence(said: Proposal) -> str:
    tail = said.tail or "it"
    text = _SAID[said.relation].format(head=said.head, tail=tail)
    return text if said.polarity is Polarity.CLAIM else f"It is over that {text}"


@pytest.fixture
def both(neo4j_server: Target, tmp_path: Path) -> Iterator[Both]:
    with (
        services(f"sqlite:///{tmp_path}/small.db") as small,
        services(neo4j_server.url, neo4j_server.password) as large,
    ):
        yield small, large


def questions(history: History) -> Iterator[QueryIn]:
    """Each as of now, and some of an earlier state of the memory, about another time, or with little room."""
    for text in QUESTIONS:
        yield QueryIn(query=text, explain=True)
    past = isoformat(NOW + (history.now - NOW) // 2)
    yield QueryIn(query=QUESTIONS[0], known_at=past)
    yield QueryIn(query=QUESTIONS[1], known_at=past, reference_time=isoformat(NOW + 4 * DAY), token_budget=12)
    yield QueryIn(query="What do I like?", speaker="Ann", beams=2, depth=2, candidates=2)


def test_the_same_random_history_is_answered_with_the_same_evidence(both: Both) -> None:
    numbers, seen = itertools.count(), {"facts": 0, "turns": 0, "paths": 0}

    @settings(
        max_examples=EXAMPLES,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
    @given(told=steps())
    def same_evidence(told: Sequence[Step]) -> None:
        history = History(both, f"n{next(numbers)}")  # a namespace each: they see nothing of each other
        for step in told:
            history.tell(step)
        for body in questions(history):
            found = history.ask(body)
            seen["facts"] += len(found["subgraph"]["edges"])
            seen["turns"] += len(found["turns"])
            seen["paths"] += len(found["paths"])

    same_evidence()
    assert min(seen.values()) > 5 * EXAMPLES, seen  # the answers compared were not empty ones
    assert [memory.store.check() for memory in both] == [[], []]


def test_a_question_asks_for_facts_and_turns_at_once(neo4j_server: Target) -> None:
    """Neo4j searches both by vector, each for a while: neither waits for the other, nor for the words."""
    with services(neo4j_server.url, neo4j_server.password) as memory:
        assert isinstance(memory.store, Neo4jStore)
        asked: dict[str, set[str]] = {}
        memory.store.connection.watch = lambda query, _: asked.setdefault(query.name, set()).add(
            threading.current_thread().name
        )  # type: ignore[func-returns-value]
        gather(memory, "n", question_of(QueryIn(query=QUESTIONS[0]), NOW), None)
        here = {threading.current_thread().name}
        assert asked["the corpus of a namespace"] == here
        facts, turns = asked[neighbours.NEAREST.name], asked[search.NEAREST.name]
        assert not (facts | turns) & here
        with pytest.raises(InvalidInput, match="namespace"):
            memory.store.ahead(lambda: memory.store.corpus_size(""))()
