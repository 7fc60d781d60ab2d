"""`ModelExtractor`: facts read by a language model; `disposing.py` decides what is believed of them.

    turns ── groups of one call each, side by side ──> replies ──> disposed
                │ no usable reply for a group: each of its turns alone; for one turn: without what was before it
                └ still none, or no endpoint: the turn stays pending, or the local extractor reads it, as configured

One turn a call is the default: then nothing that one turn says can sway how another is read. A model and prompt are
named in every assertion's source, `llm:MODEL/extract-1`; what another reader had to do has that reader's source.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from memgraph_server.errors import ModelUnavailable, UnusableReply
from memgraph_server.language import prompts
from memgraph_server.language.language_model.disposing import dispose
from memgraph_server.language.language_model.forms import FactsForm
from memgraph_server.language.language_model.material import Readable, groups, material, readable
from memgraph_server.language.language_model.spending import Spending
from memgraph_server.language.port import (
    Extraction,
    Extractor,
    LanguageModel,
    ModelRole,
    Structured,
    Trouble,
    TurnInContext,
    Usage,
)
from memgraph_server.memory.proposals import Proposal
from memgraph_server.memory.relations import Registry

log = logging.getLogger(__name__)

#: Tokens of a reply: for its frame, and for each turn. A runaway ends there.
_FRAME, _A_TURN = 300, 500


class ModelExtractor:
    """Thread-safe. `otherwise` reads a turn that the model cannot; None: the error goes to the worker, and the turn
    stays pending (no endpoint) or is tried again and then dead (no usable reply)."""

    def __init__(
        self,
        model: LanguageModel,
        registry: Registry,
        *,
        otherwise: Callable[[], Extractor] | None = None,
        turns_a_call: int = 1,
        at_once: int = 4,
        spending: Spending | None = None,
    ) -> None:
        self._model, self._registry, self._otherwise = model, registry, otherwise
        self._turns_a_call, self._at_once = turns_a_call, at_once
        self._spending = spending or Spending()

    @property
    def name(self) -> str:
        return f"llm:{self._model.model(ModelRole.EXTRACT)}/{prompts.EXTRACT}"

    def extract(self, turns: Sequence[TurnInContext]) -> list[Extraction]:
        """One extraction a turn, in order. Raises ModelUnavailable and UnusableReply where nobody else reads."""
        read = {place: one for place, context in enumerate(turns) if (one := readable(context)) is not None}
        called = list(groups(list(read.values()), self._turns_a_call))
        self._spending.asked_about("turn", len(read))
        if len(called) > 1 and self._at_once > 1:
            with ThreadPoolExecutor(min(self._at_once, len(called)), "language-model") as pool:
                results = list(pool.map(self._group, called))
        else:
            results = [self._group(group) for group in called]
        extractions = iter([extraction for result in results for extraction in result])
        return [next(extractions) if place in read else Extraction(()) for place in range(len(turns))]

    def _group(self, group: Sequence[Readable]) -> list[Extraction]:
        try:
            reply = self._asked(group)
        except ModelUnavailable as error:
            return self._by_another(group, error.code, Usage(), error)
        if reply.value is not None:
            return self._disposed(group, reply)
        if len(group) > 1:
            alone = [self._group([one])[0] for one in group]
            shares = reply.usage.shared(len(group))
            return [replace(one, usage=one.usage + share) for one, share in zip(alone, shares, strict=True)]
        unusable = UnusableReply(f"the language model gave nothing usable for this turn: {reply.trouble}")
        return self._by_another(group, reply.trouble.value, reply.usage, unusable)

    def _asked(self, group: Sequence[Readable]) -> Structured[FactsForm]:
        reply = self._call(group, with_context=True)
        if reply.trouble is Trouble.TOO_LONG and len(group) == 1:
            shorter = self._call(group, with_context=False)
            return replace(shorter, usage=shorter.usage + reply.usage)
        return reply

    def _call(self, group: Sequence[Readable], *, with_context: bool) -> Structured[FactsForm]:
        messages = prompts.prompt(prompts.EXTRACT).about(material(group, with_context=with_context))
        limit = _FRAME + _A_TURN * len(group)
        return self._model.structured(ModelRole.EXTRACT, messages, FactsForm, limit)

    def _disposed(self, group: Sequence[Readable], reply: Structured[FactsForm]) -> list[Extraction]:
        facts = reply.value.facts if reply.value is not None else []
        disposed = dispose(group, facts, self._registry, self.name)
        dropped = reply.dropped + sum(one.dropped for one in disposed)
        if dropped or reply.cut:
            log.info("extraction: %d of %d proposed facts dropped%s", dropped, len(facts) + reply.dropped,
                     ", reply cut" if reply.cut else "")  # fmt: skip
        shares = reply.usage.shared(len(group))
        return [
            Extraction(one.proposals, _mentions(one.proposals), usage)
            for one, usage in zip(disposed, shares, strict=True)
        ]

    def _by_another(
        self, group: Sequence[Readable], trouble: str, usage: Usage, error: ModelUnavailable | UnusableReply
    ) -> list[Extraction]:
        if self._otherwise is None:
            raise error
        self._spending.fell_back(ModelRole.EXTRACT, len(group))
        read = self._otherwise().extract([one.context for one in group])
        shares = usage.shared(len(group))
        return [replace(one, usage=share, trouble=trouble) for one, share in zip(read, shares, strict=True)]


def _mentions(proposals: Sequence[Proposal]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((one.head, one.head_type) for one in proposals))
