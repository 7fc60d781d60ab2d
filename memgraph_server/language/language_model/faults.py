"""What went wrong with a call to an endpoint, whether another try helps, and which setting would.

    what happened                                        what follows
    time-out, broken connection, 408, 409, 429, 5xx,     tried again, within the budget
      a body that is no completion
    400, 422, 5xx about the form that was asked for      tried at once in a simpler form (`dialects.py`)
    400 about the prompt's length or content             a reply without a value: that prompt failed, not the model
    401, 403; 404, 400 about the model; quota used up    ModelUnavailable, which names the setting; no retry

Texts of an endpoint's errors are read, but never passed on or logged: they may quote the prompt, or the key.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from memgraph_server.language.language_model.endpoints import Endpoint


class Kind(StrEnum):
    RETRY = "retry"
    FORM = "form"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Fault:
    """`message`: for people, without any text of the endpoint; `about`: what its words are about, for `Kind.FORM`;
    `after`: seconds that the endpoint asks to wait."""

    kind: Kind
    message: str
    about: str = ""
    after: float | None = None
    status: int = 0


_TOO_LONG = re.compile(
    r"context.?length|context.?window|maximum context|too many tokens|prompt is too long|exceeds? .{0,40}context"
)
_NO_MODEL = re.compile(
    r"model.{0,80}(?:not found|does ?n.t exist|not exist|unknown|not available|invalid|no such)"
    r"|(?:unknown|no such|invalid) model|model_not_found"
)
_REFUSED = re.compile(r"content.?filter|content.?management|content.?policy|safety system|moderation")
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing")
_ABOUT = {
    "max_tokens": re.compile(r"max_completion_tokens|max_tokens"),
    "temperature": re.compile(r"temperature"),
    "stream_options": re.compile(r"stream_options|include_usage"),
    "response_format": re.compile(r"response_format|json_schema|json_object|schema|grammar|structured|guided|format"),
}
_ANYTHING = re.compile("")
_SERVER = frozenset({408, 409, 429, *range(500, 600)})
#: (statuses, what the words say, what it is), first match wins; anything else is a wrong setting.
_RULES = (
    (frozenset({401, 403}), _ANYTHING, Kind.SETTING, Endpoint.refused),
    (frozenset({400, 404, 422}), _NO_MODEL, Kind.SETTING, Endpoint.no_model),
    (frozenset({404}), _ANYTHING, Kind.SETTING, Endpoint.no_such_address),
    (frozenset({400, 413, 422}), _TOO_LONG, Kind.TOO_LONG, Endpoint.too_long),
    (frozenset({400, 422}), _REFUSED, Kind.REFUSED, Endpoint.bad_request),
    (frozenset({400, 422}), _ANYTHING, Kind.FORM, Endpoint.bad_request),
    (frozenset({429}), _NO_QUOTA, Kind.SETTING, Endpoint.no_quota),
    (_SERVER, _ANYTHING, Kind.RETRY, Endpoint.failing),
)


def of_status(status: int, words: str, endpoint: Endpoint, after: float | None = None) -> Fault:
    """The fault of an answer with that HTTP status and body."""
    words = words.lower()[:10_000]
    about = next((what for what, pattern in _ABOUT.items() if pattern.search(words)), "")
    for statuses, pattern, kind, message in _RULES:
        if status in statuses and pattern.search(words):
            return Fault(kind, message(endpoint), about, after, status)
    return Fault(Kind.SETTING, endpoint.bad_request(), status=status)


def of_error(error: Exception, endpoint: Endpoint) -> Fault | None:
    """The fault behind an exception of the client; None where it is none of an endpoint's."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return Fault(Kind.RETRY, endpoint.failing("it takes too long"))
    if isinstance(error, openai.APIConnectionError):
        return Fault(Kind.RETRY, endpoint.unreachable())
    if isinstance(error, openai.APIStatusError):
        words = json.dumps(error.body, default=str) if error.body is not None else error.message
        return of_status(error.status_code, words, endpoint, _asked(error.response.headers))
    if isinstance(error, openai.APIError | ValueError):  # an error within a stream; a body that is no JSON
        return Fault(Kind.RETRY, endpoint.failing("what it answers is no completion"))
    return None


def _asked(headers: object) -> float | None:
    """Retry-After in seconds; a date in it is left to the usual waiting."""
    get = getattr(headers, "get", None)
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = get(name) if get is not None else None
        try:
            seconds = float(text) * unit if text is not None else -1.0
        except ValueError:
            continue
        if 0 <= seconds < 1e6:
            return seconds
    return None
