"""How a number is written, and how to write another one the same way: script, separators, decimals, padding."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from grader_gate.suite.mutators.text import match_case

NUMERAL = r"(?:(?<![\d.,])[.٫](?=\d))?\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*"
"""A run of digits of any script with separators inside, or a decimal without its leading zero."""

CHANGE = Decimal("0.2")
"""Least relative change of a corrupted number: below it a tolerant grader may rightly accept."""

_THOUSANDS = ",'’٬\u00a0\u202f"


@dataclass(frozen=True, slots=True)
class Form:
    """A number and the way it is written.

    :ivar zero: code point of the script's digit nought.
    :ivar separator: what stands between groups of digits, or nothing.
    :ivar indian: groups of two before the last three (``1,00,000``).
    :ivar point: the decimal separator; ``decimals`` digits follow it.
    :ivar width: digits of the whole part where it is padded with noughts, else 0.
    :ivar bare: the nought before the decimal separator is left out (``.5``).
    """

    value: Decimal
    zero: int = ord("0")
    separator: str = ""
    indian: bool = False
    point: str = "."
    decimals: int = 0
    width: int = 0
    bare: bool = False

    def write(self, value: Decimal) -> str:
        """Another value in the same form; it must need no more decimals than the form has."""
        whole, _, fraction = f"{value:.{self.decimals}f}".partition(".")
        whole = whole.zfill(self.width)
        if self.separator and len(whole) > 3:
            head, tail = whole[:-3], whole[-3:]
            size = 2 if self.indian else 3
            groups = [head[max(0, end - size) : end] for end in range(len(head), 0, -size)][::-1]
            whole = self.separator.join([*groups, tail])
        if self.bare and whole == "0":
            whole = ""
        written = whole + (self.point + fraction if fraction else "")
        return "".join(chr(self.zero + int(c)) if c.isascii() and c.isdigit() else c for c in written)


def parse(numeral: str) -> Form | None:
    """Read a numeral; None for mixed scripts, versions, addresses and other runs that are no number."""
    zeros = {ord(c) - unicodedata.digit(c) for c in numeral if c.isdecimal()}
    if len(zeros) != 1:
        return None
    zero = zeros.pop()
    plain = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in numeral)
    bare = not plain[0].isdigit()
    groups = re.split(r"\D", plain)
    marks = re.findall(r"\D", plain)
    if bare:
        return (
            Form(Decimal(f"0.{groups[1]}"), zero, point=marks[0], decimals=len(groups[1]), bare=True)
            if len(marks) == 1
            else None
        )
    point = ""
    if marks and (marks[-1] in ".٫" or (marks[-1] == "," and (len(set(marks)) > 1 or not _grouped(groups)))):
        point = marks.pop()
    if point in marks or len(set(marks)) > 1 or (marks and marks[0] not in _THOUSANDS + "."):
        return None
    fraction = groups.pop() if point else ""
    if marks and (not _grouped(groups) or (marks[0] == "." and not point)):
        return None
    whole = "".join(groups)
    return Form(
        value=Decimal(f"{whole}.{fraction}" if fraction else whole),
        zero=zero,
        separator=marks[0] if marks else "",
        indian=any(len(group) == 2 for group in groups[1:-1]) or (len(groups) > 2 and len(groups[1]) == 2),
        point=point or ".",
        decimals=len(fraction),
        width=len(whole) if len(whole) > 1 and whole[0] == "0" else 0,
    )


def _grouped(groups: list[str]) -> bool:
    """Whether the groups are thousands (3 and 3) or Indian (2 and 3), and not a nought padded out."""
    inner = {len(group) for group in groups[1:-1]}
    return (
        len(groups[-1]) == 3
        and groups[0] != "0"
        and ((1 <= len(groups[0]) <= 3 and inner <= {3}) or (1 <= len(groups[0]) <= 2 and inner == {2}))
    )


def corrupted(form: Form, *, percent: bool = False, tolerance: float | None = None) -> Decimal:
    """A clearly different value: at least a fifth away, 2 for small whole numbers, twice the case's own tolerance.

    Goes down where a percentage would pass 100, so that the result stays a believable figure.

    :param tolerance: below 1 relative, from 1 on in the number's own unit.
    """
    slack = Decimal(str(tolerance)) if tolerance else Decimal(0)
    step = Decimal(1).scaleb(-form.decimals)
    delta = form.value * max(CHANGE, 2 * slack if slack < 1 else CHANGE)
    if slack >= 1:
        delta = max(delta, 2 * slack)
    delta = max(delta, 2 * step)  # 9 to 10 or 0.1 to 0.2 may be a matter of rounding.
    delta = (delta / step).to_integral_value(ROUND_CEILING) * step
    raised = form.value + delta
    if percent and form.value <= 100 < raised:
        return ((form.value - delta) / step).to_integral_value(ROUND_FLOOR) * step if delta < form.value else step * 0
    return raised


def in_words(value: int, like: str, language: str = "en") -> str:
    """A whole number in words, in the letter case of ``like``."""
    from num2words import num2words

    return match_case(str(num2words(value, lang=language)), like if len(like) > 1 else like.lower())
