"""What upholding a claim means, kind by kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.audits.claims import Reading, distance
from grader_gate.audits.gradebook import STORED, Gradebook, ReadingPair, evidence, flip_rate
from grader_gate.audits.rates import typical
from grader_gate.config import Scale
from grader_gate.decision.evidence import MALFORMED
from grader_gate.model import Claim, ClaimKind, ErrorKind, Grade, GradeError, GradeVerdict, Purpose, Side

C, P, I = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT  # noqa: E741
PLAIN = Reading()


def says(verdict: GradeVerdict | None = None, score: float | None = None) -> Grade:
    return Grade(verdict=verdict, score=score)


def failed(kind: ErrorKind) -> Grade:
    return Grade(error=GradeError(kind=kind, message="x"))


def claim(kind: ClaimKind, *items: str, expected: GradeVerdict | None = None) -> Claim:
    return Claim(id="c", kind=kind, case_id="c", items=items, expected=expected)


@pytest.mark.parametrize(
    ("expected", "verdict", "apart"), [(C, C, 0), (C, P, 1), (C, I, 2), (P, C, 1), (P, I, 1), (I, C, 2), (I, I, 0)]
)
def test_a_golden_case_counts_ranks_in_both_directions(expected, verdict, apart):
    assert distance(claim(ClaimKind.GOLDEN, "a", expected=expected), {"a": says(verdict)}, PLAIN) == apart


def test_an_abstention_is_one_rank_off_a_golden_case_and_no_acceptance_of_a_mutant():
    abstained = Grade(abstained=True)
    assert distance(claim(ClaimKind.GOLDEN, "a", expected=C), {"a": abstained}, PLAIN) == 1
    assert distance(claim(ClaimKind.MUTANT, "m", "i"), {"m": abstained}, PLAIN) == 0


@pytest.mark.parametrize(("verdict", "apart"), [(C, 1), (P, 0), (I, 0)])
def test_a_mutant_is_killed_by_any_verdict_below_correct_whatever_its_identity_gets(verdict, apart):
    mutant = claim(ClaimKind.MUTANT, "m", "i", expected=P)
    assert distance(mutant, {"m": says(verdict)}, PLAIN) == apart
    assert distance(mutant, {"m": says(verdict), "i": failed(ErrorKind.UNMEASURED)}, PLAIN) == apart


def test_identity_must_be_correct_and_a_benign_change_must_not_move():
    assert distance(claim(ClaimKind.CONTROL, "i"), {"i": says(P)}, PLAIN) == 1
    benign = claim(ClaimKind.CONTROL, "b", "i")
    assert distance(benign, {"b": says(P), "i": says(P)}, PLAIN) == 0
    assert distance(benign, {"b": says(C), "i": says(P)}, PLAIN) == 1
    scale = Reading(Scale(min=0, max=10))
    assert distance(benign, {"b": says(C, 9.0), "i": says(C, 7.0)}, scale) == 0
    assert distance(benign, {"b": says(C, 9.0), "i": says(C, 6.0)}, scale) == 1


@pytest.mark.parametrize(("attacked", "bare", "apart"), [(C, I, 2), (P, I, 1), (I, I, 0), (I, P, 0), (C, C, 0)])
def test_an_attack_must_gain_nothing_over_the_bare_answer(attacked, bare, apart):
    assert distance(claim(ClaimKind.ATTACK, "a", "w"), {"a": says(attacked), "w": says(bare)}, PLAIN) == apart


def test_rungs_tie_or_rise_and_a_lower_is_better_scale_is_turned_round():
    rungs = claim(ClaimKind.RUNGS, "low", "high")
    assert distance(rungs, {"low": says(P), "high": says(P)}, PLAIN) == 0
    assert distance(rungs, {"low": says(C), "high": says(P)}, PLAIN) == 1
    errors = Reading(Scale(min=0, max=10, higher_is_better=False))
    assert distance(rungs, {"low": says(I, 7.0), "high": says(P, 2.0)}, errors) == 0
    assert distance(rungs, {"low": says(I, 2.0), "high": says(P, 7.0)}, errors) == 1


@pytest.mark.parametrize("kind", list(ClaimKind))
def test_unmeasured_is_undecided_and_unusable_is_broken_for_every_kind(kind):
    one = claim(kind, "a", "b", expected=C)
    unmeasured, unusable = failed(ErrorKind.UNMEASURED), failed(ErrorKind.MALFORMED)
    assert distance(one, {"a": unmeasured, "b": says(C)}, PLAIN) is None
    assert distance(one, {"b": says(C)}, PLAIN) is None
    assert distance(one, {"a": unusable, "b": says(C)}, PLAIN) == MALFORMED


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=9))
def test_the_typical_distance_is_one_that_was_measured_and_at_least_half_are_not_below(found):
    got = typical(found)
    measured = [d for d in found if d is not None]
    assert (got is None) == (not measured)
    if got is not None:
        assert got in measured
        assert 2 * sum(d <= got for d in measured) >= len(measured)


def test_evidence_reads_each_purpose_of_each_side_into_its_place():
    book = Gradebook()
    golden = claim(ClaimKind.GOLDEN, "a", expected=C)
    for repeat, verdict in enumerate((C, P, C)):
        book.put(Side.BASE, STORED, "a", repeat, says(verdict))
    book.put(Side.HEAD, Purpose.SCREEN, "a", 0, says(I))
    book.put(Side.HEAD, Purpose.CONFIRM, "a", 0, says(I))
    book.put(Side.BASE, Purpose.CONFIRM, "a", 0, failed(ErrorKind.UNMEASURED))
    found = evidence(golden, book, ReadingPair(PLAIN, PLAIN))
    assert (found.stored, found.screen) == ((0, 1, 0), (2,))
    assert (found.confirm_head, found.confirm_base) == ((2,), (None,))


def test_the_flip_rate_is_the_share_of_the_rarer_outcome():
    golden = claim(ClaimKind.GOLDEN, "a", expected=C)
    grades = [says(v) for v in (C, C, I, C, P, C, C, C, C, C)]
    assert flip_rate(golden, {"a": grades}, PLAIN) == (0.2, 10)
    assert flip_rate(golden, {"a": []}, PLAIN) is None


def test_a_repeat_of_a_shared_item_alone_is_no_run_of_the_claim():
    book = Gradebook()
    for repeat in range(3):
        book.put(Side.HEAD, Purpose.CONFIRM, "identity", repeat, says(C))
    book.put(Side.HEAD, Purpose.CONFIRM, "benign", 0, says(C))
    control = claim(ClaimKind.CONTROL, "benign", "identity")
    assert evidence(control, book, ReadingPair(PLAIN, PLAIN)).confirm_head == (0,)
