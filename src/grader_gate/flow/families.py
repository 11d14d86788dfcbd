"""The second family of a suite: the same items through another grader at head; after the verdict, no part of it."""

from __future__ import annotations

from collections.abc import Iterable

from grader_gate.audits.claims import Reading
from grader_gate.audits.families import Judge, compare_families, family_findings, kinship
from grader_gate.audits.gradebook import Gradebook
from grader_gate.config import Config
from grader_gate.errors import UsageError
from grader_gate.flow.compare import Comparison
from grader_gate.flow.session import Session, into
from grader_gate.flow.sides import SideSetup
from grader_gate.flow.suite_report import side_runs
from grader_gate.model import GoldenCase, Ladder, PlannedGrade, Purpose, Side
from grader_gate.result import Notice, SecondFamily, SuiteResult
from grader_gate.runs.plan import SideExam, passes


def second_name(config: Config, graders: Config, suite: str) -> str | None:
    """The second grader of a suite, where it has one that ``graders`` defines.

    :param config: the side whose suite it is. :param graders: the side that grades.
    """
    name = config.suites[suite].second_family if suite in config.suites else None
    return name if name in graders.graders else None


def second_exam(side: SideSetup, first: SideExam, name: str) -> SideExam:
    """The same items and claims under the second grader."""
    return SideExam(first.side, first.suite, name, side.grader(name), first.exam)


def second_calls(exam: SideExam) -> list[PlannedGrade]:
    """One pass of every item."""
    return list(passes(exam, list(exam.exam.items), Purpose.SCREEN, range(1)))


async def grade_second(exam: SideExam, session: Session) -> Gradebook:
    """Grade every item once; what the budget refuses is not there."""
    outcome = await session.grade(second_calls(exam), f"{exam.suite}: second family {exam.name}")
    book = Gradebook()
    into(book, outcome.rows.values())
    return book


def with_second(result: SuiteResult, first: Judge, exam: SideExam, book: Gradebook, config: Config) -> SuiteResult:
    """A suite's result with the second family beside it; its verdict stays."""
    contract = config.graders[exam.name].contract
    second = Judge(
        exam.name,
        lambda item: list(book.of(exam.side, Purpose.SCREEN, item).values()),
        Reading(contract.scale),
        contract.family,
    )
    both = compare_families(exam.exam.claims, exam.exam.items, first, second)
    findings = family_findings(result.name, result.grader, both)
    return result.model_copy(update={"second_family": both, "findings": (*result.findings, *findings)})


def of_comparison(comparison: Comparison, head: SideSetup) -> Judge:
    """The first grader of a comparison, as head has it."""
    assert comparison.head is not None
    contract = head.config.graders[comparison.head.name].contract
    return Judge(comparison.head.name, side_runs(comparison, Side.HEAD), comparison.readings.head, contract.family)


def of_single(exam: SideExam, book: Gradebook, config: Config) -> Judge:
    """The first grader of one revision on its own."""
    contract = config.graders[exam.name].contract
    return Judge(
        exam.name,
        lambda item: list(book.of(exam.side, Purpose.SCREEN, item).values()),
        Reading(contract.scale),
        contract.family,
    )


def unfinished(both: SecondFamily | None, suite: str) -> list[Notice]:
    """What the second family did not get to."""
    if both is None or both.agreement.n == both.agreement.planned:
        return []
    count = both.agreement.planned - both.agreement.n
    said = f"suite {suite}: {count} of {both.agreement.planned} items have no grade of both families to compare"
    return [Notice(message=said, level="warning")]


def family_notices(config: Config, suites: Iterable[str], side: SideSetup) -> list[Notice]:
    """Warnings of kinship between graders and what wrote the answers, and between the two graders."""
    found = []
    for name in suites:
        if name not in config.suites or name not in side.suites:
            continue
        settings = config.suites[name]
        other = second_name(config, config, name)
        things: list[GoldenCase | Ladder] = [*side.suites[name].cases, *side.suites[name].ladders]
        found += kinship(
            name,
            settings.grader,
            config.graders[settings.grader].contract.family,
            things,
            settings.generator_family,
            None if other is None else (other, config.graders[other].contract.family),
        )
    return [Notice(message=said, level="warning") for said in found]


def second_exams(
    comparisons: Iterable[Comparison], base: SideSetup, head: SideSetup
) -> tuple[dict[str, SideExam], list[Notice]]:
    """The second family's exam of each compared suite that names one, and why some cannot be used.

    The base's suite says which grader it is; it is graded with as head has it.
    """
    found: dict[str, SideExam] = {}
    notices = []
    for comparison in comparisons:
        name = second_name(base.config, head.config, comparison.suite)
        if name is None or comparison.head is None:
            continue
        try:
            found[comparison.suite] = second_exam(head, comparison.head, name)
            second_calls(found[comparison.suite])
        except UsageError as error:
            found.pop(comparison.suite, None)
            notices.append(not_graded(comparison.suite, name, error))
    return found, notices


def not_graded(suite: str, name: str, error: UsageError) -> Notice:
    """The second family cannot be used; the verdict does not depend on it."""
    return Notice(message=f"suite {suite}: the second family {name} was not graded: {error}", level="warning")


async def add_second(
    result: SuiteResult, first: Judge, exam: SideExam, session: Session, config: Config
) -> tuple[SuiteResult, list[Notice]]:
    """Grade the second family and put it beside the first; where it cannot be used the result stays as it is."""
    try:
        book = await grade_second(exam, session)
    except UsageError as error:
        return result, [not_graded(exam.suite, exam.name, error)]
    made = with_second(result, first, exam, book, config)
    return made, unfinished(made.second_family, exam.suite)
