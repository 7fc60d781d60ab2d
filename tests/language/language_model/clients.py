"""Clients of a scripted server."""

from __future__ import annotations

from typing import Any

from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.endpoints import Given, endpoints
from memgraph_server.language.language_model.limits import Budget, Limits, Retry
from memgraph_server.language.port import Message
from tests.language.language_model.scripted_server import Script

KEY = "sk-secret-of-the-test"
QUICK_RETRY = Retry(attempts=3, first_seconds=0.001, longest_seconds=0.002)
FREE = Limits()
ASKED = [Message("system", "Answer in JSON."), Message("user", '{"turns": []}')]


def client_of(
    script: Script,
    *,
    retry: Retry = QUICK_RETRY,
    limits: Limits = FREE,
    timeout: float = 5.0,
    **more: Any,
) -> CompatibleModel:
    at = endpoints(Given(script.url, KEY, "scripted"), {}, timeout)
    return CompatibleModel(at, Budget(limits), retry, **more)
