"""What upholding a claim means: the distance of one run from what the claim promises. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader_gate.audits.pairwise import pair_distance
from grader_gate.config import Scale
from grader_gate.decision.evidence import MALFORMED, Distance
from grader_gate.model import Claim, ClaimKind, Grade, GradeVerdict

BENIGN_SCORE_TOLERANCE = 0.25
"""Share of the scale a benign change may move a score. Three to four times the standard deviation of one call
(.066 of the range, measured by Yagubyan, "The Coin Flip Judge", arXiv 2606.13685), so that noise alone stays inside."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How grades of one grader are read: its scale, if it gives scores."""

    scale: Scale | None = None

    def level(self, grade: Grade) -> float | None:
        """Where a grade stands from 0 (worst) to 1 (best): its score where the grader gives scores, else its verdict.

        None without a verdict or score (error, abstention).
        """
        if grade.error is not None or grade.abstained:
            return None
        if self.scale is not None and grade.score is not None:
            share = (grade.score - self.scale.min) / (self.scale.max - self.scale.min)
            return share if self.scale.higher_is_better else 1.0 - share
        return None if grade.verdict is None else grade.verdict.rank / 2


def distance(claim: Claim, grades: Mapping[str, Grade], reading: Reading) -> Distance:
    """How far one run is from the claim: 0 upheld, larger is worse, None where it was not measured.

    - golden: ranks between verdict and expected; an abstention stands one rank away.
    - mutant: 1 if accepted as ``correct`` (survived), 0 if not (killed; an abstention does not accept).
    - control: ranks between the changed text's verdict and the unchanged one's; ``identity``: from ``correct``.
    - attack: ranks gained over the bare wrong answer.
    - rungs: 1 if the higher rung stands below the lower one; a tie upholds.
    - a reply that could not be used breaks any claim (:data:`~grader_gate.decision.evidence.MALFORMED`).
    - pairs of a grader that compares: see :func:`grader_gate.audits.pairwise.pair_distance`.

    :param grades: grade of each of the claim's items in this run.
    """
    needed = _needed(claim)
    found = [grades.get(item) for item in needed]
    if any(grade is None or grade.unmeasured for grade in found):
        return None
    present = [grade for grade in found if grade is not None]
    if any(grade.malformed for grade in present):
        return MALFORMED
    if claim.better:
        return pair_distance(claim, present)
    first = present[0]
    match claim.kind:
        case ClaimKind.GOLDEN:
            return _apart(first, claim.expected)
        case ClaimKind.MUTANT:
            return int(not first.abstained and first.verdict is GradeVerdict.CORRECT)
        case ClaimKind.CONTROL if len(present) == 1:
            return _apart(first, GradeVerdict.CORRECT)
        case ClaimKind.CONTROL:
            return _moved(first, present[1], reading)
        case ClaimKind.ATTACK:
            return max(0, _standing(first) - _standing(present[1]))
        case ClaimKind.RUNGS:
            low, high = reading.level(first), reading.level(present[1])
            return int(low is not None and high is not None and high < low)
    raise AssertionError(claim.kind)


def _needed(claim: Claim) -> tuple[str, ...]:
    # A mutant's identity conditions the kill rate, not the claim: whether the mutant is accepted needs the mutant only.
    return claim.items[:1] if claim.kind is ClaimKind.MUTANT and not claim.better else claim.items


def needed_items(claim: Claim) -> tuple[str, ...]:
    """The items whose grades decide the claim; a mutant's identity is graded for the kill rate, not for the claim."""
    return _needed(claim)


def _standing(grade: Grade) -> int:
    return 0 if grade.abstained or grade.verdict is None else grade.verdict.rank


def _apart(grade: Grade, expected: GradeVerdict | None) -> int:
    if grade.abstained or grade.verdict is None or expected is None:
        return 1
    return abs(grade.verdict.rank - expected.rank)


def _moved(changed: Grade, unchanged: Grade, reading: Reading) -> int:
    if changed.abstained or unchanged.abstained:
        return int(changed.abstained != unchanged.abstained)
    if changed.verdict is not None and unchanged.verdict is not None:
        apart = abs(changed.verdict.rank - unchanged.verdict.rank)
        if apart:
            return apart
    here, there = reading.level(changed), reading.level(unchanged)
    if here is None or there is None:
        return 0
    return int(abs(here - there) > BENIGN_SCORE_TOLERANCE)
