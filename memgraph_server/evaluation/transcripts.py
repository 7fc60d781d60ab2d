"""Evaluation files in one frozen shape: conversations, and questions whose evidence is known.

Four formats are read, told apart by their keys: LoCoMo (`locomo.py`), LongMemEval (`longmemeval.py`), RealMem
(`realmem.py`) and this project's own (`own_format.py`). Rules that hold for all of them:
- turns come in order of time, a conversation's sessions are kept apart, ids are unique within a conversation;
- a question sees only the first `sees` turns of its conversation, so nothing from its future is ever searched;
- a question whose evidence is not in those turns is left out: nobody could find it;
- evidence is a set of turns, all of which are needed, or, where a data set names sessions only, a set of sessions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from memgraph_server.errors import InvalidInput
from memgraph_server.memory.interval import Instant
from memgraph_server.memory.turns import Turn


@dataclass(frozen=True, slots=True)
class Probe:
    """A question with known evidence. `asked_at`: its reference time. `sees`: how many leading turns it may use.

    `evidence_turns`: all are needed; empty where the data set names sessions only (then `evidence_sessions` count).
    `answerable` False: nothing in the conversation answers it; such questions measure abstention only.
    `answer`: the gold answer, or what a good one has; "" where the data set has none.
    """

    id: str
    text: str
    category: str
    asked_at: Instant
    sees: int
    evidence_turns: frozenset[str] = frozenset()
    evidence_sessions: frozenset[str] = frozenset()
    answerable: bool = True
    speaker: str | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    turns: tuple[Turn, ...]
    probes: tuple[Probe, ...]

    def __post_init__(self) -> None:
        ids = [turn.id for turn in self.turns]
        if len(ids) != len(set(ids)):
            raise InvalidInput(f"conversation {self.id!r} has the same turn id twice", field="turns")

    def session_order(self) -> tuple[str, ...]:
        """Session ids by their first turn."""
        return tuple(dict.fromkeys(turn.session_id for turn in self.turns))

    def content_hash(self) -> str:
        """Of everything that is ingested; two conversations with the same hash make the same memory."""
        digest = hashlib.sha256()
        for turn in self.turns:
            digest.update(repr(turn).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()[:16]

    def steps(self) -> Iterator[tuple[tuple[Turn, ...], tuple[Probe, ...]]]:
        """What to ingest next, and what to ask before anything later is ingested."""
        done = 0
        for sees, group in groupby(sorted(self.probes, key=lambda probe: probe.sees), key=lambda probe: probe.sees):
            yield self.turns[done:sees], tuple(group)
            done = sees
        if done < len(self.turns):
            yield self.turns[done:], ()


def read_conversations(path: Path) -> list[Conversation]:
    """All conversations of an evaluation file, or of a folder's `*.json`; InvalidInput says what is wrong with it."""
    # Here, since they build on this module.
    from memgraph_server.evaluation import locomo, longmemeval, own_format, realmem

    if path.is_dir():
        files = sorted(path.glob("*.json"))
        if not files:
            raise InvalidInput(f"{path} holds no *.json", field="path")
        return [found for file in files for found in read_conversations(file)]
    document = load(path)
    for reader in (locomo, longmemeval, realmem, own_format):
        if reader.recognizes(document):
            return _nonempty(reader.conversations(document), path)
    raise InvalidInput(
        f"{path.name}: neither LoCoMo, LongMemEval, RealMem, nor {{'conversations': [...]}} "
        "(see docs/evaluation-format.md)",
        field="path",
    )


def sampled(conversations: Sequence[Conversation], count: int | None, seed: int) -> list[Conversation]:
    """The conversations that a sample of the questions is put to, with these questions only, in their order."""
    places = [(c, p) for c, conversation in enumerate(conversations) for p in range(len(conversation.probes))]
    if count is not None and count < len(places):
        drawn = np.random.default_rng(seed).choice(len(places), size=count, replace=False)
        places = [places[place] for place in sorted(drawn)]
    chosen = set(places)
    kept = [
        replace(each, probes=tuple(probe for p, probe in enumerate(each.probes) if (c, p) in chosen))
        for c, each in enumerate(conversations)
    ]
    return [conversation for conversation in kept if conversation.probes]


def load(path: Path) -> Any:
    """A file's JSON; InvalidInput says what is wrong with it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}", field="path") from error
    except (ValueError, RecursionError) as error:  # bad UTF-8, bad JSON, and JSON nested too deeply
        raise InvalidInput(f"{path.name} is not JSON: {error}", field="path") from error


def _nonempty(found: Sequence[Conversation], path: Path) -> list[Conversation]:
    if not any(conversation.probes for conversation in found):
        raise InvalidInput(f"{path.name} has no question whose evidence exists", field="path")
    return list(found)


def required(record: Mapping[str, Any], key: str, where: str) -> Any:
    """The value, or an error that names the place in the file."""
    try:
        return record[key]
    except (KeyError, TypeError):
        raise InvalidInput(f"{where}: {key!r} is missing", field=key) from None


def slug(name: str) -> str:
    """A category's name as a JSON key: "Dynamic Updating" → "dynamic_updating"."""
    return "_".join("".join(c if c.isalnum() else " " for c in name.lower()).split()) or "uncategorized"
