"""The checkout that a job measures: which two commits, fetched where the clone lacks them, and nothing planted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from grader_gate.changes.git import Git
from grader_gate.errors import UsageError
from grader_gate.github.client import Client
from grader_gate.github.errors import GitHubError
from grader_gate.github.event import Event
from grader_gate.github.fetch import ensure_commits, remote_url
from grader_gate.github.inputs import Inputs
from grader_gate.github.job import Job
from grader_gate.github.outputs import Log
from grader_gate.github.revisions import Compared, compared


class OutputTracked(UsageError):
    """The output folder is part of the commit under test: its files would pass for results."""


def bring(job: Job, git: Git, shas: Sequence[str]) -> None:
    """Make commits readable in the clone.

    :raises CommitsMissing: one is not to be had.
    """
    url = remote_url(job.event.server_url, job.event.repository)
    ensure_commits(git, shas, url=url, token=job.inputs.token, ca_bundle=job.inputs.ca_bundle)


def bring_sides(git: Git, event: Event, inputs: Inputs, client: Client | None, log: Log) -> Compared:
    """Resolve both sides of the comparison and make them readable in the clone.

    :raises GateError: a side cannot be told or fetched, or head would bring its own results along.
    """
    url = remote_url(event.server_url, event.repository)

    def fetch(shas: Sequence[str]) -> None:
        for sha in ensure_commits(git, shas, url=url, token=inputs.token, ca_bundle=inputs.ca_bundle):
            log.line(f"fetched {sha}, which the clone does not hold")

    def merge_base(base: str, head: str) -> str | None:
        if client is None:
            return None
        try:
            answer = client.get(f"/repos/{event.repository}/compare/{quote(base, safe='')}...{head}", per_page=1)
        except GitHubError as error:
            log.line(f"merge base not told: {error}")
            return None
        return str(answer["merge_base_commit"]["sha"])

    sides = compared(git, event, fetch=fetch, merge_base=merge_base, base=inputs.base, head=inputs.head)
    log.line(f"base {sides.base} ({sides.how})")
    log.line(f"head {sides.head}")
    _refuse_tracked_output(git, inputs.out, sides.head)
    return sides


def _refuse_tracked_output(git: Git, out: Path, head: str) -> None:
    """A ledger that a pull request brings along would be read as grades already paid for."""
    folder = out.relative_to(git.root).as_posix()
    if git.run("ls-tree", "--name-only", "-z", head, "--", folder).stdout:
        raise OutputTracked(
            f"input `out`: {folder!r} is part of the commit under test; name a folder that git does not track"
        )
