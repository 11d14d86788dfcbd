from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.repository import Repository


@pytest.fixture
def repo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """An empty repository."""
    return Repository(tmp_path / "repo", capsys)
