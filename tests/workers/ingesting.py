"""A conversation sent to servers that may be killed, and what must be there in the end: every turn once, each fact."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

SESSIONS = 4
BATCH = 3

Facts = Counter[tuple[Any, ...]]


def conversation(turns: int) -> list[dict[str, Any]]:
    """Turns with facts that replace, repeat, end and stand beside each other."""
    texts = [
        "I live in City{}.",
        "I like Dish{}.",
        "Bob works at Firm{}.",
        "I moved to Town{}. I like tea.",
        "Nice, {}!",
    ]
    return [
        {
            "id": f"t{number}",
            "speaker": "Ann",
            "text": texts[number % len(texts)].format(number % 17),
            "at": f"2024-{1 + number // 28 % 12:02}-{1 + number % 28:02}T12:{number % 60:02}:00Z",
        }
        for number in range(turns)
    ]


def calls(turns: list[dict[str, Any]], *, batch: int = BATCH) -> list[dict[str, Any]]:
    """In batches, by sessions in turn."""
    batches = [turns[start : start + batch] for start in range(0, len(turns), batch)]
    return [{"session_id": f"s{index % SESSIONS}", "turns": batch} for index, batch in enumerate(batches)]


@dataclass
class Sender:
    """Sends calls one after the other, to the next server where one fails, again and again until each is
    acknowledged."""

    urls: list[str]
    calls: list[dict[str, Any]]
    namespace: str = "ann"
    acknowledged: int = 0
    refusals: list[tuple[int, str | None, str]] = field(default_factory=list)  # status, Retry-After, code
    longest: float = 0.0  # seconds that a call took that was acknowledged
    allowed: int = 0  # calls that may be sent by now
    stopped: bool = False

    def run(self) -> None:
        clients = [httpx.Client(base_url=url, timeout=60, trust_env=False) for url in self.urls]
        turn = 0
        while not self.stopped and self.acknowledged < len(self.calls):
            if self.acknowledged >= self.allowed:
                time.sleep(0.001)
            elif not self._send(clients[turn % len(clients)]):
                turn += 1
        for client in clients:
            client.close()

    def _send(self, client: httpx.Client) -> bool:
        began = time.monotonic()
        try:
            answer = client.post(f"/v1/namespaces/{self.namespace}/turns", json=self.calls[self.acknowledged])
        except httpx.TransportError:  # killed meanwhile, or not there yet
            time.sleep(0.002)
            return False
        if answer.status_code == 202:
            self.acknowledged += 1
            self.longest = max(self.longest, time.monotonic() - began)
            return True
        code = answer.json().get("code", answer.text)
        self.refusals.append((answer.status_code, answer.headers.get("retry-after"), code))
        time.sleep(0.01)
        return False


def finished(client: httpx.Client, seconds: float = 120) -> None:
    """Nothing waits to be read any more. A server or a store that is away is waited for."""
    ends = time.monotonic() + seconds
    while (found := _pending(client)) != 0:
        assert time.monotonic() < ends, f"{found} turns are pending"
        time.sleep(0.02)


def _pending(client: httpx.Client) -> int | None:
    try:
        found: int | None = client.get("/readyz").json()["pending"]
    except httpx.TransportError:
        return None
    return found


def turns_of(client: httpx.Client, ids: list[str], namespace: str = "ann") -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for start in range(0, len(ids), 1000):
        answer = client.post(f"/v1/namespaces/{namespace}/turns/fetch", json={"ids": ids[start : start + 1000]})
        turns += answer.json()["turns"]
    return turns


def facts_of(client: httpx.Client, namespace: str = "ann") -> Facts:
    """What is believed, without ids and times of recording."""
    found: Facts = Counter()
    cursor: str | None = None
    while True:
        asked = {"limit": 1000} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"/v1/namespaces/{namespace}/facts", params=asked).json()
        for fact in page["facts"]:
            members = ("head", "relation", "tail", "valid_from", "valid_to", "confidence", "stratum", "intent")
            found[(*(fact[member] for member in members), tuple(fact["turns"]))] += 1
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def check_turns(client: httpx.Client, sent: list[dict[str, Any]], namespace: str = "ann") -> None:
    """Every turn is there once, as it was sent, at a place of its own, and none was given up."""
    ids = [turn["id"] for call in sent for turn in call["turns"]]
    turns = turns_of(client, ids, namespace)
    assert [turn["id"] for turn in turns] == ids
    texts = {turn["id"]: turn["text"] for call in sent for turn in call["turns"]}
    assert {turn["id"]: turn["text"] for turn in turns} == texts
    places = Counter((turn["session_id"], turn["position"]) for turn in turns)
    assert max(places.values()) == 1
    assert len(places) == len(ids)
    for session in {name for name, _ in places}:
        positions = sorted(place for name, place in places if name == session)
        assert positions == list(range(len(positions)))
    assert client.get("/readyz").json()["dead"] == 0
