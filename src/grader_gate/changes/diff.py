"""What differs between two trees: files, and the lines of one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from grader_gate.changes.git import Git
from grader_gate.changes.tree import BlobTree, GitTree, ListedTree
from grader_gate.errors import UsageError

Status = Literal["added", "deleted", "modified", "renamed"]

RENAME_LIMIT = 1000
"""Pairs of names on each side up to which git looks for edited renames; beyond, they are shown as delete and add."""

LINES_LIMIT = 20_000
"""Lines between the first and the last difference beyond which all of them count as changed."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs.

    :ivar path: its name on head; on base where it is deleted.
    :ivar previous: its name on base, where it is renamed.
    :ivar eol_only: the two differ in line ends (CRLF or LF) only.
    """

    status: Status
    path: str
    previous: str | None = None
    eol_only: bool = False


def changed_files(git: Git, base: ListedTree, head: ListedTree) -> list[FileChange]:
    """Files that differ, sorted by path. Nothing is capped: the list comes from both whole trees.

    A rename is the same content under another name; between two commits also git's own judgement of likeness.
    Symlinks and submodules count as files whose content is what they point to; a changed mode alone is no change.
    """
    before, after = _content_ids(base), _content_ids(head)
    deleted = {path: oid for path, oid in before.items() if path not in after}
    added = {path: oid for path, oid in after.items() if path not in before}
    found = [
        FileChange("modified", path, eol_only=_eol_only(base, head, path))
        for path, oid in after.items()
        if path in before and before[path] != oid
    ]
    for old, new in (*_moved(deleted, added), *_edited_renames(git, base, head, deleted, added)):
        if old in deleted and new in added:
            same = deleted.pop(old) == added.pop(new)
            found.append(FileChange("renamed", new, old, eol_only=not same and _eol_only(base, head, new, old)))
    found += [FileChange("added", path) for path in added]
    found += [FileChange("deleted", path) for path in deleted]
    return sorted(found, key=lambda change: change.path)


def _content_ids(tree: ListedTree) -> dict[str, str]:
    ids: dict[str, str] = {}
    for path, entry in tree.entries.items():
        ids[path] = (tree.blob(path) or "") if entry.regular else f"{entry.mode} {entry.oid}"
    return ids


def _moved(deleted: dict[str, str], added: dict[str, str]) -> list[tuple[str, str]]:
    """Pairs of the same content, those that keep their file name first. Empty files pair with nothing."""
    by_oid: dict[str, list[str]] = {}
    for path, oid in deleted.items():
        by_oid.setdefault(oid, []).append(path)
    pairs: list[tuple[str, str]] = []
    for keeps_name in (True, False):
        taken = {new for _, new in pairs}
        for new, oid in added.items():
            olds = [] if oid in _EMPTY or new in taken else by_oid.get(oid, [])
            old = next((o for o in olds if not keeps_name or _name(o) == _name(new)), None)
            if old is not None:
                olds.remove(old)
                pairs.append((old, new))
    return pairs


_EMPTY = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""Ids of the empty blob under SHA-1 and SHA-256."""


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _edited_renames(
    git: Git, base: ListedTree, head: ListedTree, deleted: dict[str, str], added: dict[str, str]
) -> Iterator[tuple[str, str]]:
    if not (deleted and added and isinstance(base, GitTree) and isinstance(head, GitTree)):
        return
    fields = git.run(
        "diff-tree", "-r", "-z", "--raw", "-M", f"-l{RENAME_LIMIT}", "--no-rename-empty", "--diff-filter=R",
        "--no-ext-diff", "--no-textconv", "--end-of-options", base.sha, head.sha,
    ).stdout.split(b"\0")  # fmt: skip
    for index in range(0, len(fields) - 2, 3):
        old, new = (name.decode("utf-8", "backslashreplace") for name in fields[index + 1 : index + 3])
        yield old, new


def _eol_only(base: BlobTree | ListedTree, head: BlobTree | ListedTree, path: str, previous: str | None = None) -> bool:
    try:
        old, new = base.read(previous or path), head.read(path)
    except UsageError:
        return False
    return old != new and old.replace(b"\r\n", b"\n") == new.replace(b"\r\n", b"\n")


def changed_lines(
    base: BlobTree | ListedTree, head: BlobTree | ListedTree, path: str, previous: str | None = None
) -> tuple[int, ...]:
    """Head-side line numbers (from 1) that are new or edited; for a pure deletion the line it is felt at.

    Line ends do not count. A file that is not on base gives all its lines; one that is not readable text none.

    :param previous: its name on base, where it was renamed.
    """
    try:
        new = _lines(head.read(path))
    except UsageError:
        return ()
    try:
        old = _lines(base.read(previous or path))
    except UsageError:
        old = []
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(middle_old), len(middle_new)) > LINES_LIMIT:
        return tuple(range(start + 1, start + 1 + len(middle_new)))
    lines: set[int] = set()
    for tag, _, _, first, last in SequenceMatcher(None, middle_old, middle_new).get_opcodes():
        if tag == "delete" and new:
            lines.add(min(start + first + 1, len(new)))
        elif tag != "equal":
            lines.update(range(start + first + 1, start + last + 1))
    return tuple(sorted(lines))


def _lines(data: bytes) -> list[bytes]:
    return [] if b"\0" in data else data.replace(b"\r\n", b"\n").splitlines()
