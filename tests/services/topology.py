"""The whole of a production deployment as processes of this machine: what docker-compose.yml starts, without Docker.

    Neo4j, Redis, two API processes, three workers, beat

    python -m tests.services.topology --help        by hand, until interrupted

A supervisor starts again whatever ended though it is wanted, as `restart: unless-stopped` would. Tests kill and stop
parts by name; nothing is started again by their hand, except what they had stopped on purpose. All of it ends with the
process that began it, even where that one is killed (lifeline.py).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.services import lifeline
from tests.services.neo4j_server import SCRIPT, jars
from tests.services.ports import free_port
from tests.services.redis_server import RedisServer

PASSWORD = "topology-tests"  # noqa: S105 - of a server that listens on loopback while a test runs
#: Small models and short times, where a test is about neither.
QUICK = {"EMBEDDER": "hashed", "EXTRACTOR": "patterns", "LEASE_SECONDS": "2", "BEAT_SECONDS": "1"}


@dataclass
class Part:
    """One process, with its children in a group of its own."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    wanted: bool = True
    starts: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        lifeline.hold(self.process.pid)
        self.starts += 1

    def signal(self, number: signal.Signals) -> None:
        """To all of its processes."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def children(self) -> list[int]:
        """Of a worker: the processes that read."""
        if self.process is None:
            return []
        with contextlib.suppress(OSError):
            found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            return [int(child) for child in found.split()]
        return []


@dataclass
class Neo4j:
    """A server of its own, by `tests/services/neo4j`, with the jars that are there already."""

    folder: Path
    wanted: bool = True
    bolt: int = field(default_factory=free_port)
    http: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.bolt}"

    def _script(self, command: str) -> None:
        given = {"NEO4J_DIR": str(self.folder), "NEO4J_LIB": str(jars()), "NEO4J_PASSWORD": PASSWORD}
        ports = {"NEO4J_BOLT_PORT": str(self.bolt), "NEO4J_HTTP_PORT": str(self.http)}
        small = {"NEO4J_HEAP": "512m", "NEO4J_PAGECACHE": "128m"}
        done = subprocess.run(
            [SCRIPT, command], env=os.environ | given | ports | small, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout

    @property
    def alive(self) -> bool:
        file = self.folder / "home/run/neo4j.pid"
        with contextlib.suppress(OSError, ValueError):
            return lifeline.began(int(file.read_text())) is not None
        return False

    def start(self) -> None:
        lifeline.hold_neo4j(self.folder / "home")
        self._script("start")

    def stop(self) -> None:
        """In order, and not to be started again yet."""
        self.wanted = False
        if self.alive:
            self._script("stop")

    def kill(self) -> None:
        self._script("kill")


class Topology:
    """Start it by `running()`."""

    def __init__(self, folder: Path, *, apis: int = 2, workers: int = 3, **changes: str) -> None:
        """`changes`: settings, by the names of their variables without the prefix."""
        self.folder = folder
        self.redis, self.neo4j = RedisServer(folder), Neo4j(folder / "neo4j")
        ports = [free_port() for _ in range(apis)]
        self.urls = [f"http://127.0.0.1:{port}" for port in ports]
        given = QUICK | {
            "STORE": self.neo4j.url,
            "NEO4J_PASSWORD": PASSWORD,
            "BROKER_URL": self.redis.url,
            "LOG_LEVEL": "warning",
            "KEYS_FILE": str(folder / "keys.json"),
            "WORKER_PROCESSES": "1",
        }
        variables = {f"MEMGRAPH_SERVER_{name}": value for name, value in (given | changes).items()}
        self._environment = os.environ | variables
        self.parts = {
            **{f"api-{n}": self._part(f"api-{n}", "serve", "--port", str(port)) for n, port in enumerate(ports, 1)},
            **{f"worker-{n}": self._part(f"worker-{n}", "worker") for n in range(1, workers + 1)},
            "beat": self._part("beat", "beat"),
        }
        self.workers = [part for name, part in self.parts.items() if name.startswith("worker")]
        self._ended = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, name="supervisor", daemon=True)

    def _part(self, name: str, *command: str) -> Part:
        return Part(
            name, [sys.executable, "-m", "memgraph_server", *command], self._environment, self.folder / f"{name}.log"
        )

    def _supervise(self) -> None:
        """`restart: unless-stopped`"""
        while not self._ended.wait(0.1):
            for part in self.parts.values():
                if part.wanted and not part.alive:
                    part.start()
            if self.neo4j.wanted and not self.neo4j.alive:
                self.neo4j.start()

    @contextmanager
    def running(self) -> Iterator[Topology]:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.redis.start()
        self.neo4j.start()
        self._supervisor.start()
        try:
            self.wait_until_ready()
            yield self
        finally:
            self._ended.set()
            self._supervisor.join(150)
            for part in self.parts.values():
                part.signal(signal.SIGKILL)
                if part.process is not None:
                    part.process.wait(60)
            self.redis.stop()
            self.neo4j.stop()

    def wait_until_ready(self, seconds: float = 180) -> None:
        """Every API process answers, and every worker."""
        ends = time.monotonic() + seconds
        for url in self.urls:
            while not self._all_there(url):
                assert time.monotonic() < ends, self.logs()
                time.sleep(0.1)

    def _all_there(self, url: str) -> bool:
        try:
            answer = httpx.get(f"{url}/readyz", timeout=30, trust_env=False).json()
        except (httpx.TransportError, ValueError):
            return False
        return bool(answer["ready"]) and answer["workers_answering"] == len(self.workers)

    def logs(self) -> str:
        """The last lines of each part."""
        ends = ["\n".join([name, *self._tail(part.log)]) for name, part in self.parts.items()]
        return "\n\n".join(ends)

    def _tail(self, log: Path) -> list[str]:
        return log.read_text("utf-8", "replace").splitlines()[-15:] if log.exists() else []


def main() -> None:
    """By hand: print where everything is, and run until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apis", type=int, default=2)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="data and logs; default: a temporary one, deleted at the end")
    parser.add_argument("--models", action="store_true", help="the real models instead of small ones")
    given = parser.parse_args()
    changes = {"EMBEDDER": "onnx-minilm", "EXTRACTOR": "local"} if given.models else {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="topology-") as temporary:
        topology = Topology(given.folder or Path(temporary), apis=given.apis, workers=given.workers, **changes)
        with topology.running(), contextlib.suppress(KeyboardInterrupt):
            print(f"API     {' '.join(topology.urls)}")
            print(f"Neo4j   {topology.neo4j.url}, http://127.0.0.1:{topology.neo4j.http}, neo4j, {PASSWORD}")
            print(f"Redis   {topology.redis.url}")
            print(f"logs    {topology.folder}", flush=True)
            threading.Event().wait()


if __name__ == "__main__":
    main()
