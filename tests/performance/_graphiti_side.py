"""Graphiti's side of `beside_graphiti.py`: runs in an environment of its own, prints one line of JSON, and uses nothing
of this project. Its argument is JSON: {"url", "password", "facts": [sizes], "turns"}."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

os.environ |= {"EMBEDDING_DIM": "384", "GRAPHITI_TELEMETRY_ENABLED": "false"}

import contextlib

import neo4j
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.nodes import EntityNode
from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

NOW = datetime(2024, 1, 1, tzinfo=UTC)
SAID = re.compile(r"Ann likes thing \d+")


class Hashed(EmbedderClient):
    """Words hashed into 384 buckets."""

    async def create(self, input_data: Any) -> list[float]:
        return _vector(input_data if isinstance(input_data, str) else " ".join(map(str, input_data)))

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [_vector(text) for text in input_data_list]


def _vector(text: str) -> list[float]:
    row = [0.0] * 383 + [0.5]  # never nothing, where two words fall into one bucket with opposite signs
    for word in text.lower().split():
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        row[int.from_bytes(digest[:4], "big") % 383] += 1.0 if digest[4] & 1 else -1.0
    length = sum(value * value for value in row) ** 0.5 or 1.0
    return [value / length for value in row]


class InOrder(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        return [(passage, 1.0 / (place + 1)) for place, passage in enumerate(passages)]


class Scripted(LLMClient):
    """Answers at once with the one fact of the turn; as the same person, whenever it is asked about Ann."""

    def __init__(self) -> None:
        super().__init__(None)
        self.calls = 0
        self.hang = False

    async def _generate_response(self, messages: Any, response_model: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        self.calls += 1
        if self.hang:
            await asyncio.sleep(3600)
        prompt = messages[-1].content
        kind = response_model.__name__ if response_model is not None else ""
        found = SAID.findall(prompt)
        thing = (found[-1] if found else "Ann likes thing 0").removeprefix("Ann likes ")
        return _ANSWERS[kind](prompt, thing)


def _resolved(prompt: str, _: str) -> dict[str, Any]:
    """Every entity asked about, as the existing one of that name where one is shown."""
    parts = re.split(r"<EXISTING ENTITIES>|</EXISTING ENTITIES>", prompt)
    existing = {name: int(number) for number, name in re.findall(
        r'"candidate_id":\s*(\d+),\s*"name":\s*"([^"]+)"', parts[1] if len(parts) > 1 else "")}  # fmt: skip
    asked = re.findall(r'"id":\s*(\d+),\s*"name":\s*"([^"]+)"', parts[0])
    return {
        "entity_resolutions": [
            {"id": int(number), "name": name, "duplicate_candidate_id": existing.get(name, -1)}
            for number, name in asked
        ]
    }


_ANSWERS: dict[str, Any] = {
    "ExtractedEntities": lambda _, thing: {
        "extracted_entities": [{"name": name, "entity_type_id": 0} for name in ("Ann", thing)]
    },
    "NodeResolutions": _resolved,
    "ExtractedEdges": lambda _, thing: {
        "edges": [
            {
                "source_entity_name": "Ann",
                "target_entity_name": thing,
                "relation_type": "LIKES",
                "fact": f"Ann likes {thing}",
            }
        ]
    },
    "EdgeDuplicate": lambda *_: {"duplicate_facts": [], "contradicted_facts": []},
    "EdgeTimestamps": lambda *_: {"valid_at": "2024-01-01T00:00:00Z", "invalid_at": None},
    "SummarizedEntities": lambda *_: {"summaries": []},
    "EntitySummary": lambda *_: {"summary": ""},
}


class Counted:
    """Statements that the driver sends, counted where every session runs them."""

    def __init__(self) -> None:
        self.statements = 0
        for kind in (neo4j.AsyncTransaction, neo4j.AsyncManagedTransaction, neo4j.AsyncSession):
            self._count(kind)

    def _count(self, kind: Any) -> None:
        original = kind.run

        async def run(inner: Any, *arguments: Any, **options: Any) -> Any:
            self.statements += 1
            return await original(inner, *arguments, **options)

        kind.run = run


async def main(given: dict[str, Any]) -> dict[str, Any]:
    counted, model = Counted(), Scripted()
    graph = Graphiti(
        given["url"], "neo4j", given["password"], llm_client=model, embedder=Hashed(), cross_encoder=InOrder()
    )
    async with graph.driver.client.session() as session:
        await (await session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS")).consume()
    await graph.build_indices_and_constraints()
    sizes = {str(size): await _turn_cost(graph, model, counted, size, given["turns"]) for size in given["facts"]}
    began = time.perf_counter()
    for number in range(given["turns"]):
        await _turn(graph, "throughput", number)
    per_second = given["turns"] / (time.perf_counter() - began)
    search = {str(size): await _search(graph, size) for size in given["facts"] if size}
    await asyncio.gather(*(_turn(graph, "concurrent", number) for number in range(10)))
    same = await _count(graph, "MATCH (n:Entity {group_id: 'concurrent', name: 'Ann'}) RETURN count(n) AS n")
    model.hang = True
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_turn(graph, "kept", 1), 2.0)
    kept = await _count(graph, "MATCH (n:Episodic {group_id: 'kept'}) RETURN count(n) AS n")
    await graph.close()
    return {
        "sizes": sizes,
        "turns_per_second": per_second,
        "search_ms": search,
        "nodes_of_one_person": same,
        "kept_without_answer": kept,
    }


async def _count(graph: Graphiti, query: str) -> int:
    records, _, _ = await graph.driver.execute_query(query)
    return int(records[0]["n"])


async def _turn(graph: Graphiti, group: str, number: int) -> None:
    await graph.add_episode(
        name=f"turn {number}",
        episode_body=f"Ann: Ann likes thing {number}",
        source_description="chat",
        reference_time=NOW,
        group_id=group,
    )


async def _turn_cost(graph: Graphiti, model: Scripted, counted: Counted, size: int, turns: int) -> dict[str, float]:
    group = f"size-{size}"
    await _fill(graph, group, size)
    await _turn(graph, group, 10**6)
    statements, calls, spent = counted.statements, model.calls, []
    for index in range(turns):
        began = time.perf_counter()
        await _turn(graph, group, 10**6 + 1 + index)
        spent.append(1000 * (time.perf_counter() - began))
    return {
        "ms": statistics.median(spent),
        "statements": (counted.statements - statements) / turns,
        "calls": (model.calls - calls) / turns,
    }


async def _fill(graph: Graphiti, group: str, size: int) -> None:
    ann = EntityNode(name="Ann", group_id=group, labels=["Entity"], created_at=NOW)
    for start in range(0, size, 500):
        things = [
            EntityNode(name=f"thing {n}", group_id=group, labels=["Entity"], created_at=NOW)
            for n in range(start, min(size, start + 500))
        ]
        edges = [
            EntityEdge(
                source_node_uuid=ann.uuid,
                target_node_uuid=thing.uuid,
                group_id=group,
                name="LIKES",
                fact=f"Ann likes {thing.name}",
                created_at=NOW,
                valid_at=NOW,
            )
            for thing in things
        ]
        nodes: Iterable[EntityNode] = [ann, *things] if start == 0 else things
        await add_nodes_and_edges_bulk(graph.driver, [], [], list(nodes), edges, graph.embedder)


async def _search(graph: Graphiti, size: int) -> float:
    spent = []
    for number in range(23):
        began = time.perf_counter()
        await graph.search(f"Does Ann like thing {number}?", group_ids=[f"size-{size}"])
        spent.append(1000 * (time.perf_counter() - began))
    return statistics.median(spent[3:])


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
