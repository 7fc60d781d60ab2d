"""What a test has started ends with it, however it ends: killed by SIGKILL, it runs no code of its own any more.

A process of its own reads from a pipe that only the test's process holds open for writing. When that one is gone the
pipe is at its end, and whatever was named in it and still runs is killed.

    python -m tests.services.lifeline        the reader: lines "process PID START", "neo4j FOLDER", "over"

Rules:
- a process is known by its number and by when it began, so that a number that was given again is nobody's;
- one that leads a group of its own (a worker with its children) is killed with its group;
- Neo4j, which its script detaches, is known by the file with its number and by its folder in its command line;
- Linux only: elsewhere nothing is named, and a test that is killed leaves what it started.

Unlike PR_SET_PDEATHSIG this reaches children's children and what was detached, and does not go by the thread that
started a process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

#: For so long whatever is named is looked for: a Neo4j that is just being started has no number yet.
LOOK_SECONDS = 10.0
_OVER = "over"
_SAYING = threading.Lock()


def hold(pid: int) -> None:
    """End this process, and its group where it leads one, when we have ended."""
    since = began(pid)
    if since is not None:
        _say(f"process {pid} {since}")


def hold_neo4j(home: Path) -> None:
    """End the Neo4j of this folder when we have ended; it may be started, stopped and started again."""
    if Path("/proc").is_dir():
        _say(f"neo4j {home}")


def _say(line: str) -> None:
    with _SAYING:
        pipe = _reader().stdin
        assert pipe is not None
        pipe.write(f"{line}\n".encode())
        pipe.flush()


@cache
def _reader() -> subprocess.Popen[bytes]:
    """One of this process's own, in a session of its own, so that what ends a terminal's processes, or a group, does
    not end it."""
    atexit.register(_end)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.services.lifeline"],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end() -> None:
    """In order: what was started is over, and the reader need not wait for anything to appear."""
    _say(_OVER)
    _reader().communicate(timeout=60)


def began(pid: int) -> str | None:
    """When a process began, in the kernel's clock ticks; None where there is none, or only its remains."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[19] if fields[0] != "Z" else None
    return None


def _number(line: str) -> int | None:
    """The process that a line names, while it runs."""
    kind, _, said = line.partition(" ")
    if kind == "process":
        pid, since = said.split()
        return int(pid) if began(int(pid)) == since else None
    with contextlib.suppress(OSError, ValueError):
        number = int((Path(said) / "run/neo4j.pid").read_text())
        return number if f"--home-dir={said}\0".encode() in Path(f"/proc/{number}/cmdline").read_bytes() else None
    return None


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def main() -> None:
    named = {line.strip() for line in sys.stdin}  # until the pipe is at its end
    ends = time.monotonic() + (0.0 if _OVER in named else LOOK_SECONDS)
    while True:
        for pid in filter(None, map(_number, named - {_OVER})):
            _kill(pid)
        if time.monotonic() >= ends:
            return
        time.sleep(0.2)


if __name__ == "__main__":
    main()
