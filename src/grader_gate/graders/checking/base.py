"""What every check is: built once from its configuration, then asked about many answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grader_gate.config import Check
from grader_gate.errors import LocatedError
from grader_gate.model import Tree

Finding = tuple[bool, str]
"""Whether the check passes, and why it does not, in words."""
Ask = Callable[[Mapping[str, Any]], Finding]
"""A built check: visible inputs → finding."""


class CheckProblem(LocatedError):
    """A check that cannot be built, or an item that lacks what a check needs."""


class CheckTimeout(Exception):
    """A pattern took longer than :data:`PATTERN_SECONDS` on an answer."""


PATTERN_SECONDS = 1.0
"""Longest a regular expression may take on one answer; a sane one takes microseconds."""


@dataclass(frozen=True, slots=True)
class Building:
    """What a check is built from.

    :ivar key: where it stands in the configuration.
    :ivar inputs: names of the inputs the contract makes visible.
    """

    check: Check
    key: str
    tree: Tree
    inputs: tuple[str, ...]

    def problem(self, message: str, key: str = "") -> CheckProblem:
        """An error at this check."""
        return CheckProblem(message, key=f"{self.key}.{key}" if key else self.key)

    def needs(self, name: str) -> None:
        """See that an input is visible.

        :raises CheckProblem: it is not.
        """
        if name not in self.inputs:
            raise self.problem(f"compares with the `{name}`; add it to `contract.inputs`")


def regex_engine() -> Any:
    """The ``regex`` module: Unicode classes, and searches that can be timed out."""
    import regex  # type: ignore[import-untyped]

    return regex


def text_of(inputs: Mapping[str, Any], name: str) -> str:
    """An input as text, empty where the item has none."""
    value = inputs.get(name)
    return value if isinstance(value, str) else ""


def listed(values: list[str], limit: int = 5) -> str:
    """A few values in words."""
    shown = ", ".join(repr(value) for value in values[:limit])
    return shown + (f" and {len(values) - limit} more" if len(values) > limit else "")


def search(pattern: Any, text: str) -> Any:
    """``pattern.search`` under :data:`PATTERN_SECONDS`.

    :raises CheckTimeout: the pattern backtracks without end.
    """
    try:
        return pattern.search(text, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise CheckTimeout(f"the pattern took over {PATTERN_SECONDS:g} s on this answer; make it simpler") from None


def compiled(building: Building, pattern: str, *, ignore_case: bool = False, key: str = "pattern") -> Any:
    """A compiled pattern of the ``regex`` module.

    :raises CheckProblem: it is no regular expression.
    """
    regex = regex_engine()
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise building.problem(f"is no regular expression: {error}", key) from None
