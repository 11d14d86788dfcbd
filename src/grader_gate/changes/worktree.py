"""The tree of the files on disk, for use on a laptop."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader_gate.changes.git import WORKTREE, Git, printable
from grader_gate.changes.tree import MAX_FILE, SUBMODULE, SYMLINK, Entry, FileMissing, ListedTree, blob_id


class WorkTree(ListedTree):
    """The files on disk: tracked ones and new ones that are not ignored. Only for use on a laptop.

    Listed once, when first asked; blob ids are those that ``git add`` would give, as far as line ends go.
    """

    def __init__(self, git: Git, label: str = WORKTREE) -> None:
        self.git, self.label = git, label
        self._tracked: dict[bytes, str] = {}
        self._linked: dict[bytes, bool] = {}
        self._oids: dict[str, str] = {}

    def _list(self) -> Iterator[Entry]:
        for record in self.git.run("ls-files", "-s", "-z", "--full-name").stdout.split(b"\0"):
            if record:
                about, _, name = record.partition(b"\t")
                self._tracked[name] = about.decode("ascii").split(" ")[1]
        new = self.git.run("ls-files", "-o", "-z", "--full-name", "--exclude-standard").stdout.split(b"\0")
        for name in {*self._tracked, *new} - {b""}:
            mode = self._mode(name.rstrip(b"/"))
            if mode is not None:
                yield Entry(mode, "", name.rstrip(b"/"))

    def _mode(self, name: bytes) -> str | None:
        if self._through_link(name):
            return SYMLINK
        try:
            found = os.lstat(self._disk(name))
        except OSError:
            return None  # deleted, or gone since git listed it
        if stat.S_ISLNK(found.st_mode):
            return SYMLINK
        if stat.S_ISDIR(found.st_mode):
            return SUBMODULE
        if not stat.S_ISREG(found.st_mode):
            return None
        return "100755" if found.st_mode & stat.S_IXUSR else "100644"

    def _through_link(self, name: bytes) -> bool:
        """Whether a folder on the way has been replaced by a symlink, which may lead out of the repository."""
        folder = name.rpartition(b"/")[0]
        if not folder:
            return False
        if folder not in self._linked:
            self._linked[folder] = self._through_link(folder) or Path(os.fsdecode(self._disk(folder))).is_symlink()
        return self._linked[folder]

    def _disk(self, name: bytes) -> bytes:
        return os.path.join(os.fsencode(self.git.root), name)  # noqa: PTH118 — bytes, for names that are no UTF-8

    def _content(self, path: str, entry: Entry) -> bytes:
        try:
            # Never through a link put there since the listing.
            handle = os.open(self._disk(entry.raw), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(handle, "rb") as file:
                return file.read(MAX_FILE + 1)
        except OSError as error:
            raise FileMissing(f"{printable(path)}: cannot be read from disk: {error.strerror}") from error

    def _oid(self, path: str, entry: Entry) -> str:
        if path not in self._oids:
            data = self._content(path, entry)
            raw = blob_id(data, self.git.object_format)
            # A checkout with `eol=crlf` or `core.autocrlf` differs from its blob in line ends only.
            clean = raw if b"\0" in data else blob_id(data.replace(b"\r\n", b"\n"), self.git.object_format)
            self._oids[path] = raw if self._tracked.get(entry.raw) == raw else clean
        return self._oids[path]
