"""The stores that live on GitHub: the data branch, and records that a freeze added to a pull request.

Both are read by the same rule: a record counts where GitHub vouches that a workflow's commit, and no other, put it
there. Files are read from git objects by SHA; only the history is asked of the API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader_gate.baselines.branch import BranchCommit, believed, commit_message
from grader_gate.baselines.record import BaselineRecord
from grader_gate.baselines.stores import Held, Stored
from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.github.client import FALLBACK_IDENTITY, Client, Json
from grader_gate.github.errors import GitHubError
from grader_gate.github.gitdata import add_file, branch_tip

MOST_FOREIGN = 20
"""Commits of others that are looked into one by one; a branch with more is not append-only any more."""

MOST_FILES = 300
"""Files that GitHub lists for one commit; a commit with as many may have touched any."""


@dataclass(frozen=True, slots=True)
class BranchStore:
    """Append-only records on a branch of their own.

    :ivar fetch: makes commits readable in ``git``.
    """

    client: Client
    repository: str
    branch: str
    folder: str
    git: Git
    fetch: Callable[[Sequence[str]], object]

    def read(self) -> Held:
        """All records that a workflow wrote.

        :raises GateError: the branch is there and cannot be fetched.
        :raises GitHubError: GitHub cannot be asked whether it is there.
        """
        tip = branch_tip(self.client, self.repository, self.branch)
        if tip is None:
            return Held()
        self.fetch([tip])
        files = _files(GitTree(self.git, tip), self.folder)
        if not files:
            return Held()
        try:
            touched = _touched(self.client, self.repository, tip)
        except GitHubError:
            touched = None
        return believed(files, touched)

    def append(self, record: BaselineRecord) -> Stored:
        """Commit the record on the branch; a lost race is run again."""
        path = f"{self.folder.strip('/')}/{record.name}"
        commit = add_file(
            self.client,
            self.repository,
            self.branch,
            path,
            record.render().encode(),
            commit_message(record),
        )
        return Stored(f"{path} on branch {self.branch}", commit)


def added_by_workflow(client: Client, repository: str, git: Git, head: str, paths: Iterable[str], tip: str) -> Held:
    """Those of a pull request's new records that its freeze workflow committed.

    :param head: the commit under test, whose tree has the files.
    :param tip: the pull request's own head, whose history put them there.
    """
    tree = GitTree(git, head)
    files, touched = {}, {}
    for path in paths:
        files[path] = tree.read(path)
        try:
            commits = [_commit(c) for c in client.pages(f"/repos/{repository}/commits", sha=tip, path=path)]
        except GitHubError as error:
            touched[path] = f"its history could not be read ({error})"
            continue
        if not commits or not all(c.by_workflow(_identities(client)) for c in commits):
            touched[path] = "it was not committed by the freeze workflow"
    return believed(files, touched)


def _files(tree: GitTree, folder: str) -> dict[str, bytes]:
    return {path: tree.read(path) for path in tree.glob(f"{folder.strip('/')}/*.jsonl")}


def _touched(client: Client, repository: str, tip: str) -> dict[str, str] | None:
    """Path → reason, for every file that a commit of somebody else touched; None where that cannot be told."""
    identities = _identities(client)
    commits = [_commit(c) for c in client.pages(f"/repos/{repository}/commits", sha=tip)]
    foreign = [c for c in commits if not c.by_workflow(identities)]
    if len(foreign) > MOST_FOREIGN:
        return None
    touched: dict[str, str] = {}
    for commit in foreign:
        files = client.get(f"/repos/{repository}/commits/{commit.sha}").get("files") or []
        if len(files) >= MOST_FILES:
            return None
        who = commit.author or "somebody"
        how = "" if commit.verified else ", unverified"
        for file in files:
            for name in (file.get("filename"), file.get("previous_filename")):
                if name:
                    touched[str(name)] = f"commit {commit.sha[:12]} of {who}{how} touched it, not the freeze workflow"
    return touched


def _commit(said: Json) -> BranchCommit:
    verification = (said.get("commit") or {}).get("verification") or {}
    return BranchCommit(
        str(said.get("sha", "")),
        verification.get("verified") is True,
        str((said.get("author") or {}).get("login", "")),
    )


def _identities(client: Client) -> tuple[str, ...]:
    return (client.identity, FALLBACK_IDENTITY)
