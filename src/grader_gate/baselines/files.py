"""The store in the repository: records are files, reviewed in the diff like any other change."""

from __future__ import annotations

import os
from pathlib import Path

from grader_gate.baselines.record import BaselineRecord
from grader_gate.errors import UsageError


class StorePathRefused(UsageError):
    """The baseline folder lies outside the repository, or leads through a symlink."""


def write_record(root: Path, folder: str, record: BaselineRecord) -> Path:
    """Write a record below ``root/folder``; an existing record is never overwritten, for its name holds its content.

    :raises StorePathRefused: the folder is not inside the repository.
    """
    target = root / folder
    inside = target.resolve()
    if root.resolve() not in (inside, *inside.parents):
        raise StorePathRefused(f"baseline.path: {folder!r} leads outside the repository; name a folder inside it")
    target.mkdir(parents=True, exist_ok=True)
    path = target / record.name
    if path.exists():
        return path
    temporary = path.with_suffix(".part")
    temporary.write_text(record.render(), "utf-8", newline="\n")
    os.replace(temporary, path)  # noqa: PTH105
    return path
