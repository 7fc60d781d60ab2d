"""`serve` in a process that can be killed a hundred times: forked from a process that has imported everything.

The fork server is the standard library's; a child is a whole process with its own socket, store and worker.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx

from memgraph_server.settings import Settings
from tests.services.ports import free_port


def serve_quietly(settings: Settings, log: str) -> None:
    """The child: what `memgraph-server serve` does, its output in a file."""
    from memgraph_server.command_line.serving import run

    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout.flush()
    run(settings)


class Killable:
    """One store, and a server over it that is started and killed again and again."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.folder, self.port = folder, free_port()
        self.settings = Settings(**{"store": f"sqlite:///{folder}/store.db", "port": self.port, **changes})
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["uvicorn", "tests.workers.preloaded"])
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: BaseProcess | None = None

    def start(self) -> None:
        log = str(self.folder / "serve.log")
        self._process = self._context.Process(target=serve_quietly, args=(self.settings, log), daemon=True)
        self._process.start()

    def wait_until_answering(self, seconds: float = 60) -> None:
        """By a plain socket, which costs nothing to try."""
        ends = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=seconds).close()
            except OSError:
                if time.monotonic() > ends:
                    raise AssertionError((self.folder / "serve.log").read_text()) from None
                time.sleep(0.005)
            else:
                return

    def kill(self) -> None:
        assert self._process is not None
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join(30)
        assert self._process.exitcode == -signal.SIGKILL, (self.folder / "serve.log").read_text()

    def stop(self) -> None:
        """By the signal that a service manager sends."""
        assert self._process is not None
        self._process.terminate()
        self._process.join(30)
        assert self._process.exitcode is not None

    @contextmanager
    def running(self) -> Iterator[httpx.Client]:
        self.start()
        with httpx.Client(base_url=self.url, timeout=60, trust_env=False) as client:
            self.wait_until_answering()
            yield client
        self.stop()
