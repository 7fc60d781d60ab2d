"""Porter's stemmer (M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980), with the departures of NLTK,
since LoCoMo's published scores were counted over its stems: a few irregular words, words of two letters as they are,
"ies" and "ied" of short words, and `y` that becomes `i` after a consonant only. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

Condition = Callable[[str], bool]
#: (suffix, what takes its place, what the rest of the word has to be). The first suffix that fits decides.
Rule = tuple[str, str, Condition | None]

_IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning",
    "canning": "canning", "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _applied(_plural(word), _Y)
    word = _applied(_applied(_double(word), _STEP_3), _STEP_4)
    return _applied(_without_e(word), _LL)


# -- what a word is made of


def _consonant(word: str, place: int) -> bool:
    if word[place] == "y":
        return place == 0 or not _consonant(word, place - 1)
    return word[place] not in "aeiou"


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    kinds = [_consonant(word, place) for place in range(len(word))]
    return sum(not before and after for before, after in pairwise(kinds))


def _some(word: str) -> bool:
    return _measure(word) > 0


def _more(word: str) -> bool:
    return _measure(word) > 1


def _vowel(word: str) -> bool:
    return any(not _consonant(word, place) for place in range(len(word)))


def _doubled(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _consonant(word, len(word) - 1)


def _short(word: str) -> bool:
    """Ends with consonant, vowel, consonant (no w, x, y); or is vowel, consonant."""
    kinds = [_consonant(word, place) for place in range(len(word))]
    return (kinds[-3:] == [True, False, True] and word[-1] not in "wxy") or kinds == [False, True]


def _applied(word: str, rules: Sequence[Rule]) -> str:
    for suffix, instead, condition in rules:
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return rest + instead if condition is None or condition(rest) else word
    return word


# -- the steps


def _plural(word: str) -> str:
    """Plurals, then -ed and -ing."""
    word = word[:-1] if word.endswith("ies") and len(word) == 4 else _applied(word, _STEP_1A)
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return _applied(word, [("eed", "ee", _some)])
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and _vowel(rest):
            return _completed(rest)
    return word


def _completed(rest: str) -> str:
    """What -ed or -ing stood behind, as a word."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short(rest) else rest


def _double(word: str) -> str:
    """Double suffixes to single ones."""
    if word.endswith("alli") and _some(word[:-4]):
        return _double(word[:-4] + "al")
    if word.endswith("logi"):
        return word[:-1] if _some(word[:-3]) else word
    return _applied(word, _STEP_2)


def _without_e(word: str) -> str:
    rest = word.removesuffix("e")
    if rest != word and (_more(rest) or (_some(rest) and not _short(rest))):
        return rest
    return word


def _each(pairs: str, condition: Condition) -> list[Rule]:
    """Rules out of "suffix:instead …"."""
    return [(suffix, instead, condition) for suffix, instead in (pair.split(":") for pair in pairs.split())]


def _after_s_or_t(rest: str) -> bool:
    return _more(rest) and rest[-1] in "st"


_STEP_1A: list[Rule] = [("sses", "ss", None), ("ies", "i", None), ("ss", "ss", None), ("s", "", None)]
_Y: list[Rule] = [("y", "i", lambda rest: len(rest) > 1 and _consonant(rest, len(rest) - 1))]
_STEP_2 = _each(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize "
    "ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful",
    _some,
)
_STEP_3 = _each("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:", _some)
_STEP_4: list[Rule] = [
    *_each("al: ance: ence: er: ic: able: ible: ant: ement: ment: ent:", _more),
    ("ion", "", _after_s_or_t),
    *_each("ou: ism: ate: iti: ous: ive: ize:", _more),
]
_LL: list[Rule] = [("ll", "l", lambda rest: _measure(rest + "l") > 1)]
