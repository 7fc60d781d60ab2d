"""What of a turn is read, and how a place in the cleaned text leads back to the turn's own characters.

Rules: system and tool turns, recalled memories pasted into a turn, code and URLs are not read (a memory that is read
again would be believed again). At most `READ_LIMIT` characters are analysed, so that a pasted book costs no more than
a page. Markdown marks are taken out, informal spellings are written out ("gonna", "'cause"), and a subject left out
at the start of a sentence ("Just got back from Rome") is put in, since parsers read whole sentences better. All of it
keeps, for each character, the character of the turn it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

#: Characters of one turn that are analysed; about 1,500 words.
READ_LIMIT = 6_000
#: A line longer than this is cut at its last space; a parser's memory grows with the line.
LINE_LIMIT = 1_200

_RECALLED = re.compile(
    r"<(memor(?:y|ies)|recalled[\w-]*|context|system[\w-]*|retrieved[\w-]*)\b[^>]*>.*?(?:</\1\s*>|\Z)"
    r"|\[(?:MEMORY|MEMORIES|RECALLED|CONTEXT)\b[^\]\n]*\].*?(?:\[/(?:MEMORY|MEMORIES|RECALLED|CONTEXT)\]|\n[ \t]*\n|\Z)"
    r"|^[#*\s]*(?:relevant|recalled|retrieved|stored|past|previous|known|user)\s+(?:memor(?:y|ies)|facts|context)[^\n:]*:"
    r".*?(?:\n[ \t]*\n|\Z)"
    r"|^[#*\s]*(?:memories|memory context|system prompt)\s*:.*?(?:\n[ \t]*\n|\Z)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
#: The words of others, and quoted texts; short quotations are titles and stay.
_QUOTED = re.compile(r'"[^"\n]{50,}"|“[^”\n]{50,}”')
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|www\.\S+", re.DOTALL)

_VERB_PAST = (
    "got|went|had|saw|took|made|started|finished|came|met|bought|found|spent|tried|joined|moved|heard|lost|gave|left"
    "|won|ran|wrote|sold|built|drove|flew|ate|sang|taught|brought|caught|broke|chose|fell|grew|led|paid|rode|sent|swam"
    "|woke|wore|decided|visited|watched|volunteered|passed|quit"
)
_FINITE = (
    r"\b(?:is|are|was|were|might|may|should|must|can|could|will|would|has|have|had|helps?|makes?|gives?|means?|keeps?|does|seems?|looks|feels"
    r"|sounds|brings|takes|gets|reminds|allows|lets|requires|shows|comes|goes)\b|'s\b"
)
_ADVERBS = "(?:still |also |just |currently |finally |always |not |even |recently )?"
#: Words in -ing that begin no dropped sentence ("[I'm] making …"), but a gerund or something else.
_NO_DROP = (
    "seeing|hearing|watching|knowing|having|making|taking|including|during|something|anything|nothing|everything|being"
    "|according|speaking|amazing|interesting|exciting|stunning|inspiring|fascinating|charming|morning|evening|king|thing"
    "|touching|impressing|refreshing|relaxing|breathtaking|rewarding|loving|wedding|bring|string|spring|sing|ring"
)
#: Where a dash begins a new sentence.
_NEW = "i|i'm|i've|it's|it|we|we're|they|he|she|you|that's|there's|my|our|so|and i"

#: How a question begins that hangs on a statement: "The Hobbit is great, but have you read …?".
_ASKING = "how|what|when|where|why|who|have|has|do|did|does|are|is|isn't|aren't|don't|can|could|would|will|won't"
_ASKED = "do|does|did|about|are|is|you|we|they|he|she|it|that"

#: (pattern, replacement); a replacement's characters stand for the first character of what they replace.
_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"[*_]{2,3}|(?<!\w)[*_]|[*_](?!\w)|^\s*#+\s*|^\s*>+\s*|^\s*[-•*+]\s+", ""),
        (r"[‘’ʼ]", "'"),
        (r"[“”]", '"'),
        (r"\s+", " "),
        (r"\b(?:i'm )?gonna\b", "going to"),
        (r"(?<='m )off to (?=(?:do|have|get|see|meet|make|play|take|visit|watch|go)\b)", "going to "),
        (r"\bwanna\b", "want to"),
        (r"\bgotta\b", "have to"),
        (r"\bkinda\b|\bsorta\b", "rather"),
        (r"(?<!\w)'cause\b|\bcuz\b|\bcoz\b", "because"),
        (r"\b(\w{2,})in'(?=\s|[.,!?])", r"\1ing"),
        (r"(?<=\w) ?& ?(?=\w)", " and "),
        (rf"(?<=\w) *(?:[–—]+| - | -- ) *(?=(?:{_NEW})\b)", ". "),
        (r"(?<=\w) *(?:[–—]+| - | -- ) *(?=[a-z]+ing\b)", ". "),
        (r" *[–—]+ *| -+ (?=\w)", " - "),
        (r"\b(?:anymore|any more(?= *(?:[.,!?;]|$|and\b|but\b|because\b|so\b|since\b)))", "anymore"),
        (rf", (?:but |and |so )?(?=(?:{_ASKING}) (?:{_ASKED})\b[^.!?]*\?)", ". "),
    )
)
_DROPPED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(f"^(?={pattern})", re.IGNORECASE), subject)
    for pattern, subject in (
        (rf"going to (?!\w+ing\b|the\b|a\b)(?!.*(?:{_FINITE}))", "I'm "),
        (r"been (?:hectic|crazy|tough|rough|wild|hard|a|an|so)\b", "It's "),
        (r"(?:just )?been\b", "I've "),
        (r"(?:can't wait|hope|wish|could use|didn't|don't know)\b", "I "),
        (rf"{_ADVERBS}(?:{_VERB_PAST})\b(?! (?:it|you|i)\b)", "I "),
        (r"[a-z]+ed (?:my|the|an?|some|with|at|up|out|our)\b", "I "),
        (rf"{_ADVERBS}(?!(?:{_NO_DROP})\b)[a-z]{{2,}}ing\b(?!.*(?:{_FINITE}))", "I'm "),
        (r"(?:so |really |super |very )?(?:excited|thrilled|looking forward|planning)\b", "I'm "),
    )
)
_SENTENCE = re.compile(r".+?(?:[.!?]+(?=\s|$)|$)", re.DOTALL)
_OPENER = re.compile(
    r"^(?:(?:yeah|yes|yep|wow|hey|hi|oh|well|so|also|thanks|thank you|sure|absolutely|totally|definitely"
    r"|ok|okay|no|nope|haha|lol|btw|by the way|anyway)\b[^,.!?]{0,20}?,\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A cleaned line; `offsets[i]` is the place in the turn's text that character i stands for."""

    text: str
    offsets: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the turn that `[start, end)` of this passage stands for; at least one."""
        first, last = self.offsets[start], self.offsets[max(start, end - 1)]
        return first, max(first, last) + 1


def passages(text: str, names: tuple[str, ...] = ()) -> list[Passage]:
    """The lines of a turn's text that are read, cleaned; `names`: of the people who talk, who may be addressed."""
    masked = _masked(text[:READ_LIMIT])
    addressed = _addressed(names)
    return [p for start, line in _lines(masked) if (p := _cleaned(line, start, addressed)).text.strip()]


@lru_cache(maxsize=32)
def _addressed(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """ "Hey Mel!" and "…, Mel." with the name or a beginning of it."""
    firsts = {n.split()[0] for n in names if n.split()}
    forms = sorted(
        {re.escape(f[:k]) for f in firsts if f.isalpha() for k in range(3, len(f) + 1)}, key=len, reverse=True
    )
    if not forms:
        return None
    name = rf"(?:{'|'.join(forms)})"
    greeting = r"(?:hey|hi|hello|hiya|yo|oh|wow|yeah|yep|yup|yes|sure|thanks|thank you|ok|okay|no|well|aww?|morning)"
    return re.compile(
        rf"^\W*{greeting}[ ,]+(?:there[ ,]+)?{name}\b[,!.]* *|(?<=[.!?] ){greeting}[ ,]+{name}\b[,!.]* *"
        rf"|, {name}(?=[.!?]|, | -|$)|^\W*{name}[,!] *|(?<=[.!?] ){name}[,!] *",
        re.IGNORECASE,
    )


def _masked(text: str) -> str:
    """Recalled memories, code and URLs as spaces of the same length; lone surrogates and controls too."""
    for pattern in (_RECALLED, _CODE, _QUOTED):
        text = _blanked(pattern, text)
    return "".join(c if c in "\n\t" or (c.isprintable() and not "\ud800" <= c <= "\udfff") else " " for c in text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"[^\n]+", text):
        start, line = match.start(), match.group()
        while len(line) > LINE_LIMIT:
            cut = line.rfind(" ", 0, LINE_LIMIT)
            cut = cut if cut > 0 else LINE_LIMIT
            yield start, line[:cut]
            start, line = start + cut, line[cut:]
        yield start, line


def _cleaned(line: str, start: int, addressed: re.Pattern[str] | None) -> Passage:
    text, offsets = line, tuple(range(start, start + len(line)))
    if addressed is not None:
        text, offsets = _substituted(text, offsets, addressed, "")
    for pattern, replacement in _SPELLINGS:
        text, offsets = _substituted(text, offsets, pattern, replacement)
    return _with_subjects(text, offsets)


def _substituted(
    text: str, offsets: tuple[int, ...], pattern: re.Pattern[str], replacement: str
) -> tuple[str, tuple[int, ...]]:
    if pattern.search(text) is None:
        return text, offsets
    pieces: list[str] = []
    places: list[int] = []
    last = 0
    for match in pattern.finditer(text):
        new = match.expand(replacement)
        pieces += [text[last : match.start()], new]
        places += offsets[last : match.start()]
        here = offsets[match.start()] if match.start() < len(offsets) else (offsets[-1] if offsets else 0)
        places += [
            offsets[min(match.start() + i, match.end() - 1)] if match.end() > match.start() else here
            for i in range(len(new))
        ]
        last = match.end()
    return "".join([*pieces, text[last:]]), (*places, *offsets[last:])


def _with_subjects(text: str, offsets: tuple[int, ...]) -> Passage:
    pieces: list[str] = []
    places: list[int] = []
    for match in _SENTENCE.finditer(text):
        sentence, at = match.group(), offsets[match.start() : match.end()]
        lead = len(sentence) - len(sentence.lstrip())
        opener = _OPENER.match(sentence[lead:])
        begin = lead + (opener.end() if opener else 0)
        subject = _dropped_subject(sentence[begin:])
        if subject and begin < len(at):
            rest = sentence[begin:]
            sentence = sentence[:begin] + subject + rest[:1].lower() + rest[1:]
            at = (*at[:begin], *([at[begin]] * len(subject)), *at[begin:])
        pieces.append(sentence)
        places += at
    return Passage("".join(pieces), tuple(places))


def _dropped_subject(rest: str) -> str:
    if "?" in rest[-2:]:
        return ""
    return next((subject for pattern, subject in _DROPPED if pattern.match(rest)), "")


def without_recalled(text: str) -> str:
    """The first `READ_LIMIT` characters, recalled memories and system prompts as blanks: every other character stays in
    its place, and so do the ends of lines."""
    return _blanked(_RECALLED, text[:READ_LIMIT])


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
