"""Reading a question by its words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.memory.facts import Entity, Intent
from memgraph_server.memory.interval import Interval
from memgraph_server.retrieval.cues import Kind, Sought
from memgraph_server.retrieval.evidence import Question
from memgraph_server.retrieval.question import (
    FIRST_INSTANT,
    MOST_NAMES,
    MOST_TERMS,
    anchors,
    candidate_names,
    intent_of,
    read,
    without_names,
)

NOW = 1_000_000
SPEAKERS = ["Caroline", "Melanie"]


def asked(text: str, **options: object) -> Question:
    return Question(text=text, now=NOW, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("What is Ann's job?", Intent.FACT),
        ("Why did Ann leave Acme?", Intent.CAUSAL),
        ("How come she moved?", Intent.CAUSAL),
        ("What made Ann laugh?", Intent.CAUSAL),
        ("When did Ann move?", Intent.TEMPORAL),
        ("How long has Ann lived there?", Intent.TEMPORAL),
        ("What did she do before the war?", Intent.TEMPORAL),
        ("What do both Ann and Bob like?", Intent.CONTRAST),
        ("What is the difference between the two?", Intent.CONTRAST),
        ("What did Ann used to play?", Intent.EVOLUTION),
        ("Does Ann still smoke?", Intent.EVOLUTION),
        ("安妮在哪里工作?", Intent.FACT),
        ("", Intent.FACT),
    ],
)
def test_cue_words_tell_what_is_wanted(text: str, intent: Intent) -> None:
    assert intent_of(text) is intent


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("When did Ann move?", Sought.ONE),
        ("What did Ann say about the lamp?", Sought.ONE),
        ("安在哪里住？", Sought.ONE),
        ("Which books has Ann read?", Sought.MEMBERS),
        ("How many cats does Ann have?", Sought.MEMBERS),
        ("What do Ann and Bo have in common?", Sought.MEMBERS),
        ("Thanks. What comes next?", Sought.MATTER),
        ("Where is it? And since when?", Sought.MATTER),
        ("I am ready to go on with the map.", Sought.MATTER),
        ("Where does Dr. Lee work?", Sought.ONE),
        ("Did Ann move to the U.S. for J. Lee?", Sought.ONE),
        ("where does ann live", Sought.ONE),
        ("which books has ann read", Sought.MEMBERS),
        ("どこに住んでいますか。", Sought.ONE),
        ("أين تعيش آن؟", Sought.ONE),
        ("What a day!", Sought.MATTER),
        ("I saw Dr. Lee. When was that?", Sought.MATTER),
        ("piano", Sought.MATTER),
        ("", Sought.MATTER),
    ],
)
def test_a_question_for_one_thing_is_told_from_lists_and_remarks(text: str, places: Sought) -> None:
    assert read(asked(text), []).sought is places


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What activities does Melanie do?", Kind.LIST),
        ("Which books has she read?", Kind.LIST),
        ("How many children does she have?", Kind.HOW_MANY),
        ("When did she paint it?", Kind.WHEN),
        ("What year was that?", Kind.WHEN),
        ("Who helped her?", Kind.WHO),
        ("Where does she live?", Kind.WHERE),
        ("Did she go there?", Kind.YES_NO),
        ("What do they have in common?", Kind.COMPARISON),
        ("What did she say?", Kind.OPEN),
    ],
)
def test_the_form_of_the_answer_is_read(text: str, kind: Kind) -> None:
    assert read(asked(text), []).kind is kind


def test_each_root_has_the_intent_of_its_own_clause() -> None:
    reading = read(asked("Why did Ann leave Acme before Bob joined?"), [])
    linked = {name: Entity(name.lower(), name) for name in ("Ann", "Acme", "Bob")}
    assert [(a.name, a.intent) for a in anchors(reading, linked)] == [
        ("Ann", Intent.CAUSAL),
        ("Acme", Intent.CAUSAL),
        ("Bob", Intent.TEMPORAL),
    ]


def test_a_name_within_a_longer_name_is_no_root_and_an_entity_is_one_once() -> None:
    reading = read(asked("Did Ann Smith meet Annie?"), [])
    linked = {"Ann": Entity("1", "Ann"), "Ann Smith": Entity("2", "Ann Smith"), "Annie": Entity("2", "Ann Smith")}
    assert [anchor.entity for anchor in anchors(reading, linked)] == ["2"]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("When did Caroline meet Melanie's aunt?", "When did meet aunt?"),
        ("What does CAROLINE paint?", "What does paint?"),
        ("What does Carolines sister paint?", "What does Carolines sister paint?"),
        ("Caroline?", "Caroline?"),
        ("What did the user say?", "What did the user say?"),
    ],
)
def test_participants_names_leave_what_is_matched(text: str, bare: str) -> None:
    assert without_names(text, [*SPEAKERS, "User", "Assistant", ""]) == bare


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What did Melanie say about Caroline's plans?", "Melanie"),
        ("According to Caroline, what makes Melanie a good mother?", "Caroline"),
        ("When is caroline going to visit MELANIE?", "Caroline"),
        ("What advice has Melanie received from Caroline?", "Caroline"),
        ("What was Melanie told by Caroline?", "Caroline"),
        ("Who by the way told Melanie about Caroline?", "Melanie"),
        ("What do Melanie and Caroline share?", None),
        ("What are Melanie's and Caroline's plans?", None),
        ("Did Caroline or Melanie paint it?", None),
        ("What did Caroline and her friend Melanie do?", None),
        ("What did Caroline, and her old neighbor Melanie, plan?", None),
        ("Where did Caroline & Dr. Melanie meet?", None),
        ("What did Caroline get from Mrs. Melanie?", "Melanie"),
        ("What has Caroline learned from her best friend Melanie?", "Melanie"),
        ("What did Caroline tell her friend Melanie?", "Caroline"),
        ("Why did Caroline and her dog visit Melanie?", "Caroline"),
        ("What did Caroline take from her desk for Melanie?", "Caroline"),
        ("What does Caroline do that Melanie does differently?", None),
        ("What did Caroline paint?", None),
        ("What was painted?", None),
    ],
)
def test_of_two_who_are_named_one_acts_unless_they_stand_as_a_pair(text: str, subject: str | None) -> None:
    assert read(asked(text), SPEAKERS).subject == subject


@pytest.mark.parametrize(
    ("text", "named", "subject"),
    [
        ("What did Ann Smith say?", ("Ann Smith",), None),
        ("What did Bob Smith get from Ann Smith?", ("Bob Smith", "Ann Smith"), "Ann Smith"),
        ("What did Ann Smith tell Ann?", ("Ann Smith", "Ann"), "Ann Smith"),
        ("What did Smith buy?", ("Bob Smith", "Ann Smith"), None),  # nobody knows which, whoever spoke first
        ("What did SMITH tell İpek?", ("Bob Smith", "Ann Smith", "İpek"), None),
        ("What did ipek tell Straße?", ("İpek", "Straße"), "İpek"),
    ],
)
def test_names_are_read_as_long_as_they_can_be(text: str, named: tuple[str, ...], subject: str | None) -> None:
    reading = read(asked(text), ["Ann", "Bob Smith", "Ann Smith", "İpek", "Straße"])
    assert (reading.asked, reading.subject) == (named, subject)


@pytest.mark.parametrize("between", [f",{' ' * 32_000}x ", f"{' ' * 16_000},{' ' * 16_000}x ", f" and{' ' * 32_000}x "])
def test_what_stands_between_two_names_is_read_in_time_of_its_length(between: str) -> None:
    began = time.process_time()
    assert read(asked(f"Ann{between}Bob"), ["Ann", "Bob"]).subject == "Ann"
    assert time.process_time() - began < 1


def test_who_is_asked_about_is_told_apart_from_what_is_asked() -> None:
    reading = read(asked("What did Caroline paint?"), SPEAKERS)
    assert reading.asked == ("Caroline",)
    assert reading.terms == ("paint",)
    assert read(asked("What do Caroline and Melanie share?"), SPEAKERS).asked == ("Caroline", "Melanie")
    assert read(asked("What did I say?"), SPEAKERS).first_person


@pytest.mark.parametrize(
    ("text", "uncertain"),
    [
        ("What might Ann study?", True),
        ("Take a guess", True),
        ("Would she likely move?", True),
        ("What does Ann study?", False),
    ],
)
def test_a_question_may_ask_for_uncertain_things(text: str, *, uncertain: bool) -> None:
    assert read(asked(text), []).uncertain is uncertain


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Where does Ann live?", Interval(NOW, NOW + 1)),
        ("Where did Ann live?", Interval(FIRST_INSTANT, NOW + 1)),
        ("What did Ann used to play?", Interval(FIRST_INSTANT, NOW + 1)),
        ("When does the course begin?", None),
    ],
)
def test_the_tense_says_which_facts_can_answer(text: str, scope: Interval | None) -> None:
    assert read(asked(text), []).scope == scope


def test_a_time_that_is_given_or_stated_is_what_the_question_is_about() -> None:
    given_time = read(asked("Where does Ann live?", reference_time=50), [])
    assert (given_time.reference_time, given_time.scope) == (50, Interval(50, 51))
    stated = read(asked("What did Ann do in May?"), [], Interval(10, 20))
    assert (stated.reference_time, stated.scope) == (10, Interval(10, 20))


@given(st.text(max_size=400), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_can_be_read(text: str, speakers: list[str]) -> None:
    reading = read(asked(text), speakers)
    assert len(reading.names) <= MOST_NAMES
    assert all(name in text for name in reading.names)
    linked = {name: Entity(name, name) for name in reading.names[:5]}
    assert len(anchors(reading, linked)) <= len(linked)


def test_names_of_several_words_and_scripts_are_candidates() -> None:
    assert {"New York", "Ann", "Nora Jones"} <= set(candidate_names("Has Ann seen Nora Jones in New York?"))
    assert "Łódź" in candidate_names("Was Ann in Łódź?")
    assert not any(name.lower().startswith(("the ", "has ")) for name in candidate_names("Has the dog a name?"))


def test_a_pasted_page_is_looked_up_by_its_first_terms() -> None:
    words = [f"word{number}" for number in range(5_000)]
    assert read(asked(" ".join(words)), [], None).terms == tuple(words[:MOST_TERMS])
