"""Claims on which repeats disagree."""

from __future__ import annotations

from grader_gate.audits.claims import Reading
from grader_gate.audits.gradebook import Gradebook
from grader_gate.audits.stability import unstable_findings
from grader_gate.model import Claim, ClaimKind, ErrorKind, Grade, GradeError, GradeVerdict, Purpose, Side
from grader_gate.result import Tally

CORRECT, INCORRECT = Grade(verdict=GradeVerdict.CORRECT), Grade(verdict=GradeVerdict.INCORRECT)
LOST = Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message="quota"))


def _found(*grades: Grade) -> list[Tally | None]:
    book = Gradebook()
    for repeat, grade in enumerate(grades):
        book.put(Side.HEAD, Purpose.SCREEN, "golden/a", repeat, grade)
    claim = Claim("golden/a", ClaimKind.GOLDEN, "a", ("golden/a",), expected=GradeVerdict.CORRECT)
    found = unstable_findings({claim.id: claim}, book, Reading(), suite="s", grader="g")
    assert not any(f.blocking for f in found)
    return [f.head_runs for f in found]


def test_a_claim_that_some_repeats_uphold_and_others_break_is_unstable() -> None:
    assert _found(CORRECT, INCORRECT, CORRECT) == [Tally(k=2, n=3)]


def test_claims_that_always_hold_or_never_do_are_not() -> None:
    assert _found(CORRECT, CORRECT) == []
    assert _found(INCORRECT, INCORRECT) == []
    assert _found(CORRECT) == []
    assert _found() == []


def test_what_was_not_measured_is_no_disagreement() -> None:
    assert _found(CORRECT, LOST) == []
    assert _found(CORRECT, LOST, INCORRECT) == [Tally(k=1, n=2)]
