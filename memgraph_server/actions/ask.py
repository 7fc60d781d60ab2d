"""From a question to its evidence (design: 2-retrieval): read, link, walk the graph, rank turns, fill the budget.

Everything is decided in `retrieval/`; this file loads what those decisions need. One call of the embedder a question,
and a number of store calls that depends on the beams, not on the size of the memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np

from memgraph_server.actions.rank_turns import Ranked, TurnSearch, Words, look_up, nearest
from memgraph_server.actions.walk_graph import GraphWalk, Walked, step_of
from memgraph_server.language.language_model.reading import Hints
from memgraph_server.language.port import Embedder, Encoding
from memgraph_server.memory.classes import ClassTable
from memgraph_server.memory.dates import DateKind, find_dates
from memgraph_server.memory.facts import STABLE_THRESHOLD
from memgraph_server.memory.interval import Interval
from memgraph_server.memory.terms import terms
from memgraph_server.retrieval import answerability, budget, signals
from memgraph_server.retrieval.beam import Limits
from memgraph_server.retrieval.compatibility import may_answer
from memgraph_server.retrieval.evaluator import Evaluator, Features, LocalEvaluator, similar
from memgraph_server.retrieval.evidence import (
    Evidence,
    EvidenceFact,
    EvidenceTurn,
    Question,
    Step,
    Tokenizer,
    four_characters_a_token,
    tokens_of,
)
from memgraph_server.retrieval.fusion import Ranking
from memgraph_server.retrieval.question import Anchor, Reading, anchors, read
from memgraph_server.retrieval.repair import Repairs
from memgraph_server.retrieval.wanted import RelationTable, below_a_class, wanted_relations, with_narrower
from memgraph_server.stores.port import AsOf, Floats, GraphStore, ReadsAhead, Snapshots, TurnCard

_T = TypeVar("_T")

#: Turns looked at to learn who speaks in a namespace.
SPEAKERS_SEEN = 32
#: Facts found by the whole question's vector, which say which turns state something like it.
STATED_FACTS = 128
#: The nearest of these are evidence themselves; the heads of the best few are roots where the question names none.
NEAREST_FACTS = 12
ROOTS = 3
#: Facts returned at most.
MOST_FACTS = 40
#: What a fact near the question, not on a path, is worth against one on a path.
OFF_PATH = 0.5


class _Loaded(Protocol):
    def get(self) -> Embedder: ...


#: What a language model reads out of a question, given who speaks in the memory; None where it gave nothing.
QuestionReader = Callable[[Question, Sequence[str]], Hints | None]


class Services(Protocol):
    """What `ask` takes of the program's services."""

    @property
    def store(self) -> GraphStore: ...
    @property
    def relations(self) -> RelationTable: ...
    @property
    def embedder(self) -> _Loaded: ...
    @property
    def ranking(self) -> Ranking: ...


def ask(
    services: Services,
    namespace: str,
    question: Question,
    *,
    evaluator: Evaluator | None = None,
    reader: QuestionReader | None = None,
) -> Evidence:
    """`find_evidence` with the services' store, models and ranking."""
    return find_evidence(
        services.store,
        namespace,
        services.embedder.get(),
        question,
        ranking=services.ranking,
        registry=services.relations,
        evaluator=evaluator,
        reader=reader,
    )


@cache
def shipped_ranking() -> Ranking:
    text = (resources.files("memgraph_server") / "schema" / "ranking.json").read_text("utf-8")
    return Ranking.from_mapping(json.loads(text))


def find_evidence(
    store: GraphStore,
    namespace: str,
    embedder: Embedder,
    question: Question,
    *,
    ranking: Ranking,
    registry: RelationTable,
    evaluator: Evaluator | None = None,
    reader: QuestionReader | None = None,
    classes: ClassTable | None = None,
    tokenizer: Tokenizer = four_characters_a_token,
    clock: Callable[[], float] = perf_counter,
    watch: Callable[[Ranked], None] = lambda _: None,
) -> Evidence:
    """The subgraph and the turns that answer the question, within its token budget.

    `classes`: of nouns, where a question for a class ("sports") should reach its members.
    `watch` is shown the candidates with their signals, before any budget (learning, diagnosis).
    Turns recorded after `question.known_at`, and facts not believed then, are invisible. Raises StoreUnavailable,
    ModelUnavailable.
    """
    slow = evaluator is not None or reader is not None
    with _one_snapshot(store, namespace, held=not slow):
        began = clock()
        asking = _Asking(store, namespace, question, ranking, registry, evaluator or LocalEvaluator(), reader, classes)
        reading = asking.read()
        encoding, whole = embedder.encode([reading.bare, question.text])
        embedded = clock()
        coming_facts = _ahead(store, lambda: asking.stated_facts(reading, whole))
        coming_turns = _ahead(store, lambda: nearest(store, namespace, encoding, question.token_budget))
        words = look_up(store, namespace, reading)
        walked = asking.walk(reading, encoding, words, coming_facts)
        stated = coming_facts()
        near = stated[:NEAREST_FACTS]
        walked_at = clock()
        pointed = asking.pointed_turns(walked, near)
        search = TurnSearch(
            store,
            namespace,
            reading,
            words,
            ranking,
            encoding,
            coming_turns(),
            question.token_budget,
            asker=question.speaker,
            known_at=question.known_at,
        )
        said = signals.fact_scores([(step.similarity, step.turns) for step in stated])
        ranked = search.ranked(pointed.scores, said)
        ranked_at = clock()
        watch(ranked)
        turns = asking.chosen(ranked, pointed, tokenizer)
        worth = max(walked.worths, default=0.0)
        seen = answerability.features(ranked.signals, ranking.scales, worth)
        seen |= asking.words_held(words, ranked, whole)
        usage = {
            "tokens": float(sum(turn.tokens for turn in turns)),
            "model_calls": 0.0 if evaluator is None else float(walked.judgements),
            "read_ms": 1000 * (embedded - began),
            "graph_ms": 1000 * (walked_at - embedded),
            "turns_ms": 1000 * (ranked_at - walked_at),
            "total_ms": 1000 * (clock() - began),
        }
        return Evidence(
            question=question,
            reference_time=reading.reference_time,
            paths=tuple(walked.paths),
            facts=_facts(walked, near, {turn.turn.id for turn in turns}),
            turns=turns,
            answerability=answerability.probability(seen, ranking.answerability),
            usage=usage,
            trace=tuple(walked.trace) if question.explain else (),
        )


def _one_snapshot(store: GraphStore, namespace: str, *, held: bool) -> AbstractContextManager[None]:
    """One question sees one state of the memory, where the store can and no language model is waited for meanwhile."""
    return store.snapshot(namespace) if held and isinstance(store, Snapshots) else nullcontext()


def _ahead(store: GraphStore, read: Callable[[], _T]) -> Callable[[], _T]:
    """Begun already where the store can do several at once, else when it is first asked for; read once."""
    return store.ahead(read) if isinstance(store, ReadsAhead) else cache(read)


@dataclass(frozen=True, slots=True)
class _Pointed:
    """Turns that facts point to: scores in [0, 1], how each was reached, and its facts, by turn id."""

    scores: Mapping[str, float]
    reached_by: Mapping[str, str]
    facts: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Asking:
    """One question: each step loads what the pure core decides on."""

    store: GraphStore
    namespace: str
    question: Question
    ranking: Ranking
    registry: RelationTable
    evaluator: Evaluator
    reader: QuestionReader | None = None
    classes: ClassTable | None = None

    def read(self) -> Reading:
        handles = self.store.sample_turns(self.namespace, SPEAKERS_SEEN)
        cards = self.store.turn_cards(self.namespace, handles)
        speakers = list(dict.fromkeys(card.speaker for card in cards.values() if card.speaker))
        hints = self.reader(self.question, speakers) if self.reader is not None else None
        period = stated_period(self.question)
        if hints is None:
            return read(self.question, speakers, period)
        reading = read(self.question, speakers, hints.period or period)
        names = tuple(dict.fromkeys((*(name for name, _ in hints.roots), *reading.names)))
        return replace(reading, roots=hints.roots, names=names, uncertain=reading.uncertain or hints.uncertain)

    def stated_facts(self, reading: Reading, whole: Encoding) -> list[Step]:
        """Nearest first. By the whole question, names and all: a fact's text names its subject."""
        found = self.store.search_facts(
            self.namespace,
            whole.pooled,
            as_of=AsOf(None, self.question.known_at),
            minimum_confidence=_minimum_confidence(reading),
            limit=STATED_FACTS,
        )
        steps = [step_of(neighbour) for neighbour in found]
        return [step for step in steps if may_answer(step.fact, reading.scope)]

    def words_held(self, words: Words, ranked: Ranked, whole: Encoding) -> dict[str, float]:
        """What answerability goes by where the embedder cannot read the question; nothing more where it can."""
        legible = answerability.legible(whole.pieces)
        if legible >= answerability.LEGIBLE:
            return {"legible": legible}
        names = {card.speaker for card in ranked.cards}
        held = answerability.coverage(words.postings, terms(self.question.text), names, words.turns)
        return {"legible": legible, "coverage": held}

    def walk(self, reading: Reading, encoding: Encoding, words: Words, stated: Callable[[], Sequence[Step]]) -> Walked:
        roots = self._roots(reading, stated)
        if not roots:
            return Walked()
        wanted = wanted_relations(reading, self.registry)
        known = {term: signals.rarity(posting.documents, words.turns) for term, posting in words.postings.items()}
        features = Features(known, with_narrower(wanted, self.registry))
        limits = Limits(
            width=self.question.beams,
            depth=self.question.depth,
            candidates=self.question.candidates,
            minimum_confidence=_minimum_confidence(reading),
        )
        walk = GraphWalk(
            self.store,
            self.namespace,
            reading,
            encoding.pooled,
            self.evaluator,
            features,
            self.question.known_at,
        )
        below = None if self.classes is None else below_a_class(reading, self.classes)
        scope = reading.scope
        at = scope.start if scope is not None and scope.end == scope.start + 1 else None
        return walk.walk(roots, limits, Repairs(self.registry, wanted, below=below, valid_at=at))

    def _roots(self, reading: Reading, stated: Callable[[], Sequence[Step]]) -> tuple[Anchor, ...]:
        """Named entities; who asks, for "I"; else the heads of the nearest facts, which are waited for only then."""
        asker = [self.question.speaker] if self.question.speaker and reading.first_person else []
        linked = self.store.find_names(self.namespace, [*reading.names, *asker])
        found = anchors(reading, linked)
        if found:
            return found[: 2 * ROOTS]
        near = stated()[:NEAREST_FACTS]
        heads = {step.fact.head: Anchor(step.fact.head, step.head_name, reading.intent) for step in near}
        return tuple(heads.values())[:ROOTS]

    def pointed_turns(self, walked: Walked, near: Sequence[Step]) -> _Pointed:
        scores = budget.path_turns(walked.paths, walked.worths)
        reached = dict.fromkeys(scores, "graph")
        steps = [step for path in walked.paths for step in path.steps]
        for step in near:
            for turn_id in step.turns:
                scores[turn_id] = max(scores.get(turn_id, 0.0), OFF_PATH * similar(step.similarity))
                reached.setdefault(turn_id, "graph")
        for turn_id in self._defining(walked, scores):
            scores[turn_id] = 0.0  # it counts by its own relevance, and only has to be looked at
            reached[turn_id] = "cascade"
        facts: dict[str, list[str]] = {}
        for step in [*steps, *near]:
            for turn_id in step.turns:
                facts.setdefault(turn_id, []).append(step.fact.id)
        return _Pointed(scores, reached, facts)

    def _defining(self, walked: Walked, known: Mapping[str, float]) -> list[str]:
        """The cascade: the earliest turn about each entity on the paths, among the facts that the walk has seen."""
        first = {
            entity: [
                (step.fact.valid_from, turn_id) for step in walked.seen.get(entity, ()) for turn_id in step.turns[:1]
            ]
            for entity in budget.entities_on(walked.paths)
        }
        return budget.cascade(first, known)

    def chosen(self, ranked: Ranked, pointed: _Pointed, tokenizer: Tokenizer) -> tuple[EvidenceTurn, ...]:
        """Whole turns within the budget, in the order they were said."""
        cards = ranked.cards
        tokens = self._tokens(cards, tokenizer)
        scores = ranked.fused.score.tolist()
        places = budget.choose(tokens, scores, self.question.token_budget, vectors_of(cards))
        texts = {turn.id: turn for turn in self.store.turns(self.namespace, [cards[p].turn_id for p in places])}
        found = [
            EvidenceTurn(
                turn=texts[cards[place].turn_id],
                tokens=tokens[place],
                score=scores[place],
                reached_by=pointed.reached_by.get(cards[place].turn_id, "search"),
                facts=tuple(dict.fromkeys(pointed.facts.get(cards[place].turn_id, ()))),
            )
            for place in places
            if cards[place].turn_id in texts
        ]
        return tuple(sorted(found, key=lambda one: (one.turn.at, one.turn.session_id, one.turn.position)))

    def _tokens(self, cards: Sequence[TurnCard], tokenizer: Tokenizer) -> list[int]:
        """The default needs no text: a card knows how many characters its turn has. Others read every candidate."""
        if tokenizer is four_characters_a_token:
            return [tokens_of(card.characters) for card in cards]
        texts = {turn.id: turn.full_text() for turn in self.store.turns(self.namespace, [c.turn_id for c in cards])}
        return [tokenizer(texts.get(card.turn_id, "")) for card in cards]


def stated_period(question: Question) -> Interval | None:
    """The first time that the question's words place on the calendar, seen from its reference time."""
    at = question.now if question.reference_time is None else question.reference_time
    for mention in find_dates(question.text, at):
        placed = mention.kind in (DateKind.POINT, DateKind.RANGE, DateKind.SINCE)
        if placed and mention.start is not None:
            return Interval(mention.start, mention.end)
    return None


def _minimum_confidence(reading: Reading) -> float:
    return 0.0 if reading.uncertain else STABLE_THRESHOLD


def vectors_of(cards: Sequence[TurnCard]) -> Floats:
    """Shape (cards, dimension), a row of zeros where a turn has no vector yet; (0, 0) where none has."""
    dimension = next((len(card.pooled) for card in cards if card.pooled is not None), 0)
    if not dimension:
        return np.zeros((0, 0), np.float32)
    nothing = np.zeros(dimension, np.float32)
    return np.stack([nothing if card.pooled is None else card.pooled for card in cards])


def _facts(walked: Walked, near: Sequence[Step], returned: set[str]) -> tuple[EvidenceFact, ...]:
    """Facts on the paths, then those near the question whose turns are returned; each version once."""
    steps = [step for path in walked.paths for step in path.steps]
    steps += [step for step in near if returned & set(step.turns)]
    found: dict[tuple[int, str], EvidenceFact] = {}
    for step in steps:
        found.setdefault(
            (step.fact.version, step.rule),
            EvidenceFact(step.fact, step.head_name, step.tail_name, step.turns, step.rule, step.confidence),
        )
    return tuple(found.values())[:MOST_FACTS]
