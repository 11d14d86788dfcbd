"""Trees of files: what all of them share, that of a commit, and that of memory.

Every tree answers alike: regular files only, names found in either Unicode form, and one clear error per reason.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Protocol

from grader_gate.changes.git import Git, printable
from grader_gate.changes.paths import (
    PathOutside,
    compile_glob,
    is_literal,
    literal_prefix,
    nfc,
    normalise,
    normalise_glob,
)
from grader_gate.errors import UsageError
from grader_gate.model import Tree

MAX_FILE = 100 * 1024 * 1024
"""Bytes. GitHub refuses to store a larger file, so only an accident or an attack is larger."""

_LFS = (b"version https://git-lfs.github.com/spec/v1\n", b"version https://hawser.github.com/spec/v1\n")
_LFS_MAX = 1024
"""A pointer file is shorter than this (Git LFS specification)."""

SYMLINK, SUBMODULE = "120000", "160000"
"""Git's modes for what is no regular file."""


class FileMissing(UsageError):
    """No such regular file in the tree."""


class SymlinkRefused(UsageError):
    """The path is a symbolic link, or leads through one."""


class SubmoduleRefused(UsageError):
    """The path is a submodule, or lies in one."""


class LfsPointer(UsageError):
    """The file's content is kept in Git LFS; the tree holds only a pointer."""


class TooLarge(UsageError):
    """The file exceeds :data:`MAX_FILE`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a tree.

    :ivar mode: git's: ``100644``, ``100755``, ``120000`` (symlink), ``160000`` (submodule).
    :ivar oid: git's blob id; empty where it is not computed yet.
    :ivar raw: the name's bytes as git or the disk holds them.
    """

    mode: str
    oid: str
    raw: bytes

    @property
    def regular(self) -> bool:
        """Whether it is a file with content of its own."""
        return self.mode not in (SYMLINK, SUBMODULE)


class BlobTree(Tree, Protocol):
    """A tree that also knows content addresses, so that equal files are known without reading them."""

    def blob(self, path: str) -> str | None:
        """Git blob id of a regular file (hex); None where there is none."""
        ...

    def paths(self) -> list[str]:
        """Sorted paths of all regular files."""
        ...


class ListedTree(ABC):
    """What all trees share: a list of names, look-up, globs and errors. Subclasses list and read."""

    label: str

    @abstractmethod
    def _list(self) -> Iterable[Entry]:
        """Every entry of the tree, in any order."""

    @abstractmethod
    def _content(self, path: str, entry: Entry) -> bytes:
        """The bytes of an entry."""

    def _oid(self, path: str, entry: Entry) -> str:
        return entry.oid

    # ------------------------------------------------------------ names

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """All names, symlinks and submodules too, sorted. A byte that is no UTF-8 shows as ``\\xNN``."""
        named = ((entry.raw.decode("utf-8", "backslashreplace"), entry) for entry in self._list())
        return dict(sorted(named, key=lambda pair: pair[0]))

    @cached_property
    def _sorted(self) -> list[str]:
        return list(self.entries)

    @cached_property
    def _by_nfc(self) -> dict[str, list[str]]:
        """Composed form → names as stored, for names that are not plain ASCII."""
        found: dict[str, list[str]] = {}
        for path in self.entries:
            if not path.isascii():
                found.setdefault(nfc(path), []).append(path)
        return found

    def _find(self, path: str) -> str | None:
        """The stored spelling of a normalised path: itself, or its only twin in the other Unicode form."""
        if path in self.entries:
            return path
        twins = [] if path.isascii() else self._by_nfc.get(nfc(path), [])
        return twins[0] if len(twins) == 1 else None

    # ------------------------------------------------------------ the Tree protocol

    def read(self, path: str) -> bytes:
        """The bytes of a regular file.

        :raises FileMissing: no such file; the message names a near one.
        :raises PathOutside: see :func:`~grader_gate.changes.paths.normalise`.
        :raises SymlinkRefused: a symlink, or a path through one.
        :raises SubmoduleRefused: a submodule, or a path in one.
        :raises LfsPointer: the content is elsewhere.
        :raises TooLarge: more than :data:`MAX_FILE` bytes.
        """
        wanted = normalise(path)
        found = self._find(wanted)
        if found is None or not self.entries[found].regular:
            raise self._refusal(wanted)
        data = self._content(found, self.entries[found])
        if len(data) > MAX_FILE:
            raise TooLarge(f"{printable(found)}: larger than {MAX_FILE >> 20} MiB; split it")
        if len(data) < _LFS_MAX and data.startswith(_LFS):
            raise LfsPointer(
                f"{printable(found)}: kept in Git LFS, and the commit holds only a pointer; "
                f"store this file in git itself (remove it from .gitattributes and run `git add --renormalize`)"
            )
        return data

    def exists(self, path: str) -> bool:
        """Whether the path names a regular file; False outside the repository."""
        return self.blob_entry(path) is not None

    def blob_entry(self, path: str) -> tuple[str, Entry] | None:
        """Stored spelling and entry of a regular file."""
        try:
            found = self._find(normalise(path))
        except PathOutside:
            return None
        return (found, self.entries[found]) if found is not None and self.entries[found].regular else None

    def blob(self, path: str) -> str | None:
        """Git blob id of a regular file; None where there is none."""
        found = self.blob_entry(path)
        return None if found is None else found[1].oid or self._oid(*found)

    def paths(self) -> list[str]:
        """Sorted paths of all regular files."""
        return [path for path, entry in self.entries.items() if entry.regular]

    def glob(self, pattern: str) -> list[str]:
        """Sorted paths of regular files that match; see :func:`~grader_gate.changes.paths.compile_glob`.

        :raises PathOutside: absolute, or with ``..``.
        :raises SymlinkRefused: a symlink matches: left out silently it would narrow what is measured.
        :raises SubmoduleRefused: nothing matches and the glob leads into a submodule.
        """
        wanted = normalise_glob(pattern)
        exact = self._find(wanted)  # a file whose own name holds brackets or stars
        matched = [exact] if exact is not None else [] if is_literal(wanted) else list(self._match(wanted))
        for path in matched:
            if self.entries[path].mode == SYMLINK:
                raise self._refusal(path)
        regular = [path for path in matched if self.entries[path].regular]
        if not regular and (blocked := self._blocked(literal_prefix(wanted))) is not None:
            raise blocked
        return regular

    def _match(self, pattern: str) -> Iterator[str]:
        prefix = literal_prefix(pattern)
        expression = compile_glob(nfc(pattern))
        if not pattern.isascii():
            prefix = ""  # names may be stored in the other form
        for path in self._sorted[bisect_left(self._sorted, prefix) :]:
            if not path.startswith(prefix):
                return
            if expression.fullmatch(nfc(path)):
                yield path

    def _blocked(self, path: str) -> UsageError | None:
        """The symlink or submodule that a normalised path is, or leads through."""
        shown = printable(path)
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            part = "/".join(parts[:end])
            entry = self.entries.get(self._find(part) or "")
            if entry is None or entry.regular:
                continue
            where = shown if end == len(parts) else f"{shown} (at {printable(part)})"
            if entry.mode == SYMLINK:
                return SymlinkRefused(f"{where}: a symbolic link; name the file it points to, or store the file itself")
            return SubmoduleRefused(f"{where}: a submodule; files of another repository cannot be read, copy them")
        return None

    def _refusal(self, path: str) -> UsageError:
        """Why a normalised path is no readable file."""
        if not path:
            return FileMissing("the repository's top folder is no file; name a file in it")
        if (blocked := self._blocked(path)) is not None:
            return blocked
        shown = printable(path)
        twins = self._by_nfc.get(nfc(path), [])
        if len(twins) > 1:
            return FileMissing(f"{shown}: {len(twins)} files differ only in Unicode form; rename all but one")
        start = bisect_left(self._sorted, path + "/")
        if self._sorted[start : start + 1] and self._sorted[start].startswith(path + "/"):
            return FileMissing(f"{shown}: a folder at {self.label}, not a file; name a file in it")
        return FileMissing(f"{shown}: no such file at {self.label}; {self._hint(path)}")

    def _hint(self, path: str) -> str:
        folded = path.casefold()
        same = [known for known in self._sorted if known.casefold() == folded]
        name = path.rpartition("/")[2]
        near = same or [known for known in self._sorted if known.rpartition("/")[2] == name][:1]
        near = near or get_close_matches(path, self._sorted[:5000], 1, 0.8)
        return f"did you mean {printable(near[0])}?" if near else "check the path, or commit the file"


class GitTree(ListedTree):
    """The files of one commit, read from git's objects: what stands in the working folder does not matter.

    :param sha: full SHA of a commit or tree.
    """

    def __init__(self, git: Git, sha: str, label: str | None = None) -> None:
        self.git, self.sha = git, sha
        self.label = label or sha[:10]

    def _list(self) -> Iterator[Entry]:
        listing = self.git.run("ls-tree", "-r", "-z", "--full-tree", self.sha).stdout
        for record in listing.split(b"\0"):
            if record:
                about, _, name = record.partition(b"\t")
                mode, _, oid = about.decode("ascii").split(" ")
                yield Entry(mode, oid, name)

    def _content(self, path: str, entry: Entry) -> bytes:
        return self.git.read_object(entry.oid, limit=MAX_FILE)[1]


class MemoryTree(ListedTree):
    """Files held in memory, for previews and tests."""

    def __init__(self, files: Mapping[str, bytes | str], label: str = "memory") -> None:
        self.label = label
        self._files = {normalise(p): d.encode() if isinstance(d, str) else d for p, d in files.items()}

    def _list(self) -> Iterator[Entry]:
        for path, data in self._files.items():
            yield Entry("100644", blob_id(data), path.encode())

    def _content(self, path: str, entry: Entry) -> bytes:
        return self._files[path]


def blob_id(data: bytes, object_format: str = "sha1") -> str:
    """The id git gives these bytes as a blob: hash of ``blob SIZE\\0`` and the bytes (git documentation, objects)."""
    maker = hashlib.sha256 if object_format == "sha256" else hashlib.sha1
    return maker(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
