"""Forms of English verbs, for naming relations and activities ("adopting a child", "plays", "went to")."""

from __future__ import annotations

import re

_PAST = {
    "be": "was", "have": "had", "do": "did", "go": "went", "see": "saw", "eat": "ate", "take": "took", "give": "gave",
    "write": "wrote", "speak": "spoke", "break": "broke", "choose": "chose", "drive": "drove", "ride": "rode",
    "begin": "began", "sing": "sang", "swim": "swam", "run": "ran", "come": "came", "become": "became", "know": "knew",
    "grow": "grew", "throw": "threw", "fly": "flew", "draw": "drew", "wear": "wore", "fall": "fell", "forget": "forgot",
    "get": "got", "rise": "rose", "wake": "woke", "show": "showed", "drink": "drank", "ring": "rang", "tear": "tore",
    "hide": "hid", "bite": "bit", "think": "thought", "buy": "bought", "feel": "felt", "keep": "kept",
    "set": "set", "put": "put", "cut": "cut", "hit": "hit", "let": "let", "read": "read", "shut": "shut",
    "cost": "cost", "quit": "quit", "spread": "spread", "hurt": "hurt", "bet": "bet", "split": "split",
    "teach": "taught", "retake": "retook", "find": "found", "make": "made", "tell": "told", "leave": "left",
    "lose": "lost", "meet": "met", "win": "won", "shake": "shook", "steal": "stole", "freeze": "froze",
    "blow": "blew", "lie": "lay",
}  # fmt: skip
_ODD_GERUNDS = {"be": "being", "see": "seeing", "flee": "fleeing", "agree": "agreeing", "dye": "dyeing", "die": "dying",
                "lie": "lying", "tie": "tying", "canoe": "canoeing", "ski": "skiing"}  # fmt: skip
_DOUBLING = re.compile(r"(?:^|[^aeiou])[aeiou][bdglmnprt]$")
_NOT_DOUBLED = re.compile(r"(?:en|er|on|it|or|op|ip|et|el|an|al|ar|am|om|ad|im)$")


def gerund(lemma: str) -> str:
    """ "adopt" -> "adopting", "swim" -> "swimming"."""
    if lemma in _ODD_GERUNDS:
        return _ODD_GERUNDS[lemma]
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")):
        return lemma[:-1] + "ing"
    return (lemma + lemma[-1] if _doubles(lemma) else lemma) + "ing"


def third_person(lemma: str) -> str:
    """ "go" -> "goes", "study" -> "studies", "play" -> "plays"."""
    lemma = lemma[:-2] if lemma.endswith("gge") else lemma  # the parser's lemma of "blogging"
    if lemma in {"be", "have"}:
        return {"be": "is", "have": "has"}[lemma]
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    return lemma[:-1] + "ies" if re.search(r"[^aeiou]y$", lemma) else lemma + "s"


def past(lemma: str, seen: str, tag: str) -> str:
    """The past form; `seen` is the word as it stands in the text, `tag` its part of speech (Penn)."""
    if lemma in _PAST:
        return _PAST[lemma]
    if tag in {"VBD", "VBN"}:
        return seen
    if lemma.endswith("e"):
        return lemma + "d"
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ied"
    return (lemma + lemma[-1] if _doubles(lemma) else lemma) + "ed"


def _doubles(lemma: str) -> bool:
    """A last consonant is doubled after one stressed vowel: all words of one syllable, and a few longer ones."""
    if not _DOUBLING.search(lemma):
        return False
    one_syllable = len(re.findall(r"[aeiouy]+", lemma)) == 1
    return one_syllable or lemma in {
        "begin",
        "forget",
        "prefer",
        "admit",
        "commit",
        "submit",
        "permit",
        "refer",
        "control",
        "plan",
    }
