"""Classes of nouns: a question for a class must reach its members."""

from __future__ import annotations

import gzip
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.memory.classes import ClassTable, singular


@pytest.fixture(scope="module")
def table() -> ClassTable:
    packed = (files("memgraph_server") / "schema" / "classes.tsv.gz").read_bytes()
    return ClassTable.from_lines(gzip.decompress(packed).decode().splitlines())


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("swimming", "activity"),
        ("swimming", "sports"),
        ("a video game", "games"),
        ("couch", "furniture"),
        ("two cats", "animals"),
        ("LGBTQ support group", "group"),
        ("acoustic guitar", "instruments"),
        ("Italy", "country"),
        ("Seattle", "cities"),
        ("fantasy novels", "books"),
        ("yoga", "exercise"),
        ("pizza", "foods"),
    ],
)
def test_a_member_is_found_by_its_class(table: ClassTable, phrase: str, name: str) -> None:
    assert table.is_a(phrase, name)


@pytest.mark.parametrize(
    ("phrase", "name"), [("couch", "animal"), ("Valorant", "game"), ("", "game"), ("swimming", "entity")]
)
def test_what_is_not_known_is_not_claimed(table: ClassTable, phrase: str, name: str) -> None:
    assert not table.is_a(phrase, name)


@pytest.mark.parametrize(
    ("plural", "one"),
    [("cities", "city"), ("dogs", "dog"), ("classes", "class"), ("boxes", "box"), ("yoga", "yoga"), ("bus", "bus")],
)
def test_plurals_lose_their_ending(plural: str, one: str) -> None:
    assert singular(plural) == one


@given(st.text())
def test_any_text_has_classes_or_none(text: str) -> None:
    table = ClassTable({"dog": "animal"})
    assert all(isinstance(name, str) for name in table.of_phrase(text))
    assert table.is_a(f"{text} dog", "animal")
