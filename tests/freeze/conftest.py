from collections.abc import Callable, Iterator

import pytest

from tests.freeze.world import World
from tests.servers.github_server import GitHubServer


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as running:
        yield running
    assert running.violations == [], running.violations


@pytest.fixture
def new_world(server, tmp_path) -> Callable[..., World]:
    def make(**options) -> World:
        return World(server, tmp_path / "world", **options)

    return make


@pytest.fixture
def world(new_world) -> World:
    """A pull request that makes the judge worse, with the gate's report on it."""
    made = new_world()
    made.open_pull()
    assert made.check() == 1
    assert made.verdict() == "failure"
    return made
