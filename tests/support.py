"""A folder as a tree, for tests that need no git."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from grader_gate.errors import UsageError


class DirTree:
    """The files below a folder; counts how often each is read."""

    label = "FOLDER"

    def __init__(self, root: Path) -> None:
        self.root = root
        self.reads: Counter[str] = Counter()

    def exists(self, path: str) -> bool:
        where = self.root / path
        return where.is_file() and not where.is_symlink()

    def read(self, path: str) -> bytes:
        self.reads[path] += 1
        if (self.root / path).is_symlink():
            raise UsageError(f"{path}: a symbolic link")
        if not self.exists(path):
            raise UsageError(f"{path}: no such file")
        return (self.root / path).read_bytes()

    def glob(self, pattern: str) -> list[str]:
        found = (p.relative_to(self.root).as_posix() for p in self.root.glob(pattern))
        return sorted(path for path in found if self.exists(path))
