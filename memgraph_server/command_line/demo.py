"""`demo`: a sample conversation read into a memory that is gone afterwards, what is believed, and three questions.

What is shown is chosen for somebody who sees it for the first time: facts about talk and moods are left out, and of
each answer the best facts and turns are printed, not the whole budget.
"""

from __future__ import annotations

import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from memgraph_server.command_line.asking import ask
from memgraph_server.command_line.options import AsJson, services_of, settings_of
from memgraph_server.command_line.output import console, print_json, printable, table

if TYPE_CHECKING:
    from memgraph_server.memory.facts import Fact
    from memgraph_server.retrieval.evidence import Evidence, EvidenceFact
    from memgraph_server.stores.port import FactView
    from memgraph_server.wiring import Services

#: What the demo asks of its sample (`samples/`), and the time that it asks about; None: now.
QUESTIONS = (
    ("Which visa agency did Sarah decide on?", None),
    ("What is Sarah's main concern?", None),
    ("What is Sarah's main concern?", "2026-02-01T00:00:00Z"),
)
_SAMPLE, _PERSON = "sarah.json", "Sarah"
#: Facts of the person that fit a screen; facts and turns of an answer, and characters of such a turn.
DEMO_FACTS, _BEST_FACTS, _BEST_TURNS, _EXCERPT = 18, 2, 2, 220
#: Relations about the talk itself, and about how somebody felt while talking.
_OF_TALK = frozenset(
    "talked_about asked asked_to asked_about said feels felt is was ready_to willing_to sees finds gets looks_at "
    "pulls_up dates noticed".split()
)


def demo(as_json: AsJson = False) -> None:
    """Read a sample conversation into a memory that is gone afterwards, and ask it three questions.

    Example: memgraph-server demo
    """
    from memgraph_server.api.payloads import QueryIn
    from memgraph_server.command_line.ingesting import ingest_sessions
    from memgraph_server.command_line.readers import read_file

    with (
        tempfile.TemporaryDirectory(prefix="memgraph-demo-") as folder,
        services_of(settings_of(store=f"sqlite:///{folder}/demo.db")) as services,
        resources.as_file(resources.files("memgraph_server") / "samples" / _SAMPLE) as sample,
    ):
        _, sessions = read_file(Path(sample))
        ingest_sessions(services, "demo", sessions)
        answers = [
            (text, at, ask(services, "demo", QueryIn(query=text, token_budget=512, reference_time=at)))
            for text, at in QUESTIONS
        ]
        if as_json:
            from memgraph_server.api.evidence_answers import EvidenceOut

            print_json([{"query": text, **EvidenceOut.of(evidence).model_dump()} for text, _, evidence in answers])
            return
        _show_person(services)
        for text, at, evidence in answers:
            console().rule(f"{text} (asked as of {at[:10]})" if at else text, align="left")
            _show_answer(evidence)


def _show_person(services: Services) -> None:
    """The life of whoever speaks, in order of time: what began, what ended, what took the place of what."""
    from memgraph_server.actions import read_facts
    from memgraph_server.actions.read_facts import Filters

    found = read_facts.facts(
        services.store, "demo", Filters(name=_PERSON), canonical=services.relations.canonical, limit=10_000
    )
    telling = [view for view in found.facts if _says_something(view)]
    shown = sorted(telling, key=lambda view: (-view.fact.confidence, view.fact.valid_from))[:DEMO_FACTS]
    rows = [
        (when(view.fact), label(view.fact.relation), view.tail_name, f"{view.fact.confidence:.2f}")
        for view in sorted(shown, key=lambda view: (view.fact.valid_from, view.fact.relation))
    ]
    title = f"{_PERSON}: {len(rows)} of {len(found.facts)} facts, those about the talk itself left out"
    table(title, ("when", "relation", "what", "confidence"), rows)


def _says_something(view: FactView | EvidenceFact) -> bool:
    """Not about the talk, not a denial, and more than a single common word."""
    relation, tail = view.fact.relation, view.tail_name
    named = len(tail.split()) > 1 or tail[:1].isupper()
    owned = relation.startswith("has_") and tail.startswith(_PERSON)  # "Sarah's son", of whom no more is known
    return relation not in _OF_TALK and not relation.startswith("not_") and named and not owned


def when(fact: Fact) -> str:
    """ "since …" what still holds, "… to …" what does no longer, one day for what happened."""
    from memgraph_server.memory.interval import isoformat

    start = isoformat(fact.valid_from)[:10]
    if fact.valid_to is None:
        return f"since {start}"
    end = isoformat(fact.valid_to)[:10]
    return start if start == end else f"{start} to {end}"


def label(relation: str) -> str:
    return relation.replace("_", " ")


def _show_answer(evidence: Evidence) -> None:
    """The best facts, the turns that state them, and the next best turns."""
    from memgraph_server.memory.interval import isoformat

    facts = [one for one in evidence.facts if _says_something(one)][:_BEST_FACTS]
    for one in facts:
        fact = f"{one.head_name} · {label(one.fact.relation)} · {one.tail_name}"
        _line(f"{fact}  ({when(one.fact)}, {one.confidence:.2f})")
    stating = [turn for one in facts for turn in one.turns]
    ranked = sorted(evidence.turns, key=lambda said: (said.turn.id not in stating[:1], -said.score))
    for said in ranked[:_BEST_TURNS]:
        text = " ".join(said.turn.full_text().split())
        short = text if len(text) <= _EXCERPT else text[:_EXCERPT].rsplit(" ", 1)[0] + " …"
        _line(f"{isoformat(said.turn.at)[:10]} {said.turn.speaker or said.turn.role}: {short}")
    tokens = sum(one.tokens for one in evidence.turns)
    _line(f"answerability {evidence.answerability:.2f}, {tokens} tokens in {len(evidence.turns)} turns")


def _line(text: str) -> None:
    console().print(Padding(Text(printable(text)), (0, 0, 0, 2)))
