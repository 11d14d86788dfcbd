"""A job as a runner would start it: a checkout of the merge commit, an event file, variables, the action's entry."""

from __future__ import annotations

import copy
import io
import json
import os
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader_gate import action
from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.flow.outputs import write_reports
from grader_gate.result import Result, Revision
from tests.changes.repo import Repo
from tests.report import fixtures
from tests.servers.github_objects import event
from tests.servers.github_server import GitHubServer

TOKEN = "good-token-0123456789"
PROMPT = "judge.md"


@dataclass
class Measure:
    """In place of :func:`grader_gate.check.check`: reads both sides, leaves its files, returns a prepared result."""

    result: Result | BaseException
    calls: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[bytes] = field(default_factory=list)

    def __call__(self, root: Path, base: str, head: str, **options: Any) -> Result:
        self.calls.append({"root": root, "base": base, "head": head, **options})
        with Git(root, env=options["environ"]) as git:
            self.prompts = [GitTree(git, sha).read(PROMPT) for sha in (base, head)]
        if isinstance(self.result, BaseException):
            raise self.result
        sides = {"base": Revision(sha=base, name="base"), "head": Revision(sha=head, name="head")}
        result = self.result.model_copy(update={**sides, "key": options["key"]})
        write_reports(result, options["out"])
        return result


@dataclass
class Origin:
    """The repository on GitHub: ``main`` moved on after the branch was made, and the merge that GitHub tests."""

    repo: Repo
    fork_point: str
    main: str
    head: str
    merge: str


def make_origin(root: Path) -> Origin:
    repo = Repo(root)
    fork_point = repo.commit({PROMPT: "old\n", ".grader-gate.yml": "version: 1\n"})
    main = repo.commit({"other.txt": "main moved on\n"})
    repo.git("checkout", "-q", "-b", "feature", fork_point)
    head = repo.commit({PROMPT: "new\n"})
    repo.git("checkout", "-q", "--detach", main)
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", head)
    merge = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "refs/pull/1/merge", merge)
    repo.git("checkout", "-q", "main")
    return Origin(repo, fork_point, main, head, merge)


def checkout(origin: Origin, to: Path, *, depth: int, ref: str = "refs/pull/1/merge", header: str = "") -> Path:
    """What actions/checkout leaves: one ref at a depth, detached, and its token in the clone's configuration."""
    work = Repo(to)
    work.git(
        "fetch", "-q", "--no-tags", f"--depth={depth}", f"file://{origin.repo.root}", f"+{ref}:refs/remotes/{ref[5:]}"
    )
    work.git("checkout", "-q", "--detach", f"refs/remotes/{ref[5:]}")
    if header:
        work.git("config", header, "AUTHORIZATION: basic c3RhbGU6c3RhbGU=")
    return to


@dataclass
class Job:
    """One job of one pull request."""

    server: GitHubServer
    origin: Origin
    workspace: Path
    files: Path
    measure: Measure
    env: dict[str, str]
    payload: dict[str, Any]
    naps: list[float] = field(default_factory=list)
    log: str = ""

    def run(self, **inputs: str) -> int:
        """Start the action; the log is kept in ``log``."""
        (self.files / "event.json").write_text(json.dumps(self.payload), encoding="utf-8")
        for name in ("output", "summary"):
            (self.files / name).write_text("", encoding="utf-8")
        env = self.env | {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        stream = io.StringIO()
        try:
            return action.main(
                env, stream=stream, run_check=self.measure, sleep=self.naps.append, now=lambda: 1_000_000.0
            )
        finally:
            self.log = stream.getvalue()

    @property
    def outputs(self) -> dict[str, str]:
        text = (self.files / "output").read_text(encoding="utf-8")
        return {name: value for name, _, value in re.findall(r"(\w+)<<(\S+)\n(.*?)\n\2\n", text, re.DOTALL)}

    @property
    def summary(self) -> str:
        return (self.files / "summary").read_text(encoding="utf-8")

    @property
    def conclusions(self) -> list[str | None]:
        return [run["conclusion"] for run in self.server.check_runs]


def copy_origin(template: Origin, to: Path) -> Origin:
    """An origin of one's own to change; much faster than to make it anew."""
    shutil.copytree(template.repo.root, to)
    copied = copy.copy(template.repo)
    copied.root = to
    return replace(template, repo=copied)


def make_job(server: GitHubServer, template: Origin, tmp: Path, *, depth: int = 2, result: Result | None = None) -> Job:
    origin = copy_origin(template, tmp / "origin")
    header = f"http.{server.url}/.extraheader"
    workspace = checkout(origin, tmp / "workspace", depth=depth, header=header)
    server.git_repo = origin.repo.root
    server.add_pull(1, origin.head)
    files = tmp / "runner"
    files.mkdir()
    payload = event("pull_request.synchronize")
    payload["pull_request"]["number"] = payload["number"] = 1
    payload["pull_request"]["head"]["sha"] = origin.head
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(files / "home"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(files / "event.json"),
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_REPOSITORY": server.repo,
        "GITHUB_SHA": origin.merge,
        "GITHUB_RUN_ID": "100",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_SERVER_URL": server.url,
        "GITHUB_API_URL": server.url,
        "GITHUB_OUTPUT": str(files / "output"),
        "GITHUB_STEP_SUMMARY": str(files / "summary"),
        "INPUT_TOKEN": TOKEN,
        "JUDGE_KEY": "the-graders-own-key",
    }
    return Job(server, origin, workspace, files, Measure(result or fixtures.failing()), env, payload)
