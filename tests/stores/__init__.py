"""Tests of the stores. The contract's parts are no test modules of their own, so their asserts are registered here."""

import pytest

_PARTS = ("turns", "queue", "entities", "beliefs", "reads", "search", "isolation", "histories")
pytest.register_assert_rewrite(*(f"tests.stores.contract_{part}" for part in _PARTS), "tests.stores.material")
