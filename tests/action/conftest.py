from collections.abc import Callable, Iterator

import pytest

from tests.action.job import TOKEN, Job, Origin, make_job, make_origin
from tests.servers.github_server import GitHubServer


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as running:
        yield running
    assert running.violations == [], running.violations


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Origin:
    return make_origin(tmp_path_factory.mktemp("template") / "origin")


@pytest.fixture
def new_job(server, template, tmp_path) -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def make(**options) -> Job:
        made.append(make_job(server, template, tmp_path, **options))
        return made[-1]

    yield make
    for job in made:
        assert TOKEN not in job.log
        for name in ("output", "summary"):
            path = job.files / name
            assert not path.exists() or TOKEN not in path.read_text(encoding="utf-8")


@pytest.fixture
def job(new_job) -> Job:
    return new_job()
