"""What goes over the wire to an endpoint, and what of its answers is read: every member of an answer may be absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memgraph_server.errors import ModelUnavailable
from memgraph_server.language.language_model.endpoints import Endpoint
from memgraph_server.language.language_model.memory import Given
from memgraph_server.language.port import Message, Trouble, Usage
from memgraph_server.settings import is_loopback

if TYPE_CHECKING:
    from openai import OpenAI

#: Characters a token, for reserving; the endpoint's own count settles it.
CHARACTERS = 3


def connected(endpoint: Endpoint) -> OpenAI:
    try:
        import openai
    except ImportError as error:
        raise ModelUnavailable("the openai package is not installed: pip install openai") from error
    quiet = ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
    left_out = [f"X-Stainless-{name}" for name in quiet] + ["OpenAI-Organization", "OpenAI-Project"]
    headers: dict[str, Any] = {name: openai.Omit() for name in left_out}
    local = is_loopback(urlsplit(endpoint.base_url).hostname or "")
    return openai.OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.key or "none",
        timeout=openai.Timeout(endpoint.timeout, connect=min(5.0, endpoint.timeout)),
        max_retries=0,
        default_headers=headers,
        http_client=openai.DefaultHttpxClient(trust_env=False) if local else None,
    )


def key(endpoint: Endpoint) -> Mapping[str, Any]:
    """Nothing where the client sends the key by itself; where there is none, none is sent."""
    import openai

    return {} if endpoint.key else {"Authorization": openai.Omit()}


def sent(messages: Sequence[Message]) -> list[Any]:
    """As the endpoint takes them: without NUL and half surrogate pairs, which are no text in JSON of every server."""
    return [{"role": one.role, "content": clean(one.text)} for one in messages]


def clean(text: str) -> str:
    """The text with as many characters, all of which any server takes."""
    if text.isascii() and "\0" not in text:
        return text
    return "".join("\ufffd" if "\ud800" <= each <= "\udfff" or each == "\0" else each for each in text)


def length(sent: Sequence[Mapping[str, Any]]) -> int:
    return sum(len(one["content"]) for one in sent)


def given(completion: Any) -> Given:
    """The text of a completion, or why there is none. Every member may be absent."""
    choices = getattr(completion, "choices", None)
    if not choices:
        if choices is None:
            raise ValueError("no completion")  # another program's answer, or an error with status 200
        return Given("", Trouble.EMPTY)
    message, finish = getattr(choices[0], "message", None), getattr(choices[0], "finish_reason", None)
    if getattr(message, "refusal", None) or finish == "content_filter":
        return Given("", Trouble.REFUSED)
    text = getattr(message, "content", None)
    if not isinstance(text, str) or not text.strip():
        return Given("", Trouble.EMPTY, finish == "length")
    return Given(text, Trouble.NONE, finish == "length")


def first(stream: Any) -> str | None:
    """The first piece of text; "" where the stream ends without one, None where it has not even an end.

    All of the text, where the endpoint does not stream but answers with a plain completion.
    """
    if "json" in stream.response.headers.get("content-type", ""):
        return given(_completion(stream)).text
    ended = False
    for chunk in stream:
        piece = delta(chunk)
        if piece:
            return piece
        choices = getattr(chunk, "choices", None)
        ended = ended or bool(choices and getattr(choices[0], "finish_reason", None))
    return "" if ended else None


def _completion(stream: Any) -> Any:
    from openai.types.chat import ChatCompletion

    try:
        stream.response.read()
    except Exception as error:  # whichever library the client stands on: it wraps these for streams only
        if type(error).__module__.partition(".")[0] not in {"httpx", "httpx2"}:
            raise
        raise ValueError("the body broke off") from None
    said = stream.response.json()
    return ChatCompletion.construct(**said) if isinstance(said, dict) else None


def delta(chunk: Any) -> str:
    choices = getattr(chunk, "choices", None)
    text = getattr(getattr(choices[0], "delta", None), "content", None) if choices else None
    return text if isinstance(text, str) else ""


def usage(completion: Any, sent: Sequence[Mapping[str, Any]]) -> Usage:
    """As the endpoint counted, else estimated."""
    counted = getattr(completion, "usage", None)
    prompt, completed = getattr(counted, "prompt_tokens", None), getattr(counted, "completion_tokens", None)
    choices = getattr(completion, "choices", None) or [None]
    text = getattr(getattr(choices[0], "message", None), "content", None) or ""
    return Usage(
        1,
        prompt if isinstance(prompt, int) else length(sent) // CHARACTERS,
        completed if isinstance(completed, int) else len(text) // CHARACTERS,
    )
