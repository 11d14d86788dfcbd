"""Wrong figures: a salient number changed, scaled, swapped, or the last one of a calculation."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import language_of
from grader_gate.suite.mutators.numbers import Number, salient
from grader_gate.suite.mutators.text import match_case, splice

_NONE = NotApplicable("no salient number")
# Between two numbers these make a range, a sum, a ratio or a bare list: exchanging its ends changes nothing.
_JOINED = re.compile(r"\s*(?:[-–—,;:/+x×*&]|to|and|or|plus|times|through|out\s+of|of)?\s*(?:and|or)?\s*", re.I)


def _replace(text: str, numbers: list[Number], case: GoldenCase) -> str:
    return splice(text, [(n.start, n.end, n.corrupted(case.tolerance)) for n in numbers])


def corrupt_number(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Change the first salient number by a fifth or more, written the same way."""
    numbers = salient(text, language_of(case))
    return [Mutant(_replace(text, [numbers[0]], case))] if numbers else _NONE


def corrupt_all_numbers(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Change every salient number by a fifth or more."""
    numbers = salient(text, language_of(case))
    return [Mutant(_replace(text, list(numbers), case))] if numbers else _NONE


def scale_number(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Ten times the first salient number that is not nought; a tenth where a percentage would pass 100."""
    number = next((n for n in salient(text, language_of(case)) if n.form.value and not n.word), None)
    if number is None:
        return NotApplicable("no salient number in digits other than nought")
    value = number.form.value * 10
    if number.kind == "percent" and number.form.value <= 100 < value:
        value = number.form.value / 10
        if value != round(value, number.form.decimals):
            return NotApplicable("a tenth of the percentage needs more decimals")
    return [Mutant(splice(text, [(number.start, number.end, number.form.write(value))]))]


def swap_numbers(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Exchange the first two unequal salient numbers that measure the same kind of thing."""
    numbers = salient(text, language_of(case))
    for left, right in pairwise(numbers):
        same = left.kind == right.kind and (left.kind != "unit" or left.unit.casefold() == right.unit.casefold())
        if not same or left.form.value == right.form.value or left.word != right.word:
            continue
        between = text[left.end : right.start].strip(" \u00a0\u202f")
        for unit in (left.unit, right.unit):
            between = between.removeprefix(unit).removesuffix(unit).strip(" \u00a0\u202f") if unit else between
        if not _JOINED.fullmatch(between):
            one, other = left.text, right.text
            if left.word:
                one, other = match_case(one.lower(), other), match_case(other.lower(), one)
            return [Mutant(splice(text, [(left.start, left.end, other), (right.start, right.end, one)]))]
    return NotApplicable("no two unequal numbers of one kind, or only joined ones (ranges, sums, lists)")


def wrong_final(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Change the number that is the result: after ``answer:`` or the last ``=``, else the last salient one."""
    numbers = salient(text, language_of(case))
    if not numbers:
        return _NONE
    announced = [
        number
        for number in numbers
        if re.search(r"(?:=|\banswer(?:\s+is)?\s*:?|\btotal(?:\s+is)?\s*:?|\bresult(?:\s+is)?\s*:?)[\s*_$€£≈~]*$",
                     text[: number.start][-40:], re.I)
    ]  # fmt: skip
    return [Mutant(_replace(text, [(announced or list(numbers))[-1]], case))]


def whole_value(number: Number) -> int | None:
    """The number as an int, or None where it has decimals."""
    return int(number.form.value) if number.is_integer and number.form.value == int(number.form.value) else None


def is_small(number: Number, limit: Decimal = Decimal(12)) -> bool:
    """Whether the number is whole and not above the limit: those are written in words."""
    return number.is_integer and number.form.value <= limit
