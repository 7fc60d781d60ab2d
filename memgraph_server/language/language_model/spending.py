"""What language models have cost: since the process began, by role and model, for metrics; and for one question."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from memgraph_server.language.port import Usage


@dataclass(slots=True)
class Spending:
    """Thread-safe sums. `troubles`: replies that held nothing usable, and turns or questions that another reader had to
    take over ("fallback"), by role. `subjects`: what models were asked about, by kind: "turn" (to be read), "query" (to
    be read and judged), "answer" (to be written); sums divided by these are what one of them costs."""

    _sums: dict[tuple[str, str], Usage] = field(default_factory=dict)
    _troubles: dict[tuple[str, str], int] = field(default_factory=dict)
    _subjects: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, role: str, model: str, usage: Usage, trouble: str = "") -> None:
        with self._lock:
            self._sums[role, model] = self._sums.get((role, model), Usage()) + usage
            if trouble:
                self._troubles[role, trouble] = self._troubles.get((role, trouble), 0) + 1

    def fell_back(self, role: str, count: int = 1) -> None:
        with self._lock:
            self._troubles[role, "fallback"] = self._troubles.get((role, "fallback"), 0) + count

    def asked_about(self, kind: str, count: int = 1) -> None:
        with self._lock:
            self._subjects[kind] = self._subjects.get(kind, 0) + count

    def subjects(self) -> Mapping[str, int]:
        with self._lock:
            return dict(self._subjects)

    def of_role(self, role: str) -> Usage:
        """Over all its models."""
        with self._lock:
            return sum((usage for (each, _), usage in self._sums.items() if each == role), Usage())

    def sums(self) -> Mapping[tuple[str, str], Usage]:
        with self._lock:
            return dict(self._sums)

    def troubles(self) -> Mapping[tuple[str, str], int]:
        with self._lock:
            return dict(self._troubles)


@dataclass(slots=True)
class Meter:
    """What one question took; `fallbacks`: model calls that the local reader or evaluator stood in for."""

    usage: Usage = field(default_factory=Usage)
    fallbacks: int = 0

    def add(self, usage: Usage) -> None:
        self.usage += usage

    def as_usage(self) -> dict[str, float]:
        """Members of a query's `usage`."""
        one = self.usage
        return {
            "model_calls": float(one.calls),
            "model_prompt_tokens": float(one.prompt_tokens),
            "model_completion_tokens": float(one.completion_tokens),
            "model_cached": float(one.cached),
            "model_retries": float(one.retries),
            "model_fallbacks": float(self.fallbacks),
            "model_ms": 1000 * one.seconds,
        }
