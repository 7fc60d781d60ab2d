"""JSON out of whatever a model wrote around and into it. Pure; never raises for odd text.

Rules, each for a habit of some model:
- what a model thinks aloud (`<think>…</think>`) is left out; text before and after a value is passed over;
- what is JSON is read as JSON; what is not is read by a tolerant scanner: raw line breaks and unescaped quotes inside
  strings, single quotes, trailing and missing commas, `True`, `None`;
- a text that ends too early keeps what was complete: of a list, the items before the last;
- an item of a list that cannot be read is left out, and the list goes on at the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: Characters of a reply that are looked at, values tried to be read, and the deepest nesting.
LONGEST = 400_000
MOST_TRIES = 60
DEEPEST = 40

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_BARE = re.compile(r"[^\s,:{}\[\]\"']+")
_NEXT_MEMBER = re.compile(r"\"\w{1,40}\"\s*:")
_SPACE = re.compile(r"\s*")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_STRICT = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a text; `cut`: the text ended within it; `dropped`: items of lists that could not be read."""

    value: Any
    cut: bool = False
    dropped: int = 0


def values(text: str) -> Iterator[Found]:
    """The JSON objects and arrays in the text, in order, none within another."""
    text = _THOUGHT.sub(" ", text[:LONGEST])
    at, tries = 0, 0
    while tries < MOST_TRIES and (opening := _opening(text, at)) is not None:
        tries += 1
        found, at = _read(text, opening)
        if found is not None:
            yield found


def _opening(text: str, at: int) -> int | None:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=None)


def _read(text: str, at: int) -> tuple[Found | None, int]:
    """The value that begins here, and where to go on."""
    try:
        value, end = _STRICT.raw_decode(text, at)
        return Found(value), end
    except (ValueError, RecursionError):
        scanner = _Scanner(text, at)
    try:
        value = scanner.value(0)
    except _Malformed:
        return None, at + 1
    return Found(value, scanner.cut, scanner.dropped), scanner.at


class _Malformed(Exception):
    pass


class _Scanner:
    """One pass over the text, from an opening bracket."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.cut, self.dropped = False, 0

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise _Malformed
        match self._next():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"' | "'":
                return self._string()
            case "":
                self.cut = True
                return None
        return self._word()

    def _next(self) -> str:
        """The next character that is no white space, not consumed; "" at the end."""
        self.at = _end_of_space(self.text, self.at)
        return self.text[self.at : self.at + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while not self.cut:
            character = self._next()
            if character == ",":
                self.at += 1
            elif character == "}":
                self.at += 1
                break
            elif character == "":
                self.cut = True
            else:
                self._member(found, depth)
        return found

    def _member(self, found: dict[str, Any], depth: int) -> None:
        key = self._string() if self._next() in {'"', "'"} else self._bare()
        if self._next() == "":
            self.cut = True
            return
        if self._next() != ":":
            raise _Malformed
        self.at += 1
        value = self.value(depth + 1)
        if not self.cut or isinstance(value, dict | list):  # a scalar that the text's end cut may say something else
            found[key] = value

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while not self.cut:
            character = self._next()
            if character == ",":
                self.at += 1
            elif character == "]":
                self.at += 1
                break
            elif character == "":
                self.cut = True
            else:
                self._item(found, depth)
        return found

    def _item(self, found: list[Any], depth: int) -> None:
        began = self.at
        try:
            item = self.value(depth + 1)
        except _Malformed:
            if self.text[began] != "{" or depth > DEEPEST - 2:
                raise  # a list of something else, or no list at all: "the [first] one"
            self.dropped += 1
            following = self.text.find("{", max(self.at, began + 1))
            self.at, self.cut = (following, False) if following >= 0 else (len(self.text), True)
            return
        if self.cut:
            self.dropped += 1
        else:
            found.append(item)

    def _word(self) -> Any:
        word = self._bare()
        if word.lower() in _WORDS:
            return _WORDS[word.lower()]
        try:
            return float(word) if any(each in word for each in ".eE") else int(word[:30])
        except ValueError:
            raise _Malformed from None

    def _bare(self) -> str:
        match = _BARE.match(self.text, self.at)
        if match is None:
            raise _Malformed
        self.at = match.end()
        self.cut = self.at >= len(self.text)
        return match[0]

    def _string(self) -> str:
        quote = self.text[self.at]
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "\\":
                parts.append(self._escaped())
            elif character == quote and self._closes():
                self.at += 1
                return _joined(parts)
            else:
                parts.append(character)
                self.at += 1
        self.cut = True
        return _joined(parts)

    def _closes(self) -> bool:
        """Whether the quote here ends its string: what follows is structure, not more of a sentence."""
        after = _end_of_space(self.text, self.at + 1)
        following = self.text[after : after + 1]
        if following == ",":
            beyond = self.text[_end_of_space(self.text, after + 1) :][:1]
            return beyond == "" or beyond in "\"'{[}]" or beyond.isdigit()
        if following == "" or following in ":}]" or "\n" in self.text[self.at : after]:
            return True
        return _NEXT_MEMBER.match(self.text, after) is not None

    def _escaped(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter == "u":
            digits = self.text[self.at + 2 : self.at + 6]
            self.at += 6
            try:
                return chr(int(digits, 16))
            except ValueError:
                return "\ufffd"
        self.at += 2
        return _ESCAPES.get(letter, letter)


def _joined(parts: list[str]) -> str:
    """Pairs of escaped surrogates as the characters that they are; half a pair is none."""
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _end_of_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match is not None else at
