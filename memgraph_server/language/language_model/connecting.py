"""The language model of the settings, and whether it can be used, known before the first write."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.client import CompatibleModel
from memgraph_server.language.language_model.endpoints import Given, endpoints
from memgraph_server.language.language_model.limits import Budget, Limits, Retry
from memgraph_server.language.port import ModelRole
from memgraph_server.settings import Settings

log = logging.getLogger(__name__)

#: An endpoint that failed is looked at again, when somebody asks how it is, after so many seconds.
_LOOK_AGAIN = 15.0


def connected(settings: Settings) -> Connected | None:
    """None where no role has a base URL and a model. Nothing is called yet."""
    common = Given(settings.llm_base_url, settings.llm_api_key, settings.llm_model)
    roles = {
        role: Given(*(str(getattr(settings, f"llm_{role}_{part}")) for part in ("base_url", "api_key", "model")))
        for role in ModelRole
    }
    found = endpoints(common, roles, settings.llm_timeout_seconds)
    if not found:
        return None
    limits = Limits(
        concurrency=settings.llm_concurrency,
        requests=settings.llm_requests_per_minute,
        tokens=settings.llm_tokens_per_minute,
        patience=max(120.0, 2 * settings.llm_timeout_seconds),
    )
    return Connected(CompatibleModel(found, Budget(limits), Retry(attempts=settings.llm_retries)))


@dataclass(slots=True)
class Connected:
    """A language model with what is known about its endpoints. Thread-safe."""

    model: CompatibleModel
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _looked_at: float | None = None
    _looking: bool = False
    _message: str | None = None

    def probe(self) -> None:
        """Call every endpoint now. Raises ModelUnavailable, saying what to set."""
        try:
            self.model.probe()
        except ModelUnavailable as error:
            self._found(error.message)
            raise
        self._found(None)

    def look(self) -> None:
        """Probe in the background, where nobody has yet or the last time failed a while ago; never blocks."""
        with self._lock:
            old = self._looked_at is None or (
                self._trouble is not None and self.clock() - self._looked_at > _LOOK_AGAIN
            )
            if self._looking or not old:
                return
            self._looking = True
        threading.Thread(target=self._probed, name="language-model-probe", daemon=True).start()

    @property
    def state(self) -> str:
        """ "loading" before the first look, "ok", or "failed: …" with what to set, without any address."""
        self.look()
        if self._looked_at is None:
            return "loading"
        message = self._trouble
        return "ok" if message is None else f"failed: {self._without_addresses(message)}"

    @property
    def _trouble(self) -> str | None:
        return self.model.trouble or self._message

    def _probed(self) -> None:
        try:
            self.probe()
        except Exception as error:  # noqa: BLE001 - a thread of its own; the state tells, the log names the kind
            if not isinstance(error, ModelUnavailable):
                self._found(f"the language model cannot be used ({type(error).__name__})")
                log.error("the language model cannot be used (%s)", type(error).__name__)

    def _found(self, message: str | None) -> None:
        with self._lock:
            self._message, self._looked_at, self._looking = message, self.clock(), False

    def _without_addresses(self, message: str) -> str:
        for endpoint in self.model.endpoints.values():
            message = message.replace(endpoint.shown, "its address")
        return message

    def close(self) -> None:
        self.model.close()
