"""The full report as one HTML file: no request to anywhere, readable without its script, hostile text inert."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader_gate.model import GateVerdict
from grader_gate.report import figures, textdiff, view
from grader_gate.report.escape import cut
from grader_gate.result import Finding, Result

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_QUOTE = 8_000
"""Graphemes of a text quoted in full."""

SHORT_QUOTE = 300
SHORT_CONTEXT = 120
"""Graphemes of a reason, and characters beside each change of a text, where ``report.quote`` is ``short``."""

_CLASSES = {
    GateVerdict.PASS: "pass",
    GateVerdict.FAIL: "fail",
    GateVerdict.ERROR: "error",
    GateVerdict.NOT_APPLICABLE: "none",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One finding as the table shows it."""

    finding: Finding
    group: str
    evidence: str
    reason: str
    parts: list[textdiff.Part]


def render_html(result: Result) -> str:
    """The report as one self-contained HTML document.

    Its content security policy allows our own style and script by hash and nothing else: no request, no frame, no form.
    """
    from grader_gate.report.templating import TEMPLATES, html, trusted

    style = trusted((TEMPLATES / "report.css").read_text(encoding="utf-8"))
    script = trusted((TEMPLATES / "report.js").read_text(encoding="utf-8"))
    rows = [
        Row(f, name, " · ".join(figures.evidence_words(f)), _reason(f, result.quote), _parts(f, result.quote))
        for name, found in view.groups(result).items()
        for f in found
    ]
    return html().get_template("report.html.j2").render(
        r=result,
        rows=rows,
        present={row.group for row in rows},
        statuses=figures.distinct(sorted(row.finding.status.value for row in rows)),
        counts=view.counts(result),
        ordered=view.suites_by_weight(result),
        several=view.several(result),
        classes=_CLASSES,
        style=style,
        script=script,
        policy=trusted(content_policy(style, script)),
    ) + "\n"  # fmt: skip


def content_policy(style: Markup, script: Markup) -> str:
    """A policy for these two inline elements alone."""

    def source(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; style-src {source(style)}; script-src {source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _reason(finding: Finding, quote: str) -> str:
    if not finding.reason or quote == "none":
        return ""
    if quote == "full":
        return cut(finding.reason, MAX_QUOTE)
    return cut(next((line for line in finding.reason.splitlines() if line.strip()), ""), SHORT_QUOTE)


def _parts(finding: Finding, quote: str) -> list[textdiff.Part]:
    if finding.before is None or finding.after is None or quote == "none":
        return []
    before, after = cut(finding.before, MAX_QUOTE), cut(finding.after, MAX_QUOTE)
    if quote == "short":
        before, after = textdiff.excerpt(before, after, context=SHORT_CONTEXT)
    return textdiff.parts(before, after)
