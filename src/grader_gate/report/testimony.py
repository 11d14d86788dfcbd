"""What a fork's own run says of itself, shown as what it is: words that nobody has verified. Pure.

Every string comes from the fork. None is shown outside a code block or the escaper for plain text.
"""

from __future__ import annotations

from grader_gate import __version__
from grader_gate.model import GateVerdict
from grader_gate.report.escape import md_block, md_code
from grader_gate.report.marker import header
from grader_gate.report.view import counts
from grader_gate.result import Result, Revision

MOST_FINDINGS = 20
"""Findings that are quoted; the artifact has all of them."""


def stand_in(head: str, key: str, *, headline: str = "") -> Result:
    """A result of our own in place of the fork's, for the header and the check: never green."""
    return Result(
        tool_version=__version__,
        verdict=GateVerdict.ERROR,
        headline=headline,
        exit_code=3,
        base=Revision(sha="", name=""),
        head=Revision(sha=head, name=head),
        key=key,
    )


def render_testimony(said: Result | None, head: str, *, key: str, run: dict[str, str | int], link: str | None) -> str:
    """The comment.

    :param said: the fork's result; None where it left none that can be read.
    :param head: the pull request's head commit.
    :param link: page of the fork's run, from GitHub.
    """
    top = header(stand_in(head, key), {**run, "testimony": 1})
    lines = [top, "", "## ⚠️ grader-gate: unverified report of a fork", ""]
    lines += [
        (
            "The run that measured this is the fork's own, and the fork could have made it say anything. "
            "It counts for nothing: it is no pass, nothing of it is frozen or cached."
        ),
        "",
    ]
    if said is None:
        lines += ["It left no report that can be read.", ""]
    else:
        counted = counts(said)
        lines += [
            (
                f"It says **{said.verdict.value}**: {counted.regressions} regressions, "
                f"{counted.inversions} inversions, {counted.kill_rate_breaches} kill-rate breaches, "
                f"{said.cost.calls} calls."
            ),
            "",
        ]
        findings = [f.sentence for suite in said.suites for f in suite.findings]
        told = [said.headline, *findings[:MOST_FINDINGS]]
        lines += [md_block("\n".join(told), limit=8_000), ""]
        if len(findings) > MOST_FINDINGS:
            lines += [f"And {len(findings) - MOST_FINDINGS} more in the artifact of its run.", ""]
    lines += [
        "### What to do next",
        "",
        (
            "A maintainer who has read the change puts the label `safe-to-grade` on. It lets this one head commit be "
            "graded with the graders' keys; nothing of its code runs. A later push needs the label anew."
        ),
        "",
        "---",
        "",
        f"<sub>Head {md_code(head[:12])}. "
        + (f"[The fork's run]({link}). " if link else "")
        + f"grader-gate {__version__}</sub>",
    ]
    return "\n".join(lines) + "\n"
