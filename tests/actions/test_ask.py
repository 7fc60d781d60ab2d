"""Asking, over the embedded store, the small embedder and the table of relations that ship."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgraph_server import wiring
from memgraph_server.actions.ask import find_evidence, shipped_ranking, stated_period
from memgraph_server.actions.rank_turns import MOST, NARROW, TOKENS
from memgraph_server.language.hashed_embedder import HashedEmbedder
from memgraph_server.language.port import Encoding, InContext
from memgraph_server.memory.interval import Instant, to_datetime
from memgraph_server.memory.proposals import Proposal, triple_text
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.retrieval.evidence import Evidence, Question, four_characters_a_token
from memgraph_server.retrieval.fusion import Ranking
from memgraph_server.stores.port import TurnOutcome, TurnVectors
from memgraph_server.stores.sqlite import SqliteStore

SECOND = 1_000_000
DAY = 86_400 * SECOND
#: 2023-05-08T12:00:00Z
START: Instant = 1_683_547_200 * SECOND
SAID = (
    ("d1", "Ann", "Hey Bob, good to see you! How have you been?"),
    ("d1", "Bob", "Great, thanks. I bought a grand piano for the living room."),
    ("d1", "Ann", "Lovely! I moved to Oslo last month and paint sunrises by the fjord."),
    ("d1", "Bob", "What do you paint with?"),
    ("d2", "Ann", "Mostly watercolours. My sister Cleo gave me the brushes."),
    ("d2", "Bob", "I stopped running because of my knee."),
    ("d2", "Ann", "Sorry to hear that. Swimming helped my back a lot."),
    ("d2", "Bob", "The weather was awful this week."),
)
FACTS = {
    1: (("Bob", "owns", "grand piano"),),
    2: (("Ann", "lives_in", "Oslo"), ("Ann", "paints", "sunrises")),
    4: (("Cleo", "sibling_of", "Ann"),),
    6: (("Ann", "enjoys", "swimming"),),
}


class CountingEmbedder:
    """The real small embedder, and how often it was called."""

    def __init__(self) -> None:
        self._embedder = HashedEmbedder()
        self.name, self.dimension = self._embedder.name, self._embedder.dimension
        self.calls = 0

    def encode(self, texts: Sequence[str | InContext]) -> list[Encoding]:
        self.calls += 1
        return self._embedder.encode(texts)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def store(tmp_path: Path, embedder: CountingEmbedder) -> Iterator[SqliteStore]:
    made = SqliteStore(
        tmp_path / "memory.db", wiring.registry(), embedder_name=embedder.name, dimension=embedder.dimension
    )
    made.migrate()
    yield made
    made.close()


def turns() -> list[Turn]:
    days = {"d1": START, "d2": START + 30 * DAY}
    return [
        Turn(f"t{n}", session, Role.USER, speaker, text, at=days[session] + n * SECOND)
        for n, (session, speaker, text) in enumerate(SAID)
    ]


def remember(store: SqliteStore, namespace: str, embedder: CountingEmbedder, *, vectors: bool = True) -> None:
    """Each turn is stored a second after the one before, then read."""
    for number, turn in enumerate(turns()):
        now = START + 100 * DAY + number * SECOND
        store.append_turns(namespace, [turn], job_id=f"{namespace}-{number}", now=now)
        if not vectors:
            continue
        proposals = tuple(Proposal(*triple, turn.at, turn.at, turn_id=turn.id) for triple in FACTS.get(number, ()))
        texts = [triple_text(head, relation, tail) for head, relation, tail in FACTS.get(number, ())]
        encoded = embedder.encode([turn.full_text(), *texts])
        own = TurnVectors(encoded[0].pooled, encoded[0].tokens, encoded[0].pieces)
        triples = {text: found.pooled for text, found in zip(texts, encoded[1:], strict=True)}
        store.apply_outcome(namespace, TurnOutcome(turn.id, proposals, (), own, triples), lease=None, now=now)


def ask(
    store: SqliteStore,
    embedder: CountingEmbedder,
    text: str,
    namespace: str = "n",
    ranking: Ranking | None = None,
    **options: Any,
) -> Evidence:
    asked = Question(text=text, **{"now": START + 200 * DAY, **options})
    return find_evidence(
        store,
        namespace,
        embedder,
        asked,
        ranking=ranking or shipped_ranking(),
        registry=wiring.registry(),
        clock=iter(range(99)).__next__,
    )


def returned(found: Evidence) -> list[str]:
    return [one.turn.id for one in found.turns]


def test_the_turns_that_answer_come_first_within_a_small_budget(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    for text, turn_id in [
        ("What did Bob buy for the living room?", "t1"),
        ("What does Ann paint?", "t2"),
        ("Why did Bob stop running?", "t5"),
        ("Who gave Ann the brushes?", "t4"),
    ]:
        assert turn_id in returned(ask(store, embedder, text, token_budget=36)), text


def test_paths_facts_and_turns_hang_together(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    found = ask(store, embedder, "Where does Ann live?", explain=True)
    (best, *_) = found.paths
    assert (best.root_name, best.steps[0].fact.relation, best.steps[0].tail_name) == ("Ann", "lives_in", "Oslo")
    assert "t2" in {turn for fact in found.facts for turn in fact.turns}
    (source,) = (turn for turn in found.turns if turn.turn.id == "t2")
    assert source.reached_by == "graph"
    assert best.steps[0].fact.id in source.facts
    assert any(entry["event"] == "candidates" for entry in found.trace)
    assert ask(store, embedder, "Where does Ann live?").trace == ()


@pytest.mark.parametrize("budget", [0, 5, 20, 60, 4096])
def test_turns_are_whole_chronological_and_within_the_budget(
    store: SqliteStore, embedder: CountingEmbedder, budget: int
) -> None:
    remember(store, "n", embedder)
    found = ask(store, embedder, "What does Ann paint?", token_budget=budget)
    assert sum(four_characters_a_token(one.turn.full_text()) for one in found.turns) == found.usage["tokens"] <= budget
    assert [one.turn for one in found.turns] == sorted((one.turn for one in found.turns), key=lambda turn: turn.at)
    assert {one.turn.text for one in found.turns} <= {text for _, _, text in SAID}


def test_another_tokenizer_is_kept_to(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    found = find_evidence(
        store,
        "n",
        embedder,
        Question("What does Ann paint?", now=START, token_budget=20),
        ranking=shipped_ranking(),
        registry=wiring.registry(),
        tokenizer=lambda text: len(text.split()),
    )
    assert 0 < sum(len(one.turn.full_text().split()) for one in found.turns) <= 20


#: One line of a gazetteer a turn: who is asked about, without his name; what borders his place; other borders, and
#: towns on a river, which is all that the question names.
GAZETTEER = (
    ("Crow, the old watchman, lives in Marlow.", ("Crow", "lives_in", "Marlow")),
    ("Marlow borders upon Tenby all along.", ("Marlow", "borders", "Tenby")),
    *((f"Upper{n} borders Lower{n}.", (f"Upper{n}", "borders", f"Lower{n}")) for n in range(4)),
    *((f"Town T{n} stands on a river.", (f"T{n}", "stands_on", "river")) for n in range(40)),
)


def read_gazetteer(store: SqliteStore, embedder: CountingEmbedder, *, vectorless: str = "") -> None:
    for number, (text, triple) in enumerate(GAZETTEER):
        turn = Turn(f"g{number}", f"s{number}", Role.USER, "", text, at=START)
        store.append_turns("n", [turn], job_id=turn.id, now=START)
        own, fact = embedder.encode([text, triple_text(*triple)])
        read = None if turn.id == vectorless else TurnVectors(own.pooled, own.tokens, own.pieces)
        said = (Proposal(*triple, START, START, turn_id=turn.id),)
        outcome = TurnOutcome(turn.id, said, (), read, {triple_text(*triple): fact.pooled})
        store.apply_outcome("n", outcome, lease=None, now=START)


def test_a_turn_that_goes_on_from_the_one_found_first_is_found_by_the_entity_between_them(
    store: SqliteStore, embedder: CountingEmbedder
) -> None:
    read_gazetteer(store, embedder)
    asked, room = "What borders the place by the river where the old watchman lives?", {"token_budget": 20}
    assert returned(ask(store, embedder, asked, **room)) == ["g0", "g1"]
    shipped = shipped_ranking()
    without = shipped.without("hop")
    assert "g1" not in returned(ask(store, embedder, asked, ranking=without, **room))


def test_nothing_goes_on_from_a_turn_without_vectors(store: SqliteStore, embedder: CountingEmbedder) -> None:
    """As an import leaves them: it matches nothing, so that all that another says would be beyond it."""
    read_gazetteer(store, embedder, vectorless="g0")
    asked = "Where does Crow, the old watchman, live, in Marlow?"
    shipped = shipped_ranking()
    without = shipped.without("hop")
    found, plain = (ask(store, embedder, asked, ranking=each, token_budget=60) for each in (shipped, without))
    scores, expected = ({one.turn.id: one.score for one in each.turns} for each in (found, plain))
    assert "g0" in scores
    assert scores["g1"] == pytest.approx(expected["g1"])


def test_one_question_is_embedded_in_one_call(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    before = embedder.calls
    ask(store, embedder, "Where does Ann live?")
    assert embedder.calls == before + 1


def test_turns_that_are_not_read_yet_are_found_by_their_words(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder, vectors=False)
    found = ask(store, embedder, "What happened to the grand piano?", token_budget=20)
    assert returned(found) == ["t1"]
    assert found.paths == ()


def test_what_was_recorded_later_is_invisible(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    third = store.turn_status("n", "t2").recorded_at
    assert set(returned(ask(store, embedder, "What does Ann do?", known_at=third))) == {"t0", "t1", "t2"}
    before = ask(store, embedder, "Where does Ann live?", known_at=third - 1)
    assert set(returned(before)) == {"t0", "t1"}
    assert "Oslo" not in {fact.tail_name for fact in before.facts}


def test_an_empty_memory_answers_nothing_and_says_so(store: SqliteStore, embedder: CountingEmbedder) -> None:
    found = ask(store, embedder, "Where does Ann live?", "empty")
    assert (found.paths, found.facts, found.turns, found.answerability) == ((), (), (), 0.0)


def test_one_namespace_never_answers_for_another(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    store.append_turns("other", [replace(turns()[0], text="Ann lives on Mars.")], job_id="j", now=START)
    assert [one.turn.text for one in ask(store, embedder, "Where does Ann live?", "other").turns] == [
        "Ann lives on Mars."
    ]
    assert "Ann lives on Mars." not in [one.turn.text for one in ask(store, embedder, "Where does Ann live?").turns]


@pytest.mark.parametrize(
    "text",
    ["", "?", "'; DROP TABLE turn; --", '"*" NEAR/3 (', "\x00", "\ud800", "谁住在奥斯陆?", "🎹" * 50, "why " * 2000],
)
def test_any_question_can_be_asked(store: SqliteStore, embedder: CountingEmbedder, text: str) -> None:
    remember(store, "n", embedder)
    found = ask(store, embedder, text)
    assert 0.0 <= found.answerability <= 1.0


def test_a_question_about_a_stated_time_is_about_that_time(store: SqliteStore, embedder: CountingEmbedder) -> None:
    remember(store, "n", embedder)
    found = ask(store, embedder, "What did Ann say in June 2023?")
    assert to_datetime(found.reference_time).isoformat()[:7] == "2023-06"
    assert stated_period(Question("What did Ann say?", now=START)) is None


def test_the_candidates_are_bounded_whatever_the_size_of_the_memory(
    store: SqliteStore, embedder: CountingEmbedder
) -> None:
    many = [Turn(f"x{n}", "long", Role.USER, "Ann", f"piano {n}", at=START + n) for n in range(600)]
    store.append_turns("n", many, job_id="j", now=START)
    by_budget = [len(ask(store, embedder, "piano", token_budget=budget).turns) for budget in (2_000, 4_000, 100_000)]
    assert by_budget == [NARROW, 4_000 // TOKENS, MOST]  # all fit; more are looked at where the budget has room
