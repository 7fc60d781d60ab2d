"""What happens to every request before a route sees it and after it has answered (plain ASGI, no framework).

    request ── host? ── path? ── key? ── body within limit? ──> routes ──> answer, counted
                  └────────└───────└────────└── problem document

Rules:
- without keys (loopback only) the Host header must be this machine's: a web page that points its own name at 127.0.0.1
  cannot use a visitor's memory;
- an escaped slash in a path is refused here, since after decoding it would name another route, or another namespace;
- whoever has no valid key is refused before a body is read;
- a body is read up to the limit and no further; the declared length is believed only to refuse it earlier;
- an exception that nobody expected becomes a problem document; the connection and the process live on.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memgraph_server.access import KeyFile
from memgraph_server.api import problems
from memgraph_server.errors import Forbidden, InvalidInput, MemgraphServerError, TooLarge
from memgraph_server.settings import Settings, is_loopback

#: Open to everybody: nothing of any namespace is told there.
OPEN = frozenset({"/healthz", "/readyz", "/openapi.json", "/docs", "/"})

#: What is counted by name; a client can send any word.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

#: (method, route template, status, seconds) of an answered request.
Count = Callable[[str, str, int, float], None]


class ClientLeft(Exception):
    """The client hung up while sending; there is nobody to answer."""


class Edge:
    """Wraps the application; see the module's rules."""

    def __init__(self, app: ASGIApp, settings: Settings, keys: KeyFile, count: Count) -> None:
        self.app, self.settings, self.keys, self.count = app, settings, keys, count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        watched = _Watched(send)
        began = time.perf_counter()
        try:
            await self._answer(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self.count(
                scope["method"] if scope["method"] in METHODS else "other",
                route,
                watched.status,
                time.perf_counter() - began,
            )

    async def _answer(self, scope: Scope, receive: Receive, send: _Watched) -> None:
        try:
            headers = Headers(scope=scope)
            self._admit(scope, headers)
            body = await _bounded(receive, headers, self.settings.max_body_bytes)
            await self.app(scope, _replayed(body, receive), send)
        except ClientLeft:
            return
        except MemgraphServerError as error:
            await self._refuse(error, scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the last resort, see the rules
            await self._refuse(problems.of_surprise(error), scope, receive, send)

    async def _refuse(self, error: MemgraphServerError, scope: Scope, receive: Receive, send: _Watched) -> None:
        if send.status:
            return  # the answer has begun already; all that is left is to end it
        # What was not read of the body is not waited for: the connection ends with this answer.
        await problems.problem(error, {"Connection": "close"} if error.status == 413 else None)(scope, receive, send)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        """Raises what the request is refused with; leaves the key in the scope."""
        checked = self.keys.exists() or not self.settings.loopback
        if not checked:
            _check_host(headers)
        _check_path(scope)
        if checked and scope["path"] not in OPEN:
            scope["memgraph_key"] = self.keys.authenticate(_presented(headers))


def _check_host(headers: Headers) -> None:
    name = headers.get("host", "localhost").strip()
    host = name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
    if not is_loopback(host):
        raise Forbidden("without API keys this server answers only to 127.0.0.1 and localhost", field="Host")


def _check_path(scope: Scope) -> None:
    raw = scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        raise InvalidInput("namespaces and ids may not hold slashes, escaped ones neither", field="path")
    if not scope["path"].isprintable() and any(ord(character) < 32 for character in scope["path"]):
        raise InvalidInput("namespaces and ids may not hold control characters", field="path")


def _presented(headers: Headers) -> str | None:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else headers.get("x-api-key")


async def _bounded(receive: Receive, headers: Headers, limit: int) -> bytes:
    declared = headers.get("content-length", "0")
    too_large = TooLarge(f"a body may have at most {limit} bytes; send it in several calls", field="body")
    if declared.isdigit() and int(declared[:20]) > limit:
        raise too_large
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise too_large
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever else the client does."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


class _Watched:
    """A `send` that remembers the status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
