from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader_gate.changes.git import Git
from tests.changes.repo import ENV, Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def git(repo: Repo) -> Iterator[Git]:
    with Git(repo.root, env=ENV) as found:
        yield found
