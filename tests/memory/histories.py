"""Random histories of one key, cheap enough for a million: few instants and few tails, so that everything collides.

A seed makes a history; tests print it on failure, and `history(seed)` makes it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from memgraph_server.memory.belief import as_endings
from memgraph_server.memory.facts import Assertion, Intent, Polarity

HEAD = "ann"
RELATION = "lives_in"
TAILS = ("paris", "boston", "rome")
INSTANTS = 8
CONFIDENCES = (1.0, 0.95, 0.9, 0.8, 0.79, 0.6, 0.3, 0.0)
TURNS = ("t1", "t2", None, None)
INTENTS = (Intent.FACT, Intent.FACT, Intent.TEMPORAL)


@dataclass(frozen=True)
class History:
    """Assertions as they arrive, and the steps: (assertion, applied or withdrawn)."""

    single: bool
    assertions: tuple[Assertion, ...]
    steps: tuple[tuple[Assertion, bool], ...]


def history(seed: int, size: int = 6) -> History:
    random = Random(seed)
    single = random.random() < 0.6
    number = 1 + int(random.random() * size)
    tails = TAILS[: 1 + int(random.random() * 3)]
    assertions = tuple(_assertion(random, f"a{position}", tails) for position in range(number))
    steps: list[tuple[Assertion, bool]] = []
    present: list[Assertion] = []
    for assertion in assertions:
        steps.append((assertion, True))
        present.append(assertion)
        if random.random() < 0.2:
            steps.append((present.pop(int(random.random() * len(present))), False))
    return History(single, assertions, tuple(steps))


def _assertion(random: Random, known_by: str, tails: tuple[str, ...]) -> Assertion:
    draw = random.random
    start, said = int(draw() * INSTANTS), int(draw() * INSTANTS)
    kind = draw()
    claim = kind < 0.7
    bounded = claim and draw() < 0.3
    return _of_antonym(
        kind >= 0.94,
        Assertion(
            known_by,
            HEAD,
            RELATION,
            None if 0.9 < kind < 0.94 else tails[int(draw() * len(tails))],
            valid_from=start,
            evidence_at=said,
            recorded_at=0,
            valid_to=start + 1 + int(draw() * 4) if bounded else None,
            confidence=CONFIDENCES[int(draw() * len(CONFIDENCES))],
            intent=INTENTS[int(draw() * len(INTENTS))],
            polarity=Polarity.CLAIM if claim or kind >= 0.94 else Polarity.ENDING,
            ongoing=draw() < 0.5,
            turn_id=TURNS[int(draw() * len(TURNS))],
        ),
    )


def _of_antonym(it_is: bool, assertion: Assertion) -> Assertion:
    return as_endings([assertion], RELATION)[0] if it_is else assertion
