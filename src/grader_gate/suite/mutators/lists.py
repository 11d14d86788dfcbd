"""Markdown lists: their top-level items, with what is nested below each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from grader_gate.suite.mutators.spans import is_protected
from grader_gate.suite.mutators.text import splice

_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?P<marker>[-*+•]|(?P<number>\d{1,3})(?P<stop>[.)]))(?P<gap>[ \t]+)(?=\S)", re.M
)


@dataclass(frozen=True, slots=True)
class Item:
    """A list item. ``body`` is where its own text starts, ``end`` where the next item or the list's end is."""

    start: int
    marker: tuple[int, int]
    body: int
    end: int
    number: int | None


@lru_cache(maxsize=4096)
def items_of(text: str) -> tuple[Item, ...]:
    """The top-level items of the first list of two or more items; lists inside code are no lists."""
    lines = [match for match in _ITEM.finditer(text) if not is_protected(text, match.start(), match.end())]
    run: list[re.Match[str]] = []
    for match in lines:
        if run and _continues(text, run, match):
            if _width(match["indent"]) < _width(run[0]["indent"]) + 2 and _kind(match) == _kind(run[0]):
                run.append(match)
            continue
        if len(run) >= 2:
            break
        run = [match]
    if len(run) < 2:
        return ()
    items = []
    for index, match in enumerate(run):
        end = run[index + 1].start() if index + 1 < len(run) else _end_of_item(text, match)
        number = int(match["number"]) if match["number"] else None
        items.append(Item(match.start(), match.span("marker"), match.end(), end, number))
    return tuple(items)


def _continues(text: str, run: list[re.Match[str]], match: re.Match[str]) -> bool:
    """Whether a marker belongs to the same list: nothing but the items' own, indented lines lies between."""
    nested = _width(match["indent"]) >= _width(run[0]["indent"]) + 2
    if not nested and _kind(match) != _kind(run[0]):
        return False
    between = text[run[-1].end() : match.start()].split("\n")[1:]
    blank = False
    for line in between:
        if not line.strip():
            blank = True
        elif blank and _width(line) <= _width(run[0]["indent"]):
            return False
    return True


def _end_of_item(text: str, match: re.Match[str]) -> int:
    """The end of the last item: a line after a blank one that is not indented below it starts something else."""
    position = match.end()
    base = _width(match["indent"])
    blank = False
    end = position
    for line in re.compile(r"[^\n]*\n?").finditer(text, position):
        if line.start() > position and line[0].strip():
            if blank and _width(line[0]) <= base:
                break
            if _ITEM.match(line[0]) and _width(line[0]) <= base:
                break
        if line[0].strip():
            end = line.end()
        blank = not line[0].strip()
    return end


def _kind(match: re.Match[str]) -> str:
    return match["stop"] or match["marker"]


def _width(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def renumbered(text: str, kept: Sequence[Item], items: Sequence[Item], *, without: Item) -> str:
    """The text without one item, the others numbered on from the first number."""
    edits = []
    start, end = without.start, without.end
    if without is items[-1] and not text[start:end].endswith("\n") and start > 0:
        start -= 1  # The last line of the text takes the line break before it along.
    edits.append((start, end, ""))
    first = items[0].number
    # A list that counts down, or says "1." everywhere, is left to its own way of counting.
    if first is not None and [item.number for item in items] == list(range(first, first + len(items))):
        edits += [(*item.marker, f"{first + offset}{text[item.marker[1] - 1]}") for offset, item in enumerate(kept)]
    return splice(text, edits)
