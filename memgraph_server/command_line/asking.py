"""`query`, `timeline`: what the memory knows, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_server.command_line.options import AsJson, Namespace, Store, services_of, settings_of
from memgraph_server.command_line.output import console, print_json, printable, table

if TYPE_CHECKING:
    from memgraph_server.retrieval.evidence import Evidence
    from memgraph_server.stores.port import Timeline
    from memgraph_server.wiring import Services

Valid = Annotated[str | None, typer.Option(help="only what holds then: RFC 3339, or a day, month or year")]
Known = Annotated[str | None, typer.Option(help="as it was believed then")]


def query(
    text: Annotated[str, typer.Argument(help="the question")],
    *,
    namespace: Namespace = "default",
    budget: Annotated[int, typer.Option(help="tokens that the turns may have together", min=1, max=100_000)] = 2048,
    speaker: Annotated[str | None, typer.Option(help="who asks")] = None,
    reference_time: Annotated[str | None, typer.Option(help="the time the question is about")] = None,
    known_at: Known = None,
    explain: Annotated[bool, typer.Option("--explain", help="also why each path lived or died")] = False,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Find the evidence for a question: a subgraph, and the turns it points to.

    Example: memgraph-server query "Where does Ann work now?" --namespace ann --budget 1024
    """
    from memgraph_server.api.payloads import QueryIn

    body = QueryIn(
        query=text, token_budget=budget, speaker=speaker, reference_time=reference_time, known_at=known_at,
        explain=explain,
    )  # fmt: skip
    with services_of(settings_of(store=store, worker=False)) as services:
        evidence = ask(services, namespace, body)
    if as_json:
        from memgraph_server.api.evidence_answers import EvidenceOut

        print_json(EvidenceOut.of(evidence).model_dump())
    else:
        show(evidence)


def ask(services: Services, namespace: str, body: object) -> Evidence:
    """The evidence for a question given as the payload of `query`."""
    from memgraph_server.actions import inputs
    from memgraph_server.actions.model_evidence import gather
    from memgraph_server.actions.questions import question_of
    from memgraph_server.wiring import clock

    question = question_of(body, clock())  # type: ignore[arg-type]
    return gather(services, inputs.namespace(namespace), question, None)


def show(evidence: Evidence) -> None:
    """The facts, the turns, and how sure the memory is that it holds the answer."""
    from memgraph_server.memory.interval import isoformat

    facts = [
        (one.head_name, one.fact.relation, one.tail_name, *_span(one.fact.valid_from, one.fact.valid_to), one.rule)
        for one in evidence.facts
    ]
    repaired = any(one.rule for one in evidence.facts)  # the column says by which repair a fact came; else it is empty
    if facts:
        columns = ("head", "relation", "tail", "from", "to", "rule")[: 6 if repaired else 5]
        table("Subgraph", columns, [fact[: len(columns)] for fact in facts])
    turns = [
        (isoformat(one.turn.at)[:16], one.turn.speaker or one.turn.role, one.turn.full_text(), one.reached_by)
        for one in evidence.turns
    ]
    table("Turns", ("when", "who", "text", "by"), turns)
    tokens = sum(one.tokens for one in evidence.turns)
    console().print(
        f"answerability {evidence.answerability:.2f}, {tokens} tokens of turns, "
        f"asked about {isoformat(evidence.reference_time)[:16]}Z"
    )


def _span(start: int, end: int | None) -> tuple[str, str]:
    from memgraph_server.memory.interval import isoformat

    return isoformat(start)[:10], isoformat(end)[:10] if end is not None else ""


def timeline(
    entity: Annotated[str, typer.Argument(help="a name or an alias")],
    *,
    namespace: Namespace = "default",
    relation: Annotated[str | None, typer.Option(help="only this relation")] = None,
    valid_at: Valid = None,
    known_at: Known = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Show what is believed about somebody or something, by relation and start.

    Example: memgraph-server timeline Ann --relation lives_in --known-at 2024-01
    """
    from memgraph_server.actions import read_facts
    from memgraph_server.actions.read_facts import Filters

    filters = Filters(name=entity, relation=relation, valid_at=valid_at, known_at=known_at)
    with services_of(settings_of(store=store, worker=False)) as services:
        found = read_facts.facts(
            services.store, namespace, filters, canonical=services.relations.canonical, limit=10_000
        )
    if as_json:
        from memgraph_server.api.answers import FactOut

        print_json({"facts": [FactOut.of(view).model_dump() for view in found.facts]})
    else:
        show_timeline(f"{printable(entity)}: {len(found.facts)} facts", found)


def show_timeline(title: str, found: Timeline) -> None:
    rows = [
        (view.fact.relation, view.tail_name, *_span(view.fact.valid_from, view.fact.valid_to),
         f"{view.fact.confidence:.2f}", view.fact.stratum, ", ".join(view.turns))
        for view in found.facts
    ]  # fmt: skip
    table(title, ("relation", "tail", "from", "to", "confidence", "stratum", "turns"), rows)
