"""A real server on a real port, in a thread of the test's process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from memgraph_server import wiring
from memgraph_server.api.app import create_app
from memgraph_server.settings import Settings
from memgraph_server.wiring import Services

#: Rules and hashed vectors: a server of this kind is there at once, and reads thousands of turns a second.
QUICK: dict[str, Any] = {
    "embedder": "hashed", "extractor": "patterns", "port": 0, "sweep_seconds": 0.05, "lease_seconds": 2.0,
}  # fmt: skip

PROBLEM_MEMBERS = {"type", "title", "status", "detail", "code", "fault", "retry"}


@dataclass
class Running:
    url: str
    client: httpx.Client
    services: Services
    app: Any

    def namespace(self, name: str) -> Namespace:
        return Namespace(self.client, name)


@dataclass
class Namespace:
    """Calls below one namespace's path."""

    client: httpx.Client
    name: str

    @property
    def path(self) -> str:
        return f"/v1/namespaces/{self.name}"

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return self.client.get(f"{self.path}{path}", params=parameters)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.client.post(f"{self.path}{path}", json=body, **more)

    def say(self, *texts: str, session: str = "s1", at: str = "2024-05-08T12:00:00Z", speaker: str = "Ann") -> Any:
        """Store turns and wait until they are read."""
        turns = [{"role": "user", "speaker": speaker, "text": text, "at": at} for text in texts]
        answer = self.post("/turns", {"session_id": session, "turns": turns}, params={"wait": 30})
        assert answer.status_code == 202, answer.text
        assert answer.json()["job"]["state"] == "done", answer.text
        return answer.json()

    def claim(self, *assertions: dict[str, Any]) -> list[str]:
        answer = self.post("/assertions", {"assertions": list(assertions)})
        assert answer.status_code == 200, answer.text
        ids: list[str] = answer.json()["ids"]
        return ids

    def timeline(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        answer = self.get("/timeline", name=name, **parameters)
        assert answer.status_code == 200, answer.text
        facts: list[dict[str, Any]] = answer.json()["facts"]
        return facts


@contextmanager
def running(folder: Path, **changes: Any) -> Iterator[Running]:
    """A server over `folder/store.db`; ended, with its worker, at the end."""
    settings = Settings(**{"store": f"sqlite:///{folder}/store.db", **QUICK, **changes})
    services = wiring.services(settings)
    app = create_app(services)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="on", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="uvicorn")
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            yield Running(f"http://127.0.0.1:{port}", client, services, app)
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def assert_problem(answer: httpx.Response, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """The answer is a whole problem document."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document.keys() >= PROBLEM_MEMBERS
    assert (document["status"], document["code"]) == (status, code), document
    assert document["fault"] in {"caller", "store", "model", "server"}
    if field is not None:
        assert document["field"] == field, document
    return document
