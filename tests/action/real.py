"""A pull request that really breaks a grader, for the tests that run the whole program."""

from __future__ import annotations

import os
from pathlib import Path

from tests.action.job import TOKEN, Job, Measure, Origin, checkout
from tests.changes.repo import Repo
from tests.report import fixtures
from tests.servers.github_objects import event
from tests.servers.github_server import GitHubServer

CONFIG = """\
version: 1
graders:
  judge:
    kind: checks
    checks:
      - {type: contains, values: [%s]}
suites:
  capitals:
    grader: judge
    cases: cases.yml
    mutators: none
"""
CASES = """\
- id: france
  question: What is the capital of France?
  reference: Paris
  answer: It is Paris.
  expected: correct
- id: wrong
  question: What is the capital of France?
  reference: Paris
  answer: It is London.
  expected: incorrect
"""


def make_real_job(
    server: GitHubServer, tmp: Path, *, depth: int = 1, config: str = "London", extra: dict[str, str] | None = None
) -> Job:
    """A job whose head makes the grader of capitals look for London.

    :param config: what the head's grader looks for; base's looks for Paris.
    :param extra: further files of the head.
    """
    repo = Repo(tmp / "origin")
    fork_point = repo.commit({".grader-gate.yml": CONFIG % "Paris", "cases.yml": CASES})
    repo.git("checkout", "-q", "-b", "feature")
    head = repo.commit({".grader-gate.yml": CONFIG % config, **(extra or {})})
    repo.git("checkout", "-q", "main")
    main = repo.commit({"other.txt": "main moved on\n"})
    repo.git("checkout", "-q", "--detach")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", head)
    merge = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "refs/pull/1/merge", merge)
    repo.git("checkout", "-q", "main")
    origin = Origin(repo, fork_point, main, head, merge)
    server.git_repo = repo.root
    server.add_pull(1, head)
    payload = event("pull_request.synchronize")
    payload["pull_request"]["number"] = payload["number"] = 1
    payload["pull_request"]["head"]["sha"] = head
    files = tmp / "runner"
    files.mkdir()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(files),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(files / "event.json"),
        "GITHUB_WORKSPACE": str(tmp / "workspace"),
        "GITHUB_REPOSITORY": server.repo,
        "GITHUB_SHA": merge,
        "GITHUB_RUN_ID": "100",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_SERVER_URL": server.url,
        "GITHUB_API_URL": server.url,
        "GITHUB_OUTPUT": str(files / "output"),
        "GITHUB_STEP_SUMMARY": str(files / "summary"),
        "INPUT_TOKEN": TOKEN,
    }
    workspace = checkout(origin, tmp / "workspace", depth=depth)
    return Job(server, origin, workspace, files, Measure(fixtures.passing()), env, payload)
