"""Who asks for a freeze, and does it count: live now, by somebody who may, after a report on this very head."""

from __future__ import annotations

from typing import Any

from grader_gate.config import FreezeBy
from grader_gate.github.comment import own_comments
from grader_gate.github.labels import is_live, last_applied
from grader_gate.github.permission import why_not
from grader_gate.github.request import RefusedRequest, Request
from grader_gate.report.marker import parse_header


def who_asks(request: Request, rule: FreezeBy) -> str | None:
    """Who asked, if they may and if it counts; None where the label is gone.

    :param rule: the base branch's.
    :raises RefusedRequest: they may not, or it does not count, with the reason.
    """
    job = request.job
    client, repository = job.github, job.event.repository
    if request.label:
        applied = last_applied(client, repository, request.number, request.label)
        if not is_live(request.pull, request.label) or applied is None:
            return None
        by, at = applied.by, applied.at
    else:
        by, at = job.environ.get("GITHUB_TRIGGERING_ACTOR") or job.event.actor, ""
    if (reason := why_not(client, repository, by, request.author, rule)) is not None:
        raise RefusedRequest(reason)
    _look_for_comment(request, at)
    return by


def _look_for_comment(request: Request, at: str) -> None:
    """A completed comment of ours must name this head, and have stood there when the label was put on."""
    job = request.job
    client, key = job.github, job.inputs.key
    owns = own_comments(client, job.event.repository, request.number, identity=client.identity, key=key)
    named = [c for c in owns if _reports_on(parse_header(str(c.get("body") or "")), request.head)]
    if not named:
        raise RefusedRequest(
            f"there is no report on {request.head[:12]} yet: wait for the gate's comment, then put the label on"
        )
    if at and all(str(c.get("updated_at", "")) > at for c in named):
        raise RefusedRequest(
            f"the report on {request.head[:12]} is newer than the label: read it, then put the label on anew"
        )


def _reports_on(header: dict[str, Any] | None, head: str) -> bool:
    """A fork's testimony names a head too, and is no report."""
    return header is not None and header.get("pr_head") == head and not header.get("testimony")
