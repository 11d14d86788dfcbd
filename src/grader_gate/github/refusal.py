"""A label that does not count: taken off, with the reason in one line wherever people look."""

from __future__ import annotations

from pathlib import Path

from grader_gate.errors import ExitCode
from grader_gate.github.comment import own_comments
from grader_gate.github.errors import GitHubError
from grader_gate.github.job import Job
from grader_gate.github.labels import remove_label
from grader_gate.github.outputs import append_summary
from grader_gate.github.request import RefusedRequest

NOTE = "> 🏷️ "
"""How the line in our comment begins; the next report has it no more, the next refusal replaces it."""


def refuse(job: Job, label: str, refused: RefusedRequest) -> int:
    """Say why in log, summary and comment, and take the label off. The check is left as it was.

    :returns: 2: what was asked for cannot be done as it was asked.
    """
    what = f"label {label!r} not served" if label else "not frozen"
    line = job.log.clean(f"{what}: {refused}")
    job.log.error(line)
    if path := job.environ.get("GITHUB_STEP_SUMMARY"):
        from grader_gate.report.escape import md_prose

        try:
            append_summary(Path(path), f"**grader-gate: {md_prose(line)}**")
        except OSError as error:
            job.log.warning(f"the summary could not be written ({error.strerror})")
    number = job.event.number
    if number is None and job.event.asked_pull.isdigit():
        number = int(job.event.asked_pull)
    if number is None:
        return ExitCode.USAGE
    try:
        if label:
            remove_label(job.github, job.event.repository, number, label)
        if job.inputs.comment:
            _note(job, number, line)
    except GitHubError as error:
        job.log.warning(f"the refusal could not be told on the pull request: {error}")
    return ExitCode.USAGE


def _note(job: Job, number: int, line: str) -> None:
    """One line below the header of our comment. There is none before the first report, and this makes none: a comment
    of this run would keep the report that is still being measured from being posted."""
    from grader_gate.report.escape import md_prose

    client = job.github
    owns = own_comments(client, job.event.repository, number, identity=client.identity, key=job.inputs.key)
    if not owns:
        return
    first, _, rest = str(owns[0]["body"]).replace("\r\n", "\n").partition("\n")
    rest = rest.lstrip("\n")
    if rest.startswith(NOTE):
        rest = rest.partition("\n")[2].lstrip("\n")
    body = f"{first}\n{NOTE}{md_prose(line)}\n\n{rest}"
    client.patch(f"/repos/{job.event.repository}/issues/comments/{owns[0]['id']}", {"body": body})
