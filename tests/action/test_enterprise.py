"""A GitHub Enterprise Server whose certificate no public authority vouches for."""

import shutil

import pytest

from tests.action.job import make_job
from tests.servers.certificates import self_signed
from tests.servers.github_server import GitHubServer


@pytest.fixture
def private(template, tmp_path):
    """A job against a server with a private certificate; its clone lacks the base."""
    certificate = self_signed(tmp_path)
    with GitHubServer(tls=certificate) as server:
        job = make_job(server, template, tmp_path, depth=1)
        shutil.copy(certificate[0], job.workspace / "ca.pem")
        yield job
    assert server.violations == []


def test_with_its_authority_named_api_and_git_trust_it(private):
    private.server.graphql = False
    assert private.run(ca_bundle="ca.pem") == 1
    assert private.conclusions == ["failure"]
    assert len(private.server.bodies(1)) == 1
    assert [seen.status for seen in private.server.requests if ".git/" in seen.path] == [200, 200]
    assert private.measure.calls[0]["environ"]["SSL_CERT_FILE"] == str(private.workspace / "ca.pem")


def test_without_it_the_log_says_what_to_name(private):
    assert private.run() == 3
    assert "certificate is not trusted; name its authority with the input `ca_bundle`" in private.log
    assert private.server.requests == []
    assert private.naps == []
