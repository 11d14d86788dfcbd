"""The label ``safe-to-grade``: a maintainer lets one head commit of a foreign pull request spend the graders' keys.

Runs under ``pull_request_target``, with the default branch's workflow. Head's files are read as data from git objects,
and its code does not run. The label is bound to the commit it was put on, and taken off once it is served.
"""

from __future__ import annotations

from collections.abc import Callable

from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.config import FreezeBy
from grader_gate.configfile import load_config
from grader_gate.errors import ExitCode, GateError
from grader_gate.github.errors import GitHubError
from grader_gate.github.job import Job
from grader_gate.github.labels import (
    DESCRIPTIONS,
    SAFE_TO_GRADE,
    ensure_label,
    is_live,
    last_applied,
    remove_label,
)
from grader_gate.github.permission import why_not
from grader_gate.github.refusal import refuse
from grader_gate.github.request import NoTestMerge, RefusedRequest, read_request
from grader_gate.github.revisions import NoBase
from grader_gate.github.workspace import bring_sides


def grade_safely(job: Job, measured: Callable[[Job], int]) -> int:
    """Serve the label.

    :param measured: runs the check for a job whose event is the pull request as it is now.
    :returns: an exit code.
    """
    try:
        request = read_request(job, SAFE_TO_GRADE)
        ensure_label(job.github, job.event.repository, SAFE_TO_GRADE, DESCRIPTIONS[SAFE_TO_GRADE])
        applied = last_applied(job.github, job.event.repository, request.number, SAFE_TO_GRADE)
        if not is_live(request.pull, SAFE_TO_GRADE) or applied is None:
            job.log.line(f"label {SAFE_TO_GRADE!r} is not on the pull request any more; nothing is measured")
            return ExitCode.OK
        rule = _rule(request.job)
        reason = why_not(job.github, job.event.repository, applied.by, request.author, rule)
        if reason is not None:
            raise RefusedRequest(reason)
    except RefusedRequest as refused:
        return refuse(job, SAFE_TO_GRADE, refused)
    job.log.line(f"{applied.by} lets {request.head} be graded; its code does not run")
    code = measured(request.job)
    try:
        remove_label(job.github, job.event.repository, request.number, SAFE_TO_GRADE)
    except GitHubError as error:
        job.log.warning(f"the label could not be taken off: {error}")
    return code


def _rule(job: Job) -> FreezeBy:
    """Who may: as for freezing, by the base branch's policy; without one, whoever may write."""
    try:
        with Git(job.root, env=job.environ) as git:
            sides = bring_sides(git, job.event, job.inputs, job.client, job.log)
            return load_config(GitTree(git, sides.base), job.inputs.config).policy.freeze
    except NoBase as error:
        raise NoTestMerge(str(error)) from None
    except GateError as error:
        job.log.line(f"no policy on base says who may: {error}")
        return FreezeBy()
