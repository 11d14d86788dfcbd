"""Annotations on the lines of prompts, rubrics and cases. Pure data; :mod:`grader_gate.github` sends them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from grader_gate.model import GateVerdict, Role
from grader_gate.report import figures, view
from grader_gate.report.escape import cut, html_text
from grader_gate.result import Change, Finding, Result, SuiteResult

MAX_ANNOTATIONS = 50
"""What GitHub's API takes in one request; more on one pull request help nobody."""

MAX_TITLE = 255
"""Characters of a title (GitHub's API)."""

MAX_MESSAGE = 4_000
"""Characters of a message. The API takes 64 kB, the runner cuts command messages at 4,096 characters."""

_SAID = {GateVerdict.FAIL: "fails after this change", GateVerdict.ERROR: "could not be decided"}

Level = Literal["notice", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note beside a line; plain text, hidden characters shown. Lines count from 1."""

    path: str
    line: int
    level: Level
    title: str
    message: str


def annotations(result: Result, *, limit: int = MAX_ANNOTATIONS) -> list[Annotation]:
    """Findings where they are, goalposts where they were moved, and what a changed prompt did where it changed.

    Most severe first, equal ones once, at most ``limit``. In report mode nothing is a failure.
    """
    found = dict.fromkeys(_all(result))
    rank: dict[Level, int] = {"failure": 0, "warning": 1, "notice": 2}
    return sorted(found, key=lambda a: rank[a.level])[:limit]


def _all(result: Result) -> Iterator[Annotation]:
    blocks: Level = "failure" if result.mode == "block" else "warning"
    for suite in view.suites_by_weight(result):
        for change in suite.changes:
            if change.location is not None and (said := _consequence(suite)):
                fails = suite.verdict is GateVerdict.FAIL and suite.role is Role.GATE
                first = min(change.lines, default=change.location.line or 1)
                level: Level = blocks if fails else "warning"
                title = f"grader-gate: suite {suite.name}, {_SAID[suite.verdict]}"
                yield _note(change.location.path, first, level, title, _change_message(change, said))
    grouped = view.groups(result)
    for name in (*view.MAIN_GROUPS, "warnings", "not_rerun", "new_cases"):
        for finding in grouped[name]:
            if finding.location is not None:
                yield _note(
                    finding.location.path,
                    finding.location.line or 1,
                    blocks if finding.blocking else "warning",
                    f"grader-gate: {finding.kind.value}",
                    _finding_message(finding, result.quote != "none"),
                )
    for goalpost in result.goalposts:
        if goalpost.location is not None and not goalpost.accepted:
            yield _note(goalpost.location.path, goalpost.location.line or 1, blocks,
                        f"grader-gate: goalpost moved, {goalpost.what}", goalpost.detail)  # fmt: skip


def _note(path: str, line: int, level: Level, title: str, message: str) -> Annotation:
    """Titles and messages within their limits, whatever the length of the count that a cut adds."""
    return Annotation(path, line, level, cut(html_text(title.replace("\n", " ")), 200)[:MAX_TITLE],
                      cut(html_text(message), MAX_MESSAGE - 200)[:MAX_MESSAGE])  # fmt: skip


def _consequence(suite: SuiteResult) -> list[str]:
    """What a suite's change did, in sentences; nothing where it did no harm."""
    if suite.verdict not in _SAID:
        return []
    blocking = sorted((f for f in suite.findings if f.blocking), key=lambda f: -f.severity)
    return [*suite.why, *(f.sentence for f in blocking[:5])]


def _change_message(change: Change, said: list[str]) -> str:
    where = figures.change_lines(change)
    return "\n".join([*([f"Changed: {where}."] if where else []), *said])


def _finding_message(finding: Finding, quote: bool) -> str:
    lines = [finding.sentence, " · ".join(figures.evidence_words(finding))]
    if quote and finding.reason:
        lines.append(f"Reason: {cut(next(iter(finding.reason.splitlines()), ''), 300)}")
    if finding.suggestion:
        lines.append(f"Next: {finding.suggestion}")
    return "\n".join(line for line in lines if line)
