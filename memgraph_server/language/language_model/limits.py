"""One budget for all calls of this process to language models, and when a call is tried again.

Rules:
- a call waits until a place is free, and until the last minute's requests and tokens leave room for it;
- tokens are reserved by an estimate before the call and settled by what the endpoint counted after it;
- "too many requests" pauses every call, not only the one that was told so: the endpoint's limit is everybody's;
- retries wait with full jitter (a random time up to 1, 2, 4 … × the first), outside their place, and are admitted like
  any other call, so that no retry can break the limits.

Clock, sleep and chance are given, so that a test can own them.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memgraph_server.errors import ModelUnavailable

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """`requests` and `tokens` a minute: 0 for no limit. `patience`: seconds that a call waits for room at most."""

    concurrency: int = 4
    requests: int = 0
    tokens: int = 0
    patience: float = 120.0


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a call is tried again, and how long it waits before."""

    attempts: int = 4  # retries, not counting the first call
    first_seconds: float = 0.5
    longest_seconds: float = 20.0
    #: An endpoint that asks for a longer pause is down, as far as this call is concerned.
    longest_asked: float = 60.0

    def wait(self, tries: int, asked: float | None, chance: Callable[[], float]) -> float | None:
        """Seconds before the next try after `tries` failed ones (1 or more); None where there is none."""
        if tries > self.attempts or (asked is not None and asked > self.longest_asked):
            return None
        most = min(self.longest_seconds, self.first_seconds * 2.0 ** (tries - 1))
        return (asked or 0.0) + chance() * most


@dataclass(slots=True)
class Place:
    """A call's share of the budget, while it runs."""

    tokens: int


@dataclass(slots=True)
class Budget:
    """Thread-safe; one for the process."""

    limits: Limits = Limits()
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _running: int = 0
    _paused_until: float = 0.0
    _spent: deque[tuple[float, Place]] = field(default_factory=deque)

    @contextmanager
    def admitted(self, tokens: int) -> Iterator[Place]:
        """A place for one call of about that many tokens. Raises ModelUnavailable after `patience` seconds."""
        place = self.enter(tokens)
        try:
            yield place
        finally:
            self.leave()

    def leave(self) -> None:
        """A call has ended; its share of the minute stays spent."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def settle(self, place: Place, tokens: int) -> None:
        """What the call really took."""
        with self._changed:
            place.tokens = tokens
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Nobody calls before that."""
        with self._changed:
            self._paused_until = max(self._paused_until, self.clock() + seconds)

    def enter(self, tokens: int) -> Place:
        """See `admitted`; whoever enters has to leave."""
        place = Place(tokens)
        with self._changed:
            gives_up = self.clock() + self.limits.patience
            while (wait := self._wait(place.tokens)) > 0:
                left = gives_up - self.clock()
                if left <= 0:
                    raise ModelUnavailable("the language model's budget of requests and tokens is used up for now")
                self._changed.wait(min(wait, left))
            self._running += 1
            self._spent.append((self.clock(), place))
        return place

    def _wait(self, tokens: int) -> float:
        """Seconds until it is worth looking again; 0 where there is room now."""
        now = self.clock()
        while self._spent and self._spent[0][0] <= now - _MINUTE:
            self._spent.popleft()
        if self._paused_until > now:
            return self._paused_until - now
        if self._running >= self.limits.concurrency:
            return self.limits.patience
        limits, used = self.limits, sum(place.tokens for _, place in self._spent)
        crowded = limits.requests and len(self._spent) >= limits.requests
        costly = limits.tokens and self._spent and used + tokens > limits.tokens
        return self._spent[0][0] + _MINUTE - now if crowded or costly else 0.0
