"""The scheduled run: is what the provider answers still what was frozen? One issue says so, and is closed again."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.configfile import load_config
from grader_gate.errors import ExitCode
from grader_gate.flow.drifting import Drift, measure_drift
from grader_gate.flow.single import SingleOptions
from grader_gate.github.errors import GitHubError
from grader_gate.github.issues import DriftIssue
from grader_gate.github.job import Job
from grader_gate.github.outputs import append_summary
from grader_gate.github.trusted import branch_store
from grader_gate.github.workspace import bring
from grader_gate.model import GateVerdict
from grader_gate.report.drift import TITLE, render_drift, render_recovery

CODES = {GateVerdict.FAIL: ExitCode.FAIL, GateVerdict.ERROR: ExitCode.ERROR}


def watch_drift(job: Job) -> int:
    """Measure, and open, update or close the issue.

    :returns: 0 no drift, 1 drift, 3 not measured; then the issue is left as it is.
    :raises GateError: the baseline or the commit cannot be had.
    """
    with Git(job.root, env=job.environ) as git:
        bring(job, git, [job.event.head_sha])
        config = load_config(GitTree(git, job.event.head_sha), job.inputs.config)
        held = branch_store(job, git, config).read() if config.baseline.store == "branch" else None
    for line in held.refused if held else ():
        job.log.warning(f"baseline record not used: {line}")
    job.inputs.out.mkdir(parents=True, exist_ok=True)
    options = SingleOptions(
        out=job.inputs.out,
        environ=job.without_secrets(),
        progress=job.progress,
        config_path=job.inputs.config,
        suites=job.inputs.suites,
        max_calls=job.inputs.max_calls,
    )
    records = held.records if held else ()
    day = datetime.now(UTC).date().isoformat()
    with job.log.group("Grading a sample of the baseline anew"):
        drift = asyncio.run(measure_drift(job.root, job.event.head_sha, options, day, records))
    body = render_drift(drift, day=day, link=job.event.run_url)
    (job.inputs.out / "drift.md").write_text(body, "utf-8", newline="\n")
    for suite in drift.suites:
        why = f": {'; '.join(suite.why)}" if suite.why else ""
        job.log.line(f"{suite.suite}: {suite.verdict.value}, {suite.claims} claims, {suite.graded} items graded{why}")
    if path := job.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            append_summary(Path(path), body)
        except OSError as error:
            job.log.warning(f"the summary could not be written ({error.strerror})")
    _tell(job, drift, body, day)
    return CODES.get(drift.verdict, ExitCode.OK)


def _tell(job: Job, drift: Drift, body: str, day: str) -> None:
    if job.client is None:
        return
    issue = DriftIssue(job.client, job.event.repository, job.inputs.key)
    try:
        if drift.verdict is GateVerdict.FAIL:
            job.log.line(f"issue: {issue.tell(TITLE, body)}")
        elif drift.verdict is GateVerdict.PASS:
            for page in issue.over(render_recovery(day, job.event.run_url)):
                job.log.line(f"issue closed: {page}")
    except GitHubError as error:
        job.log.warning(f"the issue could not be written: {error}; the report is in the job summary")
