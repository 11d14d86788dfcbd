"""One mapping of a case file with its place: reads its fields, finds its lines, and says what is wrong there."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader_gate.documents import Document, DocumentError, Key, Keys, decode, dotted, read_document
from grader_gate.errors import LocatedError, UsageError
from grader_gate.explain import suggestion
from grader_gate.model import Location, Tree

MAX_TEXT_BYTES = 2_000_000
"""Largest question, reference, rubric or answer kept in a file of its own, in bytes: about 500,000 tokens, more than
most models read."""

METADATA_KEYS = frozenset(
    {"author", "comment", "comments", "created", "description", "difficulty", "human_label", "judge_label", "licence"}
    | {"license", "name", "note", "notes", "order", "updated", "url"}
)
"""Keys that may stand beside the fields and are kept below ``metadata``."""


class SuiteError(LocatedError):
    """A case or ladder file that cannot be used as it is."""


class Files:
    """Reads each file of a tree once, however many cases name it."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._texts: dict[str, str] = {}
        self._documents: dict[str, Document] = {}

    def text(self, path: str) -> str:
        """:raises UsageError: unreadable, too large, not UTF-8."""
        if path not in self._texts:
            self._texts[path] = decode(self.tree.read(path), path, MAX_TEXT_BYTES)
        return self._texts[path]

    def document(self, path: str) -> Document:
        """:raises UsageError: unreadable, too large, broken."""
        if path not in self._documents:
            self._documents[path] = read_document(self.tree.read(path), path)
        return self._documents[path]


@dataclass(slots=True)
class SuiteFiles:
    """The files one suite reads, in order."""

    files: Files
    paths: dict[str, None] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """See :meth:`Files.text`."""
        self.paths[path] = None
        return self.files.text(path)

    def document(self, path: str) -> Document:
        """See :meth:`Files.document`."""
        self.paths[path] = None
        try:
            return self.files.document(path)
        except DocumentError as error:
            raise SuiteError(error.detail, path=error.path, line=error.line, key=error.key) from None


@dataclass(frozen=True, slots=True)
class Defaults:
    """Fields that the entries of a file share, by canonical name."""

    values: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Entry:
    """A mapping in a case file, its keys brought to their canonical names.

    :param names: every allowed key → the canonical name it stands for.
    :param keys: place of the mapping in the document.
    :raises SuiteError: no mapping, an unknown key, or two spellings of one field that disagree.
    """

    __slots__ = ("document", "files", "keys", "metadata", "spelled", "values")

    def __init__(
        self,
        document: Document,
        keys: Keys,
        raw: Any,
        names: Mapping[str, str],
        files: SuiteFiles,
        defaults: Defaults | None = None,
    ) -> None:
        self.document, self.keys, self.files = document, keys, files
        self.values: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.spelled: dict[str, str] = {}
        if not isinstance(raw, dict):
            raise self.error("must be a mapping of keys to values")
        for key, value in raw.items():
            name = names.get(key)
            if name is None:
                if key not in METADATA_KEYS:
                    hint = suggestion(key, set(names) | METADATA_KEYS)
                    raise self.error(f"unknown key; {hint} (anything may stand below `metadata`)", key)
                if value is not None:
                    self.metadata[key] = value
            elif value is not None:
                if name in self.values:
                    self._same(name, key, value)
                else:
                    self.values[name] = value
                    self.spelled[name] = key
        if "metadata" in self.values:
            extra = self.values.pop("metadata")
            if not isinstance(extra, dict):
                raise self.error("must be a mapping of keys to values", "metadata")
            self.metadata.update(extra)
        if defaults is not None:
            self.values = {**defaults.values, **self.values}
            self.metadata = {**defaults.metadata, **self.metadata}

    def _same(self, name: str, key: str, value: Any) -> None:
        first = self.spelled[name]
        known = self.values[name]
        if (verdict_word(known) or known) != (verdict_word(value) or value) if name == "expected" else known != value:
            raise self.error(
                f"disagrees with `{first}` on line {self.document.line((*self.keys, first))}: "
                f"both mean `{name}`, keep one",
                key,
            )

    @property
    def location(self) -> Location:
        """Where the mapping begins."""
        return Location(path=self.document.path, line=self.document.line(self.keys))

    def error(self, message: str, *keys: Key) -> SuiteError:
        """An error at a key below this entry, spelled as in the file."""
        if keys and isinstance(keys[0], str):
            keys = (self.spelled.get(keys[0], keys[0]), *keys[1:])
        place = (*self.keys, *keys)
        return SuiteError(message, path=self.document.path, line=self.document.line(place), key=dotted(place) or None)

    def as_text(self, value: Any, *keys: Key) -> str:
        """A text given as it is; whole numbers are taken as written.

        :raises SuiteError: anything else, with the place ``keys``.
        """
        if isinstance(value, str):
            return value
        if isinstance(value, bool | float):
            raise self.error("must be text: put it in quotes, so that it stays as written", *keys)
        if isinstance(value, int):
            return str(value)
        raise self.error("must be text", *keys)

    def as_text_or_file(self, value: Any, *keys: Key) -> tuple[str, str | None]:
        """A text, or ``{file: PATH}`` with the path relative to this file; returns the text and the path."""
        if not isinstance(value, dict):
            if isinstance(value, list):
                raise self.error("must be text, or `{file: PATH}`", *keys)
            return self.as_text(value, *keys), None
        for key in value:
            if key != "file":
                raise self.error("unknown key; write text, or `{file: PATH}`", *keys, key)
        if not isinstance(value.get("file"), str) or not value["file"]:
            raise self.error("must name a file", *keys, "file")
        path = self._resolve(value["file"], *keys, "file")
        try:
            return self.files.text(path), path
        except DocumentError as error:
            where = f" (line {error.line})" if error.line else ""
            raise self.error(f"{error.path}{where}: {error.detail}", *keys, "file") from None
        except UsageError as error:
            raise self.error(f"cannot read it: {error}", *keys, "file") from None

    def _resolve(self, given: str, *keys: Key) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.document.path), given))
        if given.startswith("/") or path == ".." or path.startswith("../") or "\\" in given or given[1:3] == ":/":
            raise self.error(
                f"`{given[:120]}` lies outside the repository: give a path relative to this file, with `/`", *keys
            )
        return path

    def text(self, name: str) -> str | None:
        """The text of a field or of the file it names; None where the field is absent."""
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value
        return self.as_text_or_file(value, name)[0]

    def word(self, name: str) -> str | None:
        """A text that is never a file: an id, a split, a source."""
        value = self.values.get(name)
        return None if value is None else self.as_text(value, name)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of texts; one text counts as a list of one."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            return (self.as_text(value, name),)
        return tuple([v if type(v) is str else self.as_text(v, name, i) for i, v in enumerate(value)])

    def number(self, name: str) -> float | None:
        """A number; None where absent."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error("must be a number", name)
        return float(value)

    def identifier(self) -> str:
        """The ``id``: one line, no space around it, at most 200 characters."""
        value = self.word("id")
        if not value:
            raise self.error("missing: give each entry an `id` that stays when texts change", "id")
        if value != value.strip() or not value.isprintable() or len(value) > 200:
            raise self.error("must be one line of at most 200 printable characters without space around it", "id")
        return value


VERDICT_WORDS = {
    "correct": "correct",
    "pass": "correct",
    "true": "correct",
    "1": "correct",
    "partial": "partial",
    "incorrect": "incorrect",
    "fail": "incorrect",
    "false": "incorrect",
    "0": "incorrect",
}
"""Words for verdicts, compared without case; true, false, 1 and 0 also as plain values."""


def verdict_word(value: Any) -> str | None:
    """The verdict a value stands for; None where it stands for none."""
    if isinstance(value, str):
        return VERDICT_WORDS.get(value.strip().lower())
    if isinstance(value, int | float) and value in (0, 1):
        return "correct" if value else "incorrect"
    return None


def spellings(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Every spelling → the canonical name, which is one of its own spellings."""
    return {spelling: name for name, others in table.items() for spelling in (name, *others)}
