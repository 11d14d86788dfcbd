"""The companion of a fork's run: shows what that run says of itself, as unverified testimony.

Runs on ``workflow_run``, with the default branch's workflow and a token that may write. The fork controls the workflow
that made the artifact, so nothing of it is run, checked out, believed or cached. The pull request is found by the head
commit that GitHub names, never by a number in the artifact.
"""

from __future__ import annotations

from dataclasses import replace

from grader_gate.errors import ExitCode, GateError
from grader_gate.github import finish
from grader_gate.github.artifact import BadArtifact, fetch_artifact, read_result
from grader_gate.github.check import Conclusion, GateCheck, Output, check_name
from grader_gate.github.client import Json
from grader_gate.github.comment import own_comments, upsert_comment
from grader_gate.github.event import Event, EventKind, SourceRun
from grader_gate.github.job import Job
from grader_gate.github.labels import DESCRIPTIONS, SAFE_TO_GRADE, ensure_label
from grader_gate.model import GateVerdict
from grader_gate.report.marker import parse_header
from grader_gate.result import Result

ARTIFACT = "grader-gate-report"
"""Name of the artifact in the example workflows, with the key behind it where there is one."""

WAITS = Output(
    Conclusion.FAILURE,
    "Not verified: a maintainer's label safe-to-grade lets it be measured",
    "This pull request comes from a fork. Its own run proves nothing, so this check waits for a trusted run.\n\n"
    "A maintainer who has read the change puts the label `safe-to-grade` on the pull request.",
)


def publish_testimony(job: Job) -> int:
    """Post what the finished run left.

    :returns: 0 where it is posted or there is nothing to post.
    :raises GateError: GitHub cannot be asked or written to.
    """
    source = job.event.source
    assert source is not None
    if source.event != "pull_request":
        job.log.line(f"the finished run was of a {source.event or 'n unknown'} event; nothing is posted")
        return ExitCode.OK
    found = _pulls(job, source)
    if len(found) != 1:
        what = "no open pull request has" if not found else f"{len(found)} open pull requests have"
        job.log.line(f"{what} {source.head_sha[:12]} as its head; nothing is posted")
        return ExitCode.OK
    (pull,) = found
    if not _needs_us(pull):
        job.log.line(f"pull request {pull['number']} is not from a fork: its own run posts its report")
        return ExitCode.OK
    job = replace(job, event=_event(job.event, pull, source))
    if (settled := _untouched(job, pull)) is not None:
        return _post_settled(job, settled)
    if _measured_already(job):
        job.log.line(f"{source.head_sha[:12]} has a report of a trusted run; nothing is posted")
        return ExitCode.OK
    said = _testimony(job, source)
    if job.inputs.check:
        check = _check(job)
        check.start()
        check.complete(WAITS)
    if job.inputs.comment:
        ensure_label(job.github, job.event.repository, SAFE_TO_GRADE, DESCRIPTIONS[SAFE_TO_GRADE])
        _comment(job, source, said)
    return ExitCode.OK


def _pulls(job: Job, source: SourceRun) -> list[Json]:
    """Open pull requests whose head is exactly the commit of the run; a deleted fork is found by the commit alone."""
    wanted = {"state": "open"}
    if source.head_owner and source.head_branch:
        wanted["head"] = f"{source.head_owner}:{source.head_branch}"
    listed = job.github.pages(f"/repos/{job.event.repository}/pulls", **wanted)
    return [p for p in listed if source.head_sha and p["head"]["sha"] == source.head_sha and p.get("state") == "open"]


def _needs_us(pull: Json) -> bool:
    repo = pull["head"].get("repo")
    fork = not repo or repo.get("full_name") != pull["base"]["repo"]["full_name"]
    return fork or str((pull.get("user") or {}).get("login")) == "dependabot[bot]"


def _event(event: Event, pull: Json, source: SourceRun) -> Event:
    return event.model_copy(
        update={
            "kind": EventKind.PULL_REQUEST_TARGET,
            "number": int(pull["number"]),
            "head_sha": source.head_sha,
            "base_ref": str(pull["base"]["ref"]),
            "is_fork": True,
        }
    )


def _testimony(job: Job, source: SourceRun) -> Result | None:
    name = f"{ARTIFACT}-{job.inputs.key}" if job.inputs.key else ARTIFACT
    try:
        archive = fetch_artifact(job.github, job.event.repository, source.run_id, name)
        if archive is None:
            job.log.line(f"run {source.run_id} left no artifact {name!r}")
            return None
        return read_result(archive)
    except BadArtifact as error:
        job.log.warning(f"the artifact of run {source.run_id} is not shown: {error}")
        return None


def _untouched(job: Job, pull: Json) -> Result | None:
    """A result of our own where head's files, read as data, change nothing that is measured; else None.

    Without it a fork's pull request to the documentation would wait for a label for ever.
    """
    from grader_gate.changes.git import Git
    from grader_gate.flow.prepare import CheckOptions, prepare
    from grader_gate.github.request import read_pull
    from grader_gate.github.workspace import bring_sides

    try:
        merge = read_pull(job.github, job.event.repository, int(pull["number"])).get("merge_commit_sha")
        event = job.event.model_copy(update={"merge_sha": str(merge or job.event.head_sha)})
        with Git(job.root, env=job.environ) as git:
            sides = bring_sides(git, event, job.inputs, job.client, job.log)
            options = CheckOptions(
                out=job.inputs.out,
                environ=job.without_secrets(),
                progress=job.progress,
                config_path=job.inputs.config,
                key=job.inputs.key,
                run_head_code=False,
            )
            read = prepare(git, sides.base, sides.head, options)
    except GateError as error:
        job.log.line(f"whether anything measured changed is not known: {error}")
        return None
    return read if isinstance(read, Result) and read.verdict is GateVerdict.NOT_APPLICABLE else None


def _post_settled(job: Job, result: Result) -> int:
    check = _check(job) if job.inputs.check else None
    if check is None:
        finish.posted(job, result, None)
    else:
        with check:
            finish.posted(job, result, check)
    return ExitCode.OK


def _measured_already(job: Job) -> bool:
    """Whether a trusted run has reported on this head: its word stands."""
    told = any(
        head.get("pr_head") == job.event.head_sha and not head.get("testimony")
        for comment in _own(job)
        if (head := parse_header(str(comment.get("body") or ""))) is not None
    )
    if told:
        return True
    # Its comment may be switched off. A fork's own token can make no check, so whatever is not ours is trusted.
    listed = job.github.pages(
        f"/repos/{job.event.repository}/commits/{job.event.head_sha}/check-runs",
        key="check_runs",
        check_name=check_name(job.inputs.key),
        filter="all",
    )
    return any((run.get("output") or {}).get("title") != WAITS.title for run in listed)


def _own(job: Job) -> list[Json]:
    client, number = job.github, job.event.number
    assert number is not None
    return own_comments(client, job.event.repository, number, identity=client.identity, key=job.inputs.key)


def _check(job: Job) -> GateCheck:
    return GateCheck(
        job.github,
        job.event.repository,
        job.event.head_sha,
        name=check_name(job.inputs.key),
        details_url=job.event.run_url,
        run_id=job.event.run_id,
        attempt=job.event.attempt,
        log=job.log.line,
    )


def _comment(job: Job, source: SourceRun, said: Result | None) -> None:
    from grader_gate.github.request import read_pull
    from grader_gate.report.testimony import render_testimony

    event, client = job.event, job.github
    assert event.number is not None
    live = str(read_pull(client, event.repository, event.number)["head"]["sha"])
    if live != source.head_sha:
        job.log.line(f"the pull request's head is now {live[:12]}; its own run speaks for it")
        return
    run: dict[str, str | int] = {"run_id": event.run_id, "attempt": event.attempt, "pr_head": source.head_sha}
    page = f"{event.server_url}/{event.repository}/actions/runs/{source.run_id}"
    body = render_testimony(said, source.head_sha, key=job.inputs.key, run=run, link=page)
    outcome = upsert_comment(client, event.repository, event.number, body, identity=client.identity)
    job.log.line(f"comment: {outcome.action}: {outcome.url}")
