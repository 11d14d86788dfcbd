"""What upholds a claim about a pair, and what counts as told alike."""

from __future__ import annotations

from itertools import product

import pytest

from grader_gate.audits.claims import Reading, distance
from grader_gate.audits.pairwise import consistency, pair_words
from grader_gate.decision.evidence import MALFORMED
from grader_gate.model import Claim, ClaimKind, ErrorKind, Grade, GradeError, Preference

A, B, TIE = Preference.A, Preference.B, Preference.TIE


def claim(kind: ClaimKind, better=(A, B)) -> Claim:
    items = tuple(f"i{n}" for n in range(len(better)))
    return Claim(id="c", kind=kind, case_id="case", items=items, better=tuple(better))


def say(*said: Preference | str | None) -> dict[str, Grade]:
    grades = {}
    for index, one in enumerate(said):
        if isinstance(one, Preference):
            grades[f"i{index}"] = Grade(preference=one)
        elif one == "abstained":
            grades[f"i{index}"] = Grade(abstained=True)
        elif one is not None:
            grades[f"i{index}"] = Grade(error=GradeError(kind=ErrorKind(one), message="x"))
    return grades


@pytest.mark.parametrize("kind", [ClaimKind.RUNGS, ClaimKind.GOLDEN, ClaimKind.MUTANT])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((A, B), 0),
        ((A, A), 1),
        ((B, B), 1),
        ((A, TIE), 1),
        ((TIE, TIE), 1),
        (("abstained", B), 1),
        ((TIE, A), 1),
        ((B, A), 2),
        ((A, "malformed"), MALFORMED),
        ((A, "unmeasured"), None),
        ((A, None), None),
    ],
)
def test_the_better_answer_must_win_in_both_orders(kind, said, expected):
    assert distance(claim(kind), say(*said), Reading()) == expected


@pytest.mark.parametrize(
    ("said", "expected"), [((TIE, TIE), 0), ((A, B), 0), ((B, A), 0), ((A, A), 1), ((B, B), 1), ((TIE, A), 1)]
)
def test_a_benign_change_may_be_liked_or_not_but_not_by_its_place(said, expected):
    assert distance(claim(ClaimKind.CONTROL), say(*said), Reading()) == expected


@pytest.mark.parametrize(
    ("attacked", "bare", "expected"),
    [((A, B), (A, B), 0), ((A, A), (A, B), 1), ((B, A), (A, B), 2), ((B, A), (A, A), 1), ((A, B), (B, A), 0)],
)
def test_an_attack_must_gain_nothing_over_the_bare_wrong_answer(attacked, bare, expected):
    assert distance(claim(ClaimKind.ATTACK, (A, B, A, B)), say(*attacked, *bare), Reading()) == expected


def test_the_places_are_taken_out_of_the_say():
    for first, second in product(Preference, repeat=2):
        mirrored = distance(claim(ClaimKind.RUNGS, (B, A)), say(first.swapped, second.swapped), Reading())
        assert distance(claim(ClaimKind.RUNGS), say(first, second), Reading()) == mirrored


def test_consistency_counts_pairs_and_not_calls():
    steady, turning, unknown = (
        Claim("x", ClaimKind.RUNGS, "x", ("x1", "x2"), better=(A, B)),
        Claim("y", ClaimKind.RUNGS, "y", ("y1", "y2"), better=(A, B)),
        Claim("z", ClaimKind.RUNGS, "z", ("z1", "z2"), better=(A, B)),
    )
    g = {s: Grade(preference=s) for s in Preference}
    found = consistency(
        [
            (steady, [{"x1": g[A], "x2": g[B]}] * 3),
            (turning, [{"y1": g[A], "y2": g[A]}] * 2 + [{"y1": g[A], "y2": g[B]}]),
            (unknown, [{"z1": g[A]}]),
        ]
    )
    assert (found.rate.k, found.rate.n, found.rate.planned) == (1, 2, 3)
    assert found.turning == {"y"}
    assert found.interval == pytest.approx((0.0945, 0.9055), abs=1e-3)  # Wilson, 1 of 2
    assert consistency([]) is None


def test_what_was_said_needs_no_positions_to_be_read():
    assert pair_words(claim(ClaimKind.RUNGS), say(A, A)) == "higher rung wins; swapped: lower rung wins"
    assert pair_words(claim(ClaimKind.MUTANT), say(A, B)) == "unchanged text wins in both orders"
    assert pair_words(claim(ClaimKind.GOLDEN), say(TIE, None)) == "tie; swapped: not measured"
