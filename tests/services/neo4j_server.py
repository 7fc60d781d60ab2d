"""The fixture of tests that need a real Neo4j: one that is running, or one that `tests/services/neo4j` starts.

- `MEMGRAPH_TEST_NEO4J_URL` (bolt://…, with MEMGRAPH_TEST_NEO4J_PASSWORD): that server, whose data is deleted by tests;
- `MEMGRAPH_TEST_NEO4J=1`: the script starts one, and stops it when the tests are over;
- neither: the tests are left out, and the end of the run says so (needed.py).

One test process at a time: each empties it. Side by side, what uses it is in one group (`xdist_group("neo4j")`).
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.services.needed import absent

if TYPE_CHECKING:
    from memgraph_server.stores.neo4j_store import Neo4jStore, Target

SCRIPT = Path(__file__).parent / "neo4j"


def why_not() -> str | None:
    """Why there is no Neo4j for tests; None where there is one."""
    if os.environ.get("MEMGRAPH_TEST_NEO4J_URL"):
        return None
    if os.environ.get("MEMGRAPH_TEST_NEO4J") != "1":
        return "set MEMGRAPH_TEST_NEO4J=1 (with Java 21 or later and Maven) to have one started"
    if shutil.which("mvn") is None and not _fetched():
        return "install Maven, which fetches it"
    return None


def neo4j_is_to_be_had() -> None:
    """Leave the test out where it is not; for tests that start one of their own."""
    pytest.importorskip("neo4j", reason="needs the Neo4j driver: pip install -e '.[neo4j]'")
    reason = why_not()
    if reason is not None:
        absent("Neo4j", reason)


def jars() -> Path:
    """Where the script keeps them, or will."""
    found = subprocess.run([SCRIPT, "lib"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(found)


def _fetched() -> bool:
    return (jars() / ".complete").exists()


@contextmanager
def _alone() -> Iterator[None]:
    """Refuse a second process, which would erase what the first is testing with, and stop its server."""
    given = os.environ.get("MEMGRAPH_TEST_NEO4J_URL")
    port = re.sub(r"\D", "", given.rpartition(":")[2]) if given else os.environ.get("NEO4J_BOLT_PORT", "7787")
    place = Path(tempfile.gettempdir()) / f"neo4j-tests-{os.getuid()}-{port}.lock"
    with place.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.fail('another test process uses this Neo4j; is this test of the group "neo4j"?', pytrace=False)
        yield


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Target]:
    neo4j_is_to_be_had()
    with _alone():
        yield from _server()


def _server() -> Iterator[Target]:
    from memgraph_server.stores.neo4j_store import Target

    given = os.environ.get("MEMGRAPH_TEST_NEO4J_URL")
    if given:
        yield Target(given, "neo4j", os.environ.get("MEMGRAPH_TEST_NEO4J_PASSWORD", "memgraph-tests"))
        return
    started = subprocess.run([SCRIPT, "start"], capture_output=True, text=True, check=False)
    if started.returncode and "needs Java" in started.stderr:
        absent("Neo4j", started.stderr.strip())
    assert started.returncode == 0, started.stderr
    yield Target(started.stdout.split()[-1], "neo4j", os.environ.get("NEO4J_PASSWORD", "memgraph-tests"))
    subprocess.run([SCRIPT, "stop"], capture_output=True, check=False)


def emptied(store: Neo4jStore) -> Neo4jStore:
    """Migrated, with no data of earlier tests."""
    store.migrate()

    def erase(session: object) -> None:
        text = "MATCH (n) WHERE NOT n:Migration AND NOT n:SchemaLock CALL (n) { DETACH DELETE n } IN TRANSACTIONS"
        session.run(f"CYPHER 25 {text} OF 2000 ROWS").consume()  # type: ignore[attr-defined]

    store.connection.outside(erase)
    return store
