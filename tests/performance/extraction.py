"""How much of a conversation the local extractor reaches, how many facts it gives, and how fast.

    python -m tests.performance.extraction --locomo FILE [--show N]

Prints, per question category, the share of evidence turns with a fact that points to them (`turn_id` set, the span
inside the turn), facts a turn, and turns a second (model loaded before the clock starts).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from memgraph_server.language.local_extractor import LocalExtractor
from memgraph_server.language.port import Extraction, TurnInContext
from memgraph_server.memory.interval import instant
from memgraph_server.memory.relations import Registry
from memgraph_server.memory.turns import Role, Turn

_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop"}


def turns_of(conversation: dict[str, Any], sample: str) -> list[TurnInContext]:
    """A LoCoMo conversation as turns with the two before each, in order; ids are `sample/D1:3`."""
    speakers = (conversation["speaker_a"], conversation["speaker_b"])
    found: list[TurnInContext] = []
    for number in range(1, 100):
        session: list[Turn] = []
        for said in conversation.get(f"session_{number}", []):
            turn = _turn(said, sample, number, conversation[f"session_{number}_date_time"], len(session))
            listener = speakers[1] if said["speaker"] == speakers[0] else speakers[0]
            found.append(TurnInContext(turn, tuple(session[-4:]), listener))
            session.append(turn)
    return found


def _turn(said: dict[str, Any], sample: str, session: int, when: str, position: int) -> Turn:
    at = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    caption = said.get("blip_caption")
    return Turn(
        id=f"{sample}/{said['dia_id']}",
        session_id=f"{sample}/{session}",
        role=Role.USER,
        speaker=said["speaker"],
        text=said["text"],
        at=instant(at),
        captions=(caption,) if caption else (),
        position=position,
    )


def points_to(extraction: Extraction, turn: Turn) -> bool:
    """Whether a fact of the extraction points to the turn, its span inside the turn's text."""
    length = max(1, len(turn.text))
    return any(
        p.turn_id == turn.id and p.tail and p.span is not None and 0 <= p.span[0] <= p.span[1] <= length
        for p in extraction.proposals
    )


def coverage(data: list[dict[str, Any]], reached: set[str], known: set[str]) -> dict[str, tuple[int, int]]:
    """For each category (reached, all) evidence turns, each turn once a category."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for sample in data:
        for question in sample["qa"]:
            category = _CATEGORIES.get(question["category"])
            ids = {
                f"{sample['sample_id']}/D{a}:{b}" for e in question.get("evidence", ()) for a, b in _EVIDENCE.findall(e)
            }
            if category:
                wanted[category] |= ids & known
                wanted["all but open_domain"] |= (ids & known) if category != "open_domain" else set()
    return {category: (len(ids & reached), len(ids)) for category, ids in wanted.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--missed", type=int, default=0, help="print so many evidence turns without a fact")
    arguments = parser.parse_args()
    data = json.loads(arguments.locomo.read_text("utf-8"))
    turns = [t for sample in data for t in turns_of(sample["conversation"], sample["sample_id"])]
    tables = yaml.safe_load(files("memgraph_server").joinpath("schema/relations.yaml").read_text("utf-8"))
    extractor = LocalExtractor(Registry.from_tables(tables))
    extractor.extract(turns[:2])
    began = time.perf_counter()
    extractions = [e for start in range(0, len(turns), 32) for e in extractor.extract(turns[start : start + 32])]
    seconds = time.perf_counter() - began
    reached = {t.turn.id for t, e in zip(turns, extractions, strict=True) if points_to(e, t.turn)}
    for category, (found, every) in sorted(coverage(data, reached, {t.turn.id for t in turns}).items()):
        print(f"{category:22} {found:5} of {every:5}  {100 * found / every:5.1f} %")
    facts = sum(len(e.proposals) for e in extractions)
    print(
        f"facts a turn           {facts / len(turns):.2f}   turns with a fact {100 * len(reached) / len(turns):.1f} %"
    )
    print(f"turns a second         {len(turns) / seconds:.1f}   ({len(turns)} turns)")
    _show_missed(data, turns, reached, arguments.missed)


def _show_missed(data: list[dict[str, Any]], turns: list[TurnInContext], reached: set[str], most: int) -> None:
    wanted = {
        f"{sample['sample_id']}/D{a}:{b}"
        for sample in data
        for question in sample["qa"]
        if question["category"] in {1, 2, 4}
        for e in question.get("evidence", ())
        for a, b in _EVIDENCE.findall(e)
    }
    for each in [t for t in turns if t.turn.id in wanted - reached][:most]:
        print(each.turn.id, each.turn.speaker, "|", each.turn.text)


if __name__ == "__main__":
    main()
