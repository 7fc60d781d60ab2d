"""Claims, facts and their two clocks over HTTP, as the service's contract has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.serving import Namespace, assert_problem

TIMELINE_MEMBERS = {
    "id", "head", "relation", "tail", "valid_from", "valid_to", "recorded_from", "recorded_to", "confidence", "stratum",
    "intent", "supports", "turns",
}  # fmt: skip


def lives(tail: str, **more: Any) -> dict[str, Any]:
    return {"head": "Ann", "relation": "lives_in", "tail": tail, **more}


def spans(facts: list[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    return [(fact["tail"], fact["valid_from"], fact["valid_to"]) for fact in facts]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_claim_becomes_a_fact_with_all_its_members(ann: Namespace) -> None:
    ids = ann.claim(lives("Paris", id="c1", valid_from="2020-03", evidence_at="2020-04-02T10:00:00Z"))
    (fact,) = ann.timeline("Ann")
    assert ids == ["c1"]
    assert fact.keys() >= TIMELINE_MEMBERS
    assert spans([fact]) == [("Paris", "2020-03-01T00:00:00Z", None)]
    assert (fact["supports"], fact["turns"], fact["stratum"], fact["intent"]) == (["c1"], [], "stable", "FACT")
    assert (fact["confidence"], fact["recorded_to"]) == (1.0, None)


def test_a_later_value_of_a_single_valued_relation_closes_the_earlier_one(ann: Namespace) -> None:
    ann.claim(lives("Paris", valid_from="2020"), lives("Rome", valid_from="2022-06-15"))
    assert spans(ann.timeline("Ann", relation="lives_in")) == [
        ("Paris", "2020-01-01T00:00:00Z", "2022-06-15T00:00:00Z"),
        ("Rome", "2022-06-15T00:00:00Z", None),
    ]


def test_valid_at_narrows_to_what_holds_then_and_an_end_is_no_part_of_its_interval(ann: Namespace) -> None:
    ann.claim(lives("Paris", valid_from="2020"), lives("Rome", valid_from="2022"))
    assert [f["tail"] for f in ann.timeline("Ann", valid_at="2021-07")] == ["Paris"]
    assert [f["tail"] for f in ann.timeline("Ann", valid_at="2022")] == ["Rome"]
    assert [f["tail"] for f in ann.timeline("Ann", valid_at="2021-12-31T23:59:59.999999Z")] == ["Paris"]
    assert ann.timeline("Ann", valid_at="2019-12-31T23:59:59+00:00") == []


def test_known_at_answers_from_what_was_believed_then(ann: Namespace) -> None:
    ann.claim(lives("Paris", valid_from="2020"))
    before = ann.timeline("Ann")
    ann.claim(lives("Rome", valid_from="2022"))
    after = ann.timeline("Ann")
    known = max(fact["recorded_from"] for fact in before)
    then = ann.timeline("Ann", known_at=known)
    assert spans(then) == spans(before) == [("Paris", "2020-01-01T00:00:00Z", None)]
    assert spans(ann.timeline("Ann", known_at=max(fact["recorded_from"] for fact in after))) == spans(after)
    just_before = moment(known) - timedelta(microseconds=1)
    assert ann.timeline("Ann", known_at=just_before.isoformat()) == []


def test_what_is_left_out_has_the_documented_value(ann: Namespace) -> None:
    began = datetime.now(UTC)
    (bare, dated, bounded) = ann.claim(
        {"head": "Ann", "relation": "likes", "tail": "tea"},
        {"head": "Ann", "relation": "likes", "tail": "milk", "evidence_at": "2021-05-01T00:00:00Z"},
        {"head": "Ann", "relation": "likes", "tail": "soup", "evidence_at": "2021-05-01T00:00:00Z", "valid_to": "2022"},
    )
    one = ann.get(f"/assertions/{bare}").json()
    assert began <= moment(one["evidence_at"]) <= datetime.now(UTC)
    assert one["valid_from"] == one["evidence_at"]
    assert (one["confidence"], one["intent"], one["polarity"], one["valid_to"]) == (1.0, "FACT", "claim", None)
    assert (one["ongoing"], one["turn_id"]) == (False, None)
    two = ann.get(f"/assertions/{dated}").json()
    assert (two["valid_from"], two["ongoing"]) == ("2021-05-01T00:00:00Z", True)
    assert ann.get(f"/assertions/{bounded}").json()["ongoing"] is False


def test_a_coarse_date_is_kept_as_coarse_as_it_was_said(ann: Namespace) -> None:
    (claim,) = ann.claim(lives("Paris", valid_from="2020-03", valid_to="2021"))
    one = ann.get(f"/assertions/{claim}").json()
    assert (one["valid_from"], one["from_precision"]) == ("2020-03", "month")
    assert (one["valid_to"], one["to_precision"]) == ("2021", "year")
    assert spans(ann.timeline("Ann")) == [("Paris", "2020-03-01T00:00:00Z", "2021-01-01T00:00:00Z")]


def test_an_ending_without_a_tail_ends_every_tail(ann: Namespace) -> None:
    ann.claim(*({"head": "Ann", "relation": "likes", "tail": tail, "valid_from": "2020"} for tail in ("tea", "milk")))
    ann.claim({"head": "Ann", "relation": "likes", "polarity": "ending", "valid_from": "2021-02"})
    assert {fact["valid_to"] for fact in ann.timeline("Ann")} == {"2021-02-01T00:00:00Z"}
    assert ann.timeline("Ann", valid_at="2021-03") == []


def test_hedged_claims_are_shown_beside_stable_facts_and_never_close_them(ann: Namespace) -> None:
    ann.claim(lives("Paris", valid_from="2020"), lives("Rome", valid_from="2022", confidence=0.4))
    assert {(f["tail"], f["stratum"], f["valid_to"]) for f in ann.timeline("Ann")} == {
        ("Paris", "stable", None),
        ("Rome", "speculative", None),
    }


def test_withdrawing_one_claim_leaves_the_fact_to_the_others(ann: Namespace) -> None:
    one, two = ann.claim(lives("Paris", valid_from="2020"), lives("Paris", valid_from="2021"))
    answer = ann.post(f"/assertions/{one}/retract", {"reason": "a mistake"})
    assert answer.status_code == 200
    assert (answer.json()["withdrawn_because"], answer.json()["id"]) == ("a mistake", one)
    (fact,) = ann.timeline("Ann")
    assert (fact["supports"], fact["valid_from"]) == ([two], "2021-01-01T00:00:00Z")
    again = ann.post(f"/assertions/{one}/retract").json()
    assert again["withdrawn_at"] == answer.json()["withdrawn_at"]


def test_withdrawing_a_fact_withdraws_all_that_support_it_and_gives_back_what_it_closed(ann: Namespace) -> None:
    ann.claim(lives("Paris", valid_from="2020"))
    rome = ann.claim(lives("Rome", valid_from="2022"), lives("Rome", valid_from="2023"))
    fact = next(f for f in ann.timeline("Ann") if f["tail"] == "Rome")
    believed = ann.timeline("Ann")
    answer = ann.post(f"/facts/{fact['id']}/retract", {"reason": "never was"})
    assert sorted(answer.json()["ids"]) == sorted(rome)
    assert spans(ann.timeline("Ann")) == [("Paris", "2020-01-01T00:00:00Z", None)]
    known = max(f["recorded_from"] for f in believed)
    assert spans(ann.timeline("Ann", known_at=known)) == spans(believed)


def test_a_fact_tells_its_versions_its_claims_and_its_turns(ann: Namespace) -> None:
    stored = ann.say("I live in Paris.", at="2020-05-01T00:00:00Z")
    ann.claim(lives("Rome", valid_from="2022"))
    fact = next(f for f in ann.timeline("Ann") if f["tail"] == "Paris")
    detail = ann.get(f"/facts/{fact['id']}").json()
    assert [version["valid_to"] for version in detail["versions"]] == [None, "2022-01-01T00:00:00Z"]
    assert detail["versions"][0]["recorded_to"] == detail["versions"][1]["recorded_from"]
    assert detail["fact"] == fact
    assert [one["id"] for one in detail["assertions"]] == fact["supports"]
    assert [one["id"] for one in detail["turns"]] == stored["turns"]
    assert detail["turns"][0]["text"] == "I live in Paris."


def test_the_same_claim_again_is_once_though_now_has_moved_on(ann: Namespace) -> None:
    first = ann.claim(lives("Paris", id="c1"))
    shown = ann.get("/assertions/c1").json()
    assert ann.claim(lives("Paris", id="c1")) == first
    assert ann.get("/assertions/c1").json() == shown
    answer = ann.post("/assertions", {"assertions": [lives("Rome", id="c1")]})
    assert_problem(answer, 409, "conflict")
    assert [f["tail"] for f in ann.timeline("Ann")] == ["Paris"]


def test_all_claims_of_a_call_are_stored_or_none(ann: Namespace) -> None:
    ann.claim(lives("Paris", id="c1"))
    answer = ann.post("/assertions", {"assertions": [lives("Oslo", id="c2"), lives("Rome", id="c1")]})
    assert_problem(answer, 409, "conflict")
    assert_problem(ann.get("/assertions/c2"), 404, "not_found")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"head": ""}, "assertions.1.head"),
        ({"head": "  "}, "assertions.1.head"),
        ({"head": "a\0"}, "assertions.1.head"),
        ({"relation": ""}, "assertions.1.relation"),
        ({"tail": None}, "assertions.1.tail"),
        ({"tail": "x" * 600}, "assertions.1.tail"),
        ({"valid_from": "last week"}, "assertions.1.valid_from"),
        ({"valid_from": "2020-13"}, "assertions.1.valid_from"),
        ({"valid_from": "2020-03-05T10:00:00"}, "assertions.1.valid_from"),
        ({"valid_from": "0000"}, "assertions.1.valid_from"),
        ({"valid_from": "2020", "valid_to": "2020"}, "assertions.1.valid_to"),
        ({"valid_from": "2020", "valid_to": "2019"}, "assertions.1.valid_to"),
        ({"polarity": "ending", "valid_to": "2019"}, "assertions.1.valid_to"),
        ({"confidence": 1.1}, "assertions.1.confidence"),
        ({"confidence": -0.1}, "assertions.1.confidence"),
        ({"intent": "WISH"}, "assertions.1.intent"),
        ({"polarity": "maybe"}, "assertions.1.polarity"),
        ({"ongoing": "yes"}, "assertions.1.ongoing"),
        ({"id": "a/b"}, "assertions.1.id"),
        ({"valid_form": "2020"}, "assertions.1.valid_form"),
    ],
)
def test_a_claim_that_cannot_be_is_refused_by_field(ann: Namespace, changes: dict[str, Any], field: str) -> None:
    sent = {"assertions": [lives("Paris"), {**lives("Rome"), **changes}]}
    assert_problem(ann.post("/assertions", sent), 422, "invalid_input", field)
    assert ann.timeline("Ann") == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "true", '"0.5"'])
def test_a_confidence_that_is_no_number_is_refused(ann: Namespace, number: str) -> None:
    raw = '{"assertions": [{"head": "Ann", "relation": "likes", "tail": "tea", "confidence": ' + number + "}]}"
    answer = ann.client.post(f"{ann.path}/assertions", content=raw, headers={"Content-Type": "application/json"})
    assert_problem(answer, 422, "invalid_input", "assertions.0.confidence")


def test_a_claim_of_an_unknown_turn_is_not_found(ann: Namespace) -> None:
    answer = ann.post("/assertions", {"assertions": [lives("Paris", turn_id="nobody")]})
    assert_problem(answer, 404, "not_found", "assertions.0.turn_id")


def test_a_claim_may_name_the_turn_that_says_so(ann: Namespace) -> None:
    (turn_id,) = ann.say("Hm.")["turns"]
    ann.claim(lives("Paris", turn_id=turn_id))
    assert ann.timeline("Ann")[0]["turns"] == [turn_id]


def test_no_claims_and_too_many_are_refused(ann: Namespace) -> None:
    assert_problem(ann.post("/assertions", {"assertions": []}), 422, "invalid_input", "assertions")
    assert_problem(ann.post("/assertions", {"assertions": [lives("x")] * 10_001}), 413, "too_large", "assertions")


def test_facts_come_in_pages_that_together_are_all(ann: Namespace) -> None:
    ann.claim(*({"head": f"P{i:02}", "relation": "likes", "tail": f"T{i}"} for i in range(25)))
    pages, cursor = [], None
    while True:
        parameters = {"limit": 10} | ({"cursor": cursor} if cursor else {})
        page = ann.get("/facts", **parameters).json()
        pages.append(page["facts"])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [len(page) for page in pages] == [10, 10, 5]
    ids = [fact["id"] for page in pages for fact in page]
    assert len(set(ids)) == 25


@pytest.mark.parametrize(
    "filters", [{"name": "Ann"}, {"name": "Nobody"}, {"relation": "likes"}, {"minimum_confidence": "0.5"}]
)
def test_a_cursor_goes_on_with_its_own_filters_only(ann: Namespace, filters: dict[str, str]) -> None:
    ann.claim(*({"head": "Ann", "relation": "likes", "tail": f"T{i}"} for i in range(5)))
    cursor = ann.get("/facts", limit=2).json()["next_cursor"]
    assert len(ann.get("/facts", limit=3, cursor=cursor).json()["facts"]) == 3
    assert_problem(ann.get("/facts", limit=2, cursor=cursor, **filters), 422, "invalid_input", "cursor")


def test_facts_are_filtered(ann: Namespace) -> None:
    ann.claim(
        lives("Paris", valid_from="2020", confidence=0.9),
        {"head": "Bob", "relation": "likes", "tail": "Paris", "valid_from": "2021", "confidence": 0.5},
        {"head": "Bob", "relation": "likes", "tail": "tea", "valid_from": "2019"},
    )

    def found(**filters: Any) -> set[tuple[str, str]]:
        return {(f["head"], f["tail"]) for f in ann.get("/facts", **filters).json()["facts"]}

    bob = next(f["head_id"] for f in ann.get("/facts").json()["facts"] if f["head"] == "Bob")
    paris = next(f["tail_id"] for f in ann.get("/facts").json()["facts"] if f["tail"] == "Paris")
    assert len(found()) == 3
    assert found(name="Ann") == {("Ann", "Paris")}
    assert found(entity=bob) == {("Bob", "Paris"), ("Bob", "tea")}
    assert found(tail="Paris") == found(tail_entity=paris) == {("Ann", "Paris"), ("Bob", "Paris")}
    assert found(relation="likes", minimum_confidence=0.8) == {("Bob", "tea")}
    assert found(valid_at="2019-06") == {("Bob", "tea")}
    assert found(known_at="2001") == set()
    assert found(name="Nobody") == set()


@pytest.mark.parametrize(
    ("path", "parameters", "field"),
    [
        ("/timeline", {}, "name"),
        ("/timeline", {"name": "Ann", "entity": "x"}, "name"),
        ("/timeline", {"name": ""}, "name"),
        ("/timeline", {"name": "Ann\0"}, "name"),
        ("/timeline", {"name": "Ann", "valid_at": "soon"}, "valid_at"),
        ("/timeline", {"name": "Ann", "known_at": "2020-01-01T00:00:00"}, "known_at"),
        ("/timeline", {"name": "Ann", "known_at": "0000"}, "known_at"),
        ("/facts", {"limit": "0"}, "limit"),
        ("/facts", {"limit": "many"}, "limit"),
        ("/facts", {"cursor": "made up"}, "cursor"),
        ("/facts", {"minimum_confidence": "2"}, "minimum_confidence"),
        ("/entities", {"cursor": "made up"}, "cursor"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_by_field(
    ann: Namespace, path: str, parameters: dict[str, str], field: str
) -> None:
    assert_problem(ann.get(path, **parameters), 422, "invalid_input", field)


def test_a_time_without_its_zone_is_told_what_is_missing(ann: Namespace) -> None:
    for time in ("2020-01-01T00:00:00", "2020-01-01 00:00", "2020-01-01T00:00:00.5"):
        problem = assert_problem(ann.get("/timeline", name="Ann", known_at=time), 422, "invalid_input", "known_at")
        assert problem["detail"].startswith("known_at has no zone: put Z (UTC) or an offset")
        asked = ann.post("/query", {"query": "Where?", "known_at": time})
        assert "known_at has no zone" in assert_problem(asked, 422, "invalid_input", "known_at")["detail"]
    turn = {"text": "Hello.", "at": "2020-01-01T00:00:00"}
    stored = ann.post("/turns", {"session_id": "s", "turns": [turn]})
    assert "turns.0.at has no zone" in assert_problem(stored, 422, "invalid_input", "turns.0.at")["detail"]
    other = assert_problem(ann.get("/timeline", name="Ann", known_at="soon"), 422, "invalid_input", "known_at")
    assert other["detail"].startswith("known_at is no date")


def test_a_name_nobody_used_has_no_facts_and_an_unknown_id_is_not_found(ann: Namespace) -> None:
    ann.claim(lives("Paris"))
    assert ann.timeline("Nobody") == []
    assert_problem(ann.get("/timeline", entity="nobody"), 404, "not_found")
    for path in ("/facts/nobody", "/assertions/nobody", "/entities/nobody"):
        assert_problem(ann.get(path), 404, "not_found")
    for path in ("/facts/nobody/retract", "/assertions/nobody/retract", "/entities/nobody/unmerge"):
        assert_problem(ann.post(path), 404, "not_found")


def test_names_are_data_whatever_they_look_like(ann: Namespace) -> None:
    names = [
        "'; DROP TABLE fact; --",
        "a-b.c:d*",
        '"quoted" OR 1',
        "MATCH (n) DETACH DELETE n",
        "%_[x]",
        "東京",
        "Ann\u202e",
    ]
    ann.claim(*({"head": name, "relation": name, "tail": name[::-1], "valid_from": "2020"} for name in names))
    for name in names:
        assert [f["tail"] for f in ann.timeline(name)] == [name[::-1]]
        assert ann.get("/entities", like=name).json()["entities"]


def test_entities_are_listed_merged_and_parted(ann: Namespace) -> None:
    ann.claim(lives("Paris", valid_from="2020"), {"head": "Annie", "relation": "likes", "tail": "tea"})
    entities = {one["name"]: one["id"] for one in ann.get("/entities").json()["entities"]}
    assert entities.keys() == {"Ann", "Annie", "Paris", "tea"}
    merged = ann.post(f"/entities/{entities['Annie']}/merge", {"into": entities["Ann"]})
    assert merged.json()["id"] == entities["Ann"]
    assert {f["tail"] for f in ann.timeline("Ann")} == {"Paris", "tea"}
    assert {f["tail"] for f in ann.timeline("Annie")} == {"Paris", "tea"}
    assert {f["tail"] for f in ann.get("/timeline", entity=entities["Annie"]).json()["facts"]} == {"Paris", "tea"}
    assert ann.post(f"/entities/{entities['Annie']}/unmerge").json()["merged_into"] is None
    assert {f["tail"] for f in ann.timeline("Ann")} == {"Paris"}
    assert {f["tail"] for f in ann.timeline("Annie")} == {"tea"}
    itself = ann.post(f"/entities/{entities['Ann']}/merge", {"into": entities["Ann"]})
    assert_problem(itself, 422, "invalid_input", "into")
    assert_problem(ann.post(f"/entities/{entities['Ann']}/merge", {"into": "nobody"}), 404, "not_found")


def test_entities_come_in_pages_and_by_part_of_their_name(ann: Namespace) -> None:
    ann.claim(*({"head": f"Person {i}", "relation": "likes", "tail": "tea"} for i in range(7)))
    first = ann.get("/entities", limit=5).json()
    rest = ann.get("/entities", limit=5, cursor=first["next_cursor"]).json()
    assert len({one["id"] for one in first["entities"] + rest["entities"]}) == 8
    assert rest["next_cursor"] is None
    assert [one["name"] for one in ann.get("/entities", like="son 3").json()["entities"]] == ["Person 3"]
