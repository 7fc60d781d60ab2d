"""The contract of the queue: exclusive, in order, never lost, applied once."""

from __future__ import annotations

from memgraph_server.memory.turns import TurnState
from memgraph_server.stores.port import CONTEXT, Applied, Cost
from tests.stores.material import DAY, NOW, SECOND, Store, claim, outcome, turn


class QueueContract:
    def test_the_session_that_waited_longest_is_lent_first(self, store: Store) -> None:
        store.append_turns("n", [turn("a", session="late")], job_id="j", now=NOW + 10)
        store.append_turns("m", [turn("b", session="early")], job_id="j", now=NOW)
        first = store.lease("w", now=NOW + 20, seconds=60, limit=8)
        second = store.lease("w", now=NOW + 20, seconds=60, limit=8)
        assert first is not None
        assert second is not None
        assert [(each.namespace, each.session_id) for each in (first, second)] == [("m", "early"), ("n", "late")]

    def test_a_lease_holds_the_first_pending_turns_in_order(self, store: Store) -> None:
        store.append_turns("n", [turn(f"t{index}") for index in range(5)], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=3)
        assert lease is not None
        assert lease.turn_ids == ("t0", "t1", "t2")

    def test_a_session_is_lent_to_one_worker_until_it_is_given_back(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        assert store.lease("v", now=NOW, seconds=60, limit=8) is None
        store.release(lease)
        assert store.lease("v", now=NOW, seconds=60, limit=8) is not None

    def test_a_lease_brings_what_reading_its_turns_needs(self, store: Store) -> None:
        said = [turn(f"t{index}", f"Word {index}.", speaker="Ann" if index % 2 else "Bob") for index in range(8)]
        store.append_turns("n", [*said, turn("x", session="other", speaker="Zed")], job_id="j", now=NOW)
        for index in range(6):
            store.apply_outcome("n", outcome(f"t{index}"), lease=None, now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8, session=("n", "s"))
        assert lease is not None
        assert list(lease.turns) == store.turns("n", ["t6", "t7"])
        assert (
            list(lease.before) == store.previous_turns("n", "t6", CONTEXT) == store.turns("n", ["t2", "t3", "t4", "t5"])
        )
        assert list(lease.speakers) == store.session_speakers("n", "s") == ["Bob", "Ann"]

    def test_the_outcome_of_the_last_turn_gives_the_lease_back(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        assert store.apply_outcome("n", outcome("a"), lease=lease.token, now=NOW) is Applied.MORE
        assert store.apply_outcome("n", outcome("b"), lease=lease.token, now=NOW) is Applied.LAST
        assert store.renew(lease, now=NOW, seconds=60) is None
        store.append_turns("n", [turn("c")], job_id="k", now=NOW)
        assert store.lease("v", now=NOW + SECOND, seconds=60, limit=8) is not None

    def test_a_turn_that_came_meanwhile_keeps_the_lease(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        store.append_turns("n", [turn("b")], job_id="k", now=NOW)
        assert store.apply_outcome("n", outcome("a"), lease=lease.token, now=NOW) is Applied.MORE
        assert store.lease("v", now=NOW + SECOND, seconds=60, limit=8) is None

    def test_an_outcome_without_a_lease_takes_nobodys(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        assert store.apply_outcome("n", outcome("a"), lease=None, now=NOW) is Applied.MORE
        assert store.renew(lease, now=NOW, seconds=60) is not None

    def test_a_worker_that_died_gives_its_session_back_by_time(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        dead = store.lease("w", now=NOW, seconds=60, limit=8)
        assert dead is not None
        assert store.lease("v", now=dead.until - 1, seconds=60, limit=8) is None
        heir = store.lease("v", now=dead.until, seconds=60, limit=8)
        assert heir is not None
        assert heir.token != dead.token
        assert not store.apply_outcome("n", outcome("a"), lease=dead.token, now=NOW)
        store.release(dead)  # too late: it is the heir's now
        assert store.lease("u", now=dead.until, seconds=60, limit=8) is None
        assert store.apply_outcome("n", outcome("a"), lease=heir.token, now=NOW)

    def test_one_session_can_be_asked_for(self, store: Store) -> None:
        store.append_turns("n", [turn("a", session="early")], job_id="j", now=NOW)
        store.append_turns("n", [turn("b", session="late")], job_id="k", now=NOW + 10)
        asked = store.lease("w", now=NOW + 20, seconds=60, limit=8, session=("n", "late"))
        assert asked is not None
        assert (asked.session_id, asked.turn_ids) == ("late", ("b",))
        assert store.lease("w", now=NOW + 20, seconds=60, limit=8, session=("n", "late")) is None
        assert store.lease("w", now=NOW + 20, seconds=60, limit=8, session=("m", "early")) is None
        assert store.lease("w", now=NOW - 1, seconds=60, limit=8, session=("n", "early")) is None

    def test_a_lease_that_is_renewed_lasts_longer(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=10, limit=8)
        assert lease is not None
        longer = store.renew(lease, now=NOW + 5 * SECOND, seconds=10)
        assert longer is not None
        assert (longer.token, longer.until) == (lease.token, NOW + 15 * SECOND)
        assert store.lease("v", now=longer.until - 1, seconds=10, limit=8) is None
        assert store.renew(lease, now=NOW + 20 * SECOND, seconds=10) is not None  # run out, but nobody's yet
        heir = store.lease("v", now=NOW + 30 * SECOND, seconds=10, limit=8)
        assert heir is not None
        assert store.renew(lease, now=NOW + 31 * SECOND, seconds=3600) is None
        assert store.lease("u", now=heir.until, seconds=10, limit=8) is not None  # the heir's time was not changed

    def test_a_lease_that_was_given_back_cannot_be_renewed(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        lease = store.lease("w", now=NOW, seconds=10, limit=8)
        assert lease is not None
        store.release(lease)
        assert store.renew(lease, now=NOW, seconds=10) is None
        store.erase("n", now=NOW)
        assert store.renew(lease, now=NOW, seconds=10) is None

    def test_a_lease_tells_how_often_its_first_turn_has_failed(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        for tries in range(3):
            lease = store.lease("w", now=NOW, seconds=10, limit=8)
            assert lease is not None
            assert lease.tries == tries
            store.fail_turn("n", "a", reason="busy", final=False, retry_at=NOW, now=NOW)
            store.release(lease)

    def test_a_lease_tells_whether_the_one_before_ran_out(self, store: Store) -> None:
        store.append_turns("n", [turn(name) for name in "abc"], job_id="j", now=NOW)
        first = store.lease("w", now=NOW, seconds=10, limit=8)
        assert first is not None
        assert not first.lost
        heir = store.lease("v", now=first.until, seconds=10, limit=8)
        assert heir is not None
        assert heir.lost
        assert heir.tries == 0  # whose fault it was is not the store's to say
        store.release(heir)
        given_back = store.lease("u", now=heir.until, seconds=10, limit=8)
        assert given_back is not None
        assert not given_back.lost
        assert store.renew(given_back, now=given_back.until + SECOND, seconds=10) is not None  # late, and nobody came
        for name in "abc":
            store.apply_outcome("n", outcome(name), lease=given_back.token, now=NOW)
        store.append_turns("n", [turn("d")], job_id="k", now=NOW)
        after_the_last = store.lease("w", now=NOW + DAY, seconds=10, limit=8)
        assert after_the_last is not None
        assert not after_the_last.lost

    def test_a_lost_lease_writes_nothing(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        assert not store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease="stolen", now=NOW)
        assert store.resolve("n", "Ann") is None
        assert store.turn_status("n", "a").state is TurnState.PENDING

    def test_what_reading_took_is_told_of_each_turn_and_of_a_call_together(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("c")], job_id="j", now=NOW)
        store.append_turns("n", [turn("b"), turn("d")], job_id="k", now=NOW)
        assert store.apply_outcome("n", outcome("a", cost=Cost(1, 700, 60)), lease=None, now=NOW)
        assert store.apply_outcome("n", outcome("b", cost=Cost(2, 900, 80)), lease=None, now=NOW)
        assert store.apply_outcome("n", outcome("c"), lease=None, now=NOW)
        assert not store.apply_outcome("n", outcome("a", cost=Cost(5, 5, 5)), lease=None, now=NOW)
        costs = [store.turn_status("n", each).cost for each in "abcd"]
        assert costs == [Cost(1, 700, 60), Cost(2, 900, 80), Cost(), Cost()]
        assert store.job("n", "j").cost == Cost(3, 1600, 140)
        assert store.job("n", "k").cost == Cost(2, 900, 80)

    def test_an_outcome_applied_twice_changes_nothing_the_second_time(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        assert store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease=None, now=NOW)
        before = store.timeline("n")
        assert not store.apply_outcome("n", outcome("a", claim("Ann", "likes", "coffee")), lease=None, now=NOW)
        assert store.timeline("n") == before
        assert store.turn_status("n", "a").attempts == 1

    def test_a_turn_that_waits_for_a_retry_holds_its_session_back_and_no_other(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("x", session="z")], job_id="j", now=NOW)
        store.fail_turn("n", "a", reason="busy", final=False, retry_at=NOW + 60 * SECOND, now=NOW)
        lease = store.lease("w", now=NOW + SECOND, seconds=600, limit=8)
        assert lease is not None
        assert lease.turn_ids == ("x",)
        assert store.lease("w", now=NOW + SECOND, seconds=60, limit=8) is None
        retried = store.lease("w", now=NOW + 60 * SECOND, seconds=60, limit=8)
        assert retried is not None
        assert retried.turn_ids == ("a", "b")
        status = store.turn_status("n", "a")
        assert (status.state, status.attempts, status.reason) == (TurnState.PENDING, 1, "busy")

    def test_a_turn_behind_one_that_waits_is_not_lent_before_it(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b"), turn("c")], job_id="j", now=NOW)
        store.fail_turn("n", "b", reason="busy", final=False, retry_at=NOW + 60 * SECOND, now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        assert lease.turn_ids == ("a",)

    def test_a_dead_turn_holds_back_nobody(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        store.fail_turn("n", "a", reason="poison", final=True, retry_at=NOW, now=NOW)
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        assert lease.turn_ids == ("b",)

    def test_nothing_pending_is_nothing_to_lend(self, store: Store) -> None:
        assert store.lease("w", now=NOW, seconds=60, limit=8) is None
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a"), lease=None, now=NOW)
        assert store.lease("w", now=NOW + 1, seconds=60, limit=8) is None

    def test_a_turn_arriving_in_a_session_that_was_read_is_due_again(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a"), lease=None, now=NOW)
        store.append_turns("n", [turn("b")], job_id="k", now=NOW + 1)
        lease = store.lease("w", now=NOW + 1 + SECOND, seconds=60, limit=8)
        assert lease is not None
        assert lease.turn_ids == ("b",)

    def test_failing_a_turn_that_is_done_changes_nothing(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a"), lease=None, now=NOW)
        store.fail_turn("n", "a", reason="late", final=True, retry_at=NOW, now=NOW)
        status = store.turn_status("n", "a")
        assert (status.state, status.reason) == (TurnState.DONE, None)

    def test_dead_turns_are_listed_by_page_and_replayed(self, store: Store) -> None:
        store.append_turns("n", [turn(f"t{index}") for index in range(5)], job_id="j", now=NOW)
        for index in range(5):
            store.fail_turn("n", f"t{index}", reason=f"r{index}", final=True, retry_at=NOW, now=NOW)
        first, cursor = store.dead_turns("n", 3, None)
        rest, end = store.dead_turns("n", 3, cursor)
        assert [(each.turn_id, each.reason) for each in first + rest] == [(f"t{i}", f"r{i}") for i in range(5)]
        assert end is None
        assert store.replay("n", ["t1", "nobody"], now=NOW) == 1
        assert store.replay("n", None, now=NOW) == 4
        assert store.replay("n", None, now=NOW) == 0
        lease = store.lease("w", now=NOW, seconds=60, limit=8)
        assert lease is not None
        assert lease.turn_ids == ("t0", "t1", "t2", "t3", "t4")

    def test_readiness_counts_one_namespace_and_overall_all_of_them(self, store: Store) -> None:
        store.append_turns("n", [turn("a"), turn("b")], job_id="j", now=NOW)
        store.append_turns("m", [turn("a")], job_id="j", now=NOW + 9)
        store.fail_turn("n", "a", reason="poison", final=True, retry_at=NOW, now=NOW)
        one, all_of_them = store.readiness("n"), store.overall()
        assert (one.pending, one.dead, one.oldest_pending_at) == (1, 1, NOW)
        assert (all_of_them.pending, all_of_them.dead, all_of_them.oldest_pending_at) == (2, 1, NOW)
        assert one.schema_version > 0
        assert store.readiness("nobody").pending == 0

    def test_what_a_turn_says_points_back_to_the_turn(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a", claim("Ann", "likes", "tea")), lease=None, now=NOW)
        (fact,) = store.timeline("n").facts
        assert fact.turns == ("a",)
        assert list(store.facts_of_turns("n", ["a"])) == ["a"]

    def test_a_mention_makes_an_entity_though_nothing_is_said_of_it(self, store: Store) -> None:
        store.append_turns("n", [turn("a")], job_id="j", now=NOW)
        store.apply_outcome("n", outcome("a", mentions=(("Bob", "person"),)), lease=None, now=NOW)
        found = store.resolve("n", "bob")
        assert found is not None
        assert (found.name, found.type) == ("Bob", "person")
