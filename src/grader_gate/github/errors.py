"""What can go wrong between this program and GitHub: a class per reason, a clear line each, never a token in it."""

from __future__ import annotations

from grader_gate.errors import GateError


class GitHubError(GateError):
    """GitHub did not do what was asked."""


class BadToken(GitHubError):
    """The token is unknown or expired (401)."""


class ReadOnlyToken(GitHubError):
    """The token may not do this (403): read-only, of a fork or of Dependabot, or of the wrong kind."""


class NotFound(GitHubError):
    """The thing does not exist, is gone, or is hidden from this token (404, 410)."""


class Refused(GitHubError):
    """GitHub understood and said no (422 and other 4xx).

    :param status: HTTP status; 0 where the answer was no usable HTTP answer.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Throttled(GitHubError):
    """A rate limit whose wait is longer than this run may wait, or that outlasted every attempt."""


class GitHubDown(GitHubError):
    """No usable answer: 5xx, a dropped connection, a timeout or truncated JSON. The request may have been done."""
