"""The one sticky comment: found by author and marker, updated in place, never doubled, never set back.

Our token may edit anybody's comment, so the marker alone proves nothing: a comment is ours only if we wrote it *and*
its first line is our header (:mod:`grader_gate.report.marker`) with the same ``key``. However runs race, the state they
leave converges: one comment, the oldest one, with the newest run's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from grader_gate.github.client import Client, Json
from grader_gate.github.errors import NotFound, Refused
from grader_gate.report.marker import parse_header

ROUNDS = 4
"""Tries to reach one right comment while others delete and create; then the last error stands."""


class CommentAction(StrEnum):
    """What became of the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT_NEWER = "kept newer"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CommentOutcome:
    """What was done.

    :ivar url: page of the comment, where there is one.
    :ivar healed: duplicates of ours that were deleted.
    """

    action: CommentAction
    url: str | None = None
    healed: int = 0


def upsert_comment(
    client: Client, repo: str, number: int, body: str, *, identity: str, create: bool = True
) -> CommentOutcome:
    """Make the pull request's comment say ``body``.

    :param body: begins with a header that :func:`~grader_gate.report.marker.parse_header` can read.
    :param identity: login this token writes as; a trailing ``[bot]`` does not count.
    :param create: False where there is nothing to say unless a comment already says something.
    :raises ValueError: ``body`` has no header.
    :raises GitHubError: GitHub refused, is down or cannot be waited for.
    """
    header = parse_header(body)
    if header is None:
        raise ValueError("a comment must begin with its header")
    sticky = _Sticky(client, repo, number, identity, str(header.get("key", "")))
    return sticky.converge(body, header, create=create)


def own_comments(client: Client, repo: str, number: int, *, identity: str, key: str) -> list[Json]:
    """The comments of ours with this key, oldest first; more than one only while runs race.

    :raises GitHubError: they cannot be listed.
    """
    return _Sticky(client, repo, number, identity, key).own()


def is_newer(theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Whether a posted comment must not be replaced by ours, judged by the two headers.

    Run numbers grow with time. A re-run keeps its number and counts attempts; somebody asked for it after the fact, so
    on the same head it may replace what another run said.
    """
    run, attempt = _int(theirs.get("run_id")), _int(theirs.get("attempt"))
    own_run, own_attempt = _int(ours.get("run_id")), _int(ours.get("attempt"))
    if run == own_run:
        return attempt > own_attempt
    if run < own_run:
        return False
    return not (own_attempt > 1 and theirs.get("pr_head") == ours.get("pr_head"))


class _Sticky:
    def __init__(self, client: Client, repo: str, number: int, identity: str, key: str) -> None:
        self._client, self._identity, self._key = client, identity, key
        self._listing = f"/repos/{repo}/issues/{number}/comments"
        self._comment = f"/repos/{repo}/issues/comments"

    def converge(self, body: str, header: dict[str, Any], *, create: bool) -> CommentOutcome:
        created, healed = False, 0
        for left in reversed(range(ROUNDS)):
            own = self.own()
            if not own:
                if not create:
                    return CommentOutcome(CommentAction.NONE, healed=healed)
                self._client.create(self._listing, {"body": body}, find=lambda: self._said(body))
                # Another run may have created one meanwhile: look again before it is called done.
                created = True
                continue
            keep, *others = own
            wanted, outcome = self._newest(own, body, header)
            try:
                if _same(keep["body"], wanted):
                    action = outcome or (CommentAction.CREATED if created else CommentAction.UNCHANGED)
                else:
                    keep = self._client.patch(f"{self._comment}/{keep['id']}", {"body": wanted})
                    action = outcome or (CommentAction.CREATED if created else CommentAction.UPDATED)
            except NotFound:
                # Deleted between the listing and now. Say it anew, unless that goes on for ever.
                if left == 0:
                    raise
                continue
            for other in others:
                self._client.delete(f"{self._comment}/{other['id']}")
                healed += 1
            return CommentOutcome(action, keep.get("html_url"), healed)
        raise Refused(f"comment on {self._listing}: deleted as often as it was written; is another bot at it?")

    def _newest(self, own: list[Json], body: str, header: dict[str, Any]) -> tuple[str, CommentAction | None]:
        """The text that must stand at the end, and why it is not ours, if so."""
        best_body, best_header, ours = body, header, True
        for comment in own:
            theirs = parse_header(comment["body"]) or {}
            if is_newer(theirs, best_header):
                best_body, best_header, ours = comment["body"], theirs, False
        return best_body, None if ours else CommentAction.KEPT_NEWER

    def own(self) -> list[Json]:
        """Our comments with this key, oldest first."""
        found = [c for c in self._client.pages(self._listing) if self._is_ours(c)]
        return sorted(found, key=lambda comment: int(comment["id"]))

    def _said(self, body: str) -> Json | None:
        return next((c for c in self.own() if _same(c["body"], body)), None)

    def _is_ours(self, comment: Json) -> bool:
        user = comment.get("user") or {}
        login = str(user.get("login", ""))
        if _normal(login) != _normal(self._identity):
            return False
        if self._identity.endswith("[bot]") and user.get("type") not in (None, "Bot"):
            return False  # a person whose login is the bot's without its suffix
        header = parse_header(str(comment.get("body") or ""))
        return header is not None and str(header.get("key", "")) == self._key


def _normal(login: str) -> str:
    return login.lower().removesuffix("[bot]")


def _same(a: str, b: str) -> bool:
    return a.replace("\r\n", "\n").rstrip() == b.replace("\r\n", "\n").rstrip()


def _int(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
