"""`CompatibleModel`: the language model port over any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp).

    structured ── known answer? ──> budget ──> call ──> reply in the schema's form
                                      ^          │ fault: `faults.py` says which
                                      ├── waits ─┤ RETRY: later, at most `Retry.attempts` times
                                      └──────────┘ FORM: at once, in a simpler form (`dialects.py`)

Rules:
- the client's own retries are off: only this file calls again, and always within the budget;
- an endpoint that has been given up is left alone for a moment: whoever asks meanwhile is told at once;
- a reply without anything usable is asked for once more, with some chance in it; then it is told as it is;
- answers are kept in memory for a while, by a hash of all that they depend on, never on disk: so that a turn which is
  read again costs nothing, and nothing has to be erased anywhere else (`forget`).
- nothing of the process's environment is sent: no organization, no telemetry headers, no proxy for this machine.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from memgraph_server.errors import ModelUnavailable, UnusableReply
from memgraph_server.language.language_model import wire
from memgraph_server.language.language_model.dialects import Dialect, Form
from memgraph_server.language.language_model.endpoints import Endpoint
from memgraph_server.language.language_model.faults import Fault, Kind, of_error
from memgraph_server.language.language_model.limits import Budget, Place, Retry
from memgraph_server.language.language_model.memory import Answers, Given, key_of
from memgraph_server.language.language_model.replies import parse
from memgraph_server.language.language_model.spending import Spending
from memgraph_server.language.port import Message, ModelRole, Shape, Structured, Trouble, Usage

if TYPE_CHECKING:
    from openai import OpenAI

log = logging.getLogger(__name__)
_Result = TypeVar("_Result")

#: Seconds that an endpoint is left alone after it was given up: it may come back, a wrong setting does not.
_DOWN, _WRONG = 5.0, 60.0
#: Chance in the second try after an unusable reply; the first has none.
_SECOND_TEMPERATURE = 0.4
#: What a prompt that an endpoint does not take comes to; a bad form only where the endpoint has taken others.
_REJECTED = {Kind.TOO_LONG: Trouble.TOO_LONG, Kind.REFUSED: Trouble.REFUSED, Kind.FORM: Trouble.REFUSED}


@dataclass(frozen=True, slots=True)
class Outage:
    """An endpoint that was given up, and until when (monotonic seconds) it is left alone."""

    message: str
    until: float
    wrong: bool  # a setting is wrong: waiting does not help


@dataclass(slots=True)
class _Try:
    """What one attempt needs to know and what it cost."""

    dialect: Dialect
    place: Place
    usage: Usage = field(default_factory=Usage)


class CompatibleModel:
    """Thread-safe. See the module's rules."""

    def __init__(
        self,
        endpoints: Mapping[ModelRole, Endpoint],
        budget: Budget | None = None,
        retry: Retry | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoints = dict(endpoints)
        self.spending = Spending()
        self._budget, self._retry, self._sleep = budget or Budget(), retry or Retry(), sleep
        self._answers = Answers()
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], OpenAI] = {}
        self._dialects: dict[tuple[str, str], Dialect] = {}
        self._formed: set[tuple[str, str]] = set()
        self._suspected: dict[tuple[str, str], int] = {}
        self._outages: dict[tuple[str, str], Outage] = {}

    def has(self, role: ModelRole) -> bool:
        return role in self.endpoints

    def model(self, role: ModelRole) -> str:
        return self._endpoint(role).model

    @property
    def concurrency(self) -> int:
        return self._budget.limits.concurrency

    @property
    def trouble(self) -> str | None:
        """What is wrong with an endpoint as of the last call to it, for people; None where all is well."""
        with self._lock:
            return next((outage.message for outage in self._outages.values()), None)

    def asking(self, role: ModelRole, model: str) -> CompatibleModel:
        """Another model at the role's endpoint, within the same budget. To be closed by itself."""
        other = {role: replace(self._endpoint(role), model=model)}
        return CompatibleModel(other, self._budget, self._retry, sleep=self._sleep)

    def forget(self) -> None:
        """Drop the answers that are remembered: they may hold what a user said."""
        self._answers.clear()

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    # -- the port

    def structured(
        self, role: ModelRole, messages: Sequence[Message], schema: type[Shape], max_tokens: int
    ) -> Structured[Shape]:
        """See `LanguageModel`. One call; a second where the first gave nothing usable."""
        endpoint, began = self._endpoint(role), time.monotonic()
        key = key_of(endpoint.place, messages, schema.__name__, max_tokens)
        known = self._answers.get(key)
        if known is not None:
            found = self._read(known, schema, Usage(cached=1))
        else:
            found = self._asked(endpoint, messages, schema, max_tokens, key)
        found = replace(found, usage=replace(found.usage, seconds=time.monotonic() - began))
        self.spending.add(role, endpoint.model, found.usage, str(found.trouble))
        return found

    def stream(
        self, role: ModelRole, messages: Sequence[Message], max_tokens: int, spent: Callable[[Usage], None]
    ) -> Iterator[str]:
        """See `LanguageModel`. Faults before the first piece are tried again; one after it ends the stream with
        ModelUnavailable."""
        endpoint, began = self._endpoint(role), time.monotonic()
        usage = Usage()
        try:
            for piece in self._pieces(endpoint, messages, max_tokens):
                if isinstance(piece, Usage):
                    usage += piece
                else:
                    yield piece
        finally:
            usage = replace(usage, seconds=time.monotonic() - began)
            self.spending.add(role, endpoint.model, usage, "")
            spent(usage)

    def probe(self) -> None:
        """Ask each endpoint for its models and for one word. Raises ModelUnavailable, saying what to set."""
        for endpoint in {endpoint.place: endpoint for endpoint in self.endpoints.values()}.values():
            with self._lock:
                self._outages.pop(endpoint.place, None)
            listed = self._models(endpoint)
            try:
                self._call(endpoint, self._word_from(endpoint), tries=0)
            except ModelUnavailable as error:
                if (
                    listed
                    and endpoint.model not in listed
                    and error.message in {endpoint.no_such_address(), endpoint.no_model()}
                ):
                    raise ModelUnavailable(endpoint.no_model(listed)) from error
                raise

    # -- one structured reply

    def _asked(
        self, endpoint: Endpoint, messages: Sequence[Message], schema: type[Shape], max_tokens: int, key: str
    ) -> Structured[Shape]:
        usage = Usage()
        found: Structured[Shape] = Structured(None, trouble=Trouble.EMPTY)
        for temperature in (0.0, _SECOND_TEMPERATURE):
            given, spent = self._given(endpoint, messages, schema, max_tokens, temperature)
            usage += spent
            found = self._read(given, schema, usage)
            if found.value is not None:
                self._answers.put(key, given)
                return found
            if found.trouble in {Trouble.REFUSED, Trouble.TOO_LONG} or given.cut:
                break  # the same again would be the same
        return found

    def _read(self, given: Given, schema: type[Shape], usage: Usage) -> Structured[Shape]:
        if given.trouble is not Trouble.NONE:
            return Structured(None, usage, given.trouble)
        parsed = parse(given.text, schema)
        return Structured(parsed.value, usage, parsed.trouble, parsed.dropped, parsed.cut or given.cut)

    def _given(
        self,
        endpoint: Endpoint,
        messages: Sequence[Message],
        schema: type[BaseModel],
        max_tokens: int,
        temperature: float,
    ) -> tuple[Given, Usage]:
        def call(one: _Try) -> Given:
            parameters = one.dialect.parameters(schema, max_tokens, temperature)
            sent = wire.sent(messages)
            completion = self._client(endpoint).chat.completions.create(
                model=endpoint.model, messages=sent, extra_headers=wire.key(endpoint), **parameters
            )
            one.usage = wire.usage(completion, sent)
            return wire.given(completion)

        estimate = max_tokens + sum(len(message.text) for message in messages) // wire.CHARACTERS
        try:
            return self._call(endpoint, call, estimate=estimate, structured=True)
        except _Rejected as error:
            return Given("", error.trouble), error.usage

    # -- calls

    def _call(
        self,
        endpoint: Endpoint,
        call: Callable[[_Try], _Result],
        *,
        estimate: int = 64,
        structured: bool = False,
        tries: int | None = None,
        stays: bool = False,
    ) -> tuple[_Result, Usage]:
        """The call's result, after as many tries as it took."""
        self._refuse_if_down(endpoint)
        dialect, confirmed = self._dialect(endpoint, structured=structured)
        failed, retries, fell = 0, 0, False
        while True:
            try:
                result, usage = self._try(endpoint, call, dialect, estimate, stays=stays)
            except _Failed as error:
                fault, retries = error.fault, retries + 1
            else:
                self._accepted(endpoint, dialect, structured=structured, doubtful=fell)
                return result, replace(usage, retries=retries)
            simpler = _simpler(dialect, fault, structured, confirmed or fell)
            rejected = _REJECTED.get(fault.kind)
            if rejected is not None and simpler is None and (fault.kind is not Kind.FORM or confirmed):
                raise _Rejected(rejected, Usage(retries=retries))
            if simpler is not None:
                fell = fell or fault.kind is Kind.RETRY
                dialect = simpler
                continue
            failed += 1
            self._wait_or_give_up(endpoint, fault, failed, tries)

    def _try(
        self, endpoint: Endpoint, call: Callable[[_Try], _Result], dialect: Dialect, estimate: int, *, stays: bool
    ) -> tuple[_Result, Usage]:
        """One attempt. `stays`: where it succeeds its place is not given back here: a stream has only begun."""
        one = _Try(dialect, self._budget.enter(estimate))
        try:
            result = call(one)
        except Exception as error:
            self._budget.leave()
            fault = of_error(error, endpoint)
            if fault is None:
                raise
            raise _Failed(fault) from None  # its own words may quote the prompt
        self._budget.settle(
            one.place, one.usage.prompt_tokens + one.usage.completion_tokens if one.usage.calls else estimate
        )
        if not stays:
            self._budget.leave()
        return result, one.usage

    def _wait_or_give_up(self, endpoint: Endpoint, fault: Fault, failed: int, tries: int | None) -> None:
        wait = None
        if fault.kind is Kind.RETRY and (tries is None or failed <= tries):
            wait = self._retry.wait(failed, fault.after, self._budget.chance)
        if wait is None:
            self._give_up(endpoint, fault)
        if fault.status == 429 and fault.after:
            self._budget.pause(fault.after)
        log.info("language model: %s; try %d, again in %.1f s", fault.kind.value, failed, wait)
        self._sleep(wait or 0.0)

    def _give_up(self, endpoint: Endpoint, fault: Fault) -> None:
        wrong = fault.kind is not Kind.RETRY
        seconds = _WRONG if wrong else max(_DOWN, min(fault.after or 0.0, _WRONG))
        with self._lock:
            self._outages[endpoint.place] = Outage(fault.message, time.monotonic() + seconds, wrong)
        log.warning("language model: %s", fault.message)
        raise _unavailable(fault.message, wrong=wrong, seconds=fault.after)

    def _refuse_if_down(self, endpoint: Endpoint) -> None:
        with self._lock:
            outage = self._outages.get(endpoint.place)
        if outage is not None and time.monotonic() < outage.until:
            raise _unavailable(outage.message, wrong=outage.wrong, seconds=outage.until - time.monotonic())

    def _accepted(self, endpoint: Endpoint, dialect: Dialect, *, structured: bool, doubtful: bool) -> None:
        """Remember what worked; a text without a form says nothing about forms. After a mere 5xx to the richer form the
        simpler one is believed only the second time: once is chance."""
        place = endpoint.place
        with self._lock:
            self._outages.pop(place, None)
            if not structured:
                known = self._dialects.get(place, dialect)
                self._dialects[place] = replace(dialect, form=known.form)
                return
            if doubtful:
                self._suspected[place] = self._suspected.get(place, 0) + 1
            if not doubtful or self._suspected[place] > 1:
                self._dialects[place] = dialect
                self._formed.add(place)

    def _dialect(self, endpoint: Endpoint, *, structured: bool) -> tuple[Dialect, bool]:
        """How to ask, and whether that has worked before: for a form, whether that form has."""
        with self._lock:
            known = self._dialects.get(endpoint.place)
            formed = endpoint.place in self._formed
        return (known, formed or not structured) if known is not None else (Dialect(), False)

    def _endpoint(self, role: ModelRole) -> Endpoint:
        if role not in self.endpoints:
            raise not_set(role)
        return self.endpoints[role]

    # -- what is sent otherwise

    def _pieces(self, endpoint: Endpoint, messages: Sequence[Message], max_tokens: int) -> Iterator[str | Usage]:
        sent = wire.sent(messages)

        def begin(one: _Try) -> tuple[Any, str]:
            asked = {"model": endpoint.model, "messages": sent, "extra_headers": wire.key(endpoint)}
            asked |= one.dialect.parameters(None, max_tokens, 0.0)
            create: Any = self._client(endpoint).chat.completions.create
            options = {"stream_options": {"include_usage": True}} if one.dialect.stream_usage else {}
            stream = create(**asked, stream=True, **options)
            first = wire.first(stream)
            # Some servers keep a fault for themselves once a stream has begun: not streamed, they tell.
            return stream, wire.given(create(**asked)).text if first is None else first

        estimate = max_tokens + wire.length(sent) // wire.CHARACTERS
        try:
            (stream, first), usage = self._call(endpoint, begin, estimate=estimate, stays=True)
        except _Rejected as error:
            refused = PromptTooLong if error.trouble is Trouble.TOO_LONG else UnusableReply
            raise refused(f"the language model refuses this evidence ({error.trouble}): lower token_budget") from None
        try:
            with closing(stream):
                yield first
                yield from self._rest(endpoint, stream, len(first), sent)
        finally:
            self._budget.leave()
        yield usage

    def _rest(self, endpoint: Endpoint, stream: Any, length: int, sent: Sequence[Any]) -> Iterator[str | Usage]:
        counted = Usage()
        try:
            for chunk in stream:
                counted = wire.usage(chunk, sent) if getattr(chunk, "usage", None) else counted
                piece = wire.delta(chunk)
                length += len(piece)
                yield piece
        except Exception as error:
            fault = of_error(error, endpoint)
            if fault is None:
                raise
            raise ModelUnavailable(endpoint.failing("its answer broke off")) from None
        yield counted if counted.calls else Usage(1, wire.length(sent) // wire.CHARACTERS, length // wire.CHARACTERS)

    def _word_from(self, endpoint: Endpoint) -> Callable[[_Try], None]:
        def call(one: _Try) -> None:
            sent, parameters = wire.sent([Message("user", "Say: ok")]), one.dialect.parameters(None, 8, 0.0)
            completion = self._client(endpoint).chat.completions.create(
                model=endpoint.model, messages=sent, extra_headers=wire.key(endpoint), **parameters
            )
            if not hasattr(completion, "choices"):
                raise ValueError("no completion")
            one.usage = wire.usage(completion, sent)

        return call

    def _models(self, endpoint: Endpoint) -> tuple[str, ...]:
        """Names of the endpoint's models, where it tells them; some do not."""
        try:
            return tuple(
                sorted(str(model.id) for model in self._client(endpoint).models.list(extra_headers=wire.key(endpoint)))
            )
        except Exception as error:
            if of_error(error, endpoint) is None and not isinstance(error, AttributeError):
                raise
            return ()

    def _client(self, endpoint: Endpoint) -> OpenAI:
        where = (endpoint.base_url, endpoint.key)
        with self._lock:
            if where not in self._clients:
                self._clients[where] = wire.connected(endpoint)
            return self._clients[where]


def not_set(role: ModelRole) -> ModelUnavailable:
    """For whoever asks for a role that has no model: until the server is started again, waiting cannot help."""
    error = ModelUnavailable(
        f"no language model is set for this ({role.value}): set MEMGRAPH_SERVER_LLM_BASE_URL and "
        f"MEMGRAPH_SERVER_LLM_MODEL, or MEMGRAPH_SERVER_LLM_{role.upper()}_MODEL, and start the server again"
    )
    error.retry, error.retry_after = False, None
    return error


class PromptTooLong(UnusableReply):
    """The endpoint takes other prompts, but none of that length."""


class _Failed(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.kind.value)
        self.fault = fault


class _Rejected(Exception):
    """The endpoint takes other prompts, but not this one."""

    def __init__(self, trouble: Trouble, usage: Usage) -> None:
        super().__init__(trouble.value)
        self.trouble, self.usage = trouble, usage


def _unavailable(message: str, *, wrong: bool, seconds: float | None = None) -> ModelUnavailable:
    error = ModelUnavailable(message)
    error.retry_after = 60 if wrong else max(1, round(seconds or error.retry_after or 5))
    return error


def _simpler(dialect: Dialect, fault: Fault, structured: bool, settled: bool) -> Dialect | None:
    """A simpler form of the same request, where the fault may be about the form. Of a 5xx that is only guessed at: once
    a call, and only while no form has worked yet."""
    if fault.kind is Kind.FORM:
        return dialect.simpler(fault.about, structured=structured)
    guess = fault.kind is Kind.RETRY and fault.status >= 500 and structured and not settled
    return replace(dialect, form=Form.OBJECT_BY_SCHEMA) if guess and dialect.form is Form.SCHEMA else None
