"""Dates in Chinese, Japanese, Korean, German, French, Spanish: calendar dates, and the common words counted from today.

Rules as in English. Scripts without spaces have no first words, so their rules are one pass of one alternation each.
Verbs are read in English only, so a date that leaves the year open is the nearest unless the caller gives a direction.
"""

from __future__ import annotations

import re

from memgraph_server.memory.dates.calendar import days, first_of_month, months, years
from memgraph_server.memory.dates.floating import yearless
from memgraph_server.memory.dates.grammar import DIGITS, Found, Grammar, Reading, Scan, day_point, point, read
from memgraph_server.memory.dates.lexicon import YEAR
from memgraph_server.memory.dates.units import away, precision_of
from memgraph_server.memory.interval import Precision

GRAMMAR = Grammar()
rule = GRAMMAR.rule

_CJK_WORDS: dict[str, tuple[str, int]] = {
    word: (unit, count)
    for (unit, count), words in {
        ("day", 0): "今天 今日 本日 きょう 오늘",
        ("day", -1): "昨天 昨日 きのう 어제",
        ("day", 1): "明天 明日 あした 내일",
        ("day", -2): "前天 一昨日 おととい 그저께",
        ("day", 2): "后天 後天 明後日 あさって 모레",
        ("week", 0): "这周 這週 本周 本週 这个星期 這個星期 今週 이번주",
        ("week", -1): "上周 上週 上星期 上个星期 上個星期 先週 지난주",
        ("week", 1): "下周 下週 下星期 下个星期 下個星期 来週 다음주",
        ("month", 0): "这个月 這個月 本月 今月 이번달",
        ("month", -1): "上个月 上個月 上月 先月 지난달",
        ("month", 1): "下个月 下個月 下月 来月 다음달",
        ("year", 0): "今年 올해",
        ("year", -1): "去年 昨年 작년",
        ("year", 1): "明年 来年 來年 내년",
        ("year", -2): "前年 一昨年",
    }.items()
    for word in words.split()
}
_CJK_UNITS = {"天": "day", "日": "day", "周": "week", "週": "week", "週間": "week", "星期": "week",
              "个星期": "week", "个月": "month", "個月": "month", "ヶ月": "month", "か月": "month", "カ月": "month",
              "年": "year"}  # fmt: skip
_CJK_NUMBERS = {sign: n for n, sign in enumerate("一二三四五六七八九十", start=1)} | {"两": 2, "兩": 2}
_DAY = r"(?:[12]\d|3[01]|0?[1-9])\s?[日号號일]"
_MONTH_SIGN = r"(?:1[0-2]|0?[1-9])\s?[月월]"
_CJK = re.compile(
    rf"(?<!\d)(?P<year>[12]\d{{3}})\s?[年년](?:\s?(?P<month>{_MONTH_SIGN})(?:\s?(?P<day>{_DAY}))?)?|"
    rf"(?<!\d)(?P<month2>{_MONTH_SIGN})\s?(?P<day2>{_DAY})|"
    rf"(?P<n>\d{{1,3}}|[{''.join(_CJK_NUMBERS)}])(?P<unit>{'|'.join(sorted(_CJK_UNITS, key=len, reverse=True))})"
    r"(?P<side>之?前|以前|[之以]?后|[之以]?後)|"
    rf"(?P<word>{'|'.join(sorted(_CJK_WORDS, key=len, reverse=True))})(?!香)"
)
_SIGNS = " 月월日号號일"


def find_unspaced(scan: Scan) -> list[Found]:
    """Readings in scripts that do not part words."""
    if scan.folded.isascii():
        return []
    return [found for match in _CJK.finditer(scan.folded) for found in read(match, _cjk, scan)]


def _cjk(match: re.Match[str], scan: Scan) -> Reading:
    if match["year"]:
        return _calendar(int(match["year"]), match["month"], match["day"])
    if match["month2"]:
        month, day = int(match["month2"].rstrip(_SIGNS)), int(match["day2"].rstrip(_SIGNS))
        return yearless(lambda year: days(_ordinal(year, month, day)), match, scan, Precision.DAY)
    if match["word"]:
        unit, count = _CJK_WORDS[match["word"]]
    else:
        unit, count = _CJK_UNITS[match["unit"]], _CJK_NUMBERS.get(match["n"]) or int(match["n"])
        count = -count if match["side"].endswith("前") else count
    return _away(scan, unit, count)


def _away(scan: Scan, unit: str, count: int) -> Reading:
    return (
        day_point(scan.turn.day + count) if unit == "day" else point(away(scan.turn, unit, count), precision_of(unit))
    )


def _calendar(year: int, month: str | None, day: str | None) -> Reading:
    if day and month:
        return day_point(_ordinal(year, int(month.rstrip(_SIGNS)), int(day.rstrip(_SIGNS))))
    if month:
        return point(months(12 * year + int(month.rstrip(_SIGNS)) - 1), Precision.MONTH)
    return point(years(year), Precision.YEAR)


def _ordinal(year: int, month: int, day: int) -> int:
    """The day; ValueError where the month is shorter."""
    first = first_of_month(12 * year + month - 1)
    if first + day - 1 >= first_of_month(12 * year + month):
        raise ValueError("no such day")
    return first + day - 1


_MONTH_NAMES = {
    name: number
    for number, names in enumerate(
        (
            "januar jänner janvier enero",
            "februar février fevrier febrero",
            "märz maerz mars marzo",
            "avril abril",
            "mai mayo",
            "juni juin junio",
            "juli juillet julio",
            "août aout agosto",
            "septembre septiembre",
            "oktober octobre octubre",
            "novembre noviembre",
            "dezember décembre decembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
} | {"april": 4, "august": 8, "september": 9, "november": 11}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTH_NAMES, key=len, reverse=True)) + r")\b"


@rule(
    [DIGITS],
    rf"(?<![\d.,/:-])(?P<day>3[01]|[12]\d|0?[1-9])(?:\.|er|º)? (?:de )?{_MONTH}"
    rf"(?: (?:de |del )?(?P<year>{YEAR}))?",
)
def _european_day(match: re.Match[str], scan: Scan) -> Reading:
    month, day = _MONTH_NAMES[match["month"]], int(match["day"])
    if match["year"]:
        return day_point(_ordinal(int(match["year"]), month, day))
    return yearless(lambda year: days(_ordinal(year, month, day)), match, scan, Precision.DAY)


@rule(_MONTH_NAMES, rf"{_MONTH} (?:de |del )?(?P<year>{YEAR})")
def _european_month(match: re.Match[str], _scan: Scan) -> Reading:
    return _calendar(int(match["year"]), str(_MONTH_NAMES[match["month"]]), None)


#: Of each phrase the pattern, what must not stand before it, and where it points to.
_PHRASES: dict[str, tuple[str, int]] = {
    "vorgestern": ("day", -2), "gestern": ("day", -1), "heute": ("day", 0), "übermorgen": ("day", 2),
    "letzte woche": ("week", -1), "letzten monat": ("month", -1), "letztes jahr": ("year", -1),
    "nächste woche": ("week", 1), "nächsten monat": ("month", 1), "nächstes jahr": ("year", 1),
    "diese woche": ("week", 0), "diesen monat": ("month", 0), "dieses jahr": ("year", 0),
    "avant-hier": ("day", -2), "hier": ("day", -1), "aujourd'hui": ("day", 0), "demain": ("day", 1),
    "après-demain": ("day", 2), "la semaine dernière": ("week", -1), "le mois dernier": ("month", -1),
    "l'année dernière": ("year", -1), "l'an dernier": ("year", -1), "la semaine prochaine": ("week", 1),
    "le mois prochain": ("month", 1), "l'année prochaine": ("year", 1), "cette semaine": ("week", 0),
    "ce mois-ci": ("month", 0), "cette année": ("year", 0),
    "anteayer": ("day", -2), "ayer": ("day", -1), "hoy": ("day", 0), "pasado mañana": ("day", 2),
    "la semana pasada": ("week", -1), "el mes pasado": ("month", -1), "el año pasado": ("year", -1),
    "la próxima semana": ("week", 1), "el próximo mes": ("month", 1), "el próximo año": ("year", 1),
    "esta semana": ("week", 0), "este mes": ("month", 0), "este año": ("year", 0),
}  # fmt: skip


#: "Hier" is French for yesterday and German for here: it needs a French word near it.
_FRENCH = re.compile(
    r"\b(?:(?:j|c|l|d|qu)'|(?:je|nous|vous|elle|elles|ils|est|avec|le|la|les|mon|ma|soir|matin|était)\b)"
)


def _phrase_rule(words: str, unit: str, count: int) -> None:
    first = re.split(r"[\s'-]", words)[0]
    starts, pattern = [first], rf"{words}(?![\w'-])"

    @rule(starts, pattern)
    def _phrase(match: re.Match[str], scan: Scan) -> Reading | None:
        if scan.capital(match.start()) and not _sentence_starts(match, scan):
            return None
        if words == "hier" and _FRENCH.search(scan.folded, max(0, match.start() - 80), match.end() + 80) is None:
            return None
        return _away(scan, unit, count)


def _sentence_starts(match: re.Match[str], scan: Scan) -> bool:
    """Names such as "Herr Heute" keep their capital within a sentence."""
    head = scan.folded[max(0, match.start() - 3) : match.start()].rstrip()
    return not head or head[-1] in ".!?;:\n¡¿\"'("


for _words, (_unit, _count) in _PHRASES.items():
    _phrase_rule(_words, _unit, _count)


_NUMBER_WORDS = {
    word: n
    for n, words in enumerate(
        ("ein eine einem einer un une uno una", "zwei deux dos", "drei trois tres", "vier quatre cuatro",
         "fünf cinq cinco", "sechs six seis", "sieben sept siete", "acht huit ocho", "neun neuf nueve",
         "zehn dix diez"), start=1)
    for word in words.split()
}  # fmt: skip
_UNIT_WORDS = {
    word: unit
    for unit, words in {
        "day": "tag tage tagen jour jours día días",
        "week": "woche wochen semaine semaines semana semanas",
        "month": "monat monate monaten mois mes meses",
        "year": "jahr jahre jahren an ans année années año años",
    }.items()
    for word in words.split()
}
_COUNT = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})"
_UNIT = rf"(?P<unit>{'|'.join(sorted(_UNIT_WORDS, key=len, reverse=True))})\b"


@rule(["vor", "il", "hace"], rf"(?:vor|il y a|hace) {_COUNT} {_UNIT}")
def _european_ago(match: re.Match[str], scan: Scan) -> Reading:
    count = _NUMBER_WORDS.get(match["n"]) or int(match["n"])
    return _away(scan, _UNIT_WORDS[match["unit"]], -count)


@rule(["morgen", "mañana"], r"(?:morgen|mañana)\b")
def _tomorrow_or_morning(match: re.Match[str], scan: Scan) -> Reading | None:
    """Not the morning ("por la mañana", "heute Morgen", "guten Morgen") nor a name."""
    if scan.capital(match.start()) or scan.word_before(match.start()) in (
        "la",
        "esta",
        "cada",
        "heute",
        "guten",
        "jeden",
    ):
        return None
    return _away(scan, "day", 1)


@rule(["seit", "depuis", "desde"], rf"[a-z]+ (?P<x>{YEAR})(?![\w-])")
def _since_year(match: re.Match[str], _scan: Scan) -> Reading:
    return point(years(int(match["x"])), Precision.YEAR)
