"""One server for the tests that only need a namespace of their own, and one that asks a scripted endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.api.serving import Namespace, Running, running
from tests.language.language_model.scripted_server import Script, says, scripted


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def ann(served: Running) -> Namespace:
    return served.namespace(f"ann-{uuid4().hex}")


@pytest.fixture
def bob(served: Running) -> Namespace:
    return served.namespace(f"bob-{uuid4().hex}")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Script]:
    with scripted(says("ok")) as script:
        yield script


@pytest.fixture(scope="module")
def answering(endpoint: Script, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(
        tmp_path_factory.mktemp("answering"),
        llm_base_url=endpoint.url,
        llm_model="scripted",
        llm_retries=0,
        answer_threshold=0.0,
    ) as found:
        yield found
