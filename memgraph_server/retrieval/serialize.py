"""Evidence as text for a prompt, as JSON nodes and edges, and as a networkx graph in node-link form.

The text holds facts first, one dated line each, then turns in the order they were said; all of it fits the budget it is
given. What users wrote appears as written, on one line: line breaks would let a turn pass for the next speaker's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from memgraph_server.memory.facts import Fact
from memgraph_server.memory.interval import Instant, isoformat
from memgraph_server.memory.proposals import triple_text
from memgraph_server.retrieval.evidence import (
    Evidence,
    EvidenceFact,
    EvidenceTurn,
    Tokenizer,
    four_characters_a_token,
)

#: The part of a prompt's budget that facts may take; turns say more, and are what facts were read from.
FACTS_SHARE = 0.25


def text(evidence: Evidence, budget: int, tokenizer: Tokenizer = four_characters_a_token) -> str:
    """Facts, best first, then turns, oldest first: what fits `budget` tokens by `tokenizer`, headings included."""
    facts = _fitting([fact_line(fact) for fact in evidence.facts], int(budget * FACTS_SHARE), tokenizer, "Facts:")
    left = budget - (tokenizer("\n".join(facts)) + 1 if facts else 0)
    best_first = sorted(evidence.turns, key=lambda turn: -turn.score)
    lines = {turn_line(turn): turn for turn in best_first}
    kept = set(_fitting(list(lines), left, tokenizer, "Conversation:"))
    turns = [turn_line(turn) for turn in evidence.turns if turn_line(turn) in kept]
    return "\n".join([*facts, *(["Conversation:", *turns] if turns else [])])


def _fitting(lines: Sequence[str], budget: int, tokenizer: Tokenizer, heading: str) -> list[str]:
    """The heading and those lines, in order, that fit together with it; nothing where no line does."""
    kept = [heading]
    left = budget - tokenizer(heading + "\n")
    for line in lines:
        cost = tokenizer(line + "\n")
        if cost <= left:
            kept.append(line)
            left -= cost
    return kept if len(kept) > 1 else []


def fact_line(fact: EvidenceFact) -> str:
    """`- [2023-05-07, 2023-06-01) Ann lives in Paris (0.95)`; an inference names its rule."""
    triple = triple_text(fact.head_name, fact.fact.relation, fact.tail_name)
    inferred = f", inferred: {fact.rule}" if fact.rule else ""
    return f"- {_times(fact.fact)} {_one_line(triple)} ({fact.confidence:.2f}{inferred})"


def _times(fact: Fact) -> str:
    """Half-open, in days; what happened within a day has that day alone."""
    start, end = _day(fact.valid_from), "now" if fact.valid_to is None else _day(fact.valid_to)
    return f"[{start}]" if start == end else f"[{start}, {end})"


def turn_line(turn: EvidenceTurn) -> str:
    """`[2023-05-08T13:56:00Z] Ann: …`"""
    speaker = turn.turn.speaker or turn.turn.role.value
    return f"[{isoformat(turn.turn.at)}] {_one_line(speaker)}: {_one_line(turn.turn.full_text())}"


def _one_line(written: str) -> str:
    return " ".join(written.split())


def _day(at: Instant) -> str:
    return isoformat(at)[:10]


def subgraph(evidence: Evidence) -> dict[str, list[dict[str, Any]]]:
    """`{"nodes": [{id, name}], "edges": […]}`, each once; an edge has its interval, confidence, turns and rule."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[dict[str, Any]] = []
    for found in evidence.facts:
        nodes.setdefault(found.fact.head, {"id": found.fact.head, "name": found.head_name})
        nodes.setdefault(found.fact.tail, {"id": found.fact.tail, "name": found.tail_name})
        edges.append(_edge(found))
    for path in evidence.paths:
        nodes.setdefault(path.root, {"id": path.root, "name": path.root_name})
    return {"nodes": list(nodes.values()), "edges": edges}


def _edge(found: EvidenceFact) -> dict[str, Any]:
    fact = found.fact
    return {
        "id": fact.id,
        "version": fact.version,
        "source": fact.head,
        "target": fact.tail,
        "relation": fact.relation,
        "valid_from": isoformat(fact.valid_from),
        "valid_to": None if fact.valid_to is None else isoformat(fact.valid_to),
        "confidence": found.confidence,
        "stratum": fact.stratum.value,
        "intent": fact.intent.value,
        "rule": found.rule,
        "turns": list(found.turns),
    }


def node_link(evidence: Evidence) -> Mapping[str, Any]:
    """The subgraph as networkx reads it back: `networkx.node_link_graph(data, edges="edges")`."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    parts = subgraph(evidence)
    for node in parts["nodes"]:
        graph.add_node(node["id"], name=node["name"])
    for edge in parts["edges"]:
        attributes = {key: value for key, value in edge.items() if key not in ("source", "target")}
        graph.add_edge(
            edge["source"], edge["target"], key=f"{edge['id']}/{edge['version']}/{edge['rule']}", **attributes
        )
    data: Mapping[str, Any] = nx.node_link_data(graph, edges="edges")
    return data
