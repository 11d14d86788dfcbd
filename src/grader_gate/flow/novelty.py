"""What only the head has: new or edited cases and ladders, and new suites. Absolute, for nothing is frozen of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader_gate.audits.claims import Reading, distance, needed_items
from grader_gate.audits.findings import grade_word
from grader_gate.audits.gradebook import Gradebook
from grader_gate.audits.pairwise import pair_expected, pair_words
from grader_gate.config import Policy
from grader_gate.flow.exams import pairs_of, refuse_mixed
from grader_gate.flow.rubricfiles import with_rubrics_of
from grader_gate.flow.session import Session, into
from grader_gate.flow.sides import SideSetup
from grader_gate.model import Claim, ClaimKind, GoldenCase, Ladder, Purpose, Role, Side, Suite, digest
from grader_gate.result import Finding, FindingKind, FindingStatus
from grader_gate.runs.plan import SideExam, needed, passes
from grader_gate.suite.items import examine

NEW = "new/"
"""Before the ids of new items: an edited case keeps its id, and its old text is graded in the same run."""


@dataclass(slots=True)
class Novelty:
    """New cases and ladders of one suite under the head's grader, and under the base's where it knows the suite."""

    suite: str
    head: SideExam
    base: SideExam | None
    readings: dict[Side, Reading]
    book: Gradebook = field(default_factory=Gradebook)

    @property
    def items(self) -> list[str]:
        """What has to be graded on head."""
        return needed(self.head.exam.claims.values())


def text_key(thing: GoldenCase | Ladder) -> str:
    """What makes a case or ladder the same on both sides. A rubric in a file belongs to the grader's side, so that its
    text is not part of it."""
    rubric = None
    if thing.rubric is not None:
        rubric = thing.rubric.path or thing.rubric.render()
    answers = [thing.answer] if isinstance(thing, GoldenCase) else [(r.level, r.answer) for r in thing.rungs]
    return digest("text", thing.question, thing.reference, rubric, answers, [(s.id, s.text) for s in thing.sources])


def new_parts(head: Suite, base: Suite | None) -> Suite:
    """The cases and ladders of ``head`` whose texts ``base`` does not hold, under whatever id."""
    if base is None:
        return head
    known = {text_key(case) for case in base.cases} | {text_key(ladder) for ladder in base.ladders}
    return Suite(
        name=head.name,
        cases=[c for c in head.cases if text_key(c) not in known],
        ladders=[ladder for ladder in head.ladders if text_key(ladder) not in known],
    )


def novelty(base: SideSetup, head: SideSetup, suite: str, grader: str) -> Novelty | None:
    """What a suite of head holds that base's does not; None where there is nothing."""
    known = base.suites.get(suite)
    if known is not None:
        known = with_rubrics_of(known, head.suites[suite], head.config.graders[grader].rubric)
    parts = new_parts(head.suites[suite], known)
    if not parts.cases and not parts.ladders:
        return None

    contract = None if known is None else base.config.graders[base.config.suites[suite].grader].contract

    def role(tags: tuple[str, ...]) -> Role:
        return Role.GATE if contract is None else contract.role_for(tags)

    def exam(side: SideSetup, name: str) -> SideExam:
        pairs = pairs_of(head.config, suite, side.config.graders[name].contract)
        made = examine(parts, (), 0, side.texts(name), role, prefix=NEW, pairs=pairs)
        return SideExam(side.side, suite, name, side.grader(name), made)

    readings = {Side.HEAD: Reading(head.config.graders[grader].contract.scale)}
    base_exam = None
    if suite in base.suites:
        base_name = base.config.suites[suite].grader
        refuse_mixed(suite, base.config.graders[base_name].contract, head.config.graders[grader].contract)
        base_exam = exam(base, base_name)
        readings[Side.BASE] = Reading(base.config.graders[base_name].contract.scale)
    found = exam(head, grader)
    return Novelty(suite, found, base_exam, readings) if found.exam.claims else None


async def measure(new: Novelty, session: Session, screen: int) -> bool:
    """Grade the new items on head, and on base those that fail there; False where the budget refused a call."""
    planned = list(passes(new.head, new.items, Purpose.SCREEN, range(screen)))
    outcome = await session.grade(planned, f"{new.suite}: new cases")
    into(new.book, outcome.rows.values())
    complete = not outcome.not_made
    failing = [c for c in new.head.exam.claims.values() if _worst(new, c, Side.HEAD)]
    if new.base is not None and failing:
        again = await session.grade(
            list(passes(new.base, needed(failing), Purpose.SCREEN, range(screen))), f"{new.suite}: new cases on base"
        )
        into(new.book, again.rows.values())
        complete = complete and not again.not_made
    return complete


def _worst(new: Novelty, claim: Claim, side: Side) -> int | None:
    runs = new.book.runs(side, Purpose.SCREEN, needed_items(claim))
    found = [distance(claim, run, new.readings[side]) for run in runs]
    measured = sorted(d for d in found if d is not None)
    return measured[(len(measured) - 1) // 2] if measured else None


def new_findings(new: Novelty, policy: Policy, *, gating: bool) -> tuple[list[Finding], int]:
    """Findings about what is new, and how many new claims were not measured.

    A failing new case warns; it blocks under ``new_cases: must_pass``.
    """
    found, unmeasured = [], 0
    for claim in new.head.exam.claims.values():
        here = _worst(new, claim, Side.HEAD)
        if here is None:
            unmeasured += 1
            continue
        if here == 0:
            continue
        there = _worst(new, claim, Side.BASE) if new.base is not None else None
        if claim.better:
            found.append(_pair_finding(new, claim, there, blocking=gating and policy.new_cases == "must_pass"))
            continue
        on_base = "" if there is None else ("; base fails it too" if there > 0 else "; base passes it")
        grades = new.book.of(Side.HEAD, Purpose.SCREEN, claim.items[0])
        base_grades = new.book.of(Side.BASE, Purpose.SCREEN, claim.items[0])
        got = grade_word(next(iter(grades.values()), None))
        what = (
            f"new case {claim.case_id}: expected {claim.expected}, got {got}"
            if claim.kind is ClaimKind.GOLDEN
            else f"new ladder {claim.case_id}, rungs {claim.id.rsplit('/', 1)[-1]}: the better answer stands below"
        )
        found.append(
            Finding(
                kind=FindingKind.NEW_CASE,
                status=FindingStatus.ABSOLUTE,
                blocking=gating and claim.gating and policy.new_cases == "must_pass",
                sentence=what + on_base,
                suite=new.suite,
                grader=new.head.name,
                claim=claim.id,
                claim_kind=claim.kind,
                case=claim.case_id,
                tags=claim.tags,
                expected=str(claim.expected) if claim.expected else None,
                head=got,
                base=grade_word(next(iter(base_grades.values()), None)) if base_grades else None,
                location=claim.location,
                severity=0.8,
                suggestion="Check the expected verdict first; then the grader.",
            )
        )
    return found, unmeasured


def _pair_finding(new: Novelty, claim: Claim, there: int | None, *, blocking: bool) -> Finding:
    runs = {side: new.book.runs(side, Purpose.SCREEN, claim.items) for side in Side}
    said = {side: pair_words(claim, found[0]) if found else None for side, found in runs.items()}
    on_base = "" if there is None else ("; base fails it too" if there > 0 else "; base passes it")
    return Finding(
        kind=FindingKind.NEW_CASE,
        status=FindingStatus.ABSOLUTE,
        blocking=blocking,
        sentence=f"new pair {claim.id.removeprefix(NEW)}: {said[Side.HEAD]}{on_base}",
        suite=new.suite,
        grader=new.head.name,
        claim=claim.id,
        claim_kind=claim.kind,
        case=claim.case_id,
        tags=claim.tags,
        expected=pair_expected(claim),
        head=said[Side.HEAD],
        base=said[Side.BASE],
        location=claim.location,
        severity=0.8,
        suggestion="Check first which answer is the better one; then the grader.",
    )
