"""Which numbers of a text carry meaning: salient ones, told from markers, labels, dates, ranges and years."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import Literal

from grader_gate.suite.mutators.citations import citation_spans
from grader_gate.suite.mutators.lexicon import Lexicon, lexicon
from grader_gate.suite.mutators.numerals import NUMERAL, Form, corrupted, in_words, parse
from grader_gate.suite.mutators.spans import is_protected, protected
from grader_gate.suite.mutators.text import GLUED

_LONGEST = 40
"""Digits of a run beyond this are an identifier; also what keeps the patterns linear on hostile texts."""
_D = rf"\d{{1,{_LONGEST}}}"
_N = rf"\d[\d.,]{{0,{_LONGEST}}}"
_CURRENCY = "$€£¥₹₩₽₺₪฿"
_UNITS_BETWEEN = r"(?:\s?[%٪°$€£]?[CF]?|\s?[A-Za-zµμΩ²³/]{1,12})?"
_SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"

# Digits that name, order, date or relate things instead of measuring one. Each alternative is one kind.
_NOT_SALIENT = rf"""
    ^[ \t]*(?:[-*+>•\#]+[ ]+)*[*_]*\(?\d{{1,3}}(?:[.)\]:][*_]*(?=[ \t]+\S)|[、．])   # list marker at a line start
  | ^[ \t]*(?:[-*+>•\#]+[ ]+)*[*_]*[A-Z]\w{{1,30}}\s\d{{1,3}}\s?[:.)—–]          # Sentence 1: at the start of a line
  | \[\s?\^?{_D}(?:\s?[,;–-]\s?{_D})*\s?\]                                       # bracket of a citation or its source
  | \b[vV]\.?\s?\d[\w.]*                                                         # v2
  | 第\s?{_D}                                                                    # ordinal in Chinese or Japanese
  | \bbetween\s[{_CURRENCY}]?{_N}{_UNITS_BETWEEN}\sand\s[{_CURRENCY}]?{_N}       # range in words
  | \+\d[\d\s().-]{{6,20}}\d | \(\d{{2,4}}\)\s?\d{{3,9}}                         # telephone number
  | [\#№]\s?{_D}                                                                 # #12
  | \w(?:\s?\^\s?|\*\*)[-+({{]*{_D}(?![\w.]*\*\*)                                # power
  | (?<!\d)(?:
      {_D}(?:\.{_D}){{2,20}}                                                     # version, address, dotted date
    | \d{{1,4}}[-/]\d{{1,2}}[-/]\d{{1,4}}                                        # numeric date
    | \d{{1,4}}\s?[年月日号號] | \d{{4}}년 | \d{{1,2}}월(?:\s?\d{{1,2}}일)?          # date in Chinese, Japanese, Korean
    | \d{{1,2}}:\d\d(?::\d\d)?                                                   # time
    | \d{{1,2}}(?:[.:]\d\d)?\s?(?:[aApP][mM]\b|[aApP]\.\s?[mM]\.|o['’]clock\b)
    | {_N}(?:\s:\s|:){_D}(?:[.,]{_D})?                                           # ratio
    | {_N}\s?[/⁄∕]\s?{_N} | {_D}\s?[¼-¾⅐-⅞]                                      # fraction
    | {_N}[eE][+-]?{_D} | {_N}\s?[×x*·⋅]\s?10\s?(?:\^|\*\*|[{_SUPERSCRIPT}])\S*  # scientific
    | {_D}[{_SUPERSCRIPT}]+                                                      # power
    | {_N}{_UNITS_BETWEEN}\s?[-–—‑−~]\s?[{_CURRENCY}]?{_N}(?:[-–]{_D})*          # range, telephone number
    | {_N}{_UNITS_BETWEEN}(?:\s|-)(?:to|or|through)(?:\s|-)[{_CURRENCY}]?{_N}    # range in words
    | (?<![.,])\d{{1,3}}(?:[ ]\d{{3}})+(?![\d.,])                                # 1 000: one number or two
    | {_D}(?:st|nd|rd|th|ᵗʰ|º|ª)(?!\w)                                           # ordinal
    )
"""


@dataclass(frozen=True, slots=True)
class Number:
    """A salient number of a text.

    :ivar form: how it is written; for a number in words its value alone.
    :ivar kind: two numbers of one kind can change places.
    :ivar unit: the unit, currency or counted noun after it, as written.
    """

    start: int
    end: int
    text: str
    form: Form
    kind: Literal["plain", "percent", "money", "unit"]
    unit: str = ""
    word: bool = False
    language: str = "en"

    def corrupted(self, tolerance: float | None = None) -> str:
        """Another number in its place: clearly wrong, written the same way."""
        value = corrupted(self.form, percent=self.kind == "percent", tolerance=tolerance)
        return in_words(int(value), self.text, self.language) if self.word else self.form.write(value)

    @property
    def is_integer(self) -> bool:
        """A whole number without decimals."""
        return self.form.decimals == 0


@lru_cache(maxsize=8192)
def salient(text: str, language: str = "en") -> tuple[Number, ...]:
    """The salient numbers of a text in order: digits of any script, and two to twenty in words."""
    words = lexicon(language)
    found: list[Number] = []
    if re.search(r"\d", text):
        excluded = _merged(
            [*_excluded(text, words), *citation_spans(text), *((s.start, s.end) for s in protected(text))]
        )
        starts = [start for start, _ in excluded]
        for match in re.finditer(NUMERAL, text):
            index = bisect.bisect_right(starts, match.start()) - 1
            if index >= 0 and excluded[index][1] > match.start():
                continue
            if index + 1 < len(excluded) and excluded[index + 1][0] < match.end():
                continue
            if (number := _number(text, match, words)) is not None:
                found.append(number)
    if words is not None:
        found += _in_words(text, words)
    return tuple(sorted(found, key=lambda number: number.start))


def _excluded(text: str, words: Lexicon | None) -> list[tuple[int, int]]:
    found = [m.span() for m in _compiled(_NOT_SALIENT, re.X | re.M).finditer(text)]
    found += _inline_markers(text)
    if words is not None and words.months:
        names = "|".join(f"{month}|{month[:3]}" for month in words.months)
        day = r"\d{1,2}(?:st|nd|rd|th)?"
        dates = (
            rf"\b(?:{names})\.?\s+(?:{day}(?:,?\s+\d{{4}})?|\d{{4}})\b"
            rf"|\b{day}\s+(?:of\s+)?(?:{names})\b\.?(?:,?\s+\d{{4}})?"
        )
        found += [m.span() for m in _compiled(dates, 0).finditer(text)]
    return found


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _inline_markers(text: str) -> list[tuple[int, int]]:
    """Markers of a list inside a paragraph: ``1. Open it. 2. Click.`` Only a chain that starts at 1 is one."""
    pattern = (
        r"(?:^|(?<=[.!?:;,。！？：；]\s)|(?<=\n)|(?<=[。！？：；]))\(?(\d{1,2})(?:\.(?=\s)|\)(?=\s))"
        r"|(?<=\s)\(?(\d{1,2})\)(?=\s)"
    )
    chain: list[tuple[int, int]] = []
    for match in _compiled(pattern, 0).finditer(text):
        if int(match[1] or match[2]) == len(chain) + 1:
            chain.append(match.span())
    return chain if len(chain) > 1 else []


def _number(text: str, match: re.Match[str], words: Lexicon | None) -> Number | None:
    start, end = match.span()
    before, after = text[max(0, start - 60) : start], text[end : end + 40]
    form = parse(match[0])
    if form is None or end - start > _LONGEST or _names_something(before, after, words):
        return None
    kind, unit = _measure(match[0], before, after, words)
    if kind is None:
        return None
    if kind == "plain":
        bare_year = form.decimals == 0 and not form.separator and len(match[0]) == 4 and 1500 <= form.value <= 2099
        if bare_year and not (words and unit.casefold() in words.count_nouns):
            return None
        if _is_labelled(before, words):
            return None
    return Number(start, end, match[0], form, kind, unit)


def _names_something(before: str, after: str, words: Lexicon | None) -> bool:
    """Whether what touches the digits makes them part of a name, a path, an index or a formula."""
    if re.search(rf"[^\W{GLUED}]$|[_\\^@&/#]$|\w[-‐‑–][.]?$|\w[\[(]$|\w\.$|\d[.,]$", before):
        return not re.search(r"(?:^|[^\w])(?:USD|EUR|GBP|CHF|Rs|US|CA|AU)$", before)
    if re.search(r"['’]$", before) and re.match(r"\d?(?:s\b|\b)", after):
        return True
    if re.match(r"_|\(|\.[xX*]\b|-(?:[A-Z]\b|\d)|[-]?D\b|['’]?s\b(?!/)", after) and not re.match(r"s\b", after):
        return True
    if words is not None and re.search(rf"\b(?:{'|'.join(words.magnitudes)})(?:\s+and)?\s+$", before, re.I):
        return True
    if _announces(before, words):
        return True
    label = "|".join(words.labels) if words else ""
    chain = rf"(?:{NUMERAL}\s*(?:,|and|&|or|to|-|–|\+)+\s*)*"
    return bool(label) and bool(
        re.search(rf"(?:^|[^\w-])(?:{label})s?\.?\s*(?:no\.?|number|nr\.?)?\s*[(\[]?{chain}$", before, re.I)
    )


def _announces(before: str, words: Lexicon | None) -> bool:
    """Whether the number only counts what follows: "here are five examples" stays fair with six of them."""
    lead = "|".join(re.escape(phrase) for phrase in words.announcements) if words else ""
    return bool(lead) and re.search(rf"\b(?:{lead})\s+(?:an?\s+|the\s+|some\s+|my\s+)?$", before, re.I) is not None


def _is_labelled(before: str, words: Lexicon | None) -> bool:
    """Whether a name stands before a number that measures nothing: ``RFC 2616``, ``Boeing 747``."""
    name = re.search(r"(\S+)\s+([A-Z][\w’'-]*)\s$|^()([A-Z]{2,})\s$", before)
    if name is None:
        return False
    previous, word = name[1] or name[3] or "", name[2] or name[4]
    if re.fullmatch(r"(?:USD|EUR|GBP|CHF|JPY|INR|DC|AC|I)", word):
        return False
    return (word.isupper() and len(word) > 1) or not re.search(r"[.!?:;*_\"“]$", previous)


def _measure(
    digits: str, before: str, after: str, words: Lexicon | None
) -> tuple[Literal["plain", "percent", "money", "unit"] | None, str]:
    """What the number measures and in which unit; (None, "") where letters glued to it make it a name."""
    if percent := re.match(r"[ \u00a0\u202f]?([%٪％‰])|[ -](per\s?cent\w*)\b", after):
        return "percent", percent[1] or percent[2]
    if money := re.search(rf"([{re.escape(_CURRENCY)}])\s?$|\b(USD|EUR|GBP|CHF|Rs)\.?\s?$", before):
        return "money", money[1] or money[2]
    if money := re.match(rf"\s?([{re.escape(_CURRENCY)}])(?!\d)|\s?(USD|EUR|GBP|CHF|dollars?|euros?|cents?)\b", after):
        return "money", money[1] or money[2]
    glued = re.match(rf"[^\W\d_{GLUED}]+(?:/[a-z]+)?[²³]?|°[CF]?", after)
    if glued and glued[0] == "s" and re.search(r"0$", digits) and len(digits) in (2, 4):
        return None, ""  # the 1970s, her 20s
    if glued:
        power = after[glued.end() :].startswith("^")
        if not power and (glued[0] in ("k", "bn", "mn", "°") or (words and words.is_unit(glued[0]))):
            return "unit", glued[0]
        return None, ""
    following = re.match(r"[ \u00a0\u202f-]((?:[^\W\d_]+(?:/[a-z]+)?|°)[CF²³]?)(?![\w^])", after)
    if following and words:
        token = following[1]
        if words.is_unit(token) and not (
            token in ("A", "s", "t", "h") and re.match(r"\s\w\s\w", after) and token != "A"
        ):
            return "unit", token
        return "plain", token
    return "plain", following[1] if following else ""


def _in_words(text: str, words: Lexicon) -> list[Number]:
    names = [name for name in words.number_words if name != "one"]  # "one" is a pronoun more often than a number.
    if not names:
        return []
    any_number = rf"(?:{'|'.join(words.number_words)}|\d+|half|third|quarter)"
    linking = rf"{any_number}(?:\s+[^\W\d_]+)?(?:\s+(?:to|or|and)\s+|\s+|\s*[-–/]\s*)$"
    label = "|".join(words.labels)
    found: list[Number] = []
    for match in _compiled(rf"(?<![\w.'’-])(?:{'|'.join(names)})(?![\w'’])", re.I).finditer(text):
        before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 40]
        compound = re.match(rf"\s+(?:to|or)\s+{any_number}\b|[\s-]+(?:and\s+a\s+)?{any_number}s?\b", after, re.I)
        hyphen = re.match(r"-([^\W\d_]+)", after)
        if (
            compound
            or (hyphen and not words.is_unit(hyphen[1]))
            or re.search(rf"\b{linking}", before, re.I)
            or re.search(rf"\b(?:{'|'.join(words.magnitudes)})(?:\s+and)?\s+$", before, re.I)
            or re.search(rf"\b(?:{label})\s+$", before, re.I)
            or _announces(before, words)
            or is_protected(text, match.start(), match.end())
        ):
            continue
        noun = re.match(r"[\s-]([^\W\d_]+)", after)
        unit = noun[1] if noun else ""
        percent = bool(re.match(r"per\s?cent", unit, re.I))
        kind: Literal["plain", "percent", "unit"] = "percent" if percent else "unit" if words.is_unit(unit) else "plain"
        form = Form(Decimal(words.number_words[match[0].casefold()]))
        found.append(Number(match.start(), match.end(), match[0], form, kind, unit, word=True, language=words.language))
    return found


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)
