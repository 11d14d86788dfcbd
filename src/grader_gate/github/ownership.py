"""Handing what a container wrote to the owner of the workspace.

A container action runs as root in a workspace that the runner's user owns. On a self-hosted runner the files that it
leaves would stay root's, and the next checkout could not clean them away.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def give_to_owner(root: Path, written: Path) -> int:
    """Give root's files below ``written`` and in the clone's object store to whoever owns ``root``.

    Symlinks are neither followed nor touched. Does nothing unless this process is root and the owner is somebody else.

    :param root: the workspace.
    :param written: the folder of the results.
    :returns: how many entries changed hands.
    """
    owner = root.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return 0
    given = 0
    for path in (*_below(written), *_below(root / ".git" / "objects"), root / ".git" / "shallow"):
        try:
            entry = path.lstat()
            if entry.st_uid == 0 and not path.is_symlink():
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
                given += 1
        except OSError:
            continue  # gone meanwhile, or a file system without owners: only tidiness is lost
    return given


def _below(folder: Path) -> Iterator[Path]:
    """``folder`` and all below it, without following symlinks."""
    if folder.is_symlink() or not folder.is_dir():
        return
    yield folder
    for parent, folders, files in os.walk(folder, followlinks=False):
        yield from (Path(parent, name) for name in (*folders, *files))
