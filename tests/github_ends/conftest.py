from collections.abc import Iterator

import pytest

from grader_gate.github.client import Client
from tests.servers.github_server import GitHubServer

TOKEN = "good-token-0123456789"


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as running:
        yield running
    assert running.violations == [], running.violations


@pytest.fixture
def naps() -> list[float]:
    """Seconds that the client would have slept."""
    return []


@pytest.fixture
def client(server, naps) -> Iterator[Client]:
    made = Client(TOKEN, server.url, sleep=naps.append, now=lambda: 1_000_000.0)
    yield made
    made.close()
