"""Turns over HTTP: stored at once, read soon, each once, whatever is sent again."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.api.serving import Namespace, assert_problem

NOON = "2024-05-08T12:00:00Z"


def turn(**changes: Any) -> dict[str, Any]:
    return {"role": "user", "speaker": "Ann", "text": "I live in Paris.", "at": NOON, **changes}


def body(*turns: dict[str, Any], session: str = "s1") -> dict[str, Any]:
    return {"session_id": session, "turns": list(turns)}


def test_a_stored_turn_becomes_facts_that_point_to_it(ann: Namespace) -> None:
    stored = ann.say("I live in Paris.")
    (fact,) = ann.timeline("Ann", relation="lives_in")
    assert (fact["head"], fact["relation"], fact["tail"]) == ("Ann", "lives_in", "Paris")
    assert (fact["valid_from"], fact["valid_to"]) == (NOON, None)
    assert fact["turns"] == stored["turns"]


def test_the_answer_comes_before_the_reading_and_the_job_tells_when_it_is_done(ann: Namespace) -> None:
    answer = ann.post("/turns", body(turn(), turn(text="I work at Acme.")))
    assert answer.status_code == 202
    job = answer.json()["job"]
    assert job["total"] == 2
    waited = ann.post("/turns", body(turn(id="last")), params={"wait": 30}).json()["job"]
    assert (waited["state"], waited["pending"], waited["dead"]) == ("done", 0, 0)
    seen = ann.get(f"/jobs/{job['id']}").json()
    assert (seen["id"], seen["state"], seen["done"]) == (job["id"], "done", 2)


def test_a_turn_is_given_back_as_it_was_sent(ann: Namespace) -> None:
    text = "  Ünïcode 👩‍👩‍👧\n\t“quotes” \u202e and \u0007 "
    sent = turn(id="D1:3", text=text, at="2023-05-08T13:56:00.25-04:00", attachments=[{"caption": "a dog", "url": "x"}])
    ann.post("/turns", body(sent))
    got = ann.get("/turns/D1:3").json()
    assert (got["text"], got["speaker"], got["role"], got["session_id"]) == (text, "Ann", "user", "s1")
    assert (got["at"], got["utc_offset_minutes"]) == ("2023-05-08T17:56:00.250000Z", -240)
    assert got["attachments"] == [{"caption": "a dog"}]
    assert got["position"] == 0


def test_the_same_turn_again_is_known_and_other_content_is_a_conflict(ann: Namespace) -> None:
    first = ann.post("/turns", body(turn(id="t1"))).json()
    again = ann.post("/turns", body(turn(id="t1"), turn(id="t2"))).json()
    assert (first["new"], again["known"], again["new"], again["turns"]) == (["t1"], ["t1"], ["t2"], ["t1", "t2"])
    assert_problem(ann.post("/turns", body(turn(id="t1", text="I live in Rome."))), 409, "conflict")
    assert ann.get("/turns/t1").json()["text"] == "I live in Paris."


def test_a_call_with_a_known_id_of_other_content_stores_nothing_of_itself(ann: Namespace) -> None:
    ann.post("/turns", body(turn(id="t1")))
    assert_problem(ann.post("/turns", body(turn(id="t2"), turn(id="t1", text="other"))), 409, "conflict")
    assert_problem(ann.get("/turns/t2"), 404, "not_found")


def test_the_same_call_with_the_same_key_is_one_call(ann: Namespace) -> None:
    calls = [ann.post("/turns", body(turn(), turn()), headers={"Idempotency-Key": "k1"}).json() for _ in range(3)]
    assert len({call["job"]["id"] for call in calls}) == 1
    assert all(call["turns"] == calls[0]["turns"] for call in calls)
    fetched = ann.post("/turns/fetch", {"ids": calls[0]["turns"]}).json()
    assert [one["position"] for one in fetched["turns"]] == [0, 1]


def test_a_key_that_comes_with_other_turns_is_a_conflict(ann: Namespace) -> None:
    ann.post("/turns", body(turn()), headers={"Idempotency-Key": "k1"})
    answer = ann.post("/turns", body(turn(text="I live in Rome.")), headers={"Idempotency-Key": "k1"})
    assert_problem(answer, 409, "conflict", "Idempotency-Key")


def test_without_id_and_key_equal_turns_are_two_turns(ann: Namespace) -> None:
    assert len(set(ann.say("ok", "ok")["turns"])) == 2


def test_many_callers_at_once_store_each_turn_once(ann: Namespace) -> None:
    def send(index: int) -> None:
        answer = ann.post("/turns", body(*(turn(id=f"t{index}-{i}") for i in range(5)), session=f"s{index % 3}"))
        statuses.append(answer.status_code)

    statuses: list[int] = []
    threads = [threading.Thread(target=send, args=(index % 8,)) for index in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) == {202}
    ids = [f"t{index}-{i}" for index in range(8) for i in range(5)]
    fetched = ann.post("/turns/fetch", {"ids": ids}).json()
    assert [one["id"] for one in fetched["turns"]] == ids
    positions = sorted((one["session_id"], one["position"]) for one in fetched["turns"])
    assert len(set(positions)) == 40


def test_ten_thousand_turns_are_taken_in_one_call_and_more_are_too_large(ann: Namespace) -> None:
    turns = [turn(id=f"t{index}", text=f"hello {index}") for index in range(10_000)]
    assert ann.post("/turns", body(*turns)).json()["job"]["total"] == 10_000
    assert_problem(ann.post("/turns", body(*turns, turn())), 413, "too_large", "turns")
    ann.client.delete(ann.path)


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"text": ""}, 422, "invalid_input", "turns.0.text"),
        ({"text": "  "}, 422, "invalid_input", "turns.0.text"),
        ({"text": "a\0b"}, 422, "invalid_input", "turns.0.text"),
        ({"text": "x" * 1_000_000}, 413, "too_large", "turns.0.text"),
        ({"text": 7}, 422, "invalid_input", "turns.0.text"),
        ({"text": None}, 422, "invalid_input", "turns.0.text"),
        ({"at": "0000-01-01T00:00:00Z"}, 422, "invalid_input", "turns.0.at"),
        ({"at": "9999-12-31T23:59:59-01:00"}, 422, "invalid_input", "turns.0.at"),
        ({"at": "2024-05-08T12:00:00"}, 422, "invalid_input", "turns.0.at"),
        ({"at": "2024-05-08T12:00:00 Mars/Phobos"}, 422, "invalid_input", "turns.0.at"),
        ({"at": 1715169600}, 422, "invalid_input", "turns.0.at"),
        ({"role": "narrator"}, 422, "invalid_input", "turns.0.role"),
        ({"speaker": "x" * 200}, 422, "invalid_input", "turns.0.speaker"),
        ({"id": "a/b"}, 422, "invalid_input", "turns.0.id"),
        ({"id": ""}, 422, "invalid_input", "turns.0.id"),
        ({"attachments": [{"caption": "a\0"}]}, 422, "invalid_input", "turns.0.attachments.0.caption"),
        ({"txet": "misspelt"}, 422, "invalid_input", "turns.0.txet"),
    ],
)
def test_a_turn_that_cannot_be_kept_is_refused_by_field(
    ann: Namespace, changes: dict[str, Any], status: int, code: str, field: str
) -> None:
    assert_problem(ann.post("/turns", body(turn(**changes))), status, code, field)


def test_the_last_year_that_can_be_written_is_a_time(ann: Namespace) -> None:
    assert ann.say("I live in Paris.", at="9999-12-31T23:59:59Z")["job"]["state"] == "done"
    assert ann.timeline("Ann")[0]["valid_from"] == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize("member", ["text", "at"])
def test_a_missing_member_is_named(ann: Namespace, member: str) -> None:
    sent = {name: value for name, value in turn().items() if name != member}
    assert_problem(ann.post("/turns", body(sent)), 422, "invalid_input", f"turns.0.{member}")


@pytest.mark.parametrize("escaped", [r'"\ud800"', r'"x\udfffy"'])
def test_half_of_a_surrogate_pair_is_refused_by_field(ann: Namespace, escaped: str) -> None:
    raw = '{"session_id": "s", "turns": [{"at": "2024-05-08T12:00:00Z", "text": ' + escaped + "}]}"
    answer = ann.client.post(f"{ann.path}/turns", content=raw, headers={"Content-Type": "application/json"})
    assert_problem(answer, 422, "invalid_input", "turns.0.text")


def test_a_pair_of_surrogates_is_the_character_it_means(ann: Namespace) -> None:
    raw = r'{"session_id": "s", "turns": [{"id": "t", "at": "2024-05-08T12:00:00Z", "text": "\ud83d\ude00"}]}'
    ann.client.post(f"{ann.path}/turns", content=raw, headers={"Content-Type": "application/json"})
    assert ann.get("/turns/t").json()["text"] == "😀"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"session_id": "s", "turns": []}, "turns"),
        ({"session_id": "", "turns": [turn()]}, "session_id"),
        ({"session_id": "a/b", "turns": [turn()]}, "session_id"),
        ({"turns": [turn()]}, "session_id"),
        ({"session_id": "s"}, "turns"),
        ({"session_id": "s", "turns": {}}, "turns"),
        ([], "body"),
        ("text", "body"),
    ],
)
def test_a_call_that_is_no_call_is_refused_by_field(ann: Namespace, sent: Any, field: str) -> None:
    assert_problem(ann.post("/turns", sent), 422, "invalid_input", field)


def test_an_unknown_turn_or_job_is_not_found(ann: Namespace) -> None:
    assert_problem(ann.get("/turns/nobody"), 404, "not_found")
    assert_problem(ann.get("/jobs/nobody"), 404, "not_found")


def test_fetch_says_which_ids_are_missing_and_keeps_the_order(ann: Namespace) -> None:
    ann.post("/turns", body(turn(id="a"), turn(id="b")))
    twice = ann.post("/turns/fetch", {"ids": ["b", "zzz", "b", "a", "zzz", "a"]}).json()
    assert ([one["id"] for one in twice["turns"]], twice["missing"]) == (["b", "a"], ["zzz"])
    got = ann.post("/turns/fetch", {"ids": ["b", "zzz", "a"]}).json()
    assert ([one["id"] for one in got["turns"]], got["missing"]) == (["b", "a"], ["zzz"])
    assert_problem(ann.post("/turns/fetch", {"ids": []}), 422, "invalid_input", "ids")
    assert_problem(ann.post("/turns/fetch", {"ids": ["a"] * 1001}), 413, "too_large", "ids")


def test_a_wait_that_is_over_answers_with_what_is_pending(ann: Namespace) -> None:
    answer = ann.post("/turns", body(*(turn(id=f"t{i}") for i in range(300))), params={"wait": 0.001})
    assert answer.status_code == 202
    assert answer.json()["job"]["pending"] > 0
    assert_problem(ann.post("/turns", body(turn()), params={"wait": "soon"}), 422, "invalid_input", "wait")
