"""Mutants as a mutation testing report, for the viewers that read Stryker's format.

Format: ``mutation-testing-report-schema`` version 2 (https://github.com/stryker-mutator/mutation-testing-elements).
A result keeps the text of survivors only. So each suite is one file with a line per mutator, at which all its mutants
stand, and below it a line per survivor that is known, whose mutant shows the replacement.
"""

from __future__ import annotations

import json
from typing import Any

from grader_gate.report import figures
from grader_gate.report.escape import html_text
from grader_gate.result import Finding, FindingKind, FindingStatus, MutatorRow, Rate, Result, SuiteResult

SCHEMA_VERSION = "2"
MAX_TEXT = 2_000
"""Graphemes of a survivor's text."""


def render_mutation_report(result: Result) -> str:
    """The degrading mutants of all suites as JSON.

    Caught mutants are ``Killed``, the others ``Survived``; what was planned and not graded is ``RuntimeError`` and
    counts neither way; a waived survivor is ``Ignored``. Suites without mutants are left out.
    """
    files = {}
    for suite in result.suites:
        rows = [(m, m.head) for m in suite.mutators if m.polarity == "degrade" and m.head is not None]
        if rows:
            files[f"{suite.name}.{suite.grader}"] = _file(suite, rows, result.quote != "none")
    floors = [m.floor for s in result.suites for m in s.mutators if m.floor is not None]
    report = {
        "schemaVersion": SCHEMA_VERSION,
        "thresholds": {"high": round(100 * max(floors, default=0.9)), "low": round(100 * min(floors, default=0.6))},
        "framework": {"name": "grader-gate", "version": result.tool_version},
        "files": files,
    }
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def _file(suite: SuiteResult, rows: list[tuple[MutatorRow, Rate]], quote: bool) -> dict[str, Any]:
    lines: list[str] = []
    mutants: list[dict[str, Any]] = []
    for row, head in rows:
        lines.append(_flat(f"# {row.mutator}: {figures.rate_words(head)} caught, {figures.graded_words(head)}"))
        at = len(lines)
        survivors = [f for f in suite.findings if _survives(f, row)][: head.n - head.k]
        unknown = head.n - head.k - len(survivors)
        plain = ["Killed"] * head.k + ["Survived"] * unknown
        plain += ["RuntimeError"] * (head.planned - head.n) + ["Ignored"] * row.waived
        mutants += [_mutant(row, f"{len(mutants) + i}", status, at, lines[-1]) for i, status in enumerate(plain)]
        for finding in survivors:
            shown = quote and finding.before is not None and finding.after is not None
            lines.append(_flat(finding.before or "") if shown else _flat(f"(text not quoted: {finding.case})"))
            mutant = _mutant(row, f"{len(mutants)}", "Survived", len(lines), lines[-1])
            mutants.append({**mutant, **_told(finding, shown)})
    return {"language": "text", "source": "\n".join(html_text(line, MAX_TEXT) for line in lines), "mutants": mutants}


def _survives(finding: Finding, row: MutatorRow) -> bool:
    return (
        finding.kind is FindingKind.SURVIVOR
        and finding.mutator == row.mutator
        and finding.status is not FindingStatus.DISMISSED
    )


def _mutant(row: MutatorRow, number: str, status: str, line: int, text: str) -> dict[str, Any]:
    end = max(2, len(html_text(text, MAX_TEXT)) + 1)
    return {
        "id": number,
        "mutatorName": html_text(row.mutator),
        "status": status,
        "location": {"start": {"line": line, "column": 1}, "end": {"line": line, "column": end}},
    }


def _told(finding: Finding, shown: bool) -> dict[str, str]:
    told = {"description": html_text(finding.sentence), "statusReason": finding.status.value}
    if shown:
        told["replacement"] = html_text(_flat(finding.after or ""), MAX_TEXT)
    return told


def _flat(text: str) -> str:
    return " ⏎ ".join(text.splitlines()).strip() or "(no text)"
