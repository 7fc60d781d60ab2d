"""One server for the tests that only need a namespace of their own."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.api.serving import Namespace, Running, running


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
