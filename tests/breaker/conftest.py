from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.repository import Repository, base_files


@pytest.fixture
def repo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A repository whose main branch holds a judge, cases and a ladder; HEAD is on a branch of its own."""
    made = Repository(tmp_path / "repo", capsys)
    made.commit(base_files(), "base")
    made.git("switch", "-q", "-c", "topic")
    return made


@pytest.fixture
def empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A repository without a commit."""
    return Repository(tmp_path / "repo", capsys)
