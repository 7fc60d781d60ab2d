"""The contract itself cannot be weakened by those who keep it."""

from __future__ import annotations

import inspect

import pytest

from tests.stores import contract
from tests.stores.contract import GraphStoreContract


def test_a_subclass_cannot_override_a_test() -> None:
    with pytest.raises(TypeError, match="test_twins_in_one_call_are_one_turn"):
        type("Weaker", (GraphStoreContract,), {"test_twins_in_one_call_are_one_turn": lambda _: None})


def test_a_subclass_cannot_override_the_fixture_of_the_store() -> None:
    with pytest.raises(TypeError, match="store"):
        type("Weaker", (GraphStoreContract,), {"store": None})


def test_a_subclass_cannot_mark_the_tests() -> None:
    with pytest.raises(TypeError, match="skipped"):
        type("Weaker", (GraphStoreContract,), {"pytestmark": pytest.mark.skip})


def test_no_test_of_the_contract_skips_or_expects_to_fail() -> None:
    parts = [part for part in GraphStoreContract.__mro__ if part.__module__.startswith(contract.__name__)]
    assert len(parts) == 10
    for part in parts:
        for name, member in vars(part).items():
            if name.startswith("test_"):
                marks = {mark.name for mark in getattr(member, "pytestmark", [])}
                assert marks <= {"parametrize"}, name
                assert "pytest.skip" not in inspect.getsource(member)


def test_no_two_parts_of_the_contract_have_a_test_of_one_name() -> None:
    names = [name for part in GraphStoreContract.__mro__ for name in vars(part) if name.startswith("test_")]
    assert len(names) == len(set(names))
