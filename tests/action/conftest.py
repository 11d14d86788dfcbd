from collections.abc import Iterator

import pytest

from tests.action.job import TOKEN, Job, make_job
from tests.servers.github_server import GitHubServer


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as running:
        yield running
    assert running.violations == [], running.violations


@pytest.fixture
def job(server, tmp_path) -> Iterator[Job]:
    made = make_job(server, tmp_path)
    yield made
    assert TOKEN not in made.log
    for name in ("output", "summary"):
        path = made.files / name
        assert not path.exists() or TOKEN not in path.read_text(encoding="utf-8")
