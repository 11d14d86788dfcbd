"""The hidden first line of our comment: who wrote it, for which commits, in which run.

A comment is an object: :func:`header` writes the line, :func:`parse_header` reads it back. Only position 0 of a body
counts, so a marker that a model or a contributor smuggles into quoted text is never taken for ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from grader_gate.result import Result

PREFIX = "<!-- grader-gate "
"""How every comment of ours begins."""

HEADER_VERSION = 1
"""Grows when a reader of the old header would be misled."""

MAX_HEADER = 4_000
"""Longest header, in characters, that is still read; ours are a few hundred, with all evidence below 3,000."""

_LINE = re.compile(r"\A<!-- grader-gate (\{[^\r\n]*\}) -->(?=\r?\n|\Z)")
# Inside JSON these characters occur only in strings, where the escape means the same.
_UNSAFE = (("<", "\\u003c"), (">", "\\u003e"), ("--", "-\\u002d"))


def fields(result: Result, run: Mapping[str, str | int]) -> dict[str, Any]:
    """What the header says: our own fields, then the caller's (``run_id``, ``attempt``, ``key``, …).

    :param run: extra fields; ``key`` overrides the result's, all other names of ours win.
    """
    own: dict[str, Any] = {
        "v": HEADER_VERSION,
        "tool": result.tool_version,
        "key": run.get("key", result.key),
        "base": result.base.sha,
        "head": result.head.sha,
        "verdict": result.verdict.value,
    }
    if result.pair:
        own["pair"] = result.pair
    if result.evidence:
        own["evidence"] = {pair: list(marks) for pair, marks in result.evidence.items()}
    return {**run, **own}


def header(result: Result, run: Mapping[str, str | int]) -> str:
    """The hidden first line, without a line end. ``--`` never occurs inside, so the HTML comment cannot end early."""
    text = json.dumps(fields(result, run), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for found, escaped in _UNSAFE:
        text = text.replace(found, escaped)
    return f"{PREFIX}{text} -->"


def parse_header(body: str) -> dict[str, Any] | None:
    """The fields of a header at position 0 of a comment's body, or None where there is none of ours."""
    found = _LINE.match(body[:MAX_HEADER])
    if found is None:
        return None
    try:
        value = json.loads(found[1])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
