"""Facts by patterns: plain statements, nothing else, and no text that it stumbles over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.language.pattern_extractor import PatternExtractor
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.turns import Role, Turn
from memgraph_server.wiring import registry

NOON = 1_715_169_600_000_000


def read(text: str, speaker: str = "Ann", role: Role = Role.USER) -> Extraction:
    turn = Turn("t", "s", role, speaker, text, at=NOON)
    return PatternExtractor(registry().canonical).extract([TurnInContext(turn)])[0]


@pytest.mark.parametrize(
    ("text", "triples"),
    [
        ("I live in Paris.", [("Ann", "lives_in", "Paris")]),
        ("I live in Paris and work hard.", [("Ann", "lives_in", "Paris")]),
        ("Bob works at Acme, Eve lives in Rome!", [("Bob", "works_at", "Acme"), ("Eve", "lives_in", "Rome")]),
        ("I moved to Boston last week.", [("Ann", "lives_in", "Boston")]),
        ("Do I live in Paris?", []),
        ("I don't live in Paris.", []),
        ("I might live in Paris.", []),
        ("Nice weather today.", []),
        ("", []),
    ],
)
def test_plain_statements_are_read_and_nothing_else(text: str, triples: list[tuple[str, str, str]]) -> None:
    assert [(one.head, one.relation, one.tail) for one in read(text).proposals] == triples


def test_a_state_in_the_present_holds_while_it_is_said() -> None:
    (one,) = read("I live in Paris.").proposals
    assert (one.ongoing, one.valid_from, one.evidence_at, one.turn_id) == (True, NOON, NOON, "t")


def test_what_happened_does_not_go_on() -> None:
    (bought,) = read("I bought a bike.").proposals
    assert (bought.relation, bought.valid_from, bought.valid_to) == ("bought", NOON, NOON + 1)


def test_a_span_is_where_the_turn_says_so() -> None:
    text = "Hello! I live in Paris."
    (one,) = read(text).proposals
    assert one.span is not None
    assert text[slice(*one.span)] == "I live in Paris"


def test_who_speaks_without_a_name_is_the_user() -> None:
    assert read("I live in Paris.", speaker="").proposals[0].head == "User"


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.TOOL])
def test_prompts_and_tools_say_nothing(role: Role) -> None:
    assert read("I live in Paris.", role=role).proposals == ()


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read(f"I live in {text}"), Extraction)
