"""Text to lexical terms, for BM25 and for matching names, in every script. Pure; the same text gives the same terms.

Terms are for search, not for identity: what people write in two ways becomes one term, and what differs only by
mistake of a rule here still has its whole form beside its parts. The rules, in order:

1. NFKC, case folded; invisible format characters removed (a zero-width space separates); decimal digits of any script
   become ASCII digits, and a thousands comma leaves its number.
2. Accents fold for Latin script ("café" is found by "cafe"), Greek tonos and Cyrillic ё; Arabic loses tatweel and
   vowel marks and its alef, yeh, kaf and teh marbuta forms become one; Hebrew loses its points.
3. A term is a run of letters, digits and combining marks. Runs joined by one of `-._@:/?&=#%+~` or by `://` (SR-052,
   snake_case, 3.5, an address) give the whole first, where it looks like an identifier, then their parts.
4. Scripts without spaces: Han gives each character and each overlapping pair; Hiragana, Katakana and Hangul give pairs
   within a run of one script, a run of one character gives that; Thai, Lao, Khmer and Burmese give pairs of clusters
   (a letter with its marks).
5. English: possessive 's and the clitics 'm 're 've 'll 'd are removed; "n't" becomes "not" after its verb ("won't":
   will, not); words of a-z are stemmed lightly (`stem`). Other apostrophes separate (O'Neil: o, neil).
6. An emoji is a term, without its skin tone; a flag is one term. C++ and C# are terms.

Because no rule looks across white space, terms(a + " " + b) == terms(a) + terms(b) for any two texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from memgraph_server.memory.english import STOPWORDS, stem

__all__ = ["LONGEST", "STOPWORDS", "content_terms", "stem", "terms"]

#: Longest term in characters; a longer run (base64, a hash of hashes) is cut into pieces of this length.
LONGEST = 64

_SEPARATE = 0x200B  # zero-width space: a word boundary in scripts without spaces
_COMBINING_LATIN = re.compile(r"([a-z])[\u0300-\u036f]+")
_BEFORE_NFKC = {0x2122: None, 0x2120: None, 0xAD: None}  # ™ and ℠ would become letters of the word before
_EXTRA_FOLDS = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ё": "е",
    "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ئ": "ي", "ؤ": "و", "ک": "ك", "ة": "ه", "ـ": "",
    "’": "'", "ʼ": "'", "‘": "'", "＇": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-",
}  # fmt: skip
_LATIN_AND_GREEK = (*range(0xC0, 0x250), *range(0x1E00, 0x1F00), *range(0x386, 0x3CF), *range(0x1F00, 0x2000))
_POINTS = (*range(0x591, 0x5C8), *range(0x610, 0x61B), *range(0x64B, 0x660), 0x670, *range(0x6D6, 0x6EE))


def _fold_table() -> dict[int, str]:
    """What `str.translate` needs for rules 1 and 2; characters of other scripts are left out, so left alone."""
    table = {ord(source): target for source, target in _EXTRA_FOLDS.items()}
    for code in _LATIN_AND_GREEK:
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base != chr(code):
            table.setdefault(code, base)
    table.update((code, "") for code in _POINTS if unicodedata.category(chr(code)) == "Mn")
    for code in range(0x80, 0x20000):
        category = unicodedata.category(chr(code))
        if category == "Nd":
            table[code] = str(unicodedata.decimal(chr(code)))
        elif category == "Cf" or 0xFE00 <= code <= 0xFE0F:
            table[code] = " " if code == _SEPARATE else ""
    table.update((code, "") for code in (*range(0x1F3FB, 0x1F400), *range(0xE0000, 0xE01F0)))
    return table


def _mark_class() -> str:
    """The inside of a character class that matches combining marks, which `\\w` does not."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x20000):
        if unicodedata.category(chr(code)) in {"Mn", "Mc"}:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_FOLDS = _fold_table()
_MARKS = _mark_class()
_JOINT = r"(?:://|_+|[-.@:/?&=#%+~])"
_EMOJI = "[\U0001f1e6-\U0001f1ff]{2}|[\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"


def _token_pattern(run: str) -> re.Pattern[str]:
    """Group 1: a run followed by an apostrophe and letters; 2: runs with joints; 3: an emoji. Never backtracks: a run
    gives nothing back, and what follows the joints may be empty. (Possessive groups would say so, but Python 3.11.2,
    which Debian 12 has, forgets where it was when one of them fails.)"""
    return re.compile(rf"({run}(?:'{run})+)|({run}(?:{_JOINT}{run})*(?:\+\+|#)?)|({_EMOJI})")


_ASCII_TOKEN = _token_pattern("[a-z0-9]++")
_ANY_TOKEN = _token_pattern(rf"[^\W_](?:[^\W_]++|[{_MARKS}]++)*+")
_ASCII_PART = re.compile("[a-z0-9]+")
_ANY_PART = re.compile(rf"[^\W_](?:[^\W_]++|[{_MARKS}]++)*+")
_THOUSANDS = re.compile(r"(?<![0-9,.])([0-9]{1,3})((?:,[0-9]{3})+)(?![0-9,])")
_IDENTIFIER = re.compile(r"[0-9_.@]|://")
_NAME_WITH_SIGN = re.compile(r"[a-z](?:\+\+|#)")

_SOUTH_EAST = "\u0e00-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f"
_SCRIPT_RUN = re.compile(
    "([\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
    "|([\u3041-\u309f]+|[\u30a0-\u30ff\u31f0-\u31ff]+|[\uac00-\ud7af\u1100-\u11ff\u3131-\u318e]+)"
    f"|([{_SOUTH_EAST}]+)"
    f"|([^\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3041-\u30ff\u31f0-\u31ff"
    f"\uac00-\ud7af\u1100-\u11ff\u3131-\u318e{_SOUTH_EAST}]+)"
)
_CLUSTER = re.compile(rf".[{_MARKS}]{{0,7}}")  # bounded, so that a pair stays short


def terms(text: str) -> list[str]:
    """Lexical terms of any text, in order. Linear in its length: 1 MB takes well under a second."""
    found: list[str] = []
    folded = _fold(text)
    pattern = _ASCII_TOKEN if folded.isascii() else _ANY_TOKEN
    for match in pattern.finditer(folded):
        clitic, joined, emoji = match.groups()
        if joined:
            found.extend(_known(joined) if len(joined) <= LONGEST else _joined(joined))
        elif clitic:
            found.extend(_apostrophes(clitic))
        else:
            found.append(emoji)
    return found


def content_terms(text: str) -> list[str]:
    """`terms` without STOPWORDS."""
    return [term for term in terms(text) if term not in STOPWORDS]


def _fold(text: str) -> str:
    """Rules 1 and 2. Twice NFKC, since case folding may undo what it composed."""
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFKC", text.translate(_BEFORE_NFKC)).casefold()
        folded = unicodedata.normalize("NFKC", folded).translate(_FOLDS)
        folded = _COMBINING_LATIN.sub(r"\1", folded)
    if "," in folded:
        folded = _THOUSANDS.sub(lambda match: match[1] + match[2].replace(",", ""), folded)
    return folded


@lru_cache(maxsize=65536)
def _known(token: str) -> tuple[str, ...]:
    return tuple(_joined(token))


def _joined(token: str) -> Iterator[str]:
    """A run, or runs with joints between: the whole where it looks like an identifier, then the parts."""
    if token.isalnum():
        yield from _run(token)
        return
    if _NAME_WITH_SIGN.fullmatch(token):
        yield token
        return
    parts = (_ASCII_PART if token.isascii() else _ANY_PART).findall(token)
    if len(parts) > 1 and len(token) <= LONGEST and _IDENTIFIER.search(token):
        yield token.rstrip("+#")
    for part in parts:
        yield from _run(part)


def _run(run: str) -> Iterator[str]:
    """One run of letters, digits and marks."""
    if run.isascii():
        yield from _pieces(stem(run) if run.isalpha() else run)
        return
    for match in _SCRIPT_RUN.finditer(run):
        han, syllables, clusters, word = match.groups()
        if han:
            yield from _han(han)
        elif word:
            yield from _pieces(stem(word) if word.isascii() and word.isalpha() else word)
        else:
            yield from _pairs(syllables or _CLUSTER.findall(clusters))


def _pieces(word: str) -> Iterator[str]:
    if len(word) <= LONGEST:
        yield word
    else:
        yield from (word[start : start + LONGEST] for start in range(0, len(word), LONGEST))


def _pairs(units: str | list[str]) -> Iterator[str]:
    if len(units) == 1:
        yield units[0]
    for first, second in pairwise(units):
        yield first + second


def _han(run: str) -> Iterator[str]:
    """Characters and pairs: many words are one character long, and a pair alone would hide them."""
    for index, character in enumerate(run):
        yield character
        if index + 1 < len(run):
            yield run[index : index + 2]


# -- English ---------------------------------------------------------------------------------------------------------

_SILENT = frozenset({"s", "m", "re", "ve", "ll", "d"})
_NEGATED = {"can": "can", "won": "will", "shan": "shall", "ain": "be"}


def _apostrophes(token: str) -> Iterator[str]:
    """Runs with apostrophes between them (rule 5)."""
    words = token.split("'")
    last = words[-1]
    if last == "t" and words[-2].endswith("n"):
        verb = _NEGATED.get(words[-2], words[-2][:-1])
        words = [*words[:-2], verb, "not"]
    elif last in _SILENT and len(words) > 1:
        words.pop()
    for word in words:
        if word:
            yield from _run(word)
