"""The freeze label: who asked, does it count, what it takes, the record, the answer, the check again.

Every refusal takes the label off and says why in one line: in the log, in the job summary, and in our comment.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace

from grader_gate.baselines.record import BaselineRecord
from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.config import Config, FreezeBy
from grader_gate.configfile import ConfigMissing, load_config
from grader_gate.errors import ExitCode, GateError, UsageError
from grader_gate.flow.accepted import Stamp
from grader_gate.flow.accepting import Accepted, CodeNotRunError, NothingToFreezeError, accept
from grader_gate.flow.prepare import CheckOptions, Prepared, prepare
from grader_gate.github import finish
from grader_gate.github.asking import who_asks
from grader_gate.github.check import GateCheck
from grader_gate.github.errors import GitHubError
from grader_gate.github.event import EventKind
from grader_gate.github.gitdata import HeadMoved, add_file
from grader_gate.github.job import Job
from grader_gate.github.labels import (
    FREEZE_DESCRIPTION,
    ensure_label,
    is_live,
    remove_label,
)
from grader_gate.github.publish import check_for, check_output
from grader_gate.github.refusal import refuse
from grader_gate.github.request import NoTestMerge, RefusedRequest, Request, read_pull, read_request
from grader_gate.github.results import unmeasured
from grader_gate.github.revisions import Compared, NoBase
from grader_gate.github.trusted import Trusted, branch_store, gather
from grader_gate.github.workspace import bring, bring_sides
from grader_gate.model import GateVerdict
from grader_gate.result import Estimate, Notice, Result


class NothingCompared(RefusedRequest):
    """Nothing that is measured differs from base."""


def freeze_by_label(job: Job) -> int:
    """Serve a freeze label, or a run by hand that names a pull request.

    :returns: an exit code; 0 also where the label is another one, or is gone again.
    """
    label = job.event.label
    if label and not _is_freeze_label(job, label):
        job.log.line(f"label {label!r} asks nothing of the gate; nothing is measured and no check is set")
        return ExitCode.OK
    try:
        request = read_request(job, label)
        with Git(job.root, env=job.environ) as git:
            sides = _sides(git, request)
            config = _policy(git, sides, job)
            if label and label.lower() != config.policy.freeze.label.lower():
                raise RefusedRequest(f"the label that freezes is {config.policy.freeze.label!r} on the base branch now")
            ensure_label(job.github, job.event.repository, config.policy.freeze.label, FREEZE_DESCRIPTION)
            by = who_asks(request, config.policy.freeze)
            if by is None:
                job.log.line(f"label {label!r} is not on the pull request any more; nothing is measured")
                return ExitCode.OK
            return _freeze(request, git, sides, config, by)
    except RefusedRequest as refused:
        return refuse(job, label, refused)


def _is_freeze_label(job: Job, label: str) -> bool:
    """Whether base names this label. Told before anything is refused: another label is never taken off.

    Where base's configuration cannot be read, the default name is ours.
    """
    try:
        with Git(job.root, env=job.environ) as git:
            bring(job, git, [job.event.base_sha])
            rule = load_config(GitTree(git, job.event.base_sha), job.inputs.config).policy.freeze
    except GateError:
        rule = FreezeBy()
    return label.lower() == rule.label.lower()


def _sides(git: Git, request: Request) -> Compared:
    job = request.job
    try:
        return bring_sides(git, job.event, job.inputs, job.client, job.log)
    except NoBase as error:
        raise NoTestMerge(str(error)) from None


def _policy(git: Git, sides: Compared, job: Job) -> Config:
    try:
        return load_config(GitTree(git, sides.base), job.inputs.config)
    except ConfigMissing:
        raise RefusedRequest(
            f"{job.inputs.config} is not on the base branch yet: merge it, the push then measures the baseline"
        ) from None
    except UsageError as error:
        raise RefusedRequest(f"the base branch's configuration cannot be read: {error}") from None


# ---------------------------------------------------------------- measuring and recording


def _freeze(request: Request, git: Git, sides: Compared, config: Config, by: str) -> int:
    job = request.job
    if config.baseline.store == "files" and job.event.is_fork:
        raise RefusedRequest(
            "records of the `files` store go into the pull request, and this one's branch is in a fork: run "
            f"`grader-gate freeze {request.head[:12]}` there and commit the file"
        )
    trusted = gather(job, git, sides)
    check = check_for(job.event, job.github, job.inputs.key, job.log.line) if job.inputs.check else None
    with ExitStack() as running:
        return _measured(request, git, sides, config, by, trusted, check, running)


def _measured(
    request: Request,
    git: Git,
    sides: Compared,
    config: Config,
    by: str,
    trusted: Trusted,
    check: GateCheck | None,
    running: ExitStack,
) -> int:
    job = request.job
    try:
        accepted = _accept(request, git, sides, by, trusted, check, running)
        where = _record(request, git, config, accepted.record) if accepted.record is not None else None
    except RefusedRequest:
        raise
    except GateError as error:
        line = job.log.clean(str(error))
        job.log.error(line)
        result = finish.kept(job, unmeasured(job.event, job.inputs, sides, line, ExitCode.ERROR))
        finish.summarise(job, result)
        _off(request)
        finish.posted(job, result, check)
        return error.exit_code
    moved = where[1] if where else None
    result = finish.kept(job, _answer(accepted, where[0] if where else None))
    finish.summarise(job, result)
    _off(request)
    if moved is None:
        finish.posted(job, result, check)
    else:
        _on_new_head(job, result, check, moved)
    return result.exit_code


def _accept(
    request: Request,
    git: Git,
    sides: Compared,
    by: str,
    trusted: Trusted,
    check: GateCheck | None,
    running: ExitStack,
) -> Accepted:
    job = request.job
    options = CheckOptions(
        out=job.inputs.out,
        environ=job.without_secrets(),
        progress=job.progress,
        config_path=job.inputs.config,
        suites=job.inputs.suites,
        max_calls=job.inputs.max_calls,
        key=job.inputs.key,
        run_head_code=job.event.kind is EventKind.PULL_REQUEST and not job.event.is_fork,
        records=trusted.records,
    )
    prepared = prepare(git, sides.base, sides.head, options)
    if not isinstance(prepared, Prepared):
        raise NothingCompared("nothing to freeze: no grader, case or policy differs from base")
    stamp = Stamp(by, request.number, job.event.run_url, job.event.workflow or job.event.name)

    def announce(cost: Estimate) -> None:
        usd = "" if cost.usd_high is None else f", {cost.usd_low:.2f} to {cost.usd_high:.2f} US dollars"
        line = f"Freezing for {by}: {cost.calls} calls, {cost.tokens_low} to {cost.tokens_high} tokens{usd}"
        job.log.line(line)
        if check is not None:
            # Only now: a label that is refused leaves the verdict that stands.
            running.enter_context(check)
            check.progress(line)

    job.inputs.out.mkdir(parents=True, exist_ok=True)
    with job.log.group("Freezing"):
        try:
            return asyncio.run(accept(prepared, options, stamp, announce=announce))
        except (CodeNotRunError, NothingToFreezeError) as error:
            raise RefusedRequest(str(error)) from None


def _record(request: Request, git: Git, config: Config, record: BaselineRecord) -> tuple[str, str | None]:
    """Write the record; where it went, and the pull request's new head where that is in its branch.

    :raises RefusedRequest: a push came while it was measured.
    """
    job = request.job
    client, repository = job.github, job.event.repository
    # On disk first: what was paid for is in the artifact whatever happens next.
    finish.keep_record(job.inputs.out / "baseline", record)
    live = read_pull(client, repository, request.number)
    if str(live["head"]["sha"]) != request.head:
        raise RefusedRequest(f"{str(live['head']['sha'])[:12]} was pushed while this was measured; nothing is frozen")
    if request.label and not is_live(live, request.label):
        raise RefusedRequest("the label was taken off while this was measured; nothing is frozen")
    if config.baseline.store == "branch":
        stored = branch_store(job, git, config).append(record)
        return stored.where, None
    from grader_gate.baselines.branch import commit_message

    path = f"{config.baseline.path.strip('/')}/{record.name}"
    branch = str(request.pull["head"]["ref"])
    try:
        commit = add_file(
            client,
            repository,
            branch,
            path,
            record.render().encode(),
            commit_message(record),
            expected=request.head,
        )
    except HeadMoved as moved:
        raise RefusedRequest(str(moved)) from None
    return f"{path} in this pull request", commit


# ---------------------------------------------------------------- the answer


def _answer(accepted: Accepted, where: str | None) -> Result:
    result = accepted.result
    if result.verdict is not GateVerdict.PASS or where is None or accepted.record is None:
        line = "Not frozen: the freeze label accepts what is worse than on base, never what breaks head's own policy."
        return result.model_copy(update={"notices": (Notice(level="warning", message=line), *result.notices)})
    low, high = accepted.repeats
    times = f"{low}" if low == high else f"{low} to {high}"
    line = (
        f"Frozen by {accepted.record.head.by}: {accepted.items} items with {times} fresh repeats each, "
        f"{accepted.carried} carried over. Record: {where}."
    )
    return result.model_copy(update={"notices": (Notice(message=line), *result.notices)})


def _on_new_head(job: Job, result: Result, check: GateCheck | None, commit: str) -> None:
    """The record's commit is the head now: the verdict belongs to both, and no workflow will run on the new one."""
    if check is not None:
        check.complete(check_output(result))
    new = replace(job, event=job.event.model_copy(update={"head_sha": commit}))
    finish.kept(new, result)
    fresh = None
    if check is not None:
        fresh = check_for(new.event, job.github, job.inputs.key, job.log.line)
    if fresh is None:
        finish.posted(new, result, None)
        return
    with fresh:
        finish.posted(new, result, fresh)


def _off(request: Request) -> None:
    if not request.label:
        return
    job = request.job
    try:
        remove_label(job.github, job.event.repository, request.number, request.label)
    except GitHubError as error:
        job.log.warning(f"the label could not be taken off: {error}")
