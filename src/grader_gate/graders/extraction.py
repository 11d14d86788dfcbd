"""Finding what a model meant in the text it sent: JSON first, labelled words second, and never a guess.

A judge quotes the answer it judges, and an answer may hold ``GRADE: C`` or a JSON verdict of its own. So the last
statement counts only when no other statement contradicts it, text inside a JSON value is never looked at, and a broken
object hides whatever is inside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MAX_REPLY_CHARACTERS = 200_000
"""Longest reply that is read; a verdict with its reasons takes a few thousand."""
MAX_OBJECTS = 200
"""Objects looked at in one reply."""

_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_STRING_OR_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


class Contradiction(ValueError):
    """A reply that says two things."""


def without_thinking(text: str) -> str:
    """The reply after a leading block of reasoning; empty where the block never ends."""
    text = _THINKING.sub("", text, count=1)
    return "" if _OPEN_THINKING.match(text) else text


def json_objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """The outermost JSON objects in a text, in order (fenced or not, trailing commas forgiven), and the text around.

    :raises Contradiction: one object gives a key twice with different values.
    """
    found: list[dict[str, Any]] = []
    outside: list[str] = []
    position = done = tried = 0
    while (position := text.find("{", done)) >= 0 and tried < MAX_OBJECTS:
        tried += 1
        end = _end_of_object(text, position)
        value = _load(text[position:end])
        if isinstance(value, dict):
            found.append(value)
        outside.append(text[done:position])
        done = end
    return found, "\n".join([*outside, text[done:]])


def _end_of_object(text: str, start: int) -> int:
    """Where an object that starts here ends: by JSON's own rules, else by counting braces, else at the end."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except Contradiction:
        raise
    except (ValueError, RecursionError):
        pass
    for counts_strings in (True, False):
        depth, inside, skip = 0, False, False
        for index in range(start, len(text)):
            char = text[index]
            if skip:
                skip = False
            elif inside:
                skip, inside = char == "\\", char != '"'
            elif char == '"' and counts_strings:
                inside = True
            elif char in "{}":
                depth += 1 if char == "{" else -1
                if depth == 0:
                    return index + 1
    return len(text)


def _load(text: str) -> Any:
    for candidate in (text, _STRING_OR_COMMA.sub(lambda m: m.group(1) or "", text)):
        try:
            return _DECODER.decode(candidate)
        except Contradiction:
            raise
        except (ValueError, RecursionError):
            continue
    return None


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields and fields[key] != value:
            raise Contradiction(f"the reply gives `{key}` twice, differently")
        fields[key] = value
    return fields


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_no_twins)


def holding(objects: Iterable[dict[str, Any]], fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Those objects that hold all the fields; a wrapper with a single object inside is opened."""
    for outer in objects:
        inner = next(iter(outer.values())) if len(outer) == 1 else None
        for value in (outer, inner):
            if isinstance(value, dict) and all(field in value for field in fields):
                yield value
                break


_DECORATION = r"[\s*_`#\-–•|]*"
_AFTER = r"[\s*_`.!|\"')\]]*(?:$|\s[-–—(].*$)"
"""What may follow a stated word: decoration, and a remark set off by a dash or in brackets."""


def labelled_words(text: str, labels: Sequence[str], words: Sequence[str]) -> list[str | None]:
    """What follows ``GRADE:``-like labels, in order: one of ``words``, or None where it is something else.

    A label counts at the start of a line or after the end of a sentence, never inside quotes, a quotation line
    (``> …``) or another word (``downgrade:``).
    """
    found: list[str | None] = []
    name = "|".join(re.escape(label).replace(r"\ ", r"[\s_]+") for label in labels)
    pattern = re.compile(
        rf"(?:^{_DECORATION}|[.!?:;)\]]\s+[*_`]*)(?:(?:final|overall|my|the)\s+)*(?:{name})[*_`]*\s*(?:[:=]|is:?)\s*(.*)$",
        re.IGNORECASE,
    )
    longest_first = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    choice = re.compile(rf"^[\s*_`\"'(\[]*({longest_first})(?![^\W_]){_AFTER}", re.IGNORECASE)
    for line in text.splitlines():
        if line.lstrip().startswith(">"):
            continue
        if (match := pattern.search(line)) is not None:
            word = choice.match(match.group(1))
            found.append(word.group(1) if word else None)
    return found


def bare_word(text: str, words: Sequence[str]) -> str | None:
    """The word, where the reply's last line is one of ``words`` and nothing more."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    last = lines[-1].strip(" \t*_`.!\"'()[]").casefold()
    return next((word for word in words if word.casefold() == last), None)


def labelled_numbers(text: str, labels: Sequence[str]) -> list[tuple[float, float | None]]:
    """Numbers after a label, in order, each with what it is out of: ``score: 7/10`` gives ``(7.0, 10.0)``."""
    number = r"[-+]?\d{1,12}(?:\.\d{1,12})?"
    name = "|".join(re.escape(label) for label in labels)
    pattern = re.compile(
        rf"(?:^{_DECORATION}|[.!?:;)\]]\s+[*_`]*)(?:(?:final|overall|my|the)\s+)*(?:{name})[*_`]*\s*(?:[:=]|is:?)"
        rf"[\s*_`]*({number})(?![\w.]*\d)(?:\s*(?:/|out of)\s*({number}))?",
        re.IGNORECASE,
    )
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(">")]
    matches = [match for line in lines if (match := pattern.search(line)) is not None]
    return [(float(match.group(1)), float(match.group(2)) if match.group(2) else None) for match in matches]
