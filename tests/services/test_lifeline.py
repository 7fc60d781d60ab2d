"""A test's process that is killed leaves nothing of what it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.lifeline import began
from tests.services.needed import absent
from tests.services.neo4j_server import neo4j_is_to_be_had
from tests.services.redis_server import is_there
from tests.services.waiting import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux only")

ROOT = Path(__file__).parents[2]
#: A process with a child, and one that is not held; their numbers on a line each.
STARTS = """
import subprocess, sys, time
from tests.services import lifeline

def started(*command, alone):
    return subprocess.Popen(command, start_new_session=alone, stdout=subprocess.PIPE)

leader = started("sh", "-c", "sleep 600 & echo $!; wait", alone=True)
single, free = started("sleep", "600", alone=False), started("sleep", "600", alone=True)
lifeline.hold(leader.pid)
lifeline.hold(single.pid)
print(leader.pid, leader.stdout.readline().decode().strip(), single.pid, free.pid, flush=True)
time.sleep(600)
"""


def runs(pid: int) -> bool:
    return began(pid) is not None


def test_what_is_held_ends_with_a_process_that_is_killed_and_nothing_else_does() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS], cwd=ROOT, stdout=subprocess.PIPE, text=True) as test:
        assert test.stdout is not None
        *held, free = [int(number) for number in test.stdout.readline().split()]
        try:
            assert all(runs(pid) for pid in (*held, free))
            time.sleep(0.5)
            assert all(runs(pid) for pid in held)  # as long as their test does
            test.kill()
            until(lambda: not any(runs(pid) for pid in held), 20)
            assert runs(free)
        finally:
            os.kill(free, signal.SIGKILL)
            test.kill()


def test_a_number_that_was_given_again_is_nobodys() -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        lines = f"process {other.pid} 1\nprocess 999999999 1\nneo4j /nowhere\n"
        subprocess.run([sys.executable, "-m", "tests.services.lifeline"], cwd=ROOT, input=lines, text=True, check=True)
        assert runs(other.pid)
        other.kill()


def below(folder: Path) -> Iterator[int]:
    """Processes that work in a folder, or were told of it."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            inside = str(folder) in os.readlink(process / "cwd")
        except OSError:
            continue
        if inside or str(folder).encode() in told:
            yield int(process.name)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_topology_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    neo4j_is_to_be_had()
    if not is_there():
        absent("Redis", "install it, for instance apt-get install redis-server")
    folder = tmp_path / "topology"
    command = [
        sys.executable,
        "-m",
        "tests.services.topology",
        "--apis",
        "1",
        "--workers",
        "1",
        "--folder",
        str(folder),
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as topology:
        assert topology.stdout is not None
        while not topology.stdout.readline().startswith("logs"):
            assert topology.poll() is None
        there = set(below(folder))
        topology.kill()
        assert len(there) >= 7  # itself, Neo4j, Redis, API, beat, worker and the one that reads for it
        try:
            until(lambda: not any(below(folder)), 30)
        finally:
            for pid in below(folder):
                os.kill(pid, signal.SIGKILL)
