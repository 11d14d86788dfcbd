from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.repository import Repository, base_files
from tests.zoo.kennel import Kennel


@pytest.fixture(scope="session")
def kennel(tmp_path_factory: pytest.TempPathFactory) -> Kennel:
    """One repository for all graders that a worker looks at, so that the bases are frozen once."""
    return Kennel(tmp_path_factory.mktemp("kennel"))


@pytest.fixture
def repo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A repository whose main branch holds a judge, cases and a ladder; HEAD is on a branch of its own."""
    made = Repository(tmp_path / "repo", capsys)
    made.commit(base_files(), "base")
    made.git("switch", "-q", "-c", "topic")
    return made
