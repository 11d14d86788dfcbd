from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grader_gate.changes.export import Exported, ExportFailed, export_tree
from grader_gate.changes.git import Git
from grader_gate.changes.paths import PathOutside
from grader_gate.changes.tree import GitTree, MemoryTree
from tests.changes.repo import Repo
from tests.changes.test_tree import POINTER


def test_a_commit_is_written_as_it_is(repo: Repo, git: Git, tmp_path: Path) -> None:
    repo.write({"run.sh": "#!/bin/sh\necho ok\n", "é/ü x.txt": b"a\r\nb\0", "big.bin": POINTER, ".hidden": "h"})
    (repo.root / "run.sh").chmod(0o755)
    (repo.root / "out").symlink_to(tmp_path)
    sha = repo.commit()
    repo.write({"run.sh": "changed since"})
    dest = tmp_path / "new" / "folder"
    assert export_tree(GitTree(git, sha), dest) == Exported(3, ("big.bin", "out"))
    assert sorted(p.relative_to(dest).as_posix() for p in dest.rglob("*") if p.is_file()) == [
        ".hidden", "run.sh", "é/ü x.txt",
    ]  # fmt: skip
    assert (dest / "é" / "ü x.txt").read_bytes() == b"a\r\nb\0"
    assert subprocess.run([dest / "run.sh"], capture_output=True, check=True).stdout == b"ok\n"
    assert not os.access(dest / ".hidden", os.X_OK)
    with pytest.raises(ExportFailed, match="not empty"):
        export_tree(GitTree(git, sha), dest)


def hostile_tree(repo: Repo, *names: bytes) -> str:
    """A tree object with names that git itself would not write."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"evil")
    data = b"".join(b"100644 " + name + b"\0" + bytes.fromhex(blob) for name in names)
    return repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)


@pytest.mark.parametrize("name", [b"..", b".git", b".GIT", b"a\\..\\b", b"."])
def test_a_hostile_name_is_refused_before_anything_is_written(
    repo: Repo, git: Git, tmp_path: Path, name: bytes
) -> None:
    dest = tmp_path / "dest"
    with pytest.raises(PathOutside, match="could lead out"):
        export_tree(GitTree(git, hostile_tree(repo, b"aaa", name)), dest)
    assert not dest.exists()


def test_a_traversing_subtree_is_refused(repo: Repo, git: Git, tmp_path: Path) -> None:
    inner = hostile_tree(repo, b"x")
    data = b"40000 ..\0" + bytes.fromhex(inner)
    outer = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)
    with pytest.raises(PathOutside):
        export_tree(GitTree(git, outer), tmp_path / "dest")
    assert not (tmp_path / "x").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailed, match="cannot be made"):
        export_tree(MemoryTree({"a": ""}), tmp_path / "file")


def test_a_name_that_is_file_and_folder_at_once(tmp_path: Path) -> None:
    with pytest.raises(ExportFailed, match="cannot be written"):
        export_tree(MemoryTree({"a": "", "a/b": ""}), tmp_path / "dest")
