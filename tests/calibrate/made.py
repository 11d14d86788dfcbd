"""Cases and grades for the tests of calibration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grader_gate.audits.calibration import Judged, judge
from grader_gate.model import ErrorKind, GoldenCase, Grade, GradeError, GradeVerdict

C, P, W = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT
BY_RANK = (W, P, C)

ABSTAINED = Grade(abstained=True, reason="insufficient context")
UNUSABLE = Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="no JSON in the reply"))
UNMEASURED = Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message="timeout after 60 s"))


def case(name: str = "a", expected: GradeVerdict = C, **more: object) -> GoldenCase:
    return GoldenCase(**{"id": name, "question": f"Q {name}?", "answer": "A", "expected": expected, **more})


def grade(verdict: GradeVerdict, reason: str = "because") -> Grade:
    return Grade(verdict=verdict, reason=reason)


def rows(pairs: Iterable[tuple[GradeVerdict, GradeVerdict | Grade]], tags: tuple[str, ...] = ()) -> list[Judged]:
    """One case per pair of the people's verdict and the grader's."""
    return [
        judge(case(f"c{n}", people, tags=tags), [said if isinstance(said, Grade) else grade(said)])
        for n, (people, said) in enumerate(pairs)
    ]


def table(counts: Mapping[tuple[GradeVerdict, GradeVerdict], int], tags: tuple[str, ...] = ()) -> list[Judged]:
    """Rows from counts by the people's verdict and the grader's."""
    return rows((pair for pair, n in counts.items() for _ in range(n)), tags)
