"""A pull request that a label or a run by hand speaks of: read now, resolved once, measured as its merge would be."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader_gate.errors import GateError, UsageError
from grader_gate.github.client import Client, Json
from grader_gate.github.errors import NotFound
from grader_gate.github.event import Event, EventKind
from grader_gate.github.job import Job


class NoSuchPull(UsageError):
    """A run by hand names no open pull request."""


class RefusedRequest(GateError):
    """A label that does not count, with the reason in one line. The label is taken off."""


class NoTestMerge(RefusedRequest):
    """GitHub has no merge commit to test: there is a conflict, or it has not been made yet."""


@dataclass(frozen=True, slots=True)
class Request:
    """A label or a run by hand, on one pull request.

    :ivar job: the run, with the event as if it came from the pull request itself, as it is now.
    :ivar label: the label that asks; empty for a run by hand.
    """

    job: Job
    pull: Json
    label: str

    @property
    def number(self) -> int:
        """The pull request's number."""
        return int(self.pull["number"])

    @property
    def head(self) -> str:
        """The pull request's head commit as it was read."""
        return str(self.pull["head"]["sha"])

    @property
    def author(self) -> str:
        """Who opened it."""
        return str((self.pull.get("user") or {}).get("login", ""))


def read_pull(client: Client, repository: str, number: int) -> Json:
    """The pull request as it is now."""
    return client.get(f"/repos/{repository}/pulls/{number}")


def read_request(job: Job, label: str) -> Request:
    """Read the pull request that the event speaks of.

    :raises NoSuchPull: a run by hand names none.
    :raises RefusedRequest: it is closed, or its head is not the one that the event tells of.
    """
    event, client = job.event, job.github
    if event.number is not None:
        number = event.number
    elif event.asked_pull.isascii() and event.asked_pull.isdigit() and len(event.asked_pull) <= 9:
        number = int(event.asked_pull)
    else:
        raise NoSuchPull(f"input `pr`: {event.asked_pull[:40]!r} is no number of a pull request")
    try:
        pull = read_pull(client, event.repository, number)
    except NotFound:
        raise NoSuchPull(f"input `pr`: there is no pull request {number} in {event.repository}") from None
    if pull.get("state") != "open":
        raise RefusedRequest(f"pull request {number} is closed")
    head = str(pull["head"]["sha"])
    request = Request(job, pull, label)
    if event.number is not None and event.head_sha != head:
        raise RefusedRequest(
            f"the label was put on {event.head_sha[:12]}, and {head[:12]} was pushed since: "
            "look at it, then put the label on anew"
        )
    return replace(request, job=replace(job, event=_as_now(event, pull, number, head)))


def _as_now(event: Event, pull: Json, number: int, head: str) -> Event:
    own = event.kind is EventKind.PULL_REQUEST
    head_repo = (pull["head"].get("repo") or {}).get("full_name")
    return event.model_copy(
        update={
            # Not by `pull_request`: whatever the run by hand was, code of the head does not run in it.
            "kind": event.kind if own else EventKind.PULL_REQUEST_TARGET,
            "number": number,
            "head_sha": head,
            "base_ref": str(pull["base"]["ref"]),
            "merge_sha": event.merge_sha if own else str(pull.get("merge_commit_sha") or head),
            "is_fork": head_repo != (pull["base"].get("repo") or {}).get("full_name"),
            "author": str((pull.get("user") or {}).get("login", "")),
            "draft": bool(pull.get("draft")),
        }
    )
