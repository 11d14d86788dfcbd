import os

import pytest

from grader_gate.github.ownership import give_to_owner

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="OWNERSHIP IS NOT TESTED HERE: only root can give files away")
OTHER = 12345


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "workspace"
    for path in ("out/deep/report.html", ".git/objects/ab/cd", ".git/config", "source.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    (root / "out/link").symlink_to(outside)
    (root / "out/file-link").symlink_to(outside / "file")
    return root


@needs_root
def test_what_root_wrote_goes_to_the_owner_and_nothing_else(workspace):
    os.chown(workspace, OTHER, OTHER)
    given = give_to_owner(workspace, workspace / "out")
    owned = {p.relative_to(workspace).as_posix() for p in workspace.rglob("*") if p.lstat().st_uid == OTHER}
    assert owned == {"out", "out/deep", "out/deep/report.html", ".git/objects", ".git/objects/ab", ".git/objects/ab/cd"}
    assert given == len(owned)
    outside = workspace.parent / "outside"
    assert (outside.stat().st_uid, (outside / "file").stat().st_uid) == (0, 0)


@needs_root
def test_a_results_folder_that_is_a_symlink_is_left_alone(workspace):
    os.chown(workspace, OTHER, OTHER)
    (workspace / "planted").symlink_to(workspace.parent / "outside")
    give_to_owner(workspace, workspace / "planted")
    assert (workspace.parent / "outside/file").stat().st_uid == 0


def test_in_ones_own_workspace_nothing_changes(workspace):
    assert give_to_owner(workspace, workspace / "out") == 0
