"""The benchmarks themselves, on sizes so small that no figure means anything: they run, and their checks can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memgraph_server import wiring
from memgraph_server.actions.ask import ask
from memgraph_server.evaluation.transcripts import read_conversations
from memgraph_server.language.onnx_embedder import OnnxEmbedder
from memgraph_server.retrieval.evidence import Question
from memgraph_server.settings import Settings
from tests.performance import ablation, query, synthetic, temporal_graphs
from tests.performance.__main__ import benchmarks
from tests.performance.figures import Figure
from tests.performance.multiplied import multiply

GRAPH = {
    "entity2id.txt": "Q1\t1\nQ2\t2\nQ3\t3\n",
    "relation2id.txt": "P26\t8\nP54\t22\n",
    "valid.txt": "1\t8\t2\t1990-##-##\t####-##-##\n1\t8\t3\t2000-##-##\t2001-##-##\n1\t8\t2\t####-##-##\t2010-##-##\n",
    "test.txt": "1\t22\t2\t1990-##-##\t1990-##-##\n1\t22\t3\t1990-##-##\t1995-##-##\n",
}


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    folder = tmp_path / "wikidata12k"
    folder.mkdir()
    for name, text in GRAPH.items():
        (folder / name).write_text(text)
    return tmp_path


def test_every_benchmark_explains_itself() -> None:
    assert {"query", "ingest", "serve", "install", "temporal_graphs"} <= set(benchmarks())
    assert all(about for about in benchmarks().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(benchmarks()))
def test_every_benchmark_has_help(name: str) -> None:
    command = [sys.executable, "-m", "tests.performance", name, "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert "usage" in shown.stdout


@pytest.mark.parametrize(
    ("figure", "holds"),
    [
        (Figure("fast enough", 3.0, "ms", 4.0), True),
        (Figure("too slow", 5.0, "ms", 4.0), False),
        (Figure("enough", 41.0, "turns/s", 40.0, at_least=True), True),
        (Figure("too few", 39.0, "turns/s", 40.0, at_least=True), False),
        (Figure("no bar", 1.0), None),
    ],
)
def test_a_figure_knows_whether_its_bar_holds(figure: Figure, holds: bool | None) -> None:
    assert figure.holds is holds


def test_years_become_half_open_intervals_and_unknown_starts_are_left_out(graphs: Path) -> None:
    found = temporal_graphs.claims(graphs / "wikidata12k")
    years = {(claim.relation, claim.tail): (claim.valid_from, claim.valid_to) for claim in found}
    first = temporal_graphs._first_instant
    assert len(found) == 4
    assert years["P26", "Q2"] == (first(1990), None)
    assert years["P26", "Q3"] == (first(2000), first(2002))
    assert years["P54", "Q2"] == (first(1990), first(1991))


def test_a_replayed_graph_gives_the_same_facts_in_every_order(graphs: Path, tmp_path: Path) -> None:
    found = {f.name: f for f in temporal_graphs.measure(graphs, "wikidata12k", 5, None, tmp_path)}
    assert found["wikidata12k: claims"].value == 4
    assert found["wikidata12k: facts"].value == 5  # the spouse of 1990 again after 2002
    assert all(figure.holds is not False for figure in found.values())


def test_two_values_at_once_are_seen(graphs: Path, tmp_path: Path) -> None:
    """Without the cardinality both spouses hold in 2000 and 2001."""
    services = wiring.services(Settings(store=f"sqlite:///{tmp_path / 'two.db'}"))
    try:
        temporal_graphs.replay(services.store, "g", (), temporal_graphs.claims(graphs / "wikidata12k"))
        views = temporal_graphs.believed(services.store, "g")
    finally:
        services.close()
    assert temporal_graphs.double_values(views, ("P26",)) == 1
    assert temporal_graphs.double_values(views, ("P54",)) == 1


def test_made_up_vectors_follow_from_the_text_alone() -> None:
    vectors = synthetic.HashedVectors(OnnxEmbedder())
    one, again, other = vectors.encode(["red lake 1", "red lake 1", "old song 2"])
    assert np.array_equal(one.pooled, again.pooled)
    assert abs(float(one.pooled @ other.pooled)) < 0.5
    assert one.tokens.shape == (len(one.pieces), vectors.dimension)
    assert np.allclose(np.linalg.norm(one.tokens, axis=1), 1.0, atol=1e-5)
    assert vectors.encode([""])[0].tokens.shape == (0, vectors.dimension)


def test_half_of_the_made_up_facts_are_the_hubs_and_all_are_different() -> None:
    found = list(synthetic.proposals(400, synthetic.turns(40)))
    assert sum(claim.head == synthetic.HUB for claim in found) == 200
    assert len({claim.tail for claim in found}) == 400
    assert {claim.turn_id for claim in found} == {f"t{number}" for number in range(40)}


def test_query_latency_is_measured_at_each_size(tmp_path: Path) -> None:
    by_size = {facts: query.measure(facts, 3, 256, tmp_path) for facts in (100, 300)}
    figures = {figure.name: figure.value for figure in query.figures(by_size)}
    assert all(len(latency.wall) == 3 for latency in by_size.values())
    assert figures["p95 at 300 facts"] >= figures["p50 at 300 facts"] > 0
    assert figures["p50, 300 facts to 100"] > 0


def test_what_a_part_adds_is_seen_where_it_is_left_out(tmp_path: Path) -> None:
    """Room for one of two turns: Ann's, for who speaks; the shorter, without that."""
    said = {"Ann": "The trip to Oslo in July was quite wonderful.", "Bob": "Oslo was wonderful."}
    turns = [
        {"id": f"t{n}", "role": "user", "speaker": who, "text": text, "at": f"2023-05-0{n + 1}T10:00:00+00:00"}
        for n, (who, text) in enumerate(said.items())
    ]
    question = {"text": "How was Oslo for Ann?", "evidence": ["t0"], "category": "open"}
    document = {"id": "c", "sessions": [{"session_id": "s", "turns": turns}], "questions": [question]}
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"conversations": [document]}))
    questions = list(ablation.asked(read_conversations(path), None))
    figures = {figure.name: figure.value for figure in ablation.figures(questions, [12, 2048])}
    assert figures["as it ships, 12"] == figures["as it ships, 2,048"] == figures["as it ships, 2,048, open"] == 100.0
    assert (figures["without the speaker, 12"], figures["without the speaker, 2,048"]) == (0.0, 100.0)


def test_a_store_grown_by_copies_of_its_rows_is_whole(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path / 'small.db'}", embedder="hashed", extractor="patterns")
    services = wiring.services(settings)
    vectors = synthetic.HashedVectors(services.embedder.get())
    synthetic.fill(services.store, "speed", vectors, facts=60, turns_too=12, now=wiring.clock())
    hub = services.store.resolve("speed", synthetic.HUB)
    assert hub is not None
    services.close()
    multiply(tmp_path / "small.db", tmp_path / "double.db", 2, hub=synthetic.HUB, same_relations=True)
    multiply(tmp_path / "double.db", tmp_path / "large.db", 3, hub=synthetic.HUB, same_relations=True)
    services = wiring.services(replace(settings, store=f"sqlite:///{tmp_path / 'large.db'}"))
    try:
        store = services.store
        assert store.check() == []
        assert len(store.timeline("speed").facts) == 360
        assert len(store.timeline("speed", entity_id=hub.id).facts) == 180
        assert store.corpus_size("speed").turns == 72
        found = ask(services, "speed", Question(text="What did Ann buy?", now=wiring.clock(), token_budget=512))
        assert found.turns
    finally:
        services.close()
