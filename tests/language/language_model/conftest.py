"""A scripted server, and a client to it that does not wait long."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memgraph_server.language.language_model.client import CompatibleModel
from tests.language.language_model.clients import client_of
from tests.language.language_model.scripted_server import Script, scripted


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted() as server:
        yield server


@pytest.fixture
def model(script: Script) -> Iterator[CompatibleModel]:
    client = client_of(script)
    yield client
    client.close()
