"""Numbers in text: read as people write them, compared within a tolerance, in any convertible unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from grader_gate.graders.checking.base import Ask, Building, Finding, listed, regex_engine, text_of

NUMBER = r"""
(?<![\p{L}\p{N}_.,])(?<!\p{L}[-./:\#])  # not inside a word, an identifier or a number
(?P<sign>(?<![\p{L}\p{N})\]])(?<![\p{N})\]]\s)[-+−–])?
(?P<digits>
    \d{1,3}(?:[,\u0020\u00a0\u2009\u202f'’_]\d{3})+(?!\d)(?:\.\d+)?   # 1,234.5   1 234.5   1'234
  | \d{1,3}(?:\.\d{3})+,\d+                                 # 1.234,5
  | \d+(?:[.,]\d+)?                                         # 1234.5   3,14
  | \.\d+
)
(?:\s?[×x*]\s?10\s?\^?\s?(?P<power>[-−]?\d+|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|[eE](?P<exponent>[-+]?\d+))?
(?![\p{N}_])(?![.,]\d)
\s?(?P<unit>%|‰|(?:°\s?[CFK])|UNIT(?:[/·*]UNIT){0,3})?
"""
"""A number and the word after it, which may be a unit. Digit groups by comma, space, apostrophe or underscore, with a
decimal point; or by points with a decimal comma. A lone comma before three digits groups (``1,234``), else it is a
decimal comma (``3,14``)."""
UNIT = r"[\p{L}µμΩ°]{1,20}(?:[²³]|⁻[¹²]|\^-?\d)?"
"""One factor of a unit. Small exponents only: a unit is evaluated."""
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
EPSILON = 1e-9
"""Relative slack for binary fractions, so that 0.1 + 0.2 is 0.3."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number found in a text.

    :ivar unit: the word after it; may be no unit at all.
    :ivar text: as written.
    """

    value: float
    unit: str
    text: str


def quantities(text: str) -> list[Quantity]:
    """Every number of a text, in order."""
    found = []
    for match in _pattern().finditer(text):
        value = _value(match.group("digits"))
        power = match.group("exponent") or (match.group("power") or "0").translate(SUPERSCRIPTS).replace("−", "-")
        try:
            value *= 10.0 ** int(power)
        except (OverflowError, ValueError):
            continue
        if (match.group("sign") or "+") != "+":
            value = -value
        if math.isfinite(value):
            found.append(Quantity(value, match.group("unit") or "", match.group().strip()))
    return found


@cache
def _pattern() -> Any:
    regex = regex_engine()
    return regex.compile(NUMBER.replace("UNIT", UNIT), regex.VERBOSE)


def _value(digits: str) -> float:
    import re

    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", digits) and not re.fullmatch(r"\d{1,3},\d{3}", digits):
        digits = digits.replace(",", ".")
    return float(re.sub(r"[,\s'’_\u00a0\u2009\u202f]", "", digits))


def numbers(building: Building) -> Ask:
    """Every number of the reference (or each of ``values``) stands in the answer, within ``tolerance`` (relative) or
    ``absolute``; with ``unit``, in that unit or one that converts to it.

    ``expect``: ``all`` (default), ``any``, ``none``. A reference without a number is an error of the case.
    """
    check = building.check
    if not check.values:
        building.needs("reference")
    units = _Units(building) if check.unit is not None else None
    given = [q for value in check.values for q in quantities(value)]
    if check.values and len(given) < len(check.values):
        raise building.problem("holds what is no number", "values")
    expect = check.expect or "all"

    def ask(inputs: Mapping[str, Any]) -> Finding:
        wanted = given or quantities(text_of(inputs, "reference"))
        if units is not None:
            wanted = [q for q in wanted if units.has_unit(q)] or wanted
        if not wanted:
            raise building.problem("finds no number in the reference of this case; do not use it on such cases")
        found = quantities(text_of(inputs, "answer"))
        present = [q for q in wanted if any(_same(q, other, units, check.tolerance, check.absolute) for other in found)]
        absent = [q.text for q in wanted if q not in present]
        match expect:
            case "any":
                return bool(present), "" if present else f"has none of {listed(absent)}"
            case "none":
                return not present, f"has {listed([q.text for q in present])}" if present else ""
            case _:
                in_unit = f" (in {check.unit})" if check.unit else ""
                return not absent, f"lacks {listed(absent)}{in_unit}" if absent else ""

    return ask


def _same(wanted: Quantity, found: Quantity, units: _Units | None, relative: float, absolute: float) -> bool:
    target, value = wanted.value, found.value
    if units is not None:
        converted = units.convert(found)
        if converted is None:
            return False
        value = converted
        in_unit = units.convert(wanted)
        target = wanted.value if in_unit is None else in_unit
    elif (wanted.unit in ("%", "‰")) != (found.unit in ("%", "‰")):
        # 5 % is 0.05: a share may be written either way, but 5 is not 5 %.
        target *= _SHARES.get(wanted.unit, 1.0)
        value *= _SHARES.get(found.unit, 1.0)
    return abs(value - target) <= max(absolute, relative * abs(target), EPSILON * abs(target))


_SHARES = {"%": 0.01, "‰": 0.001}


class _Units:
    """Converts to one unit."""

    def __init__(self, building: Building) -> None:
        import pint

        self._errors: tuple[type[Exception], ...] = (
            pint.errors.PintError, AttributeError, ValueError, TypeError, AssertionError, KeyError, OverflowError,
        )  # fmt: skip
        self._registry: Any = pint.UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)
        try:
            self._unit = self._registry.Unit(_spelled(building.check.unit or ""))
        except Exception:
            raise building.problem(f"{building.check.unit!r} is no unit that is known", "unit") from None

    def has_unit(self, quantity: Quantity) -> bool:
        """Whether the word after the number is a unit that converts."""
        return bool(quantity.unit) and self.convert(quantity) is not None

    def convert(self, quantity: Quantity) -> float | None:
        """The value in the check's unit, None where there is no unit or it does not convert."""
        if not quantity.unit:
            return None
        try:
            unit = self._registry.Unit(_spelled(quantity.unit))
            return float(self._registry.Quantity(quantity.value, unit).to(self._unit).magnitude)
        except self._errors:
            return None


def _spelled(unit: str) -> str:
    """A unit as pint spells it."""
    compact = unit.replace(" ", "")
    special = {
        "%": "percent", "‰": "permille", "°C": "degC", "°F": "degF", "°K": "kelvin", "°": "degree", "Ω": "ohm",
    }  # fmt: skip
    if compact in special:
        return special[compact]
    for sign, plain in (("²", "**2"), ("³", "**3"), ("⁻¹", "**-1"), ("·", "*"), ("^", "**"), ("μ", "µ")):
        compact = compact.replace(sign, plain)
    return compact.replace("kΩ", "kiloohm").replace("MΩ", "megaohm").replace("Ω", "ohm")
