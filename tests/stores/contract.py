"""One contract for every store. An adapter's tests subclass `GraphStoreContract` and give one fixture, `new_store`.

No subclass may override, mark or skip a test of it: `__init_subclass__` refuses the class. The parts are apart only to
keep files short; each has its subject in its name.

`new_store()` gives an empty, migrated store with the relation table `material.Relations`, the embedder
`material.EMBEDDER` and `material.DIMENSION`; `new_store(same_as)` opens the same data a second time, as another process
would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.stores.contract_beliefs import BeliefContract
from tests.stores.contract_entities import EntityContract
from tests.stores.contract_histories import HistoryContract
from tests.stores.contract_isolation import IsolationContract
from tests.stores.contract_moving import MovingContract
from tests.stores.contract_queue import QueueContract
from tests.stores.contract_reads import ReadContract
from tests.stores.contract_search import SearchContract
from tests.stores.contract_turns import TurnContract
from tests.stores.material import Store

NewStore = Callable[..., Store]


class GraphStoreContract(
    TurnContract,
    QueueContract,
    EntityContract,
    BeliefContract,
    ReadContract,
    SearchContract,
    IsolationContract,
    MovingContract,
    HistoryContract,
):
    """All verbs, both clocks, and the laws of memory, through the port alone."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "pytestmark" in vars(cls):
            raise TypeError(f"{cls.__name__} marks the contract's tests; none may be skipped")
        for name in vars(cls):
            if hasattr(GraphStoreContract, name) and (name.startswith("test_") or name == "store"):
                raise TypeError(f"{cls.__name__} overrides {name} of the contract")

    @pytest.fixture
    def store(self, new_store: NewStore) -> Store:
        return new_store()
