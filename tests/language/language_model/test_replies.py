"""What models write, and what is read out of it: one line a habit. Nothing raises; good items survive bad ones."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from memgraph_server.language.language_model.json_text import values
from memgraph_server.language.language_model.replies import parse, strict_schema
from memgraph_server.language.port import Trouble


class Colour(BaseModel):
    name: str = Field(json_schema_extra={"also": ["colour", "label"]})
    share: float = 0.5


class Colours(BaseModel):
    colours: list[Colour] = Field(default_factory=list, json_schema_extra={"also": ["colors", "items"]})


class Verdict(BaseModel):
    sure: bool = False
    words: str = ""


RED = '{"colours": [{"name": "red", "share": 0.7}]}'
TWO = '{"name": "red", "share": 0.7}, {"name": "blue", "share": 0.1}'
ECHO = json.dumps(Colours.model_json_schema())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(RED, ["red"], id="plain JSON"),
        pytest.param(f"```json\n{RED}\n```", ["red"], id="a code fence"),
        pytest.param(f"Sure! Here it is:\n{RED}\nI hope this helps {{:-)", ["red"], id="text before and after"),
        pytest.param(f"Of [these] I found: {RED}", ["red"], id="brackets in the text before"),
        pytest.param(f"{ECHO}\n{RED}", ["red"], id="the schema, then the answer"),
        pytest.param(f"<think>maybe {{\"colours\": []}} or not</think>{RED}", ["red"], id="thinking aloud"),
        pytest.param('{"colours": []}\n' + RED, ["red"], id="an empty try before the answer"),
        pytest.param('{"type": "object", "properties": {"colours": [{"name": "red"}]}}', ["red"],
                     id="the answer inside the schema's form"),
        pytest.param('{"Colours": [{"Name": "red"}]}', ["red"], id="capitals"),
        pytest.param('{"items": [{"label": "red"}]}', ["red"], id="other names of members"),
        pytest.param('{"result": {"data": {"colors": [{"colour": "red"}]}}}', ["red"], id="wrapped"),
        pytest.param(f"[{TWO}]", ["red", "blue"], id="the bare list"),
        pytest.param('{"name": "red"}', ["red"], id="one bare item"),
        pytest.param('{"colours": [{"name": "dark\nred"}]}', ["dark\nred"], id="a raw line break in a string"),
        pytest.param('{"colours": [{"name": "a "warm" red", "share": 0.2}]}', ['a "warm" red'], id="raw quotes"),
        pytest.param("{'colours': [{'name': 'red', 'share': None}]}", ["red"], id="a Python literal"),
        pytest.param('{"colours": [{"name": "red",},],}', ["red"], id="trailing commas"),
        pytest.param('{"colours": [{"name": "red" "share": 0.2}]}', ["red"], id="a missing comma"),
        pytest.param('{"colours": [{"name": "red"\n"share": 0.2}]}', ["red"], id="a missing comma at a line's end"),
        pytest.param('{"colours": [{"name": "red"}, {"nom": "x"}, 7, {"name": ["x"]}, {"name": "blue"}]}',
                     ["red", "blue"], id="bad items among good ones"),
        pytest.param('{"colours": [{"name": "red"}, {name: ?!}, {"name": "blue"}]}', ["red", "blue"],
                     id="an item that is no JSON"),
        pytest.param('{"colours": [{"name": "red", "share": "lots"}]}', ["red"], id="a member that cannot be used"),
        pytest.param(f'{{"colours": [{TWO}, {{"name": "gre', ["red", "blue"], id="cut within a string"),
        pytest.param(f'{{"colours": [{TWO}, {{"name": "green", "share": 0.', ["red", "blue"], id="cut within a number"),
        pytest.param(f'{{"colours": [{TWO}', ["red", "blue"], id="cut after an item"),
        pytest.param('{"colours": []}', [], id="an empty list"),
        pytest.param("{}", [], id="an empty object"),
        pytest.param('{"colours": [{"name": "\\ud83d\\ude00"}]}', ["😀"], id="an escaped pair of surrogates"),
    ],
)  # fmt: skip
def test_is_read(text: str, names: list[str]) -> None:
    parsed = parse(text, Colours)
    assert parsed.value is not None
    assert [colour.name for colour in parsed.value.colours] == names
    assert parsed.trouble is Trouble.NONE


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        pytest.param("", Trouble.EMPTY, id="nothing"),
        pytest.param(" \n\t", Trouble.EMPTY, id="white space"),
        pytest.param("I cannot help with that.", Trouble.UNREADABLE, id="a refusal in words"),
        pytest.param(ECHO, Trouble.UNREADABLE, id="the schema and nothing else"),
        pytest.param("<think>what could it be", Trouble.UNREADABLE, id="a thought that never ended"),
        pytest.param('{"answer": 42}', Trouble.UNREADABLE, id="another question's answer"),
        pytest.param('"colours"', Trouble.UNREADABLE, id="a bare string"),
        pytest.param("[" * 5000, Trouble.UNREADABLE, id="deep nesting"),
        pytest.param('{"a":' * 5000, Trouble.UNREADABLE, id="deeper nesting"),
        pytest.param('{"colours": [{"name": "re', Trouble.UNREADABLE, id="cut within the first item"),
        pytest.param("9" * 10_000, Trouble.UNREADABLE, id="a number without end"),
    ],
)
def test_is_told_as_trouble(text: str, trouble: Trouble) -> None:
    parsed = parse(text, Colours)
    assert (parsed.value, parsed.trouble) == (None, trouble)


def test_says_how_many_items_were_left_out_and_that_the_text_was_cut() -> None:
    parsed = parse(f'{{"colours": [{TWO}, {{"nom": "x"}}, {{"name": "gre', Colours)
    assert (parsed.dropped, parsed.cut) == (2, True)


def test_a_runaway_is_read_as_far_as_it_is_complete() -> None:
    parsed = parse('{"colours": [' + '{"name": "red"}, ' * 3000 + '{"na', Colours)
    assert parsed.value is not None
    assert len(parsed.value.colours) == 3000
    assert parsed.cut


def test_scalars_without_a_usable_value_get_their_defaults() -> None:
    parsed = parse('{"sure": "perhaps", "words": "last May"}', Verdict)
    assert parsed.value == Verdict(sure=False, words="last May")


@given(st.text(alphabet=st.sampled_from("{}[]\"',:\\\n 1ae.\ud83d\0é")))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    for found in values(text):
        assert isinstance(found.value, dict | list)
    parse(text, Colours)


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), _JSON))
def test_whatever_is_json_is_read_as_json(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert next(values(f"Here: {text} – done")).value == value


@given(st.lists(st.text(alphabet=st.characters(exclude_characters='"\\', exclude_categories=["Cs"]), min_size=1)),
       st.integers(0, 400))  # fmt: skip
def test_a_text_cut_anywhere_gives_a_beginning_of_its_items(names: list[str], at: int) -> None:
    text = json.dumps({"colours": [{"name": name} for name in names]}, ensure_ascii=False)
    parsed = parse(text[:at], Colours)
    if parsed.value is not None:
        read = [colour.name for colour in parsed.value.colours]
        assert read == names[: len(read)]


def test_the_schema_that_is_sent_asks_for_every_member_and_no_other() -> None:
    schema = strict_schema(Colours)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["colours"]
    assert schema["$defs"]["Colour"]["required"] == ["name", "share"]
    assert schema["$defs"]["Colour"]["additionalProperties"] is False
    assert "also" not in json.dumps(schema)
    assert "default" not in json.dumps(schema)
