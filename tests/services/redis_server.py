"""A real Redis for tests: `redis-server` on a free port, which can be stopped, killed, held, wiped and started again.

It keeps nothing on disk, so that one that was stopped or killed has lost every message.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.services import lifeline
from tests.services.needed import absent
from tests.services.ports import free_port


class RedisServer:
    """On 127.0.0.1, at the same port for as long as this object lives."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=5)

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([*command, "--dir", str(self._folder)], stdout=log, stderr=log)
        lifeline.hold(self._process.pid)
        self._wait()

    def _wait(self, seconds: float = 20) -> None:
        ends = time.monotonic() + seconds
        while True:
            try:
                with self.client() as client:
                    client.ping()
            except redis.ConnectionError:
                assert time.monotonic() < ends, (self._folder / "redis.log").read_text()
                time.sleep(0.02)
            else:
                return

    def signal(self, number: signal.Signals) -> None:
        """SIGTERM stops it in order, SIGKILL does not; SIGSTOP holds it, with every connection open, until SIGCONT."""
        assert self._process is not None
        os.kill(self._process.pid, number)
        if number in {signal.SIGTERM, signal.SIGKILL}:
            self._process.wait(20)
            self._process = None

    def wipe(self) -> None:
        with self.client() as client:
            client.flushall()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(20)
            self._process = None


def is_there() -> bool:
    return shutil.which("redis-server") is not None


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if not is_there():
        absent("Redis", "install it, for instance apt-get install redis-server")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()
