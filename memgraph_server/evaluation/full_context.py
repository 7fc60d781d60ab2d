"""The full-context baseline: the same model, prompt and checks, but the conversation itself in place of a memory.

Every turn that was said before the question, in order; where they are more than the model reads, the most recent ones
that fit, whole. Whether they fit is estimated at three characters a token, and an endpoint that refuses the prompt for
its length is asked again with half of it: what was really shown is reported with each answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memgraph_server.actions.answer import Answer, begin_from, whole
from memgraph_server.evaluation.transcripts import Probe
from memgraph_server.language import prompts
from memgraph_server.language.language_model.answering import MOST_TOKENS, turn_material
from memgraph_server.language.language_model.client import CompatibleModel, PromptTooLong
from memgraph_server.language.language_model.wire import CHARACTERS
from memgraph_server.memory.turns import Turn
from memgraph_server.retrieval.evidence import Evidence, EvidenceTurn, Question, four_characters_a_token

#: Tokens that the frame of the prompt takes beside its own text: marks, time, the question's name.
_FRAME = 100
#: A model that reads fewer tokens than that is none.
LEAST = 512


@dataclass(slots=True)
class FullContext:
    """`tokens`: what the model reads at most, its reply included; lowered for good where the endpoint says so."""

    model: CompatibleModel
    tokens: int

    def answer(self, turns: Sequence[Turn], probe: Probe, question: Question) -> Answer:
        """The answer from all of these turns, or the latest that fit. Raises ModelUnavailable, UnusableReply."""
        while True:
            allowed = self.tokens
            try:
                return whole(begin_from(self.model, self._evidence(turns, probe, question, allowed)))
            except PromptTooLong:
                if allowed // 2 < LEAST:
                    raise
                self.tokens = min(self.tokens, allowed // 2)

    def _evidence(self, turns: Sequence[Turn], probe: Probe, question: Question, allowed: int) -> Evidence:
        asked = prompts.prompt(prompts.ANSWER).text + probe.text
        left = (allowed - MOST_TOKENS - _FRAME) * CHARACTERS - len(asked)
        shown = latest(turns, left)
        return Evidence(
            question=replace(question, text=probe.text),
            reference_time=probe.asked_at,
            paths=(),
            facts=(),
            turns=tuple(
                EvidenceTurn(turn, four_characters_a_token(turn.full_text()), 1.0, "all", ()) for turn in shown
            ),
            answerability=1.0,
            usage={"tokens": float(sum(four_characters_a_token(turn.full_text()) for turn in shown))},
        )


def latest(turns: Sequence[Turn], characters: int) -> Sequence[Turn]:
    """The most recent turns whose material has at most so many characters together, in the order they were said."""
    return turns[len(turns) - sum(1 for _ in _fitting(turns, characters)) :]


def _fitting(turns: Sequence[Turn], characters: int) -> Iterator[Turn]:
    for turn in reversed(turns):
        characters -= len(json.dumps(turn_material(turn), ensure_ascii=False)) + len('"T1000": , ')
        if characters < 0:
            return
        yield turn
