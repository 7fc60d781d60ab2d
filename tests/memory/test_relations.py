"""The table of relations that ships, what it says, and what is refused of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.facts import Intent
from memgraph_server.memory.phrases import NAME_LENGTH, slug
from memgraph_server.memory.relations import Cardinality, Registry

TABLE = Path(__file__).parents[2] / "schema" / "relations.yaml"
REGISTRY = Registry.from_tables(yaml.safe_load(TABLE.read_text("utf-8")))

PHRASES = [
    ("live in", "lives_in"),
    ("lives in", "lives_in"),
    ("living in", "lives_in"),
    ("has been living in", "lives_in"),
    ("is currently living in", "lives_in"),
    ("reside in", "lives_in"),
    ("moved to", "lives_in"),
    ("lives_in", "lives_in"),
    ("LIVES-IN", "lives_in"),
    ("work for", "works_at"),
    ("worksAt", "works_at"),
    ("be married to", "married_to"),
    ("was married to", "married_to"),
    ("married to", "married_to"),
    ("isMarriedTo", "married_to"),
    ("love", "likes"),
    ("really enjoys", "likes"),
    ("hated", "dislikes"),
    ("is a fan of", "likes"),
    ("bought", "bought"),
    ("purchase", "bought"),
    ("has a dog", "has_pet"),
    ("has child", "parent_of"),
    ("has an older sister", "has_sister"),
    ("friends with", "friend_of"),
    ("allergic to", "allergic_to"),
    ("favourite ice cream", "favorite_ice_cream"),
    ("favorite_movie", "favorite_movie"),
    ("neighbour", "neighbor_of"),
    ("wasBornIn", "born_in"),
    ("because of", "caused_by"),
]


@pytest.mark.parametrize(("phrase", "name"), PHRASES)
def test_a_phrase_means_its_relation(phrase: str, name: str) -> None:
    assert REGISTRY.canonical(phrase) == name


UNKNOWN = [
    ("juggles with", "juggles_with"),
    ("住在", "住在"),
    ("يعيش في", "يعيش_في"),
    ("में रहता है", "में_रहता_है"),
    ("Ünïted with", "ünïted_with"),
    ("`; DROP (n)--", "drop_n"),
    ("❤️", "u2764_ufe0f"),
    ("\x00", "u0000"),
    ("", "related_to"),
    ("___", "u005f_u005f_u005f"),
    ("x" * 200, "x" * NAME_LENGTH),
]


#: What a light verb says depends on its object ("took on a project" hires nobody): it keeps its own name.
LIGHT = [
    ("took on", "took_on"), ("set up", "set_up"), ("got", "got"), ("picked up", "picked_up"), ("put on", "put_on"),
    ("threw", "threw"), ("ran into", "ran_into"), ("went by", "went_by"), ("took in", "took_in"), ("drew", "drew"),
    ("does", "does"), ("entered", "entered"), ("developed", "developed"), ("struggles with", "struggles_with"),
    ("went out with", "went_out_with"), ("earned", "earned"), ("trains", "trains"), ("rides", "rides"),
    ("booked", "booked"), ("stated", "stated"), ("learned from", "learned_from"), ("waits for", "waits_for"),
]  # fmt: skip


@pytest.mark.parametrize(("phrase", "name"), [*UNKNOWN, *LIGHT])
def test_an_unknown_phrase_is_named_by_its_own_words(phrase: str, name: str) -> None:
    assert REGISTRY.canonical(phrase) == name


@given(st.text())
@example("\ud800")
@example("İstanbul'da yaşıyor")
@example("ß" * 100)
def test_any_text_has_a_short_name_that_names_itself(phrase: str) -> None:
    name = REGISTRY.canonical(phrase)
    assert 0 < len(name) <= NAME_LENGTH
    assert REGISTRY.canonical(name) == name
    assert slug(slug(phrase)) == slug(phrase)


def test_every_name_in_the_table_names_itself() -> None:
    assert [name for name in REGISTRY.names if REGISTRY.canonical(name) != name] == []
    assert len(REGISTRY.names) > 200


def test_the_table_knows_what_conversations_speak_of() -> None:
    spoken = (
        "lives_in works_at married_to relationship_status likes dislikes owns bought returned sold wants plans_to"
        " visited attended has_pet parent_of child_of sibling_of friend_of allergic_to diagnosed_with takes_medication"
        " studies studies_at speaks plays practices recommends birthday age born_in named uses prefers believes feels"
        " started finished read watched cooked made met knows said"
    )
    assert set(spoken.split()) <= set(REGISTRY.names)


@pytest.mark.parametrize(
    ("name", "cardinality"),
    [
        ("lives_in", Cardinality.SINGLE),
        ("works_at", Cardinality.SINGLE),
        ("married_to", Cardinality.SINGLE),
        ("relationship_status", Cardinality.SINGLE),
        ("favorite_ice_cream", Cardinality.SINGLE),
        ("likes", Cardinality.MULTI),
        ("friend_of", Cardinality.MULTI),
        ("juggles_with", Cardinality.UNKNOWN),
    ],
)
def test_cardinality_is_the_tables_and_unknown_elsewhere(name: str, cardinality: Cardinality) -> None:
    assert REGISTRY.cardinality(name) is cardinality


def test_antonyms_hold_both_ways() -> None:
    for one, other in (("likes", "dislikes"), ("bought", "returned"), ("trusts", "distrusts")):
        assert (REGISTRY.antonym(one), REGISTRY.antonym(other)) == (other, one)
    assert REGISTRY.antonym("lives_in") is None


def test_inverses_hold_both_ways_and_a_symmetric_relation_is_its_own() -> None:
    assert (REGISTRY.inverse("parent_of"), REGISTRY.inverse("child_of")) == ("child_of", "parent_of")
    assert REGISTRY.inverse("friend_of") == "friend_of"
    assert REGISTRY.inverse("likes") is None


def test_hypernyms_are_named_nearest_first_and_hyponyms_the_same_way_down() -> None:
    assert REGISTRY.hypernyms("has_daughter") == ("parent_of", "relative_of")
    assert {"parent_of", "has_daughter"} <= set(REGISTRY.hyponyms("relative_of"))
    assert REGISTRY.hypernyms("favorite_ice_cream") == ("favorite", "likes")
    assert REGISTRY.hypernyms("juggles_with") == REGISTRY.hyponyms("juggles_with") == ()


def test_similar_relations_are_above_below_beside_and_from_the_other_end() -> None:
    assert set(REGISTRY.similar("has_daughter")) == {"parent_of", "relative_of", "has_son"}
    assert {"child_of", "has_son", "sibling_of"} <= set(REGISTRY.similar("parent_of"))


def test_words_that_start_and_end_a_relation_say_so() -> None:
    assert REGISTRY.started_by("moved to") == ("lives_in",)
    assert REGISTRY.ended_by("quit") == ("member_of", "works_at")
    assert REGISTRY.ended_by("got divorced from") == ("married_to",)
    assert REGISTRY.ended_by("juggle with") == ()


def test_events_happen_and_say_when() -> None:
    assert REGISTRY.is_event("visited")
    assert not REGISTRY.is_event("lives_in")
    intents = [REGISTRY.intent(name) for name in ("visited", "lives_in", "caused", "became", "better_than")]
    assert intents == [Intent.TEMPORAL, Intent.FACT, Intent.CAUSAL, Intent.EVOLUTION, Intent.CONTRAST]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"a": {"inverse": "b"}}, "a", "no relation"),
    ({"a": {"hypernym": "b"}}, "a", "no relation"),
    ({"a": {"hypernym": "b"}, "b": {"hypernym": "a"}}, "a", "circle"),
    ({"a": {"antonym": "a"}}, "a", "its own antonym"),
    ({"a": {"antonym": "b"}, "b": {}, "c": {"antonym": "b"}}, "b", "two antonyms"),
    ({"a": {"inverse": "b", "symmetric": True}, "b": {}}, "a", "symmetric"),
    ({"a": {"aliases": ["hold"]}, "b": {"aliases": ["holds the", "hold"]}}, "b", "means both"),
    ({"a": {"aliases": ["b"]}, "b": {}}, "b", "means both"),
    ({"a": {"cardinality": "one"}}, "a", "none of single, multi, unknown"),
    ({"a": {"intent": "MOOD"}}, "a", "none of FACT"),
    ({"a": {"colour": "red"}}, "a", "unknown properties colour"),
    ({"a": {"aliases": "hold"}}, "a", "list of phrases"),
    ({"a": {"aliases": [""]}}, "a", "list of phrases"),
    ({"Lives In": {}}, "Lives In", "lower case with underscores"),
    ({"a": None}, "a", "mapping"),
    ({7: {}}, "7", "mapping"),
]


@pytest.mark.parametrize(("relations", "field", "words"), WRONG)
def test_a_table_with_a_mistake_is_refused_and_the_mistake_named(
    relations: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        Registry.from_tables({"relations": relations})
    assert refused.value.field == field


def test_a_table_without_relations_is_refused() -> None:
    with pytest.raises(InvalidInput, match="under `relations`"):
        Registry.from_tables({})


def test_a_form_that_two_relations_share_means_neither_unless_one_names_it() -> None:
    shared = {
        "felled": {"aliases": ["fell"]},
        "fallen": {"aliases": ["fall"]},
        "likes": {},
        "looks": {"aliases": ["be likes"]},
    }
    registry = Registry.from_tables({"relations": shared, "irregular_verbs": {"fall": ["fells"], "be": ["is"]}})
    assert registry.canonical("fells") == "fells"
    assert registry.canonical("likes") == "likes"
    assert registry.canonical("falling") == "fallen"
