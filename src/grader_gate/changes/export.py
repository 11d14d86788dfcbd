"""Write the files of a tree to a folder, so that code of one side can run there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from grader_gate.changes.git import printable
from grader_gate.changes.paths import PathOutside
from grader_gate.changes.tree import LfsPointer, ListedTree
from grader_gate.errors import GateError


class ExportFailed(GateError):
    """The folder cannot take the files: it holds some already, or the disk refuses."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    :ivar files: how many regular files.
    :ivar left_out: symlinks, submodules and LFS pointers, which have no content of their own here.
    """

    files: int
    left_out: tuple[str, ...]


def export_tree(tree: ListedTree, dest: Path) -> Exported:
    """Write every regular file of the tree below ``dest``, which is made, or is empty.

    Nothing is followed and nothing is overwritten: only folders made here are written to, and a name that would lead
    out of them, or into a ``.git``, is refused. Executable files stay executable.

    :raises ExportFailed: ``dest`` is not empty, or a file cannot be written.
    :raises PathOutside: a hostile name in the commit.
    """
    for path, entry in tree.entries.items():
        parts = entry.raw.split(b"/")
        if any(part in (b"", b".", b"..") or part.lower() == b".git" or b"\\" in part for part in parts):
            raise PathOutside(f"{printable(path)}: this name could lead out of the folder; rename it")
    try:
        dest.mkdir(parents=True, exist_ok=True)
        if any(dest.iterdir()):
            raise ExportFailed(f"{printable(str(dest))}: not empty; name a new folder")
    except OSError as error:
        raise ExportFailed(f"{printable(str(dest))}: cannot be made: {error.strerror}") from error
    top, made, files, left_out = os.fsencode(dest), {b""}, 0, []
    for path, entry in tree.entries.items():
        if not entry.regular:
            left_out.append(path)
            continue
        try:
            data = tree.read(path)
        except LfsPointer:
            left_out.append(path)
            continue
        try:
            _make_folders(top, entry.raw.rpartition(b"/")[0], made)
            mode = 0o755 if entry.mode == "100755" else 0o644
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(top + b"/" + entry.raw, flags, mode), "wb") as file:
                file.write(data)
        except OSError as error:
            raise ExportFailed(f"{printable(path)}: cannot be written: {error.strerror}") from error
        files += 1
    return Exported(files, tuple(left_out))


def _make_folders(top: bytes, folder: bytes, made: set[bytes]) -> None:
    """Make a folder and its parents; each must be new, so that none is a link someone left there."""
    if folder not in made:
        _make_folders(top, folder.rpartition(b"/")[0], made)
        os.mkdir(top + b"/" + folder)  # noqa: PTH102 — bytes, for names that are no UTF-8
        made.add(folder)
