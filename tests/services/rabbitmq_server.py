"""A real RabbitMQ for tests, where its Debian package (or another, with `rabbitmq-server` on the path) is installed.

A node of its own below a folder: its own ports, name, port mapper (`epmd`) and cookie, so that a RabbitMQ of yours is
left alone. It takes five to ten seconds to start, which is why `.ci/run` does not ask for it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.needed import optional
from tests.services.ports import free_port

#: Debian's own, which needs neither root nor the package's user, before the path's.
_PLACES = ("/usr/lib/rabbitmq/bin/rabbitmq-server",)


def program() -> str | None:
    return next((place for place in _PLACES if os.access(place, os.X_OK)), shutil.which("rabbitmq-server"))


class RabbitMqServer:
    """On 127.0.0.1, at the same port for as long as this object lives."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"amqp://guest:guest@127.0.0.1:{self.port}//"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "plugins").write_text("[].")
        own = {"NODENAME": f"tests{self.port}@localhost", "NODE_IP_ADDRESS": "127.0.0.1", "NODE_PORT": str(self.port)}
        own |= {"DIST_PORT": str(free_port()), "MNESIA_BASE": f"{folder}/mnesia", "LOG_BASE": f"{folder}/log"}
        own |= {"ENABLED_PLUGINS_FILE": f"{folder}/plugins", "PID_FILE": f"{folder}/pid", "LOGS": "-"}
        own |= {"CONFIG_FILE": f"{folder}/none", "CONF_ENV_FILE": f"{folder}/none"}
        mapper = {"ERL_EPMD_PORT": str(free_port()), "ERL_EPMD_ADDRESS": "127.0.0.1"}
        named = {f"RABBITMQ_{name}": value for name, value in own.items()}
        self._environment = {**os.environ, "HOME": str(folder), **mapper, **named}

    def start(self) -> None:
        found = program()
        assert found is not None
        with (self._folder / "rabbitmq.log").open("ab") as log:
            self._process = subprocess.Popen([found], env=self._environment, stdout=log, stderr=log)
        self._wait()

    def _wait(self, seconds: float = 90) -> None:
        ends = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                assert time.monotonic() < ends, (self._folder / "rabbitmq.log").read_text()
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """As a power cut: hints are transient, so that every message is gone when it is started again."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        if self._process is not None:
            self._end(signal.SIGTERM)
        subprocess.run(["epmd", "-kill"], env=self._environment, capture_output=True, check=False)

    def _end(self, number: signal.Signals) -> None:
        """The node's own process, not the script's that started it."""
        assert self._process is not None
        os.kill(int((self._folder / "pid").read_text()), number)
        self._process.wait(60)
        self._process = None


@pytest.fixture(scope="module")
def rabbitmq_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMqServer]:
    if program() is None:
        optional("RabbitMQ", "install it, for instance apt-get install rabbitmq-server")
    server = RabbitMqServer(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.stop()
