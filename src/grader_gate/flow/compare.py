"""One suite, base against head: what is affected, what it takes, the screen, the confirmation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from grader_gate.audits.claims import Reading, needed_items
from grader_gate.audits.gradebook import STORED, Gradebook, ReadingPair, evidence, flip_rate, not_gating
from grader_gate.audits.rates import typical
from grader_gate.baselines.record import Baseline
from grader_gate.decision.decide import decide
from grader_gate.decision.evidence import Evidence, Requests
from grader_gate.decision.outcome import Decision, Settings
from grader_gate.flow.exams import refuse_mixed, suite_exam
from grader_gate.flow.rubricfiles import with_rubrics_of
from grader_gate.flow.session import Session, into
from grader_gate.flow.sides import SideSetup
from grader_gate.model import Claim, ClaimKind, Grade, LedgerRow, PlannedGrade, Purpose, Side
from grader_gate.runs.engine import judged_anew
from grader_gate.runs.plan import Affected, SideExam, affected, interleaved, needed


@dataclass(slots=True)
class Comparison:
    """A suite of the base branch under both sides' graders.

    :ivar head: None where head has no grader for the suite any more.
    :ivar sources: how the base side is known: counts of items from the baseline and measured live.
    """

    suite: str
    base: SideExam
    head: SideExam | None
    affected: Affected
    readings: ReadingPair
    book: Gradebook = field(default_factory=Gradebook)
    from_baseline: int = 0
    live: list[str] = field(default_factory=list)
    noise: dict[str, float] = field(default_factory=dict)
    budget_refused: bool = False
    base_gone: bool = False


def head_grader_name(base: SideSetup, head: SideSetup, suite: str) -> str | None:
    """The head's grader for a suite of base: the one its own suite names, else the same name, else the one that was
    ``formerly`` it; None where there is none."""
    if suite in head.suites:
        return head.config.suites[suite].grader
    name = base.config.suites[suite].grader
    if name in head.config.graders:
        return name
    return next((n for n, g in head.config.graders.items() if g.formerly == name), None)


def side_exam(texts: SideSetup, grades: SideSetup, suite: str, grader: str) -> SideExam:
    """The suite as ``texts`` (base) holds it, under a grader of ``grades``: relative claims are base's suite's.

    Roles and slices are base's, for a pull request cannot take its own cases out of the gate.
    """
    config = texts.config.suites[suite]
    contract = texts.config.graders[config.grader].contract
    held = texts.suites[suite]
    if grades is not texts:
        held = with_rubrics_of(held, grades.suites.get(suite), grades.config.graders[grader].rubric)
    exam = suite_exam(
        texts.config,
        held,
        grades.texts(grader),
        mutators=texts.mutators[suite],
        per_mutator=config.mutators.per_mutator,
        role_for=contract.role_for,
    )
    return SideExam(side=grades.side, suite=suite, name=grader, grader=grades.grader(grader), exam=exam)


def compare(base: SideSetup, head: SideSetup, suite: str) -> Comparison:
    """Work out what of a suite is affected; no call is made."""
    base_name = base.config.suites[suite].grader
    left = side_exam(base, base, suite, base_name)
    name = head_grader_name(base, head, suite)
    reading = Reading(base.config.graders[base_name].contract.scale)
    if name is None:
        return Comparison(suite, left, None, Affected(), ReadingPair(reading, reading))
    refuse_mixed(suite, base.config.graders[base_name].contract, head.config.graders[name].contract)
    right = side_exam(base, head, suite, name)
    readings = ReadingPair(reading, Reading(head.config.graders[name].contract.scale))
    return Comparison(suite, left, right, affected(left, right), readings)


def take_baseline(comparison: Comparison, baseline: Baseline) -> None:
    """Enter what the baseline holds of the base side, of affected and unaffected items alike.

    Grades frozen under another judgement are judged again from their raw reply; where none is kept they do not count.
    """
    side = comparison.base
    frozen_for: dict[str, int] = {}
    for item in side.exam.items:
        digest = side.request_digest(item)
        row = baseline.frozen(digest)
        if row is not None:
            grades = _as_judged(row.grades, row.judgement_digest, side)
            for repeat, grade in enumerate(grades):
                comparison.book.put(Side.BASE, STORED, item, repeat, grade)
            frozen_for[item] = len(grades)
        noise = baseline.noise(digest)
        if noise is not None:
            for repeat, grade in enumerate(_as_judged(noise.grades, noise.judgement_digest, side)):
                comparison.book.put(Side.BASE, Purpose.NOISE, item, repeat, grade)
    wanted = needed(comparison.affected.claims.values())
    comparison.from_baseline = sum(bool(frozen_for.get(item)) for item in wanted)
    comparison.live = [item for item in wanted if not frozen_for.get(item)]
    for claim in comparison.affected.claims.values():
        noise_grades = {i: list(comparison.book.of(Side.BASE, Purpose.NOISE, i).values()) for i in needed_items(claim)}
        measured = flip_rate(claim, noise_grades, comparison.readings.base)
        if measured is not None and measured[1] >= MIN_NOISE_REPEATS:
            comparison.noise[claim.id] = measured[0]


MIN_NOISE_REPEATS = 10
"""Noise repeats from which a flip rate counts as known (the decision page, "Details the engine must get right")."""


def _as_judged(grades: Iterable[Grade], judgement: str, side: SideExam) -> list[Grade]:
    if judgement == side.grader.judgement_digest:
        return list(grades)
    again = (judged_anew(grade, side.grader) for grade in grades)
    return [grade for grade in again if grade is not None]


def screen_plan(comparison: Comparison, *, screen: int, live: int) -> list[PlannedGrade]:
    """The calls of the screen: affected items on head, and on base those no record covers, side by side."""
    assert comparison.head is not None
    wanted = needed(comparison.affected.claims.values())
    moved = set(comparison.affected.items)
    ranges: dict[tuple[str, Side], range] = {}
    for item in wanted:
        if item in moved and not _rejudge(comparison, item):
            ranges[item, Side.HEAD] = range(screen)
        if item in comparison.live:
            ranges[item, Side.BASE] = range(live)
    return interleaved(ranges, comparison.base, comparison.head, Purpose.SCREEN)


def _rejudge(comparison: Comparison, item: str) -> bool:
    """Judge a stored raw reply by head's judgement where only that changed; True where that was possible."""
    assert comparison.head is not None
    if item not in comparison.affected.rejudged:
        return False
    stored = comparison.book.of(Side.BASE, STORED, item)
    again = {r: judged_anew(grade, comparison.head.grader) for r, grade in stored.items()}
    if not again or any(grade is None for grade in again.values()):
        return False
    for repeat, grade in again.items():
        if grade is not None:
            comparison.book.put(Side.HEAD, Purpose.SCREEN, item, repeat, grade)
    return True


def after_screen(comparison: Comparison) -> None:
    """Live base grades stand in for the baseline; items that did not move say on head what they say on base."""
    for item in comparison.live:
        for repeat, grade in comparison.book.of(Side.BASE, Purpose.SCREEN, item).items():
            comparison.book.put(Side.BASE, STORED, item, repeat, grade)
    moved = set(comparison.affected.items)
    for item in needed(comparison.affected.claims.values()):
        if item not in moved:
            for repeat, grade in comparison.book.of(Side.BASE, STORED, item).items():
                comparison.book.put(Side.HEAD, Purpose.SCREEN, item, repeat, grade)


def all_evidence(comparison: Comparison, *, deterministic: bool, gates: Callable[[Claim], bool]) -> list[Evidence]:
    """The evidence of every affected claim so far.

    :param gates: whether a claim may fail the suite; what the policy only warns of is reported and not re-run.
    """
    assert comparison.head is not None
    repeatable = comparison.base.grader.repeatable and comparison.head.grader.repeatable
    found = [
        evidence(
            claim if gates(claim) else not_gating(claim),
            comparison.book,
            comparison.readings,
            deterministic=deterministic,
            repeatable=repeatable,
            noise_flip_rate=comparison.noise.get(claim.id),
        )
        for claim in comparison.affected.claims.values()
    ]
    _first_of_each_kind(found)
    return found


FIRST_OF_KIND = 10.0
"""Added to the severity of the first flip of each kind: five confirmed end a run, and a reader wants to see one of each
sort that broke rather than five of the same."""


def _first_of_each_kind(found: list[Evidence]) -> None:
    seen: set[ClaimKind] = set()
    for one in sorted(found, key=lambda e: e.claim):
        base, head = typical(one.stored), typical(one.screen)
        if one.gating and base is not None and head is not None and head > base and one.kind not in seen:
            seen.add(one.kind)
            one.severity += FIRST_OF_KIND


async def settle(
    comparison: Comparison,
    session: Session,
    settings: Settings,
    *,
    deterministic: bool,
    gates: Callable[[Claim], bool],
) -> Decision:
    """Ask the decision for its verdict, fulfilling its requests until it has one."""
    spent = 0
    while True:
        left = 0 if comparison.budget_refused else session.calls_left
        found = all_evidence(comparison, deterministic=deterministic, gates=gates)
        outcome = decide(found, settings, spent=spent, calls_left=left)
        if isinstance(outcome, Decision):
            return outcome
        planned = requested(comparison, outcome)
        result = await session.grade(planned, outcome.why or f"{comparison.suite}: confirming")
        into(comparison.book, result.rows.values())
        if settings.base_obtainable and _base_is_gone(result.rows.values()):
            comparison.base_gone = True
            settings = replace(settings, base_obtainable=False)
        spent += result.made
        if result.not_made or not result.rows:
            comparison.budget_refused = True


def _base_is_gone(rows: Iterable[LedgerRow]) -> bool:
    """Whether base could not be measured at all in a round where head could: its model is retired, say."""
    measured = {side: [not row.grade.unmeasured for row in rows if row.side is side] for side in Side}
    return bool(measured[Side.BASE]) and not any(measured[Side.BASE]) and any(measured[Side.HEAD])


def requested(comparison: Comparison, requests: Requests) -> list[PlannedGrade]:
    """Planned grades of the decision's requests, in pairs of head and base; each item and repeat once."""
    assert comparison.head is not None
    claims: Mapping[str, Claim] = comparison.affected.claims
    by_purpose: dict[Purpose, dict[tuple[str, Side], range]] = {}
    for request in requests.runs:
        purpose = Purpose(request.purpose)
        wanted = by_purpose.setdefault(purpose, {})
        for item in needed_items(claims[request.claim]):
            have = len(comparison.book.of(request.side, purpose, item))
            before = wanted.get((item, request.side), range(have, have))
            wanted[item, request.side] = range(have, max(request.upto, before.stop))
    planned: list[PlannedGrade] = []
    for purpose, ranges in by_purpose.items():
        planned += interleaved(ranges, comparison.base, comparison.head, purpose)
    return planned
