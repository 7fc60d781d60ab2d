"""Which way a date without direction points ("on Friday", "in June"): read from the nearest verb of its sentence.

Only used for dates that leave it open: a stated year, "last", "next" or "ago" is never overruled by a word near it.
One pass over the text; every look-up is a bisection.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["past", "future"]

_CLUES = re.compile(
    r"(?P<stop>[.!?;\n])|\b(?:(?P<future>will|'ll|wo|gonna|going\sto|plan|plans|planning|planned\sto|hope|hoping|"
    r"want\sto|wanna|upcoming|coming|ca|scheduled|due|deadline|let|should|need|needs|must|looking\sforward|"
    r"see\syou|like\sto|how\sabout|'ve\sgot|(?:have|has)\s(?:an?|my|the|our)|what\sabout|shall|fly|leaving|arriving|returning|starts|begins|ends|opens|(?:i'm|we're|they're|he's|she's)\s(?:not\s)?[a-z]{1,12}ing|tomorrow|next|can|could|would|excited|ready\sfor|prepare|preparing)|"
    r"(?P<past>was|were|did|had|went|got|saw|met|took|made|came|bought|ran|began|won|lost|gave|told|said|left|found|"
    r"been|became|felt|spent|read|wrote|kept|held|paid|sold|built|drove|flew|ate|sang|taught|thought|brought|caught|"
    r"broke|chose|fell|grew|heard|knew|led|put|sent|sat|stood|swam|threw|wore|hung|last|yesterday|ago|"
    r"(?:i|we|he|she|they|you|who|and|it)\s(?:[a-z]{2,10}ly\s|just\s|also\s|even\s|then\s)?[a-z]{2,20}ed))\b"
)


class Tenses:
    """The direction of any place of one folded text."""

    def __init__(self, folded_text: str) -> None:
        self._places: list[int] = []
        self._clues: list[str] = []
        for match in _CLUES.finditer(folded_text):
            self._places.append(match.start())
            self._clues.append(str(match.lastgroup))

    def at(self, start: int, stop: int) -> Direction | None:
        """The nearest clue before the place within its sentence, else the nearest after it."""
        before = bisect_left(self._places, start) - 1
        after = bisect_left(self._places, stop)
        for place in (before, after):
            if 0 <= place < len(self._clues) and self._clues[place] != "stop":
                return "past" if self._clues[place] == "past" else "future"
        return None
