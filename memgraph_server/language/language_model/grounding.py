"""Whether what a model says was said: where a quote stands in a text, and whether a name occurs in one. Pure.

A quote counts where it stands in the text word for word; case, white space and punctuation may differ, and up to half
of its words, at its ends: models leave out "well,", add the subject, write "gonna" out. A name or value counts as said
where it shares a content term with the text: a model may shorten, but a value that shares nothing with what was said
(a translation, an invention, "true") is not one. Codes and numbers in it must be said as they are: SR-053 is not
SR-052.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from memgraph_server.memory.terms import content_terms, terms

Span: TypeAlias = tuple[int, int]

#: Of a quote's words: the share that must stand together in the text, and how many at least.
_ENOUGH, _LEAST = 0.5, 3
#: Words of a quote that are compared.
_LONGEST = 80
#: A word, or one character of a script without spaces.
_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_WITH_DIGIT = re.compile(r"(?:[a-z0-9]+[-.:/])*[a-z]*[0-9][a-z0-9]*(?:[-.:/][a-z0-9]+)*")
_SPELLED = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ENDS = re.compile(r"[.!?。！？\n]+")


def span_of(quote: str, text: str) -> Span | None:
    """The characters of the text that the quote stands for."""
    quote = quote.strip(" \t\n\"'“”.…")
    if not quote:
        return None
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote)
    return _by_words(_words(quote)[:_LONGEST], text)


def _words(text: str) -> list[tuple[str, Span]]:
    return [(match[0].casefold(), match.span()) for match in _WORD.finditer(text)]


def _by_words(quote: Sequence[tuple[str, Span]], text: str) -> Span | None:
    wanted, words = [word for word, _ in quote], _words(text)
    if not wanted:
        return None
    matcher = SequenceMatcher(None, wanted, [word for word, _ in words], autojunk=False)
    block = matcher.find_longest_match()
    if block.size < len(wanted) and (block.size < _LEAST or block.size < _ENOUGH * len(wanted)):
        return None
    if block.size == 0:
        return None
    return words[block.b][1][0], words[block.b + block.size - 1][1][1]


def is_said(phrase: str, *texts: str) -> bool:
    """Whether a name or value occurs in one of the texts, in whole or by a content term of it."""
    phrase = phrase.strip()
    if not phrase:
        return False
    folded = phrase.casefold()
    if not all(_number_is_said(code, texts) for code in _WITH_DIGIT.findall(folded)):
        return False
    wanted = set(content_terms(phrase)) or set(terms(phrase))
    return any(folded in text.casefold() or bool(wanted & set(terms(text))) for text in texts)


def _number_is_said(code: str, texts: Sequence[str]) -> bool:
    """In digits, or, up to twelve, in English words."""
    small = code.isdigit() and len(code) < 3 and int(code) < len(_SPELLED)
    either = "|".join(map(re.escape, (code, _SPELLED[int(code)]) if small else (code,)))
    said = re.compile(rf"(?<![a-z0-9])(?:{either})(?![a-z0-9])")
    return any(said.search(text.casefold()) for text in texts)


def sentence_of(text: str, span: Span) -> Span:
    """The sentence, or sentences, that the span is part of, with the mark at the end."""
    start = max((match.end() for match in _ENDS.finditer(text, 0, span[0])), default=0)
    after = _ENDS.search(text, span[1])
    return start, after.end() if after is not None else len(text)
