"""Reading a question without a model: what it asks for, about whom, when, and how sure the answer must be.

The reading is two steps, since names are linked by the store: `read` finds everything that the words alone tell, among
it the names that may be entities (`Reading.names`); `anchors` turns those that the store knows into roots, each with
its own intent (REAL, §III-B1): the clause in which a name stands decides, and where its clause has no cue, the whole
question ("Why did Ann leave before Bob came?": CAUSAL for Ann, TEMPORAL for Bob).

Participants' names leave what is matched (`bare`): every turn of a conversation is by or to them, so a name matches
everything and says nothing; who is asked about is a signal of its own (`asked`).

Cue words are English. A question in another language reads as FACT, about now, certain: nothing is filtered wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memgraph_server.memory.facts import Entity, Intent
from memgraph_server.memory.interval import Instant, Interval
from memgraph_server.memory.terms import STOPWORDS, content_terms
from memgraph_server.retrieval import cues
from memgraph_server.retrieval.cues import Kind, Sought
from memgraph_server.retrieval.evidence import Question

#: Longest name that is linked, in words, and how many candidates are asked of the store.
LONGEST_NAME = 4
MOST_NAMES = 160
#: Terms that are looked up: a pasted page costs no more than a long paragraph.
MOST_TERMS = 256


@dataclass(frozen=True, slots=True)
class Anchor:
    """A root entity and what is wanted of it."""

    entity: str
    name: str
    intent: Intent


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question's words tell.

    bare: the text without participants' names; terms: its content terms, each once, in order.
    asked: participants named in the question, in the order of the text; first_person: it says "I" or "my".
    subject: of several, the one whose doing or saying is asked about ("What did Jon say about Gina's shop?": Jon);
        None where they stand as a pair or are compared.
    period: the time that its words state.
    sought: in how many places the answer probably stands.
    scope: facts that share no instant with it cannot answer; None where facts of any time can (see `_scope`).
    roots: names with what is wanted of each, where a language model has read the question; they come first.
    """

    text: str
    bare: str
    terms: tuple[str, ...]
    kind: Kind
    intent: Intent
    asked: tuple[str, ...]
    subject: str | None
    first_person: bool
    names: tuple[str, ...]
    reference_time: Instant
    period: Interval | None
    scope: Interval | None
    uncertain: bool
    sought: Sought = Sought.MATTER
    roots: tuple[tuple[str, Intent], ...] = ()


#: Before any time that a fact can have (year 1).
FIRST_INSTANT: Instant = -62_135_596_800_000_000
_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
#: What may stand right before a name and belong to it: a title, or who that is to another ("her best friend Bob").
_TITLE = r"(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|uncle|aunt|auntie)\b\.?"
_WHOSE = (
    r"(?:her|his|their|my|our|your)\s+(?:\w+\s+)?(?:(?:boy|girl)?friend|(?:step|half-)?(?:brother|sister)|husband|wife"
    r"|fianc[eé]e?|partner|spouse|son|daughter|(?:grand|step)?(?:mother|father|mom|mum|dad)|uncle|aunt|nephew|niece|cousin"
    r"|neighbou?r|(?:room|flat|house|class|team|work)mate|colleague|co-?worker|boss|teacher|mentor|coach|doctor)"
)
#: What stands between the names of a pair, its words one space apart: a long run of white space that the pattern could
#: split in several ways would be tried in all of them.
_JOINED = re.compile(
    rf"(?:['’]s)? ?(?:,|&|\+|/|\band\b|\bor\b) ?(?:(?:and|or)\b)?(?: ?(?:{_TITLE}|{_WHOSE}))?", re.IGNORECASE
)
#: What stands before the one who acts, where another is named before.
_AGENT = re.compile(rf"\b(?:by|from)\s+(?:(?:{_TITLE}|{_WHOSE})\s+)?\Z", re.IGNORECASE)
_DOTS = {ord("ı"): "i", 0x307: None}
#: Speakers named by role: words of ordinary language, never taken out of a question.
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", ""})


def read(question: Question, speakers: Sequence[str], period: Interval | None = None) -> Reading:
    """The reading of a question, given the names of those who speak in this memory and the time its words state."""
    text = question.text
    places = _places(text, speakers)
    asked = tuple(places)
    bare = without_names(text, speakers)
    intent = intent_of(text)
    kind = next((kind for kind, cue in cues.KINDS if cue.search(text)), Kind.OPEN)
    return Reading(
        text=text,
        bare=bare,
        terms=tuple(dict.fromkeys(content_terms(bare)))[:MOST_TERMS],
        kind=kind,
        intent=intent,
        asked=asked,
        subject=_subject(text, places, kind),
        first_person=bool(cues.FIRST_PERSON.search(text)),
        names=candidate_names(text),
        reference_time=_reference_time(question, period),
        period=period,
        scope=_scope(question, period, kind),
        uncertain=bool(cues.UNCERTAIN.search(text)),
        sought=cues.sought(text, kind),
    )


def _reference_time(question: Question, period: Interval | None) -> Instant:
    if question.reference_time is not None:
        return question.reference_time
    return period.start if period is not None else question.now


def _scope(question: Question, period: Interval | None, kind: Kind) -> Interval | None:
    """The stated period; else the reference instant, where the present of that instant is asked for.

    The paper filters by the reference time always. But "what did", "used to" and "has she ever" ask about what may be
    over by then: for those, whatever began by the reference time may answer; for "when", anything.
    """
    if period is not None:
        return period
    at = question.now if question.reference_time is None else question.reference_time
    if kind is Kind.WHEN:
        return None
    past = cues.CHANGE.search(question.text) or cues.PAST.search(question.text)
    return Interval(FIRST_INSTANT if past else at, at + 1)


def intent_of(text: str) -> Intent:
    """By the first family of cues that occurs; FACT where none does."""
    return next((intent for intent, cue in cues.INTENTS if cue.search(text)), Intent.FACT)


def anchors(reading: Reading, linked: Mapping[str, Entity]) -> tuple[Anchor, ...]:
    """Roots for the names that the store knows, in the order they stand in the question; an entity once."""
    found: dict[str, Anchor] = {}
    for name, intent in reading.roots:
        if name in linked:
            found.setdefault(linked[name].id, Anchor(linked[name].id, linked[name].name, intent))
    clauses = [clause for clause in cues.CLAUSE.split(reading.text) if clause and clause.strip()]
    for name in _longest(reading.text, linked):
        entity = linked[name]
        found.setdefault(entity.id, Anchor(entity.id, entity.name, _intent_in(clauses, name, reading.intent)))
    return tuple(found.values())


def _intent_in(clauses: Sequence[str], name: str, otherwise: Intent) -> Intent:
    clause = next((clause for clause in clauses if name.casefold() in clause.casefold()), "")
    own = intent_of(clause)
    return otherwise if own is Intent.FACT else own


def _longest(text: str, names: Iterable[str]) -> list[str]:
    """Names that are not part of a longer one, by place."""
    folded = text.casefold()
    known = [name for name in names if name]
    whole = [n for n in known if not any(n != other and n.casefold() in other.casefold() for other in known)]
    return sorted(whole, key=lambda name: (folded.find(name.casefold()), name))


def candidate_names(text: str) -> tuple[str, ...]:
    """Runs of one to four words that may name an entity: none begins or ends with a function word. Capitalized ones
    come first, since a long question has more runs than are asked of the store."""
    words = list(_WORD.finditer(text))
    runs = []
    for length in range(1, LONGEST_NAME + 1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if not {run[0][0].casefold(), run[-1][0].casefold()} & STOPWORDS:
                name = text[run[0].start() : run[-1].end()]
                runs.append(name[:-2] if name.endswith(("'s", "’s")) else name)
    capitals = [run for run in runs if run[:1].isupper()]
    return tuple(dict.fromkeys((*capitals, *runs)))[:MOST_NAMES]


def without_names(text: str, speakers: Sequence[str]) -> str:
    """The text without participants' names and their parts; the text itself where nothing else is left."""
    names = _names_of(speakers)
    if not names:
        return text
    bare = re.sub(rf"(?<!\w)(?:{names})(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
    bare = " ".join(bare.split())
    return bare if content_terms(bare) else text


def name_parts(speaker: str) -> tuple[str, ...]:
    """A full name and its words, without initials; nothing for a role."""
    if speaker.casefold() in _ROLES:
        return ()
    words = [word for word in speaker.split() if len(word) > 1 or not word.isascii()]
    return tuple(dict.fromkeys((speaker, *words)))


def _names_of(speakers: Sequence[str]) -> str:
    """A pattern of their names and the parts of these, the longest first; empty where they have none."""
    parts = {part for speaker in speakers for part in name_parts(speaker)}
    return "|".join(map(re.escape, sorted(parts, key=lambda part: (-len(part), part))))


def _places(text: str, speakers: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Where each who is named begins and ends first, in the order of the text. A name is read as long as it can be:
    "Ann Smith" names neither another Ann nor another Smith, while "Smith" alone names them all, at one place."""
    bearers: dict[str, list[str]] = {}
    for speaker in speakers:
        for part in dict.fromkeys(map(_folded, name_parts(speaker))):
            bearers.setdefault(part, []).append(speaker)
    places: dict[str, tuple[int, int]] = {}
    names = _names_of(speakers)
    for match in re.finditer(rf"(?<!\w)(?:{names})(?!\w)", text, re.IGNORECASE) if names else ():
        for speaker in bearers.get(_folded(match[0]), ()):
            places.setdefault(speaker, match.span())
    return places


def _folded(name: str) -> str:
    """Equal where a search that ignores case takes names as equal: it tells no i, İ and ı apart."""
    return name.casefold().translate(_DOTS)


def _subject(text: str, places: Mapping[str, tuple[int, int]], kind: Kind) -> str | None:
    """Who is named first acts, unless the second is the agent of a passive or the giver: "received from Bob"."""
    if len(places) < 2 or kind is Kind.COMPARISON:
        return None
    first, second = list(places)[:2]
    (_, end), (start, _) = places[first], places[second]
    if start < end or _JOINED.fullmatch(" ".join(text[end:start].split())):  # one name of two bearers, or a pair
        return None
    return second if _AGENT.search(text, end, start) else first
