"""What changed between two texts, small enough to show. Pure; returns plain text that its user escapes."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
MAX_TOKENS = 1_000
"""Longest changed middle, in tokens, that is compared word by word; a longer one is one replacement."""


class Part(NamedTuple):
    """A stretch of both texts. ``same``: equal on both sides; ``changed``: one side may be empty."""

    kind: Literal["same", "changed"]
    before: str
    after: str


def parts(before: str, after: str) -> list[Part]:
    """Both texts as a sequence of equal and changed stretches, by words.

    Joined, the ``before`` of all parts is ``before``, and likewise ``after``.
    """
    a, b = _TOKEN.findall(before), _TOKEN.findall(after)
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    out: list[Part] = []
    if start:
        out.append(Part("same", "".join(a[:start]), "".join(b[:start])))
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(middle_a) > MAX_TOKENS or len(middle_b) > MAX_TOKENS:
        out.append(Part("changed", "".join(middle_a), "".join(middle_b)))
    else:
        for op, i, j, k, m in SequenceMatcher(None, middle_a, middle_b, autojunk=True).get_opcodes():
            out.append(Part("same" if op == "equal" else "changed", "".join(middle_a[i:j]), "".join(middle_b[k:m])))
    if end:
        out.append(Part("same", "".join(a[len(a) - end :]), "".join(b[len(b) - end :])))
    return out


def _clip(text: str, context: int, *, first: bool, last: bool) -> str:
    """An equal stretch with only ``context`` characters beside each change."""
    if first:
        return text if len(text) <= context + 1 else "…" + text[-context:]
    if last:
        return text if len(text) <= context + 1 else text[:context] + "…"
    return text if len(text) <= 2 * context + 1 else text[:context] + "…" + text[-context:]


def excerpt(before: str, after: str, *, context: int = 60) -> tuple[str, str]:
    """Both texts with equal stretches shortened to ``context`` characters around what changed."""
    found = parts(before, after)
    left, right = [], []
    for index, part in enumerate(found):
        if part.kind == "same":
            text = _clip(part.before, context, first=index == 0, last=index == len(found) - 1)
            left.append(text)
            right.append(text)
        else:
            left.append(part.before)
            right.append(part.after)
    return "".join(left), "".join(right)


def diff_lines(before: str, after: str, *, context: int = 60) -> list[str]:
    """Lines of a small diff: ``- `` for the text before, ``+ `` for the text after, two spaces for an equal line."""
    if before == after:
        return [f"  {line}" for line in before.splitlines() or [""]]
    left, right = excerpt(before, after, context=context)
    a, b = left.splitlines() or [""], right.splitlines() or [""]
    out: list[str] = []
    for op, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if op == "equal":
            out += [f"  {line}" for line in a[i:j]]
        else:
            out += [f"- {line}" for line in a[i:j]] + [f"+ {line}" for line in b[k:m]]
    # Line ends alone differ: the lines are equal, so say what cannot be seen.
    return out if any(not line.startswith("  ") for line in out) else [*out, "  (only line ends differ)"]
