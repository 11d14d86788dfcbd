"""The issue about a provider that changed. Pure; every name in it is foreign and goes through the escaper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader_gate import __version__
from grader_gate.model import GateVerdict
from grader_gate.report.escape import md_code, md_prose

if TYPE_CHECKING:
    from grader_gate.flow.drifting import Drift, SuiteDrift

TITLE = "The provider answers differently than when the baseline was frozen"
MOST_MOVED = 20
"""Claims that are listed; the ledger in the run's artifact has all grades."""


def render_drift(drift: Drift, *, day: str, link: str | None) -> str:
    """The body, without its marker."""
    lines = [
        "Nothing in the repository changed: the same requests were sent again, without any cache.",
        "",
    ]
    for suite in drift.suites:
        lines += _suite(suite)
    if drift.verdict is GateVerdict.FAIL:
        lines += [
            "### What to do next",
            "",
            "1. Read the claims above, and look at what the provider says of its model.",
            "2. If the new answers are right, freeze a new baseline. If not, pin another model version.",
            "",
            "This issue is brought up to date by each scheduled run, and closed when the answers are as frozen again.",
            "",
        ]
    run = f"[This run]({link}). " if link else ""
    lines += ["---", "", f"<sub>{day}, commit {md_code(drift.commit[:12])}. {md_prose(drift.baseline)}. "]
    lines[-1] += f"{drift.calls} calls. {run}grader-gate {__version__}</sub>"
    return "\n".join(lines) + "\n"


def _suite(suite: SuiteDrift) -> list[str]:
    words = {GateVerdict.FAIL: "⚠️ drifted", GateVerdict.PASS: "✅ as frozen", GateVerdict.ERROR: "❔ not measured"}
    said = words.get(suite.verdict, "➖ not applicable")
    lines = [f"### {md_code(suite.suite)}: {said}", ""]
    lines += [f"- {md_prose(line)}" for line in suite.why]
    if suite.claims:
        lines.append(f"- {suite.claims} claims in the sample, {suite.graded} items graded")
    if suite.frozen_models or suite.served_models:
        before = ", ".join(md_code(m) for m in suite.frozen_models[:5]) or "not told"
        now = ", ".join(md_code(m) for m in suite.served_models[:5]) or "not told"
        lines.append(f"- model served when frozen: {before}; now: {now}")
    if suite.moved:
        lines += ["", *(f"  - {md_prose(line)}" for line in suite.moved[:MOST_MOVED])]
        if len(suite.moved) > MOST_MOVED:
            lines.append(f"  - and {len(suite.moved) - MOST_MOVED} more")
    return [*lines, ""]


def render_recovery(day: str, link: str | None) -> str:
    """The last word of an issue that is closed."""
    run = f" ([run]({link}))" if link else ""
    return f"On {day} the sample was as frozen again{run}.\n"
