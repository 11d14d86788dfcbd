"""The right number of the wrong thing: another unit, another currency, another date."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import Lexicon, language_of, lexicon
from grader_gate.suite.mutators.numbers import salient
from grader_gate.suite.mutators.spans import is_protected
from grader_gate.suite.mutators.text import GLUED, match_case, splice


def unit_swap(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Another unit of the table after the first number that has one."""
    words = lexicon(language_of(case))
    if words is None:
        return NotApplicable("no table of units for the case's language")
    for number in salient(text, language_of(case)):
        if number.kind != "unit":
            continue
        start = text.index(number.unit, number.end)
        end = start + len(number.unit)
        if is_protected(text, start, end) or re.match(rf"[^\W{GLUED}]|[²³^]|/[^\W\d]", text[end:]):
            continue
        other = _other_unit(number.unit, words)
        if other is not None:
            return [Mutant(splice(text, [(start, end, other)]))]
    return NotApplicable("no number with a unit of the table")


def _other_unit(unit: str, words: Lexicon) -> str | None:
    if unit in words.symbols:
        return words.symbols[unit]
    other = words.units.get(unit.casefold())
    return match_case(other, unit) if other else None


def currency_swap(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Dollars for euros or the other way round, at the first price."""
    if "currency" not in case.tags:
        return NotApplicable("the case is not tagged `currency`")
    for match in re.finditer(r"[$€](?=\s?\d)|(?<=\d)\s?[$€](?!\d)", text):
        if not is_protected(text, *match.span()):
            other = match[0].replace("$", "\0").replace("€", "$").replace("\0", "€")
            return [Mutant(splice(text, [(*match.span(), other)]))]
    return NotApplicable("no price in $ or €")


def date_shift(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A week, a month and a year later than the first full date: one mutant each."""
    words = lexicon(language_of(case))
    names = words.months if words else ()
    month = "|".join([*names, *(name[:3] for name in names)]) or r"(?!)"
    pattern = re.compile(
        rf"(?<![\w-])(?P<y>[12]\d{{3}})-(?P<m>\d\d)-(?P<d>\d\d)(?![\d-])"
        rf"|\b(?P<month>{month})(?P<dot>\.?)\s+(?P<day>\d{{1,2}})(?P<th>st|nd|rd|th)?(?P<comma>,?\s+)(?P<year>[12]\d{{3}})\b"
        rf"|\b(?P<day2>\d{{1,2}})(?P<th2>st|nd|rd|th)?\s+(?P<month2>{month})(?P<dot2>\.?)(?P<comma2>,?\s+)(?P<year2>[12]\d{{3}})\b",
        re.ASCII,
    )
    for match in pattern.finditer(text):
        if is_protected(text, *match.span()):
            continue
        when = _date(match, names)
        if when is None:
            continue
        mutants = []
        for variant, shifted in (
            ("day", _plus_days(when, 7)),
            ("month", _plus_month(when)),
            ("year", _plus_year(when)),
        ):
            if shifted is not None:
                mutants.append(Mutant(splice(text, [(*match.span(), _written(match, shifted, names))]), variant))
        if mutants:
            return mutants
    return NotApplicable("no full date")


def _date(match: re.Match[str], names: tuple[str, ...]) -> date | None:
    if match["y"]:
        year, month, day = int(match["y"]), int(match["m"]), int(match["d"])
    else:
        name = match["month"] or match["month2"]
        month = next(index for index, full in enumerate(names, 1) if full.startswith(name))
        year, day = int(match["year"] or match["year2"]), int(match["day"] or match["day2"])
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _plus_days(when: date, days: int) -> date | None:
    return when + timedelta(days=days)


def _plus_month(when: date) -> date | None:
    year, month = (when.year + 1, 1) if when.month == 12 else (when.year, when.month + 1)
    return date(year, month, min(when.day, calendar.monthrange(year, month)[1]))


def _plus_year(when: date) -> date | None:
    return date(when.year + 1, when.month, min(when.day, calendar.monthrange(when.year + 1, when.month)[1]))


def _written(match: re.Match[str], when: date, names: tuple[str, ...]) -> str:
    if match["y"]:
        return when.isoformat()
    name = match["month"] or match["month2"]
    full = names[when.month - 1]
    month = full if name in names else full[:3]
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(when.day % 10 if when.day // 10 != 1 else 0, "th")
    day = f"{when.day}{suffix if match['th'] or match['th2'] else ''}"
    if match["month"]:
        return f"{month}{match['dot']} {day}{match['comma']}{when.year}"
    return f"{day} {month}{match['dot2']}{match['comma2']}{when.year}"
