"""docs/operations.md: the backup of a store that is being written is one state of it, and a store."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memgraph_server.memory.turns import Role, Turn
from memgraph_server.stores.sqlite import SqliteStore
from memgraph_server.wiring import registry
from tests.deployment import files

PAGE = (files.ROOT / "docs" / "operations.md").read_text("utf-8")
NOW = 1_700_000_000_000_000


def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path, registry(), embedder_name="hashed", dimension=384)
    store.migrate()
    return store


class Writer:
    """Stores one turn after the other until it is told to stop; `acknowledged` are there for good."""

    def __init__(self, store: SqliteStore) -> None:
        self.store, self.acknowledged = store, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        while not self._stop.is_set():
            number = self.acknowledged
            turn = Turn(f"t{number}", "s", Role.USER, "Ann", f"Turn {number} " + "word " * 200, at=NOW + number)
            self.store.append_turns("ann", [turn], job_id=f"j{number}", now=NOW + number)
            self.acknowledged += 1

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def past(self, count: int) -> None:
        while self.acknowledged < count:
            assert self._thread.is_alive()
            self._stop.wait(0.005)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (code,) = re.findall(r"^cat > backup\.py <<'PY'\n(.*?)^PY$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "backup.py").write_text(code, "utf-8")
    return tmp_path / "backup.py"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = opened(tmp_path / "memory.db")
    yield store
    store.close()


def test_a_backup_of_a_store_that_is_being_written_is_one_state_of_it(
    recipe: Path, store: SqliteStore, tmp_path: Path
) -> None:
    with Writer(store) as writer:
        for number in range(3):
            writer.past(writer.acknowledged + 50)
            before = writer.acknowledged
            run = [sys.executable, recipe, tmp_path / "memory.db", tmp_path / f"backup{number}.db"]
            assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == "ok"
            after = writer.acknowledged
            copy = opened(tmp_path / f"backup{number}.db")
            try:
                assert copy.check() == []
                kept = copy.overall().pending
                assert before <= kept <= after + 1  # one may be stored and not yet acknowledged
                assert len(copy.turns("ann", [f"t{n}" for n in range(kept)])) == kept, "none in between is missing"
            finally:
                copy.close()


def test_a_backup_of_a_file_that_is_not_there_fails(recipe: Path, tmp_path: Path) -> None:
    run = [sys.executable, recipe, tmp_path / "absent.db", tmp_path / "backup.db"]
    assert subprocess.run(run, capture_output=True, check=False).returncode != 0
    assert not (tmp_path / "absent.db").exists()
