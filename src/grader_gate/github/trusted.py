"""What earlier runs left that this run may rely on: frozen records, acceptances of the label, confirmed findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grader_gate.baselines.record import BaselineRecord
from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.config import Config
from grader_gate.configfile import load_config
from grader_gate.errors import GateError, UsageError
from grader_gate.flow.inheritance import MOST_MARKS, MOST_PAIRS, Inherited
from grader_gate.github.branchstore import BranchStore, added_by_workflow
from grader_gate.github.check import check_name
from grader_gate.github.comment import own_comments
from grader_gate.github.errors import GitHubError
from grader_gate.github.job import Job
from grader_gate.github.revisions import Compared
from grader_gate.github.workspace import bring
from grader_gate.report.marker import parse_header

_PAIR = re.compile(r"[0-9a-f]{64}")
_MARK = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Trusted:
    """What a run may rely on beside the base commit's own files."""

    records: tuple[BaselineRecord, ...] = ()
    acceptances: frozenset[str] = frozenset()
    inherited: Inherited = field(default_factory=Inherited)


def gather(job: Job, git: Git, sides: Compared) -> Trusted:
    """Read all of it. What cannot be read is told and left out: base is then measured live, and nothing is accepted."""
    if job.client is None:
        return Trusted()
    number = job.event.number or job.event.queued
    config = base_config(git, sides.base, job.inputs.config)
    records = () if config is None else _records(job, git, sides, config, number)
    accepted = frozenset(
        r.head.accepts for r in records if r.head.accepts and number is not None and r.head.pull_request == number
    )
    return Trusted(records, accepted, _evidence(job, number))


def base_config(git: Git, base: str, path: str) -> Config | None:
    """The configuration of the base commit; None where it cannot be read, which the check itself tells."""
    try:
        return load_config(GitTree(git, base), path)
    except UsageError:
        return None


def branch_store(job: Job, git: Git, config: Config) -> BranchStore:
    """The data branch as this job reaches it."""

    def fetch(shas: Sequence[str]) -> None:
        bring(job, git, shas)

    baseline = config.baseline
    return BranchStore(job.github, job.event.repository, baseline.branch, baseline.path, git, fetch)


def _records(job: Job, git: Git, sides: Compared, config: Config, number: int | None) -> tuple[BaselineRecord, ...]:
    try:
        if config.baseline.store == "branch":
            held = branch_store(job, git, config).read()
        else:
            new = _new_files(git, sides, config.baseline.path)
            if not new or number is None:
                return ()
            tip = job.event.head_sha
            if job.event.number is None:
                tip = str(job.github.get(f"/repos/{job.event.repository}/pulls/{number}")["head"]["sha"])
            held = added_by_workflow(job.github, job.event.repository, git, sides.head, new, tip)
    except (GitHubError, GateError) as error:
        job.log.warning(f"baseline records could not be read, base is measured live: {error}")
        return ()
    for line in held.refused:
        job.log.warning(f"baseline record not used: {line}")
    return held.records


def _new_files(git: Git, sides: Compared, folder: str) -> list[str]:
    """Record files that head has and base has not; an edited one is a goalpost and never read."""
    pattern = f"{folder.strip('/')}/*.jsonl"
    base, head = GitTree(git, sides.base), GitTree(git, sides.head)
    before = set(base.glob(pattern))
    return [path for path in head.glob(pattern) if path not in before]


# ---------------------------------------------------------------- evidence


def _evidence(job: Job, number: int | None) -> Inherited:
    """What our comment on the pull request and our checks on this commit say was confirmed."""
    found: dict[str, tuple[str, ...]] = {}
    client, event = job.github, job.event
    try:
        if number is not None:
            for comment in own_comments(client, event.repository, number, identity=client.identity, key=job.inputs.key):
                _merge(found, parse_header(str(comment.get("body") or "")))
        if event.head_sha:
            listed = client.pages(
                f"/repos/{event.repository}/commits/{event.head_sha}/check-runs",
                key="check_runs",
                check_name=check_name(job.inputs.key),
                filter="all",
            )
            for run in listed:
                _merge(found, parse_header(str((run.get("output") or {}).get("text") or "")))
    except GitHubError as error:
        job.log.warning(f"what earlier runs confirmed could not be read: {error}")
    return Inherited(found)


def _merge(found: dict[str, tuple[str, ...]], header: dict[str, Any] | None) -> None:
    evidence = (header or {}).get("evidence")
    if not isinstance(evidence, dict):
        return
    for pair, marks in list(evidence.items())[-MOST_PAIRS:]:
        if not _PAIR.fullmatch(str(pair)) or not isinstance(marks, list):
            continue
        good = [m for m in marks[:MOST_MARKS] if isinstance(m, str) and _MARK.fullmatch(m)]
        known = tuple(dict.fromkeys([*found.pop(pair, ()), *good]))[:MOST_MARKS]
        if known:
            found[pair] = known
