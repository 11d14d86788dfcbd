"""Safe reading of YAML, JSON and JSON Lines that anyone may have written, with the line of every key.

The formats give plain values only: text, numbers, true, false, null, lists and mappings with text as keys. YAML is
read by the core schema of YAML 1.2, narrowed where a surprise would cost a verdict: ``yes``, ``no``, ``on``, ``off``
and dates stay text, and so do numbers with a leading zero or plus (``007``) and in other bases, for they are names more
often than numbers. Merge keys (``<<``) work. Line maps are made when first asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from grader_gate.errors import LocatedError

MAX_BYTES = 20_000_000
"""Largest file that is read, in bytes. 10,000 long cases take about a fifth of it."""

MAX_DEPTH = 64
"""Deepest nesting of lists and mappings. A case needs five levels."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels: make it flatter"

MAX_ALIASED = 20_000_000
"""Most characters that all YAML aliases of a file may stand for, each value counting 8 beside its text. Bounds an alias
bomb ("billion laughs"), which is small in memory but endless for whoever walks it."""

FORMATS: Mapping[str, str] = {"yml": "yaml", "yaml": "yaml", "json": "json", "jsonl": "jsonl", "ndjson": "jsonl"}
"""Format by file name extension."""

Key = str | int
Keys = tuple[Key, ...]
Lines = dict[Keys, int]


class DocumentError(LocatedError):
    """A file that cannot be read as text, YAML, JSON or JSON Lines within the limits."""


class Document:
    """A parsed file.

    :ivar path: where it was read from.
    :ivar value: its plain value; parts of it may be shared, so it must not be changed.
    """

    __slots__ = ("_find", "_lines", "_starts", "path", "value")

    def __init__(self, path: str, value: Any, starts: Lines, find: Callable[[], Lines] | None = None) -> None:
        self.path, self.value = path, value
        self._starts, self._find = starts, find
        self._lines: Lines | None = None

    def line(self, keys: Keys) -> int | None:
        """The 1-based line of the value at ``keys``, or of the nearest value around it that has one."""
        if (line := self._starts.get(keys)) is not None:
            return line
        if self._lines is None:
            self._lines = self._find() if self._find is not None else self._starts
        while keys not in self._lines:
            if not keys:
                return None
            keys = keys[:-1]
        return self._lines[keys]


def dotted(keys: Keys) -> str:
    """Keys as people write them: ``cases[3].rubric.file``."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def decode(data: bytes, path: str, limit: int = MAX_BYTES) -> str:
    """UTF-8 text without a byte order mark, its line ends made ``\\n``; nothing else is changed.

    :raises DocumentError: more than ``limit`` bytes, or bytes that are not UTF-8 (with the line).
    """
    if len(data) > limit:
        size = f"{len(data) / 1e6:.1f}"
        raise DocumentError(
            f"the file has {size} MB, the limit is {limit / 1e6:g} MB per file: split it into several", path=path
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError("the file is UTF-16: save it as UTF-8", path=path, line=1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # After a byte order mark the codec counts from behind it.
        start = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise DocumentError(
            f"byte 0x{data[start]:02x} is not UTF-8: save the file as UTF-8",
            path=path,
            line=data.count(b"\n", 0, start) + 1,
        ) from None
    return text.replace("\r\n", "\n") if "\r" in text else text


def read_document(data: bytes, path: str, *, limit: int = MAX_BYTES) -> Document:
    """Parse a file by the extension of its name, see :data:`FORMATS`.

    :param limit: largest size, bytes.
    :raises DocumentError: unknown extension, broken syntax, a duplicate key, or a limit passed.
    """
    name = path.rsplit("/", 1)[-1]
    form = FORMATS.get(name.rpartition(".")[2].lower()) if "." in name else None
    if form is None:
        raise DocumentError(f"unknown format: name the file {', '.join('*.' + ext for ext in FORMATS)}", path=path)
    text = decode(data, path, limit)
    if form == "yaml":
        from grader_gate.yamlvalues import read_yaml

        return read_yaml(text, path)
    return read_json(text, path) if form == "json" else read_jsonl(text, path)


# ---------------------------------------------------------------- JSON


class _DuplicateKeyError(ValueError):
    """A key stands twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return result


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _int(text: str) -> int:
    if len(text) > 400:
        raise ValueError(f"the number {text[:20]}… has {len(text)} digits, which is too many")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number that can be compared: write null or a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_int=_int, parse_constant=_constant)


def _too_deep(value: Any) -> bool:
    """Whether a value nests deeper than :data:`MAX_DEPTH`; does not recurse."""
    layer = [value]
    for _ in range(MAX_DEPTH):
        layer = [
            child
            for parent in layer
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not layer:
            return False
    return True


def _json_value(text: str) -> Any:
    """:raises ValueError: with words that need only a place in front."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(value):
        raise ValueError(TOO_DEEP)
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair (\\ud800 to \\udfff) is no text: write the whole pair") from None
    return value


def read_json(text: str, path: str) -> Document:
    """Parse one JSON value. Errors as :func:`read_document`."""
    try:
        value = _json_value(text)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (column {error.colno})"
        if error.msg == "Extra data":
            message += "; one object a line is JSON Lines: name the file *.jsonl"
        raise DocumentError(message, path=path, line=error.lineno) from None
    except _DuplicateKeyError:
        _, twice = _json_lines(text)
        keys, first, again = twice or ((), 1, 1)
        raise DocumentError(
            f"the key stands twice, first on line {first}: keep one", path=path, line=again, key=dotted(keys)
        ) from None
    except ValueError as error:
        raise DocumentError(str(error), path=path) from None
    return Document(path, value, {}, lambda: _json_lines(text)[0])


def read_jsonl(text: str, path: str) -> Document:
    """Parse one JSON value a line into a list; blank lines are skipped. Errors as :func:`read_document`."""
    values: list[Any] = []
    starts: Lines = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.isspace():
            continue
        try:
            value = _json_value(line)
        except json.JSONDecodeError as error:
            raise DocumentError(
                f"not valid JSON: {error.msg} (column {error.colno}); JSON Lines holds one whole value a line",
                path=path,
                line=number,
            ) from None
        except _DuplicateKeyError as error:
            raise DocumentError("the key stands twice: keep one", path=path, line=number, key=str(error)) from None
        except ValueError as error:
            raise DocumentError(str(error), path=path, line=number) from None
        starts[(len(values),)] = number
        values.append(value)
    return Document(path, values, starts)


def _json_lines(text: str) -> tuple[Lines, tuple[Keys, int, int] | None]:
    """The line of every key and list item of a valid JSON text, and the first key that stands twice with both lines."""
    import re

    lines: Lines = {(): 1}
    keys: list[Key] = []
    opened: list[str] = []
    line, expects_key = 1, False
    for match in re.finditer(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:\n]', text):
        token = match[0]
        mark = token[0]
        if mark == "\n":
            line += 1
        elif mark == ":":
            expects_key = False
        elif mark == ",":
            if opened[-1] == "{":
                expects_key = True
            else:
                keys[-1] = int(keys[-1]) + 1
        elif mark in "]}":
            opened.pop()
            keys.pop()
            expects_key = False
        elif expects_key:
            keys[-1] = json.loads(token)
            place = tuple(keys)
            if place in lines:
                return lines, (place, lines[place], line)
            lines[place] = line
        else:
            if opened and opened[-1] == "[":
                lines.setdefault(tuple(keys), line)
            if mark in "[{":
                opened.append(mark)
                keys.append(0 if mark == "[" else "")
                expects_key = mark == "{"
    return lines, None
