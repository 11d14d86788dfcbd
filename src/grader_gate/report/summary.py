"""The job summary: the comment's text at length, within what GitHub takes for one step."""

from __future__ import annotations

from grader_gate.report.comment import render_body
from grader_gate.result import Result

DEFAULT_LIMIT = 900_000
"""UTF-8 bytes. A step's summary may have 1 MiB; one that is longer is lost as a whole."""


def render_summary(result: Result, limit: int = DEFAULT_LIMIT) -> str:
    """Markdown for ``GITHUB_STEP_SUMMARY``: at most ``limit`` UTF-8 bytes, without the comment's hidden header.

    :raises ValueError: a limit below 80,000 bytes.
    """
    return render_body(result, limit=limit)
