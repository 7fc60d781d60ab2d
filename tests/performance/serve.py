"""A real `serve` process: seconds until it is ready, and its memory after a LoCoMo conversation sent over REST.

    python -m tests.performance serve --locomo FILE [--json OUT]

Bars: ready in at most 4 s; at most 600 MB resident once every turn is read and twenty questions are answered.
"Ready" is `/readyz` answering 200, measured from the start of the process; the store is new.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from memgraph_server.evaluation.transcripts import Conversation, read_conversations
from memgraph_server.memory.interval import isoformat
from memgraph_server.memory.turns import Turn
from tests.performance.figures import Figure, arguments, present

READY_SECONDS, RESIDENT_MB = 4.0, 600.0
_NAMESPACE = "speed"
_GIVE_UP_SECONDS = 600.0
_QUESTIONS = 20


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, float]]:
    """(process, address, seconds until ready) of a server of its own on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memgraph_server", "serve", "--port", str(port)]
    command += ["--store", f"sqlite:///{folder / 'serve.db'}"]
    began = time.perf_counter()
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_ready(process, address)
        yield process, address, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(process: subprocess.Popen[bytes], address: str) -> None:
    for _ in range(int(_GIVE_UP_SECONDS / 0.02)):
        if process.poll() is not None:
            raise SystemExit(f"serve ended with {process.returncode}")
        try:
            get(f"{address}/readyz")
        except httpx.HTTPError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit("serve never became ready")


def get(url: str) -> Any:
    return httpx.get(url, timeout=60).raise_for_status().json()


def post(url: str, body: Any) -> Any:
    return httpx.post(url, json=body, timeout=120).raise_for_status().json()


def send(address: str, turns: Sequence[Turn]) -> None:
    for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
        body = {"session_id": session_id, "turns": [as_json(turn) for turn in group]}
        post(f"{address}/v1/namespaces/{_NAMESPACE}/turns", body)


def as_json(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": turn.text,
        "at": isoformat(turn.at),
        "attachments": [{"caption": caption} for caption in turn.captions],
    }


def resident_mb(pid: int) -> float:
    """Resident set of the process and its children, in MB; Linux."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in [pid, *_children(pid)])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """User and system time of the process so far; Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def measure(conversation: Conversation) -> list[Figure]:
    with TemporaryDirectory(prefix="memgraph-serve-") as folder, serving(Path(folder)) as (process, address, ready):
        at_start, cpu = resident_mb(process.pid), cpu_seconds(process.pid)
        began = time.perf_counter()
        send(address, conversation.turns)
        while get(f"{address}/readyz")["pending"]:
            time.sleep(0.1)
        reading = time.perf_counter() - began
        for probe in conversation.probes[:_QUESTIONS]:
            post(f"{address}/v1/namespaces/{_NAMESPACE}/query", {"query": probe.text, "token_budget": 2048})
        return [
            Figure("ready", ready, "s", READY_SECONDS),
            Figure("processor time until ready", cpu, "s"),
            Figure("resident when ready", at_start, "MB"),
            Figure("resident after the conversation", resident_mb(process.pid), "MB", RESIDENT_MB),
            Figure("ingest over REST", len(conversation.turns) / reading, "turns/s"),
        ]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--conversation", type=int, default=0, help="which one of the file, from 0")
    options = parser.parse_args()
    conversation = read_conversations(options.locomo)[options.conversation]
    present(f"serve, {conversation.id}", measure(conversation), options.json, turns=len(conversation.turns))


if __name__ == "__main__":
    main()
