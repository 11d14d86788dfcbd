"""Paths of a repository and the globs over them: pure text, no files."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from grader_gate.changes.git import printable
from grader_gate.errors import UsageError

_MAGIC = re.compile(r"[*?\[]")


class PathOutside(UsageError):
    """A path or glob that leaves the repository."""


def normalise(path: str) -> str:
    """The one spelling of a repository path: ``/`` between parts, no ``.``, no ``..``, no empty part.

    :returns: the empty string for the repository's top folder.
    :raises PathOutside: absolute, above the top, or with a control character that no path may hold (NUL).
    """
    if path.startswith("/") or "\0" in path:
        raise PathOutside(f"{printable(path)}: outside the repository; give a path relative to its top folder")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise PathOutside(f"{printable(path)}: outside the repository; a `..` leads above its top folder")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def nfc(text: str) -> str:
    """Composed form, so that ``é`` is one spelling whichever system wrote the name."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def normalise_glob(pattern: str) -> str:
    """The one spelling of a glob. A trailing ``/`` names a folder and means all below it.

    :raises PathOutside: absolute, or with a ``..``: a glob stays below the top folder.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.startswith("/") or "\0" in pattern or ".." in parts:
        raise PathOutside(f"{printable(pattern)}: outside the repository; a glob is relative to its top folder")
    if not parts or pattern.endswith("/"):
        parts.append("**")
    return "/".join(parts)


def literal_prefix(pattern: str) -> str:
    """What every match of the glob begins with: the text before its first ``*``, ``?`` or ``[``."""
    magic = _MAGIC.search(pattern)
    return pattern if magic is None else pattern[: magic.start()]


def is_literal(pattern: str) -> bool:
    """Whether the glob can match one path only."""
    return _MAGIC.search(pattern) is None


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A regular expression for a normalised glob; match it against the whole path.

    ``*`` and ``?`` stay in one folder and match a leading dot too (nothing may hide a case); ``**`` as a whole part
    spans any number of folders, none included; ``[abc]``, ``[a-z]``, ``[!a]`` are classes. Case counts everywhere.
    """
    parts = pattern.split("/")
    out: list[str] = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            out.append(".+" if last else "(?:[^/]+/)*")
        else:
            out.append(_part(part) + ("" if last else "/"))
    return re.compile("".join(out), re.DOTALL)


def _part(part: str) -> str:
    out: list[str] = []
    index = 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            # A run of stars inside a part is one star: repeated ones would only make matching slow.
            if out[-1:] != ["[^/]*"]:
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := _class_end(part, index)) is not None:
            out.append(_class(part[index:end]))
            index = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _class_end(part: str, start: int) -> int | None:
    first = start + 1 if part[start : start + 1] in ("!", "^") else start
    end = part.find("]", first + 1)
    return None if end < 0 else end


def _class(body: str) -> str:
    negated = body[0] in "!^"
    members = body[1:] if negated else body
    ranges: list[str] = []
    index = 0
    while index < len(members):
        low = members[index]
        if members[index + 1 : index + 2] == "-" and index + 2 < len(members):
            high = members[index + 2]
            index += 3
            if low <= high:
                ranges.append(f"{re.escape(low)}-{re.escape(high)}")
            continue
        ranges.append(re.escape(low))
        index += 1
    inside = "".join(ranges)
    if not inside:  # only an empty range such as [z-a]
        return "[^/]" if negated else "(?!)"
    return f"[^/{inside}]" if negated else f"(?!/)[{inside}]"
