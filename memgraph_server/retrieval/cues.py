"""Words of an English question that say what it asks for, one table a decision, first match wins; and whether it is a
single question (`sought`).

A question in another language matches no word, and so reads as a certain question of fact: no filter is set by mistake.
"""

from __future__ import annotations

import re
from enum import StrEnum

from memgraph_server.memory.facts import Intent


class Kind(StrEnum):
    """The form of the answer."""

    LIST = "list"
    HOW_MANY = "how_many"
    WHEN = "when"
    WHO = "who"
    WHERE = "where"
    YES_NO = "yes_no"
    COMPARISON = "comparison"
    OPEN = "open"


def _any(*cues: str, start: bool = False) -> re.Pattern[str]:
    body = rf"\b(?:{'|'.join(cues)})\b"
    return re.compile(rf"^\W*{body}" if start else body, re.IGNORECASE)


INTENTS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    (Intent.CAUSAL, _any("why", "how come", "reasons?", "because", r"what (?:made|makes|caused|causes|led|prompted)",
                         r"what (?:motivat|inspir)\w+")),
    (Intent.CONTRAST, _any("compare[ds]?", r"differ\w*", "versus", "vs", "both", "in common", "rather than",
                           "instead of")),
    (Intent.EVOLUTION, _any("used to", r"chang\w+", "still", "any ?more", "no longer", "now", "nowadays", "currently",
                            "over time", r"evolv\w+", "bec[ao]me")),
    (Intent.TEMPORAL, _any("when", "how (?:long|often)", "how many (?:years|months|weeks|days)", "before", "after",
                           "since", "until", "(?:what|which) (?:time|date|day|month|year)", "first", "last", "latest",
                           "recently")),
)  # fmt: skip

KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.COMPARISON, _any("compare[ds]?", r"differ\w*", "versus", "vs", "both", "in common")),
    (Kind.HOW_MANY, _any("how (?:many|much)", "number of")),
    (Kind.WHEN, _any("when", start=True)),
    (Kind.WHEN, _any("when (?:did|does|do|is|was|will|has)", "how long")),
    (Kind.WHEN, _any("(?:what|which) (?:time|date|day|month|year)")),
    (Kind.WHERE, _any("where", "(?:what|which) (?:city|country|town|place|state|area)")),
    (Kind.WHO, _any("who(?:m|se)?")),
    (Kind.LIST, _any(r"(?:what|which)(?: [\w'-]+){0,3} [\w'-]*[^\Ws]s", "list", "what all")),
    (Kind.YES_NO, _any("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will",
                       "would", "should", "might", start=True)),
)  # fmt: skip


class Sought(StrEnum):
    """In how many places what is sought is probably said."""

    ONE = "one"  # a question for one thing
    MEMBERS = "members"  # a list, a count, a comparison
    MATTER = "matter"  # no single question: a remark that goes on with some matter, a bare topic


_OF_MEMBERS = frozenset({Kind.LIST, Kind.HOW_MANY, Kind.COMPARISON})
#: Ends of sentences; a full stop after an initial or a title ends none.
_SENTENCE_END = re.compile(
    r"(?:[!?؟…]|(?<!\b[^\W\d_])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)\.)+(?=\s|$)|[。！？]+"
)
_ASKING = _any("what", "which", "who(?:m|se)?", "when", "where", "why", "how", start=True)
_ASKED = re.compile(r"(?:[?？؟]|か。?)\s*$")


def sought(text: str, kind: Kind) -> Sought:
    """A single question is one sentence that ends as a question does, or begins with a question word."""
    asking = _ASKED.search(text) or (_ASKING.search(text) and not text.rstrip().endswith("!"))
    if not asking or len(_SENTENCE_END.findall(text)) > 1:
        return Sought.MATTER
    return Sought.MEMBERS if kind in _OF_MEMBERS else Sought.ONE


#: The question asks for what may be so: hedged facts serve it (REAL, §III-B2, Confidence Thresholds).
UNCERTAIN = _any("maybe", "perhaps", "guess", "might", r"speculat\w*", "likely", "probably", "possibly", "uncertain",
                 r"hypothe\w+", r"rumou?r\w*")  # fmt: skip
#: About what may be over by the reference time.
PAST = _any("did", "was", "were", "had", "has", "have", "been", "used to", "ago", "before", "after", "since", "until",
            "last", r"previous\w*", "past", "ever", "history")  # fmt: skip
#: About several versions of a fact.
CHANGE = _any("used to", r"chang\w+", "ever", "over time", r"evolv\w+", "bec[ao]me", "history", "how long")
FIRST_PERSON = _any("i", "my", "me", "mine", "we", "our", "us")
#: Where one clause ends and the next, with an intent of its own, begins.
CLAUSE = re.compile(r"[,;:]|\b(?=(?:before|after|while|because|since|until|when|whereas)\b)", re.IGNORECASE)
