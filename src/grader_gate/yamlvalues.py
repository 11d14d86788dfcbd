"""From YAML events to plain values: the core schema, no tags of one's own, every limit of :mod:`grader_gate.documents`.

The events of libyaml are read directly. That is several times faster than composing nodes, and each event carries its
line, so that duplicate keys, aliases and nesting are judged where they stand.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from grader_gate.documents import MAX_ALIASED, MAX_DEPTH, TOO_DEEP, Document, DocumentError, Key, Keys, Lines, dotted

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_MAY_BE_SPECIAL = frozenset("-+.0123456789~nNtTfF")
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,399})")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|(?:0|[1-9][0-9]*)(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))"
)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_HINTS = {
    "mapping values are not allowed": "a text that holds `: ` needs quotes or a block (`|`)",
    "cannot start any token": "indent with spaces, and quote a text that begins with a sign",
    "did not find expected": "check the indentation and the quotes above this line",
    "could not find expected ':'": "check the indentation, and quote a text of several lines or use a block (`|`)",
}
_VALUE_COST = 8
"""What each value counts towards :data:`MAX_ALIASED` beside its text."""
_CHEAP_DEPTH = 2
"""Down to here the lines of lists and mappings are kept at once: cases and ladders start there."""


class _Merge:
    """Stands for the merge key while its value is read."""


_MERGE = _Merge()


class _Open:
    """A list or mapping whose end is not read yet."""

    __slots__ = ("anchor", "items", "key", "mapping", "merges", "weight")

    def __init__(self, mapping: bool, anchor: str | None) -> None:
        self.mapping, self.anchor = mapping, anchor
        self.items: Any = {} if mapping else []
        self.key: str | _Merge | None = None
        self.merges: list[dict[str, Any]] = []
        self.weight = _VALUE_COST


def read_yaml(text: str, path: str) -> Document:
    """Parse one YAML document; an empty one is null.

    :raises DocumentError: broken syntax, several documents, a duplicate key, a tag beyond the core schema, a key that
        is no text, an infinite or undefined number, nesting or aliases beyond the limits.
    """
    starts: Lines = {}
    value = _Reader(path, starts, every=False).read(text)

    def find() -> Lines:
        lines: Lines = {(): 1}
        _Reader(path, lines, every=True).read(text)
        return lines

    return Document(path, value, starts, find)


class _Reader:
    def __init__(self, path: str, lines: Lines, *, every: bool) -> None:
        self.path, self.lines, self.every = path, lines, every
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int] | None] = {}
        self.aliased = 0
        self.result: Any = None
        self.text = ""

    def read(self, text: str) -> Any:
        self.text = text
        documents = 0
        try:
            for event in yaml.parse(text, Loader=_LOADER):
                kind = type(event)
                if kind is yaml.ScalarEvent:
                    self._scalar(event)
                elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                    self._open(event, kind is yaml.MappingStartEvent)
                elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                    self._close(event)
                elif kind is yaml.AliasEvent:
                    self._alias(event)
                elif kind is yaml.DocumentStartEvent:
                    documents += 1
                    if documents > 1:
                        raise self._error(event, "a second document begins here (`---`): put it into its own file")
        except yaml.MarkedYAMLError as error:
            raise self._syntax(error) from None
        except yaml.reader.ReaderError as error:
            line = text.encode()[: error.position].count(b"\n") + 1
            raise DocumentError(
                f"a control character (U+{_code(error.character):04X}) cannot stand in YAML: write it as an escape in "
                'double quotes ("\\x07") or use JSON',
                path=self.path,
                line=line,
            ) from None
        return self.result

    # -- events

    def _scalar(self, event: Any) -> None:
        top = self.stack[-1] if self.stack else None
        if top is not None and top.mapping and top.key is None:
            self._key(top, event, event.value)
            if event.anchor is not None:
                self.anchors[event.anchor] = (event.value, _VALUE_COST + len(event.value))
            return
        weight = _VALUE_COST + len(event.value)
        if event.tag is None:
            value = self._plain(event) if event.implicit[0] else event.value
        else:
            value = self._tagged(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, weight)
        self._put(event, value, weight)

    def _key(self, top: _Open, event: Any, key: Any) -> None:
        if not isinstance(key, str):
            raise self._error(event, "a key must be plain text")
        if key == "<<" and getattr(event, "implicit", (False,))[0]:
            if top.merges:
                raise self._error(event, "the merge key `<<` stands twice: give it a list")
            top.key = _MERGE
            return
        if key in top.items:
            self._duplicate(event, key)
        top.key = key
        if self.every:
            self.lines[self._place()] = event.start_mark.line + 1

    def _duplicate(self, event: Any, key: str) -> None:
        if not self.every:
            # The first line is known only to a reader that keeps every line; it ends in the same error.
            _Reader(self.path, {}, every=True).read(self.text)
        place = (*self._place(up_to=len(self.stack) - 1), key)
        first = self.lines.get(place)
        raise DocumentError(
            f"the key stands twice, first on line {first}: keep one",
            path=self.path,
            line=event.start_mark.line + 1,
            key=dotted(place),
        )

    def _open(self, event: Any, mapping: bool) -> None:
        stack = self.stack
        if stack and stack[-1].mapping and stack[-1].key is None:
            raise self._error(event, "a key must be plain text, not a list or a mapping")
        if event.tag is not None and event.tag not in (_TAG + ("map" if mapping else "seq"), "!"):
            raise self._tag_error(event)
        if len(stack) >= MAX_DEPTH:
            raise self._error(event, TOO_DEEP)
        if stack and not stack[-1].mapping and (self.every or len(stack) <= _CHEAP_DEPTH):
            self.lines[self._place()] = event.start_mark.line + 1
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        stack.append(_Open(mapping, event.anchor))

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        for merged in done.merges:
            for key, value in merged.items():
                done.items.setdefault(key, value)
        if done.anchor is not None:
            self.anchors[done.anchor] = (done.items, done.weight)
        self._put(event, done.items, done.weight)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            raise self._error(event, f"alias `*{event.anchor}` has no anchor `&{event.anchor}` above it")
        known = self.anchors[event.anchor]
        if known is None:
            raise self._error(event, f"alias `*{event.anchor}` stands inside its own anchor")
        value, weight = known
        self.aliased += weight
        if self.aliased > MAX_ALIASED:
            raise self._error(
                event,
                f"the aliases of this file stand for more than {MAX_ALIASED // 1_000_000} million characters: write "
                "the values out or use fewer",
            )
        top = self.stack[-1]
        if top.mapping and top.key is None:
            self._key(top, event, value)
        else:
            self._put(event, value, weight)

    def _put(self, event: Any, value: Any, weight: int) -> None:
        if not self.stack:
            self.result = value
            return
        top = self.stack[-1]
        top.weight += weight
        if not top.mapping:
            if self.every:
                self.lines.setdefault(self._place(), event.start_mark.line + 1)
            top.items.append(value)
        elif isinstance(top.key, _Merge):
            parts = value if isinstance(value, list) else [value]
            if not parts or not all(isinstance(part, dict) for part in parts):
                raise self._error(event, "the merge key `<<` takes a mapping or a list of mappings")
            top.merges.extend(parts)
            top.key = None
        else:
            top.items[top.key] = value
            top.key = None

    # -- scalars

    def _plain(self, event: Any) -> Any:
        text: str = event.value
        if text and text[0] not in _MAY_BE_SPECIAL:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if math.isinf(value):
                raise self._error(event, f"the number {text[:40]} is too large")
            return value
        if _NOT_FINITE.fullmatch(text):
            raise self._error(event, f"{text} is no number that can be compared: write null, a number, or quote it")
        return text

    def _tagged(self, event: Any) -> Any:
        name = event.tag.removeprefix(_TAG)
        if event.tag == "!" or name == "str":
            return event.value
        value = self._plain(event)
        kinds = {"null": type(None), "bool": bool, "int": int, "float": float}
        if not event.tag.startswith(_TAG) or name not in kinds:
            raise self._tag_error(event)
        if name == "float" and type(value) is int:
            return float(value)
        if type(value) is not kinds[name]:
            raise self._error(event, f"`{event.value[:40]}` is not what its tag `!!{name}` says")
        return value

    # -- places and errors

    def _place(self, up_to: int | None = None) -> Keys:
        keys: list[Key] = []
        for part in self.stack[:up_to]:
            if not part.mapping:
                keys.append(len(part.items))
            elif isinstance(part.key, str):
                keys.append(part.key)
            else:
                keys.append("<<")
        return tuple(keys)

    def _error(self, event: Any, message: str) -> DocumentError:
        keys = self._place()
        if self.stack and self.stack[-1].mapping and self.stack[-1].key is None:
            keys = keys[:-1]
        return DocumentError(message, path=self.path, line=event.start_mark.line + 1, key=dotted(keys) or None)

    def _tag_error(self, event: Any) -> DocumentError:
        tag = event.tag.replace(_TAG, "!!")
        return self._error(event, f"the tag `{tag[:60]}` is not allowed: use text, numbers, true, false, null")

    def _syntax(self, error: yaml.MarkedYAMLError) -> DocumentError:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else None
        if "maximum nesting depth" in problem:  # libyaml's own limit, met while it reads ahead
            return DocumentError(TOO_DEEP, path=self.path, line=line)
        hint = next((hint for sign, hint in _HINTS.items() if sign in problem), None)
        message = f"not valid YAML: {problem}" + (f"; {hint}" if hint else "")
        return DocumentError(message, path=self.path, line=line)


def _code(character: Any) -> int:
    return ord(character) if isinstance(character, str) else int(character)
