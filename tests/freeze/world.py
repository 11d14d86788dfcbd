"""A repository on the stand-in GitHub with a frozen judge, a pull request that changes it, and people with permissions.

Every job of it runs the whole program: real git, real sockets, real grading by deterministic checks.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader_gate import action
from tests.action.job import TOKEN, checkout
from tests.changes.repo import Repo
from tests.servers import github_repository as hub
from tests.servers.github_objects import event
from tests.servers.github_server import GitHubServer

FREEZE = "freeze-baseline"
AUTHOR, MAINTAINER, TRIAGER = "Codertocat", "maintainer", "triager"

CONFIG = """\
version: 1
graders:
  judge:
    kind: checks
    checks:
      - {type: contains, values: [%(word)s]}
suites:
  capitals:
    grader: judge
    cases: cases.yml
    mutators: none
    repeats: {freeze: 2}
baseline: {store: %(store)s}
%(more)s"""
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


def config(word: str = "Paris", store: str = "branch", more: str = "") -> str:
    """The configuration of a judge that looks for one word."""
    return CONFIG % {"word": word, "store": store, "more": more}


@dataclass
class World:
    """The repository, its pull request number 1, and the runs."""

    server: GitHubServer
    root: Path
    store: str = "branch"
    more: str = ""
    files: dict[str, str | bytes] | None = None
    runs: int = 100
    logs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.repo = Repo(self.root / "origin")
        usual: dict[str, str | bytes] = {
            ".grader-gate.yml": config(store=self.store, more=self.more),
            "cases.yml": CASES,
        }
        self.base = self.repo.commit(usual | (self.files or {}))
        self.server.git_repo = self.repo.root
        self.server.state.permissions |= {MAINTAINER: "write", AUTHOR: "write", TRIAGER: "read"}

    # ------------------------------------------------------------ what people do

    def open_pull(self, files: dict[str, str | bytes] | None = None, *, fork: bool = False) -> None:
        """The author opens the pull request; by default it makes the judge look for London."""
        if files is None:
            files = {".grader-gate.yml": config("London", self.store, self.more)}
        self.repo.git("checkout", "-q", "-b", "feature", "main")
        self.head = self.repo.commit(files)
        self.merge = self._merge()
        self.server.add_pull(1, self.head)
        pull = self.server.pulls[1]
        pull["head"]["ref"], pull["base"]["ref"] = "feature", "main"
        pull["labels"], pull["state"] = [], "open"
        pull["merge_commit_sha"] = self.merge
        if fork:
            pull["head"]["repo"]["full_name"] = "somebody/judges"
            pull["head"]["user"]["login"] = "somebody"

    def _merge(self) -> str:
        self.repo.git("checkout", "-q", "--detach", "main")
        self.repo.git("merge", "-q", "--no-ff", "-m", "Merge", self.head)
        merge = self.repo.git("rev-parse", "HEAD")
        self.repo.git("update-ref", "refs/pull/1/merge", merge)
        self.repo.git("checkout", "-q", "main")
        return merge

    def push(self, files: dict[str, str | bytes]) -> str:
        """Another commit on the pull request's branch."""
        self.repo.git("checkout", "-q", "feature")
        self.repo.git("reset", "-q", "--hard", "refs/heads/feature")
        self.head = self.repo.commit(files)
        self.merge = self._merge()
        self.server.pulls[1]["head"]["sha"] = self.head
        self.server.pulls[1]["merge_commit_sha"] = self.merge
        return self.head

    def merge_pull(self) -> str:
        """Somebody merges the pull request; the commit on main."""
        self.repo.git("checkout", "-q", "main")
        self.repo.git("reset", "-q", "--hard", "refs/heads/main")
        self.repo.git("merge", "-q", "--no-ff", "-m", "Merge", "refs/heads/feature")
        self.server.pulls[1]["state"] = "closed"
        self.base = self.repo.git("rev-parse", "HEAD")
        return self.base

    def label(self, name: str = FREEZE, by: str = MAINTAINER) -> None:
        """Somebody puts a label on."""
        hub.put_label(self.server, 1, name, by)

    @property
    def labels(self) -> list[str]:
        """Labels on the pull request."""
        return [x["name"] for x in self.server.pulls[1]["labels"]]

    # ------------------------------------------------------------ runs

    def check(self, **more: Any) -> int:
        """The check workflow on the pull request as it is now."""
        return self.run("pull_request", self.pull_event("synchronize"), self.merge, "refs/pull/1/merge", **more)

    def freeze(self, by: str = MAINTAINER, label: str = FREEZE, *, put: bool = True, **more: Any) -> int:
        """Somebody puts the freeze label on, and its workflow runs."""
        if put:
            self.label(label, by)
        payload = self.pull_event("labeled")
        payload["label"] = {"name": label, "color": "ffffff"}
        payload["sender"]["login"] = by
        return self.run("pull_request_target", payload, self.main, "refs/heads/main", **more)

    def dispatch(self, by: str = MAINTAINER, pr: str = "1", **more: Any) -> int:
        """Somebody starts the freeze workflow by hand."""
        payload = event("workflow_dispatch")
        payload["inputs"] = {"pr": pr}
        payload["sender"]["login"] = by
        return self.run("workflow_dispatch", payload, self.main, "refs/heads/main", env={"GITHUB_ACTOR": by}, **more)

    def pushed(self, **more: Any) -> int:
        """The push workflow on main."""
        payload = event("push")
        payload |= {"ref": "refs/heads/main", "after": self.main, "before": "0" * 40}
        payload["repository"]["default_branch"] = "main"
        return self.run("push", payload, self.main, "refs/heads/main", **more)

    def merge_group(self, **more: Any) -> int:
        """The check workflow on the merge queue's commit of the pull request."""
        payload = event("merge_group")
        payload["action"] = "checks_requested"
        payload["merge_group"] |= {
            "head_sha": self.merge,
            "base_sha": self.main,
            "head_ref": f"refs/heads/gh-readonly-queue/main/pr-1-{self.main}",
        }
        return self.run("merge_group", payload, self.merge, "refs/pull/1/merge", **more)

    def scheduled(self, **more: Any) -> int:
        """The nightly workflow on main."""
        payload = {"schedule": "0 3 * * *", "repository": event("push")["repository"]}
        return self.run("schedule", payload, self.main, "refs/heads/main", **more)

    def finished(self, run: int = 77, **changes: Any) -> int:
        """The companion workflow, after the fork's own run has finished."""
        payload = {"action": "completed", "repository": event("push")["repository"]}
        payload["workflow_run"] = {
            "id": run,
            "event": "pull_request",
            "head_sha": self.head,
            "head_branch": "feature",
            "head_repository": {"owner": {"login": "somebody"}},
        } | changes
        return self.run("workflow_run", payload, self.main, "refs/heads/main")

    @property
    def main(self) -> str:
        return self.repo.git("rev-parse", "refs/heads/main")

    def pull_event(self, what: str) -> dict[str, Any]:
        return self.pull_event_of(1, what)

    def pull_event_of(self, number: int, what: str = "synchronize") -> dict[str, Any]:
        payload = event("pull_request.labeled" if what == "labeled" else "pull_request.synchronize")
        payload["action"] = what
        payload["pull_request"]["number"] = payload["number"] = number
        payload["pull_request"]["head"] = json.loads(json.dumps(self.server.pulls[number]["head"]))
        payload["pull_request"]["labels"] = []
        payload["pull_request"]["base"] |= {"ref": "main", "sha": self.main}
        return payload

    def run(
        self,
        name: str,
        payload: dict[str, Any],
        sha: str,
        ref: str,
        *,
        env: dict[str, str] | None = None,
        token: str = TOKEN,
        **inputs: str,
    ) -> int:
        """One run of the action in a checkout of its own."""
        self.runs += 1
        files = self.root / f"run-{self.runs}"
        files.mkdir()
        self.workspace = checkout_of(self.repo, files / "workspace", sha)
        (files / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(files),
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(files / "event.json"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_REPOSITORY": self.server.repo,
            "GITHUB_SHA": sha,
            "GITHUB_REF": ref,
            "GITHUB_WORKFLOW_REF": f"{self.server.repo}/.github/workflows/freeze.yml@refs/heads/main",
            "GITHUB_RUN_ID": str(self.runs),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_SERVER_URL": self.server.url,
            "GITHUB_API_URL": self.server.url,
            "GITHUB_OUTPUT": str(files / "output"),
            "GITHUB_STEP_SUMMARY": str(files / "summary"),
            "INPUT_TOKEN": token,
            **(env or {}),
            **{f"INPUT_{key.upper()}": value for key, value in inputs.items()},
        }
        self.run_files = files
        stream = io.StringIO()
        try:
            return int(action.main(variables, stream=stream, sleep=lambda seconds: None, now=lambda: 1_000_000.0))
        finally:
            self.log = stream.getvalue()
            self.logs.append(self.log)
            assert TOKEN not in self.log

    # ------------------------------------------------------------ what is there afterwards

    @property
    def comment(self) -> str:
        """The only comment."""
        (only,) = self.server.bodies(1)
        return only

    def verdict(self, sha: str | None = None) -> str | None:
        """What the newest check on a commit says."""
        runs = [r for r in self.server.check_runs if r["head_sha"] == (sha or self.head)]
        return runs[-1]["conclusion"] if runs else None

    def records(self, ref: str = "grader-gate-data") -> dict[str, list[dict[str, Any]]]:
        """Records on a branch by file name; each is its lines."""
        if not self.repo.git("for-each-ref", f"refs/heads/{ref}"):
            return {}
        names = self.repo.git("ls-tree", "-r", "--name-only", f"refs/heads/{ref}").splitlines()
        return {
            name.rpartition("/")[2]: [json.loads(x) for x in self.repo.git("show", f"{ref}:{name}").splitlines()]
            for name in names
            if name.endswith(".jsonl")
        }

    @property
    def result(self) -> dict[str, Any]:
        """``result.json`` of the last run."""
        value: dict[str, Any] = json.loads((self.workspace / "grader-gate-report/result.json").read_text("utf-8"))
        return value


def checkout_of(repo: Repo, to: Path, sha: str) -> Path:
    """A clone of depth 1 at one commit."""
    work = Repo(to)
    work.git("fetch", "-q", "--no-tags", "--depth=1", f"file://{repo.root}", sha)
    work.git("checkout", "-q", "--detach", sha)
    return to


__all__ = ["World", "checkout", "config"]
