"""What every renderer says alike: groups of findings, counts, words for verdicts. Knows no sink.

Strings that come out of here are not escaped yet; a renderer passes them through its sink's escaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader_gate.model import GateVerdict
from grader_gate.report import figures
from grader_gate.result import (
    Finding,
    FindingKind,
    FindingStatus,
    Result,
    SuiteResult,
)

VERDICT_SIGNS = {
    GateVerdict.PASS: "✅",
    GateVerdict.FAIL: "❌",
    GateVerdict.ERROR: "⚠️",
    GateVerdict.NOT_APPLICABLE: "➖",
}
VERDICT_WORDS = {
    GateVerdict.PASS: "Pass",
    GateVerdict.FAIL: "Fail",
    GateVerdict.ERROR: "Error (could not measure or not decide)",
    GateVerdict.NOT_APPLICABLE: "Not applicable",
}
"""A verdict is always a sign and a word: never told by colour alone."""

REPORT_MODE = "Report mode: does not block."

_SURVIVORS = {FindingKind.SURVIVOR, FindingKind.KILL_RATE, FindingKind.CONTROL, FindingKind.ATTACK}
_LADDERS = {FindingKind.INVERSION, FindingKind.INVERSION_RATE, FindingKind.FLAT, FindingKind.CITATION}
_BY_KIND = {
    FindingKind.NEW_CASE: "new_cases",
    FindingKind.IMPROVEMENT: "improvements",
    FindingKind.DRIFT: "drift",
    FindingKind.STANDING: "standing",
    FindingKind.UNSTABLE: "unstable",
}

GROUP_TITLES = {
    "regressions": "What broke",
    "survivors": "Mutants, controls and attacks with a wrong verdict",
    "ladders": "Ladders out of order",
    "errors": "Not measured or not decided",
    "not_rerun": "Flips that were not re-run",
    "warnings": "Reported, does not block",
    "dismissed": "Dismissed as noise",
    "unstable": "Gray list: cases on which the grader disagrees with itself",
    "new_cases": "New cases",
    "improvements": "Improvements",
    "drift": "Provider drift",
    "standing": "Standing debt: broken on base as well",
}
"""Groups of findings in the order they are read; the first four decide the verdict."""

MAIN_GROUPS = ("regressions", "survivors", "ladders", "errors")


def group_of(finding: Finding) -> str:
    """Which group a finding belongs to; exactly one of :data:`GROUP_TITLES`."""
    if finding.kind is FindingKind.UNMEASURED or finding.status is FindingStatus.UNDECIDED:
        return "errors"
    if finding.blocking:
        return "survivors" if finding.kind in _SURVIVORS else "ladders" if finding.kind in _LADDERS else "regressions"
    if finding.status is FindingStatus.DISMISSED:
        return "dismissed"
    if finding.status is FindingStatus.NOT_RERUN:
        return "not_rerun"
    return _BY_KIND.get(finding.kind, "warnings")


def groups(result: Result) -> dict[str, list[Finding]]:
    """All findings of all suites by group, most severe first; groups without findings are present and empty."""
    out: dict[str, list[Finding]] = {name: [] for name in GROUP_TITLES}
    for suite in result.suites:
        for finding in suite.findings:
            out[group_of(finding)].append(finding)
    for found in out.values():
        found.sort(key=lambda f: (not f.blocking, -f.severity, f.suite, f.kind.value, f.claim or "", f.sentence))
    return out


@dataclass(frozen=True, slots=True)
class Counts:
    """The figures of the verdict line. ``graded`` and ``planned`` are grades of this run over all suites."""

    regressions: int
    kill_rate_breaches: int
    survivors: int
    inversions: int
    others: int
    goalposts: int
    undecided: int
    graded: int
    planned: int

    def words(self, verdict: GateVerdict) -> list[str]:
        """``3 regressions``, … ; a zero is said only of a run that could have found something."""
        parts = [
            words
            for n, words in (
                (self.regressions, figures.plural(self.regressions, "regression")),
                (
                    self.kill_rate_breaches,
                    figures.plural(self.kill_rate_breaches, "kill-rate breach", "kill-rate breaches"),
                ),
                (self.inversions, figures.plural(self.inversions, "inversion")),
            )
            if n or verdict is not GateVerdict.ERROR
        ]
        if self.survivors:
            parts.append(figures.plural(self.survivors, "new survivor"))
        if self.others:
            parts.append(figures.plural(self.others, "other finding that blocks", "other findings that block"))
        if self.goalposts:
            parts.append(figures.plural(self.goalposts, "goalpost moved", "goalposts moved"))
        if self.undecided:
            parts.append(f"{self.undecided:,} not decided")
        if self.planned:
            parts.append(f"graded {self.graded:,} of {self.planned:,}")
        return parts


def counts(result: Result) -> Counts:
    """Count what blocks, over all suites; the same figures everywhere a report names them."""
    rates = [s.graded for s in result.suites if s.graded is not None]
    undecided = sum(group_of(f) == "errors" for s in result.suites for f in s.findings)
    return Counts(
        regressions=result.count(*_COUNTED[0]),
        kill_rate_breaches=result.count(FindingKind.KILL_RATE),
        survivors=result.count(FindingKind.SURVIVOR),
        inversions=result.count(FindingKind.INVERSION) or result.count(FindingKind.INVERSION_RATE),
        others=result.count(*(kind for kind in FindingKind if not any(kind in kinds for kinds in _COUNTED))),
        goalposts=sum(not g.accepted for g in result.goalposts),
        undecided=undecided,
        graded=sum(r.n for r in rates),
        planned=sum(r.planned for r in rates),
    )


_COUNTED = (
    (FindingKind.REGRESSION, FindingKind.DROP),
    (FindingKind.KILL_RATE, FindingKind.SURVIVOR),
    (FindingKind.INVERSION, FindingKind.INVERSION_RATE),
)
"""Kinds with a figure of their own. Inversions stand behind their rate: it is counted where none of them is, so that
nothing is counted twice and nothing that blocks is left out."""

_ORDER = {GateVerdict.FAIL: 0, GateVerdict.ERROR: 1, GateVerdict.PASS: 2, GateVerdict.NOT_APPLICABLE: 3}


def suites_by_weight(result: Result) -> list[SuiteResult]:
    """Suites in the order a reader needs them: failing, undecided, passing, untouched."""
    return sorted(result.suites, key=lambda s: (_ORDER[s.verdict], s.name, s.grader))


@dataclass(frozen=True, slots=True)
class Capped:
    """The first rows of a longer list, and how many are not shown."""

    shown: list[Finding] = field(default_factory=list)
    more: int = 0


def several(result: Result) -> bool:
    """Whether findings come from more than one suite, so that each must name its own."""
    return sum(bool(suite.findings) for suite in result.suites) > 1


def capped(findings: Sequence[Finding], limit: int) -> Capped:
    """At most ``limit`` findings."""
    return Capped(list(findings[:limit]), max(0, len(findings) - limit))
