"""An OpenAI-compatible server over real HTTP that plays what it is told: one play a request, then the last one again.

A play is a function of the request's body. The server keeps every request, so that a test can say what was sent.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Answer:
    """`delay`: seconds before it; `ends_after`: bytes of the body after which the connection breaks."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    ends_after: int | None = None


Play: TypeAlias = Callable[[dict[str, Any]], Answer]


@dataclass
class Request:
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def material(self) -> Any:
        """What the user message holds: JSON."""
        return json.loads(self.body["messages"][-1]["content"])


@dataclass
class Script:
    """`plays`: one for each chat request, the last for all that follow; `models`: what `GET /models` lists."""

    url: str = ""
    plays: list[Play] = field(default_factory=list)
    models: Sequence[str] | None = ("scripted",)
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    running: int = 0
    most_running: int = 0

    def play(self, *plays: Play) -> None:
        self.plays[:] = plays
        self.requests.clear()

    def next(self) -> Play:
        with self.lock:
            return self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]

    @property
    def asked(self) -> list[Request]:
        return [request for request in self.requests if request.path.endswith("/chat/completions")]


def completion(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish,
                     "message": {"role": "assistant", "content": text, **message}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }  # fmt: skip


def says(text: str | None, finish: str = "stop", **message: Any) -> Play:
    return gives(completion(text, finish, **message))


def says_json(value: Any) -> Play:
    return says(json.dumps(value))


def gives(body: Any, **answer: Any) -> Play:
    """A body as it is: JSON, or bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda _: Answer(data, **answer)


def fails(status: int, message: str = "it failed", code: str | None = None, **headers: str) -> Play:
    body = {"error": {"message": message, "type": "error", "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return gives(body, status=status, headers=named)


def hangs(seconds: float) -> Play:
    return gives(completion("{}"), delay=seconds)


def breaks(after: int) -> Play:
    return gives(completion('{"facts": []}'), ends_after=after)


def in_turn(*plays: Play) -> Play:
    """A play that is the next of these each time it is played, then the last one; probes are answered with a word."""
    left = list(plays)

    def play(body: dict[str, Any]) -> Answer:
        if body.get("max_tokens") == 8:
            return says("ok")(body)
        return (left.pop(0) if len(left) > 1 else left[0])(body)

    return play


_ROLES = {
    "You read a conversation": "extract", "You read a question": "read",
    "You judge": "judge", "You answer": "answer",
    "You grade": "grade",
}  # fmt: skip


def role_of(body: dict[str, Any]) -> str:
    """Which prompt was sent; "probe" for none of them."""
    first = body["messages"][0]["content"]
    return next((role for words, role in _ROLES.items() if first.startswith(words)), "probe")


def by_role(**plays: Play) -> Play:
    """A play for each role, by its prompt; probes, and roles without one, get an empty object."""
    return lambda body: plays.get(role_of(body), says("{}"))(body)


def refuses_forms(*refused: str, status: int = 400, then: Play) -> Play:
    """A server that takes no response_format of these types ("json_schema", "json_object", "schema": one inside
    json_object)."""

    def play(body: dict[str, Any]) -> Answer:
        form = body.get("response_format", {})
        names = {form.get("type")} | ({"schema"} if "schema" in form else set())
        if names & set(refused):
            return fails(status, f"response_format {form.get('type')} is not supported")(body)
        return then(body)

    return play


def streams(*pieces: str, broken: bool = False, usage: bool = True) -> Play:
    """Server-sent events, one a piece; `broken`: the connection ends before the last event."""

    def event(data: Any) -> bytes:
        return f"data: {json.dumps(data)}\n\n".encode()

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }  # fmt: skip

    def play(body: dict[str, Any]) -> Answer:
        parts = [event(chunk({"role": "assistant", "content": ""}))]
        parts += [event(chunk({"content": piece})) for piece in pieces]
        parts.append(event(chunk({}, "stop")))
        if usage and body.get("stream_options"):
            counted = {"prompt_tokens": 100, "completion_tokens": len(pieces), "total_tokens": 100 + len(pieces)}
            parts.append(event({**chunk({}), "choices": [], "usage": counted}))
        data = b"".join(parts) + b"data: [DONE]\n\n"
        ends = sum(len(part) for part in parts[: 1 + len(pieces)]) if broken else None
        return Answer(data, headers={"Content-Type": "text/event-stream"}, ends_after=ends)

    return play


@contextmanager
def scripted(*plays: Play) -> Iterator[Script]:
    """A server on a port of its own, until the block ends."""
    script = Script(plays=list(plays) or [says('{"facts": []}')])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

        def do_GET(self) -> None:
            script.requests.append(Request(self.path, dict(self.headers), {}))
            models = script.models
            if models is None:
                self.answer(fails(404, "not found")({}))
            else:
                listed = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in models]
                self.answer(gives({"object": "list", "data": listed})({}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with script.lock:
                script.requests.append(Request(self.path, dict(self.headers), body))
                script.running += 1
                script.most_running = max(script.most_running, script.running)
            try:
                self.answer(script.next()(body))
            finally:
                with script.lock:
                    script.running -= 1

        def answer(self, answer: Answer) -> None:
            time.sleep(answer.delay)
            try:
                self.send_response(answer.status)
                headers = {"Content-Type": "application/json", **answer.headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body[: answer.ends_after])
                if answer.ends_after is not None:
                    self.wfile.flush()
                    self.close_connection = True
            except OSError:  # the client has given up
                self.close_connection = True

    return Handler
