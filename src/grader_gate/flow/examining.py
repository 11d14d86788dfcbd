"""A closer look at what was graded: reasons, repeats that disagree, deterministic checks. Adds to a suite's result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader_gate.audits.checkmatrix import (
    Passes,
    check_findings,
    is_right,
    kills,
    marked,
    snippet,
    suggested_checks,
    with_suggestions,
)
from grader_gate.audits.gradebook import STORED, Gradebook
from grader_gate.audits.rationales import Rationales, rationale_findings, read_rationales
from grader_gate.audits.stability import unstable_findings
from grader_gate.config import ChatGrader, Check, ChecksGrader
from grader_gate.model import Claim, Grade, Item, Purpose, Side, Suite, Tree
from grader_gate.result import Finding, SuiteResult

if TYPE_CHECKING:
    from grader_gate.flow.compare import Comparison
    from grader_gate.flow.sides import SideSetup
    from grader_gate.runs.plan import SideExam

ANSWER = "answer"
CHECKED_INPUTS = ("question", "reference", "rubric", "answer", "sources")
"""What a check may be asked about when it is only tried out."""

Runs = Callable[[str], Sequence[Grade]]


@dataclass(frozen=True, slots=True)
class _Looked:
    """What both ways of grading have in common."""

    result: SuiteResult
    suite: Suite
    exam: SideExam
    side: SideSetup
    book: Gradebook
    head: Rationales
    base: Rationales | None
    claims: Mapping[str, Claim]
    quote: str


def look_closer_alone(side: SideSetup, exam: SideExam, book: Gradebook, result: SuiteResult) -> SuiteResult:
    """Look closer at one revision on its own; what is found never changes the verdict."""
    suite = side.suites[exam.suite]

    def runs(item: str) -> list[Grade]:
        return list(book.of(exam.side, Purpose.SCREEN, item).values())

    head = read_rationales(suite.cases, suite.ladders, _shown(side, exam, exam.exam.items), runs)
    made = _added(
        _Looked(result, suite, exam, side, book, head, None, exam.exam.claims, side.config.report.quote),
    )
    from grader_gate.audits.claims import Reading

    reading = Reading(side.config.graders[exam.name].contract.scale)
    shaky = unstable_findings(exam.exam.claims, book, reading, suite=result.name, grader=result.grader)
    return _with(made, [*made.findings, *shaky])


def look_closer(comparison: Comparison, base: SideSetup, head: SideSetup, result: SuiteResult) -> SuiteResult:
    """Look closer at what a pull request moved: only what is new on head is listed, and nothing of it blocks."""
    assert comparison.head is not None
    suite, book = base.suites[comparison.suite], comparison.book
    moved = set(comparison.affected.items)

    def runs(item: str) -> list[Grade]:
        if item not in moved:
            return before(item)
        purposes = (Purpose.SCREEN, Purpose.FRESH, Purpose.CONFIRM)
        return [g for p in purposes for g in book.of(Side.HEAD, p, item).values()]

    def before(item: str) -> list[Grade]:
        return list(book.of(Side.BASE, STORED, item).values())

    exam = comparison.head
    items = {name: item for name, item in exam.exam.items.items() if name in moved}
    seen = [
        read_rationales(suite.cases, suite.ladders, _shown(side, at, items), told)
        for side, at, told in ((head, exam, runs), (base, comparison.base, before))
    ]
    return _added(
        _Looked(
            result,
            suite,
            exam,
            head,
            book,
            seen[0],
            seen[1],
            comparison.affected.claims,
            base.config.report.quote,
        )
    )


def _added(looked: _Looked) -> SuiteResult:
    result, suite, exam = looked.result, looked.suite, looked.exam
    grader = looked.side.config.graders[exam.name]
    passes = check_runner(looked.side.tree)
    findings = with_suggestions(
        result.findings,
        _suggester(suite, exam, looked.claims, passes, looked.quote),
        _right_answers(suite, exam),
        passes,
    )
    findings += rationale_findings(
        looked.head,
        looked.base,
        suite.cases,
        suite.ladders,
        suite=result.name,
        grader=result.grader,
        quote=looked.quote,
    )
    checks = result.checks
    if checks:
        kinds = check_kinds(grader) if isinstance(grader, ChecksGrader) else {}
        found = kills(exam.exam.claims, looked.book)
        checks = marked(checks, found, kinds)
        findings += check_findings(checks, found, kinds, suite=result.name, grader=result.grader)
    cited = looked.head.cited_cases
    update = {"checks": checks, "cited": cited if cited.planned else None}
    return _with(result.model_copy(update=update), findings)


def _with(result: SuiteResult, findings: Sequence[Finding]) -> SuiteResult:
    ordered = sorted(findings, key=lambda f: (not f.blocking, -f.severity, f.claim or "", f.sentence))
    return result.model_copy(update={"findings": tuple(ordered)})


def check_kinds(grader: ChecksGrader) -> dict[str, str]:
    """Name of each check, as its outcomes carry it → its type."""
    from grader_gate.graders.checks import check_label

    return {check_label(check, number): check.type for number, check in enumerate(grader.checks)}


def check_runner(tree: Tree) -> Passes:
    """Tries checks out on inputs, each built once."""
    from grader_gate.graders.checking.base import Building, CheckProblem, CheckTimeout
    from grader_gate.graders.checks import TYPES, compares

    built: dict[str, Any] = {}

    def passes(check: Check, inputs: Mapping[str, Any]) -> bool | None:
        key = snippet(check)
        try:
            if key not in built:
                built[key] = TYPES[check.type][0](Building(check, "suggested", tree, CHECKED_INPUTS))
            if (compares(check) and not inputs.get("reference")) or (
                check.type == "citations" and not inputs.get("sources")
            ):
                return None
            return bool(built[key](inputs)[0])
        except (CheckProblem, CheckTimeout):
            return None

    return passes


def _suggester(
    suite: Suite, exam: SideExam, claims: Mapping[str, Claim], passes: Passes, quote: str
) -> Callable[[str], list[Check]]:
    # A fact is text of the reference, which a report that quotes nothing must not show.
    facts = {} if quote == "none" else {case.id: (*case.facts, *case.evidence) for case in suite.cases}

    def suggest(name: str) -> list[Check]:
        claim = claims.get(name)
        item = exam.exam.items.get(claim.items[0]) if claim is not None else None
        if claim is None or item is None or ANSWER not in item.inputs or claim.items[0] not in exam.exam.before:
            return []
        right = {**item.inputs, ANSWER: exam.exam.before[claim.items[0]]}
        return suggested_checks(claim.property, right, item.inputs, passes, facts=facts.get(claim.case_id, ()))

    return suggest


def _right_answers(suite: Suite, exam: SideExam) -> list[Mapping[str, Any]]:
    found = (exam.exam.items.get(f"golden/{case.id}") for case in suite.cases if is_right(case.expected))
    return [item.inputs for item in found if item is not None and ANSWER in item.inputs]


def _shown(side: SideSetup, exam: SideExam, items: Mapping[str, Item]) -> dict[str, Item]:
    """The items with everything the grader is shown beside them: its rubric file and its prompt may be quoted."""
    from dataclasses import replace

    config = side.config.graders[exam.name]
    paths = [config.rubric] if config.rubric else []
    texts = []
    if isinstance(config, ChatGrader):
        if isinstance(config.prompt, str):
            paths.append(config.prompt)
        else:
            paths += [m.file for m in config.prompt if m.file is not None]
            texts += [m.text for m in config.prompt if m.text is not None]
    texts += [side.tree.read(path).decode("utf-8", "replace") for path in paths if side.tree.exists(path)]
    return {name: replace(item, inputs={**item.inputs, "shown": "\n".join(texts)}) for name, item in items.items()}
