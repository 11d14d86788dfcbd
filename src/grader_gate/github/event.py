"""A workflow event, read once: what happened, to which commits of which repository. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from grader_gate.errors import UsageError
from grader_gate.model import Frozen

NULL_SHA = "0" * 40


class BadEvent(UsageError):
    """The event's payload lacks what its kind always has."""


class EventKind(StrEnum):
    """Events by what they mean here. Everything else is ``unsupported``: explained, and no failure."""

    PULL_REQUEST = "pull_request"
    PULL_REQUEST_TARGET = "pull_request_target"
    MERGE_GROUP = "merge_group"
    PUSH = "push"
    DISPATCH = "workflow_dispatch"
    SCHEDULE = "schedule"
    WORKFLOW_RUN = "workflow_run"
    UNSUPPORTED = "unsupported"


class SourceRun(Frozen):
    """The finished run that a ``workflow_run`` event tells of. A fork controls all that it did and left."""

    run_id: int
    event: str = ""
    head_sha: str = ""
    head_branch: str = ""
    head_owner: str = ""
    page: str | None = None


class Event(Frozen):
    """What the rest of the program may know of the event. Also kept as ``event.json`` beside the results.

    :ivar head_sha: commit that comment, check and status belong to: the pull request's own head, not the merge.
    :ivar merge_sha: ``GITHUB_SHA``; on ``pull_request`` the tested merge commit.
    :ivar base_sha: the payload's own idea of base; stale on re-runs, so only a merge group's is used.
    :ivar is_fork: the head repository is another one, or is deleted.
    :ivar only_words: an ``edited`` event that changed title or text and not the base branch.
    :ivar label: the label that was put on or taken off, where that is the event.
    :ivar by: who did what the event tells; a re-run keeps it.
    :ivar asked_pull: the input ``pr`` of a run by hand.
    :ivar queued: the pull request that a merge group tests last.
    :ivar source: the run that a ``workflow_run`` event follows.
    """

    kind: EventKind
    name: str
    action: str = ""
    repository: str = ""
    number: int | None = None
    head_sha: str = ""
    base_sha: str = ""
    base_ref: str = ""
    merge_sha: str = ""
    is_fork: bool = False
    is_dependabot: bool = False
    draft: bool = False
    only_words: bool = False
    labels: tuple[str, ...] = ()
    actor: str = ""
    author: str = ""
    label: str = ""
    by: str = ""
    default_branch: str = ""
    asked_pull: str = ""
    workflow: str = ""
    queued: int | None = None
    source: SourceRun | None = None
    run_id: int = 0
    attempt: int = 1
    server_url: str = "https://github.com"
    api_url: str = "https://api.github.com"

    @property
    def run_url(self) -> str | None:
        """Page of this run, where the run has a number."""
        if not self.run_id or not self.repository:
            return None
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}/attempts/{self.attempt}"

    @property
    def read_only_reason(self) -> str | None:
        """Why the token is read-only and no secret is there, in words; None where neither is expected."""
        if self.kind is EventKind.PULL_REQUEST_TARGET:
            return None
        if self.is_dependabot:
            return (
                "GitHub gives a pull request of Dependabot a read-only token and no secrets; a person's re-run has them"
            )
        if self.is_fork:
            return "GitHub gives a pull request from a fork a read-only token and no secrets"
        return None


def parse_event(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    """Read an event.

    :param name: ``GITHUB_EVENT_NAME``.
    :param payload: the parsed file at ``GITHUB_EVENT_PATH``.
    :param environ: for ``GITHUB_REPOSITORY``, ``GITHUB_SHA``, ``GITHUB_RUN_ID``, the URLs and the actor.
    :raises BadEvent: a field that this kind of event always has is missing.
    """
    common: dict[str, Any] = {
        "name": name,
        "action": _text(payload.get("action")),
        "repository": environ.get("GITHUB_REPOSITORY") or _text(_dig(payload, "repository", "full_name")),
        "merge_sha": environ.get("GITHUB_SHA", ""),
        "actor": environ.get("GITHUB_ACTOR") or _text(_dig(payload, "sender", "login")),
        "label": _text(_dig(payload, "label", "name")),
        "by": _text(_dig(payload, "sender", "login")),
        "default_branch": _text(_dig(payload, "repository", "default_branch")),
        "workflow": environ.get("GITHUB_WORKFLOW_REF", ""),
        "run_id": _number(environ, "GITHUB_RUN_ID", 0),
        "attempt": _number(environ, "GITHUB_RUN_ATTEMPT", 1),
        "server_url": (environ.get("GITHUB_SERVER_URL") or "https://github.com").rstrip("/"),
        "api_url": (environ.get("GITHUB_API_URL") or "https://api.github.com").rstrip("/"),
    }
    try:
        kind = EventKind(name)
    except ValueError:
        kind = EventKind.UNSUPPORTED
    if kind in (EventKind.PULL_REQUEST, EventKind.PULL_REQUEST_TARGET):
        return Event(kind=kind, **common, **_pull_request(name, payload, environ))
    if kind is EventKind.MERGE_GROUP:
        group = _need(payload, name, "merge_group")
        return Event(
            kind=kind,
            **common,
            head_sha=_sha(_need(group, name, "head_sha"), name),
            base_sha=_sha(_need(group, name, "base_sha"), name),
            base_ref=_text(group.get("base_ref")).removeprefix("refs/heads/"),
            queued=_queued(_text(group.get("head_ref"))),
        )
    if kind is EventKind.PUSH:
        after = _text(payload.get("after"))
        return Event(
            kind=kind,
            **common,
            head_sha="" if after == NULL_SHA else after,
            base_sha=_text(payload.get("before")),
            base_ref=_text(payload.get("ref")).removeprefix("refs/heads/"),
        )
    if kind is EventKind.WORKFLOW_RUN:
        return Event(
            kind=kind,
            **common,
            head_sha=_text(_dig(payload, "workflow_run", "head_sha")),
            source=_source(payload.get("workflow_run")),
        )
    if kind in (EventKind.DISPATCH, EventKind.SCHEDULE):
        ref = environ.get("GITHUB_REF_NAME", "")
        asked = _dig(payload, "inputs", "pr")
        return Event(
            kind=kind,
            **common,
            head_sha=environ.get("GITHUB_SHA", ""),
            base_ref=ref,
            asked_pull=str(asked).strip() if isinstance(asked, str | int) else "",
        )
    return Event(kind=kind, **common)


def _queued(ref: str) -> int | None:
    """The number in ``refs/heads/gh-readonly-queue/main/pr-12-SHA``, as GitHub names a merge group's branch."""
    found = re.fullmatch(r"refs/heads/gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{40,64}", ref)
    return int(found[1]) if found else None


def _source(run: Any) -> SourceRun | None:
    number = _dig(run, "id")
    if not isinstance(number, int):
        return None
    return SourceRun(
        run_id=number,
        event=_text(_dig(run, "event")),
        head_sha=_text(_dig(run, "head_sha")),
        head_branch=_text(_dig(run, "head_branch")),
        head_owner=_text(_dig(run, "head_repository", "owner", "login")),
        page=_text(_dig(run, "html_url")) or None,
    )


def _pull_request(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    pull = _need(payload, name, "pull_request")
    head, base = _need(pull, name, "head"), _need(pull, name, "base")
    number = _need(pull, name, "number")
    if not isinstance(number, int):
        raise BadEvent(f"event {name}: `pull_request.number` is no number")
    # A deleted fork leaves no repository behind; taking that for our own would hand it a writing token.
    head_repo, base_repo = _dig(head, "repo", "full_name"), _dig(base, "repo", "full_name")
    author = _text(_dig(pull, "user", "login"))
    # A re-run replays the payload, but runs with the power of whoever asked for it.
    sender = environ.get("GITHUB_TRIGGERING_ACTOR") or _text(_dig(payload, "sender", "login"))
    return {
        "number": number,
        "head_sha": _sha(_need(head, name, "sha"), name),
        "base_sha": _sha(_need(base, name, "sha"), name),
        "base_ref": _text(base.get("ref")),
        "is_fork": not head_repo or head_repo != base_repo,
        "is_dependabot": sender == "dependabot[bot]",
        "draft": bool(pull.get("draft")),
        "only_words": isinstance(payload.get("changes"), Mapping) and "base" not in payload["changes"],
        "labels": tuple(_text(label.get("name")) for label in pull.get("labels") or [] if isinstance(label, dict)),
        "author": author,
    }


def _dig(node: Any, *keys: str) -> Any:
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def _need(node: Any, name: str, key: str) -> Any:
    value = node.get(key) if isinstance(node, Mapping) else None
    if value is None:
        raise BadEvent(f"event {name}: the payload has no `{key}`; is GITHUB_EVENT_PATH the file of this event?")
    return value


def _sha(value: Any, name: str) -> str:
    text = _text(value)
    if len(text) not in (40, 64) or not all(c in "0123456789abcdef" for c in text):
        raise BadEvent(f"event {name}: the payload names no full commit SHA where it should")
    return text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(environ: Mapping[str, str], key: str, default: int) -> int:
    value = environ.get(key, "")
    return int(value) if value.isascii() and value.isdigit() else default
