"""Says in plain words what pydantic found wrong with a document, with the line of each key and a way to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from grader_gate.documents import Document, Keys, dotted
from grader_gate.errors import LocatedError

MAX_SHOWN = 20
"""Most problems of one file that a message lists; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file.

    :ivar message: what is wrong; how to mend it.
    """

    path: str
    line: int | None
    key: str
    message: str

    def __str__(self) -> str:
        return str(LocatedError(self.message, path=self.path, line=self.line, key=self.key or None))


def suggestion(name: object, known: Iterable[str]) -> str:
    """``did you mean `x`?`` where a known name is near, else the known names."""
    names = sorted(known)
    near = get_close_matches(str(name), names, 1, 0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"known: {', '.join(names)}" if names else "nothing is known here"


def problems(error: ValidationError, model: type[BaseModel], document: Document) -> list[Problem]:
    """The problems behind a pydantic error, each once, in the order of the file."""
    found: dict[Keys, list[str]] = {}
    kinds: dict[Keys, set[str]] = {}
    for detail in error.errors(include_url=False):
        context = detail.get("ctx") or {}
        if detail["type"] == "too_short" and len(detail["input"]) >= context.get("min_length", 0):
            continue  # pydantic counts only the valid entries; the invalid ones have their own problem
        keys = _keys(detail["loc"], document.value, detail["type"])
        keys, message = _words(detail, keys, model, document.value)
        if message not in found.setdefault(keys, []):
            found[keys].append(message)
        kinds.setdefault(keys, set()).add(str(detail["type"]))
    # A union is tried branch by branch: the branch that got deeper is the one that was meant.
    for keys, types in kinds.items():
        if all(kind.endswith("_type") for kind in types) and any(
            len(other) > len(keys) and other[: len(keys)] == keys for other in found
        ):
            del found[keys]
    listed = [
        Problem(document.path, document.line(keys), dotted(keys), _join(messages)) for keys, messages in found.items()
    ]
    return sorted(listed, key=lambda problem: problem.line or 0)


def _join(messages: Sequence[str]) -> str:
    """Alternatives of a union as one sentence: ``must be text or a list``."""
    alternatives = [message for message in messages if message.startswith("must be ")]
    if len(alternatives) < 2:
        return "; ".join(messages)
    bare = [message.removeprefix("must be ").partition(": ")[0] for message in alternatives]
    return "must be " + " or ".join(dict.fromkeys(bare))


def _keys(loc: Sequence[int | str], value: Any, kind: str) -> Keys:
    """The part of pydantic's location that exists in the document: branches of unions are no keys."""
    keys: list[int | str] = []
    tag_at: int | None = None
    for index, part in enumerate(loc):
        inside = part in value if isinstance(value, Mapping) else isinstance(value, list) and part in range(len(value))
        # The kind of a discriminated union comes before the keys of its branch, and one kind is named like a key.
        is_tag = isinstance(value, Mapping) and value.get("kind") == part and tag_at != len(keys)
        if inside and not is_tag:
            value = value[part]
        elif not (kind == "missing" and index == len(loc) - 1):
            tag_at = len(keys) if is_tag else tag_at
            continue
        keys.append(part)
    return tuple(keys)


# ---------------------------------------------------------------- words

_TYPES = {
    "string_type": "must be text: put it in quotes",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "model_attributes_type": "must be a mapping of keys to values",
    "string_unicode": "must be text without halves of surrogate pairs",
    "finite_number": "must be a finite number",
}
_LIMITS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_PATTERNS = {
    r"^https?://": "must begin with http:// or https://",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "must be the name of an environment variable: letters, digits and `_`",
    r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$": "must be a name of at most 64 letters, digits, `.`, `_`, `-`",
    r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$": "must be written `module:function`",
    r"^\d{4}-\d{2}-\d{2}$": "must be a date like 2026-12-31",
}


def _words(detail: Any, keys: Keys, model: type[BaseModel], root: Any) -> tuple[Keys, str]:
    kind, context, given = detail["type"], detail.get("ctx") or {}, detail.get("input")
    if kind == "extra_forbidden":
        return keys, f"unknown key; {suggestion(keys[-1], _known(model, keys[:-1], root))}"
    if kind == "missing":
        return keys, "missing: add this key"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        kinds = [name.strip(" '\"") for name in str(context.get("expected_tags", "")).split(",")]
        kinds = [name for name in kinds if name] or _kinds(model, keys, root)
        if kind == "union_tag_not_found":
            return keys, f"`kind` is missing: it is one of {', '.join(kinds)}"
        return (*keys, "kind"), f"`{context.get('tag')}` is no kind: it is one of {', '.join(kinds)}" + _near(
            context.get("tag"), kinds
        )
    if kind in ("literal_error", "enum"):
        expected = [part.strip(" '") for part in re.split(r",| or ", str(context.get("expected", "")))]
        return keys, f"{_shown(given)} is not one of {', '.join(expected)}" + _near(given, expected)
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return keys, f"{_shown(given)} is out of range: it must be {words} {context.get(name):g}"
    if kind == "too_short":
        return keys, "must not be empty" if context.get("min_length") == 1 else "has too few entries"
    if kind == "string_too_short":
        return keys, f"is too short: at least {context.get('min_length')} characters"
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern"))
        return keys, f"{_shown(given)} {_PATTERNS.get(pattern, f'must match {pattern}')}"
    if kind == "value_error":
        return _own_words(str(context.get("error", detail["msg"])), keys, root)
    if given is None and kind in _TYPES:
        return keys, "has no value: give one, or remove the key"
    return keys, _TYPES.get(kind) or str(detail["msg"]).replace("Input should be", "must be")


def _own_words(message: str, keys: Keys, root: Any) -> tuple[Keys, str]:
    """Validators of the whole file begin their sentence with ``section.name: ``; that becomes the place."""
    match = re.match(r"(suites|graders|providers)\.(\S+): (.*)", message, re.DOTALL)
    if keys or match is None or not isinstance(root, Mapping):
        return keys, message
    section, name, rest = match.groups()
    entry = (root.get(section) or {}).get(name)
    if entry is None:
        return keys, message
    place: Keys = (section, name)
    # "grader 'x' is not defined": the key is the one of this entry that holds x.
    named = re.match(r"\w+ '(.*?)' ", rest)
    if named is not None and isinstance(entry, Mapping):
        for key, value in entry.items():
            if value == named[1]:
                return (*place, key), rest
    return place, rest


def _near(given: object, names: Sequence[str]) -> str:
    near = get_close_matches(str(given), names, 1, 0.6)
    return f"; did you mean `{near[0]}`?" if near else ""


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"`{text[:60]}`" if len(text) <= 60 else f"`{text[:57]}…`"


# ---------------------------------------------------------------- which keys a place knows


def _annotations(annotation: Any, value: Any) -> list[Any]:
    """The plain alternatives of an annotation; a discriminated union gives the one its ``kind`` names."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *extras = get_args(annotation)
        branches = _annotations(inner, value)
        tag = next((e.discriminator for e in extras if isinstance(e, FieldInfo) and e.discriminator), None)
        if isinstance(tag, str) and isinstance(value, Mapping):
            chosen = [b for b in branches if isinstance(b, type) and value.get(tag) in _tags(b, tag)]
            return chosen or branches
        return branches
    if origin is Union or isinstance(annotation, UnionType):
        return [b for part in get_args(annotation) if part is not NoneType for b in _annotations(part, value)]
    return [annotation]


def _tags(model: type, tag: str) -> tuple[Any, ...]:
    field = getattr(model, "model_fields", {}).get(tag)
    return get_args(field.annotation) if field is not None else ()


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _at(model: type[BaseModel], keys: Keys, value: Any) -> list[Any]:
    """The annotations of the value at ``keys``."""
    current: list[Any] = [model]
    for key in keys:
        inner: list[Any] = []
        value = value[key]
        for annotation in current:
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                field = _fields(annotation).get(str(key))
                if field is not None:
                    kept = [m for m in (field,) if m.discriminator]
                    whole = Annotated[field.annotation, *kept] if kept else field.annotation
                    inner += _annotations(whole, value)
            elif (arguments := get_args(annotation)) and isinstance(key, str) == (get_origin(annotation) is dict):
                inner += _annotations(arguments[1 if isinstance(key, str) else 0], value)
        current = inner
    return current


def _known(model: type[BaseModel], keys: Keys, root: Any) -> set[str]:
    models = [a for a in _at(model, keys, root) if isinstance(a, type) and issubclass(a, BaseModel)]
    return {name for one in models for name in _fields(one)}


def _kinds(model: type[BaseModel], keys: Keys, root: Any) -> list[str]:
    return [str(tag) for one in _at(model, keys, root) if isinstance(one, type) for tag in _tags(one, "kind")]
