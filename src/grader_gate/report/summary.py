"""The comment's text for the job summary and for the check, within what GitHub takes for each."""

from __future__ import annotations

from grader_gate.report.comment import render_body
from grader_gate.result import Result

CHECK_LIMIT = 65_000
"""UTF-8 bytes. A check's summary may have 65,535 characters; a longer one is refused and the check stays pending."""

DEFAULT_LIMIT = 900_000
"""UTF-8 bytes. A step's summary may have 1 MiB; one that is longer is lost as a whole."""


def render_summary(result: Result, limit: int = DEFAULT_LIMIT) -> str:
    """Markdown for ``GITHUB_STEP_SUMMARY``: at most ``limit`` UTF-8 bytes, without the comment's hidden header.

    :raises ValueError: a limit below 60,000 bytes.
    """
    return render_body(result, limit=limit)


def render_check(result: Result, limit: int = CHECK_LIMIT) -> str:
    """Markdown for ``output.summary`` of the check run: as :func:`render_summary`, at most ``limit`` UTF-8 bytes."""
    return render_body(result, limit=limit)
