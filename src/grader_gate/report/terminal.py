"""The report for a terminal and for the log of a job: plain lines, a table, ANSI colours where they are wanted."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from grader_gate.model import GateVerdict
from grader_gate.report import figures, textdiff, view
from grader_gate.report.escape import log_line, log_verbatim
from grader_gate.result import Finding, Result, SuiteResult

MIN_WIDTH = 60
MAIN_SHOWN = 20
REST_SHOWN = 5
"""Findings shown of a group that decides the verdict, and of the others."""

_RED, _GREEN, _YELLOW, _DIM, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[2m", "\x1b[1m", "\x1b[0m"
_COLOURS = {
    GateVerdict.PASS: _GREEN,
    GateVerdict.FAIL: _RED,
    GateVerdict.ERROR: _YELLOW,
    GateVerdict.NOT_APPLICABLE: _DIM,
}


def render_terminal(result: Result, *, width: int = 100, color: bool = False) -> str:
    """The report as text.

    :param width: columns; fewer than 60 are treated as 60. Tables may be wider than a narrow terminal.
    :param color: whether to use ANSI colours. Foreign text never brings escape sequences of its own.
    """
    return "\n".join(_Terminal(result, max(MIN_WIDTH, width), color).lines()) + "\n"


class _Terminal:
    def __init__(self, result: Result, width: int, color: bool) -> None:
        self._result, self._width, self._color = result, width, color
        self._several = view.several(result)

    def _paint(self, text: str, *codes: str) -> str:
        return f"{''.join(codes)}{text}{_OFF}" if self._color and text else text

    def _wrap(self, text: str, first: str = "", rest: str | None = None, limit: int = 600) -> Iterator[str]:
        yield from textwrap.wrap(
            log_line(text, limit), self._width, initial_indent=first, break_long_words=False, break_on_hyphens=False,
            subsequent_indent=" " * len(first) if rest is None else rest,
        )  # fmt: skip

    def lines(self) -> Iterator[str]:
        result = self._result
        sign, word = view.VERDICT_SIGNS[result.verdict], view.VERDICT_WORDS[result.verdict]
        yield self._paint(f"{sign} grader-gate: {word}", _BOLD, _COLOURS[result.verdict])
        yield from self._wrap(result.headline)
        if result.mode == "report":
            yield view.REPORT_MODE
        brief = result.verdict is GateVerdict.NOT_APPLICABLE and not result.goalposts
        if not brief:
            yield " · ".join(view.counts(result).words(result.verdict))
        for notice in result.notices:
            yield from self._wrap(notice.message, f"{notice.level}: ")
        if not brief:
            for suite in view.suites_by_weight(result):
                yield from self._suite(suite)
            yield from self._findings()
        if result.next_steps:
            yield from self._title("What to do next")
            for index, step in enumerate(result.next_steps, 1):
                yield from self._wrap(step, f"{index}. ")
        yield ""
        yield from self._footer(brief)

    def _title(self, text: str) -> Iterator[str]:
        yield ""
        yield self._paint(text, _BOLD)

    def _suite(self, suite: SuiteResult) -> Iterator[str]:
        sign, word = view.VERDICT_SIGNS[suite.verdict], view.VERDICT_WORDS[suite.verdict]
        yield ""
        name = f"{log_line(suite.name, 80)} graded by {log_line(suite.grader, 80)} ({log_line(suite.kind, 40)})"
        yield f"{self._paint(name, _BOLD)}: {self._paint(f'{sign} {word}', _COLOURS[suite.verdict])}"
        if suite.items:
            yield f"  {suite.affected:,} of {figures.plural(suite.items, 'item')} affected"
        for change in suite.changes[:5]:
            text = " ".join(figures.distinct((change.what, figures.place(change.location) if not change.lines else
                                           change.location.path if change.location else "",
                                           figures.change_lines(change), change.detail)))  # fmt: skip
            yield from self._wrap(text, "  changed: ")
        for why in suite.why[:MAIN_SHOWN]:
            yield from self._wrap(why, "  - ")
        if suite.audits:
            yield ""
            yield from (f"  {line}" for line in self._table(suite))
        for line in figures.examined_words(suite):
            yield from self._wrap(line, "  ")
        if suite.review:
            ids = ", ".join(one.item for one in suite.review[:REST_SHOWN])
            more = f", and {len(suite.review) - REST_SHOWN:,} more" if len(suite.review) > REST_SHOWN else ""
            yield from self._wrap(f"for a person to judge: {ids}{more}", "  ")

    def _table(self, suite: SuiteResult) -> list[str]:
        from tabulate import tabulate

        rows = [
            (
                figures.AUDIT_WORDS[row.audit],
                figures.rate_words(row.base),
                figures.rate_words(row.head),
                figures.graded_words(row.head),
                figures.audit_change(row),
                log_line(row.note or "", 80),
            )
            for row in suite.audits
        ]
        heads = ["", "base", "this pull request", "", "change", ""]
        return tabulate(rows, headers=heads, tablefmt="plain", disable_numparse=True).splitlines()

    def _findings(self) -> Iterator[str]:
        grouped = view.groups(self._result)
        for name in (*view.MAIN_GROUPS, *(n for n in view.GROUP_TITLES if n not in view.MAIN_GROUPS)):
            found = view.capped(grouped[name], MAIN_SHOWN if name in view.MAIN_GROUPS else REST_SHOWN)
            if found.shown:
                yield from self._title(f"{view.GROUP_TITLES[name]} ({len(grouped[name]):,})")
                for finding in found.shown:
                    yield from self._finding(finding)
                if found.more:
                    yield f"  … and {found.more:,} more in the full report"
            if name == "ladders" and self._result.goalposts:
                yield from self._title("Goalposts moved")
                for goalpost in self._result.goalposts[:MAIN_SHOWN]:
                    mark = "accepted" if goalpost.accepted else "not accepted"
                    where = f" ({figures.place(goalpost.location)})" if goalpost.location else ""
                    yield from self._wrap(f"{goalpost.what}: {goalpost.detail}{where}, {mark}", "  - ")

    def _finding(self, finding: Finding) -> Iterator[str]:
        case = f"{finding.case}: " if finding.case and finding.case not in finding.sentence else ""
        many = f"[{finding.suite}] " if self._several else ""
        yield from self._wrap(f"{many}{case}{finding.sentence}", "  - ", "    ")
        if finding.location is not None:
            yield from self._wrap(figures.place(finding.location), "    at ")
        if words := figures.evidence_words(finding):
            yield from self._wrap(" · ".join(words), "    ")
        if self._result.quote != "none":
            if finding.reason:
                whole = self._result.quote == "full"
                text = finding.reason if whole else next(iter(finding.reason.splitlines()), "")
                yield from self._wrap(text, "    reason: ", limit=2_000 if whole else 200)
            if finding.before is not None and finding.after is not None:
                for line in textdiff.diff_lines(finding.before, finding.after)[:20]:
                    colour = {"- ": _RED, "+ ": _GREEN}.get(line[:2], _DIM)
                    yield "      " + self._paint(line[:2] + log_verbatim(line[2:]), colour)
        if finding.suggestion:
            yield from self._wrap(finding.suggestion, "    → ")

    def _footer(self, brief: bool) -> Iterator[str]:
        result = self._result
        head, base = figures.short_sha(result.head.sha), figures.short_sha(result.base.sha)
        parts = [f"Compared {head} ({result.head.name}) with {base} ({result.base.name})."]
        if result.head == result.base:
            parts = [f"Graded {head} ({result.head.name}) alone."] if result.head.sha else []
        if not brief:
            baselines = figures.distinct(s.baseline or "" for s in result.suites)
            parts += [f"Baseline: {'; '.join(baselines[:3]) or 'none'}.", f"Spent: {figures.cost_words(result.cost)}."]
        if result.report_url:
            parts.append(f"Full report: {result.report_url}")
        for part in parts:
            for line in self._wrap(part):
                yield self._paint(line, _DIM)
