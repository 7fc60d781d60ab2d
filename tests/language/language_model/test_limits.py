"""The budget: no more at once, no more a minute, and nobody waits for ever. Time belongs to the test."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.limits import Budget, Limits, Retry


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def budget(**limits: float) -> tuple[Budget, Clock]:
    clock = Clock()
    return Budget(Limits(**{"patience": 0.05, **limits}), clock=clock), clock  # type: ignore[arg-type]


def passes(one: Budget, tokens: int = 1) -> bool:
    """Whether a call is admitted now; the clock stands still, so that waiting would be for ever."""
    clock = one.clock
    assert isinstance(clock, Clock)
    if one._wait(tokens) > 0:
        return False
    with one.admitted(tokens):
        return True


def test_requests_a_minute_are_kept_over_a_sliding_minute() -> None:
    one, clock = budget(requests=3)
    assert [passes(one) for _ in range(4)] == [True, True, True, False]
    clock.now += 59
    assert not passes(one)
    clock.now += 2
    assert [passes(one) for _ in range(4)] == [True, True, True, False]


def test_tokens_are_reserved_by_an_estimate_and_settled_by_the_count() -> None:
    one, _ = budget(tokens=1000)
    with one.admitted(800) as place:
        assert not passes(one, 300)
        one.settle(place, 200)
    assert passes(one, 300)


def test_a_call_that_is_larger_than_the_limit_goes_alone_rather_than_never() -> None:
    one, clock = budget(tokens=1000)
    assert passes(one, 5000)
    assert not passes(one, 1)
    clock.now += 61
    assert passes(one, 5000)


def test_a_pause_holds_everybody() -> None:
    one, clock = budget()
    one.pause(30)
    assert not passes(one)
    clock.now += 31
    assert passes(one)


def test_whoever_waits_too_long_is_told_so() -> None:
    one = Budget(Limits(concurrency=1, patience=0.02))
    with one.admitted(1), pytest.raises(ModelUnavailable, match="budget"), one.admitted(1):
        raise AssertionError("there was no place")


def test_no_more_run_at_once_than_allowed_and_all_get_their_turn() -> None:
    one, lock = Budget(Limits(concurrency=3)), threading.Lock()
    running, most, done = 0, 0, 0

    def call() -> None:
        nonlocal running, most, done
        with one.admitted(1):
            with lock:
                running, most = running + 1, max(most, running + 1)
            threading.Event().wait(0.002)
            with lock:
                running, done = running - 1, done + 1

    threads = [threading.Thread(target=call) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (most, done) == (3, 20)


@given(st.integers(1, 8), st.floats(0, 1), st.none() | st.floats(0, 100))
def test_the_wait_before_a_retry_is_what_was_asked_plus_jitter(tries: int, chance: float, asked: float | None) -> None:
    retry = Retry(attempts=5, first_seconds=1, longest_seconds=8, longest_asked=60)
    wait = retry.wait(tries, asked, lambda: chance)
    if tries > 5 or (asked or 0) > 60:
        assert wait is None
    else:
        assert wait is not None
        assert (asked or 0) <= wait <= (asked or 0) + min(8, 2 ** (tries - 1))
