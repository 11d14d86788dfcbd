"""Strings that attack the places where a run shows foreign text. ``curated.json`` lists what people have tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

CURATED: list[str] = json.loads(Path(__file__).with_name("curated.json").read_text("utf-8"))

WRAPPERS = (
    "{}",
    "`{}`",
    "`{}",
    "``{}",
    "\\{}",
    "| {} |",
    "\n{}\n",
    "\n\n{}",
    "\r{}",
    "> {}",
    "- {}",
    "</code>{}",
    "</summary></details>\n\n{}",
    "\u202e{}\u202c",
    "{}\u200b{}",
    "a {} b",
    "\x1b[0m{}",
    '">{}',
    "%0A{}",
    "]]>{}",
)
"""Contexts that an escaper may know less well than the bare string."""


def hostile_strings() -> list[str]:
    """All of them, no two alike, in a fixed order: the list itself, then every string in three other contexts."""
    made = list(CURATED)
    for offset in range(3):
        wrappers = WRAPPERS[1:]
        made += [wrappers[(index * 3 + offset) % len(wrappers)].replace("{}", s) for index, s in enumerate(CURATED)]
    return list(dict.fromkeys(made))


HOSTILE = hostile_strings()


def poisoned(result: Any, words: Iterator[str], prefix: str = "x") -> Any:
    """The result with the next words in every text field; names, SHAs and whatever has a fixed form stay.

    A word never stands alone, so that none vanishes and takes a row of a table with it.
    """
    kept = {
        *("verdict", "mode", "sha", "kind", "status", "claim_kind", "direction", "audit", "polarity", "standing"),
        *("level", "role", "quote", "schema_version", "exit_code", "started_at", "pair", "text_digest", "evidence"),
        "report_url",
    }

    def walk(value: Any, key: str) -> Any:
        if key in kept:
            return value
        if isinstance(value, str):
            return prefix + next(words) if value else value
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return tuple(walk(v, key) for v in value)
        return value

    return type(result).model_validate(walk(result.model_dump(), ""))


def endless(strings: list[str]) -> Iterator[str]:
    """The strings, again and again."""
    return cycle(strings)
