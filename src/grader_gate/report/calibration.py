"""A calibration for the terminal and as a section of Markdown. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from grader_gate.audits.calibration_records import Calibration
from grader_gate.report.calibration_words import (
    CASES_SHOWN,
    COUNTS,
    SLICES_SHOWN,
    Table,
    case_words,
    confusion_table,
    figures,
    grader_words,
    people_words,
    slice_table,
    split_words,
    suggestion_lines,
    title,
    truth_words,
)
from grader_gate.report.escape import log_line, md_cell, md_code, md_prose


def render_calibration_terminal(calibration: Calibration, *, width: int = 100) -> str:
    """The report as plain text; tables may be wider than a narrow terminal."""
    from tabulate import tabulate

    lines: list[str] = []

    def put(text: str, first: str = "", rest: str | None = None) -> None:
        lines.extend(
            textwrap.wrap(
                log_line(text, 1_200),
                max(60, width),
                initial_indent=first,
                subsequent_indent=" " * len(first) if rest is None else rest,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )

    def table(made: Table) -> None:
        rows = [[log_line(cell, 80) for cell in row] for row in made.rows]
        drawn = tabulate(rows, headers=list(made.head), tablefmt="simple", disable_numparse=True)
        lines.extend(f"  {line}" for line in drawn.splitlines())

    for suite in calibration.suites:
        put(title(suite))
        put(split_words(suite), "  ")
        put(truth_words(suite), "  ")
        lines.append("")
        table(confusion_table(suite.overall))
        lines.append("")
        for line in figures(suite):
            put(line, "  ", "    ")
        if suite.slices:
            lines += ["", "By tag and slice"]
            table(slice_table(suite))
            if (more := len(suite.slices) - SLICES_SHOWN) > 0:
                lines.append(f"  … and {more:,} more in calibration.json")
        lines += ["", f"To review ({len(suite.disagreements):,})"]
        for case in suite.disagreements[:CASES_SHOWN]:
            put(case_words(case), "  - ")
            if case.reason:
                put(f"reason: {case.reason}", "    ")
        if (more := len(suite.disagreements) - CASES_SHOWN) > 0:
            lines.append(f"  … and {more:,} more in calibration.json")
        lines += ["", "Suggested for the contract"]
        for line in suggestion_lines(suite):
            put(line, "  ", "    ")
        lines.append("")
    put(COUNTS)
    for notice in calibration.notices:
        put(notice, "note: ")
    return "\n".join(lines) + "\n"


def render_calibration_markdown(calibration: Calibration) -> str:
    """The report as a section of Markdown. Foreign strings are escaped; it has no markup of theirs."""
    parts: list[str] = ["## Calibration against people"]
    for suite in calibration.suites:
        parts.append(f"### {md_code(suite.grader)} on {md_code(suite.suite)}")
        parts.append(f"{md_prose(split_words(suite))} {md_prose(truth_words(suite))}")
        parts.append(_md_table(confusion_table(suite.overall)))
        parts.append("\n".join(f"- {md_prose(line, 1_000)}" for line in figures(suite)))
        if suite.slices:
            parts.append("#### By tag and slice")
            parts.append(_md_table(slice_table(suite), md_code))
            if (more := len(suite.slices) - SLICES_SHOWN) > 0:
                parts.append(f"… and {more:,} more in `calibration.json`.")
        parts.append(f"#### To review ({len(suite.disagreements):,})")
        shown = suite.disagreements[:CASES_SHOWN]
        if shown:
            rows = [(case.case, case.kind, people_words(case), grader_words(case), case.reason or "") for case in shown]
            parts.append(_md_table(Table(("case", "what", "people", "grader", "reason"), rows), md_code))
        if (more := len(suite.disagreements) - CASES_SHOWN) > 0:
            parts.append(f"… and {more:,} more in `calibration.json`.")
        parts.append("#### Suggested for the contract")
        parts.append("\n".join(f"- {md_prose(line, 1_000)}" for line in suggestion_lines(suite)))
    parts.append(COUNTS)
    parts += [f"> {md_prose(notice, 1_000)}" for notice in calibration.notices]
    return "\n\n".join(parts) + "\n"


def _md_table(table: Table, first: Callable[[str], str] = md_cell) -> str:
    """A table; the first column holds names."""
    lines = ["| " + " | ".join(table.head) + " |", "|---" * len(table.head) + "|"]
    for row in table.rows:
        cells = [first(row[0]), *(md_cell(cell) for cell in row[1:])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
