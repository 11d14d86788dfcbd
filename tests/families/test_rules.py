"""The rules of the second family, value by value."""

from __future__ import annotations

import pytest

from grader_gate.audits.claims import Reading
from grader_gate.audits.families import Judge, blind_to, compare_families, family_findings, usual_say
from grader_gate.model import Claim, ClaimKind, ErrorKind, Grade, GradeError, GradeVerdict, Item, Preference
from grader_gate.result import FamilyRow, Rate

OK, HALF, BAD = (Grade(verdict=v) for v in (GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT))
OUT = Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message="down"))
ODD = Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="odd"))


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        ([OK, OK, BAD], "correct"),
        ([OUT, BAD], "incorrect"),
        ([OUT], None),
        ([], None),
        ([ODD], "unusable reply"),
        ([Grade(abstained=True)], "abstained"),
        ([Grade(preference=Preference.TIE)], "tie"),
        ([OK, BAD], "correct"),  # a draw is told by the alphabet: the same grades, the same word
    ],
)
def test_what_a_grader_says_of_an_item(grades, said):
    assert usual_say(grades) == said


@pytest.mark.parametrize(
    ("first", "second", "missed", "blind"),
    [
        ((0, 3), (0, 3), 3, True),
        ((0, 2), (0, 2), 2, False),  # too few texts
        ((2, 4), (2, 4), 1, True),  # half is missed by each
        ((3, 4), (0, 4), 1, False),  # the first sees most
        ((2, 4), (2, 4), 0, False),  # each sees what the other misses
    ],
)
def test_common_blindness_needs_texts_that_both_miss(first, second, missed, blind):
    rates = [Rate(k=k, n=n, planned=n) for k, n in (first, second)]
    assert blind_to(FamilyRow(mutator="m", first=rates[0], second=rates[1], both_missed=missed)) is blind


def mutant(name: str) -> Claim:
    return Claim(name, ClaimKind.MUTANT, "case", (name, "same"), mutator="m")


def judge(name: str, grades: dict[str, list[Grade]], family: str | None = None) -> Judge:
    return Judge(name, lambda item: grades.get(item, []), Reading(), family)


def both(first: dict[str, list[Grade]], second: dict[str, list[Grade]]):
    golden = Claim("golden/x", ClaimKind.GOLDEN, "x", ("golden/x",), expected=GradeVerdict.PARTIAL)
    claims = {"golden/x": golden, **{name: mutant(name) for name in ("mutant/1", "mutant/2", "mutant/3")}}
    items = {name: Item(name, {}, "case") for name in ("same", *claims)}
    return compare_families(claims, items, judge("one", first, "alpha"), judge("two", second))


def test_only_what_both_measured_is_compared():
    first = {"same": [OK], "golden/x": [HALF], "mutant/1": [OK], "mutant/2": [BAD], "mutant/3": [OK]}
    second = {"same": [OK], "golden/x": [BAD], "mutant/1": [OK], "mutant/2": [OK], "mutant/3": [OUT]}
    found = both(first, second)
    assert found.agreement == Rate(k=2, n=4, planned=5)
    (row,) = found.mutators
    assert (row.first, row.second, row.both_missed) == (Rate(k=1, n=2, planned=3), Rate(k=0, n=2, planned=3), 1)
    assert (found.first_right, found.second_right) == (Rate(k=1, n=1, planned=1), Rate(k=0, n=1, planned=1))
    assert [d.item for d in found.disagreements] == ["golden/x", "mutant/2"]
    assert (found.disagreements[0].expected, found.disagreements[1].expected) == ("partial", None)


def test_a_kill_by_who_rejects_everything_is_no_kill():
    good = {"same": [OK], **{f"mutant/{n}": [BAD] for n in (1, 2, 3)}}
    grim = {"same": [BAD], **{f"mutant/{n}": [BAD] for n in (1, 2, 3)}}
    (row,) = both(good, grim).mutators
    assert (row.first.n, row.second.n) == (0, 0)


def test_an_unusable_reply_is_no_kill():
    first = {"same": [OK], **{f"mutant/{n}": [OK] for n in (1, 2, 3)}}
    second = {"same": [OK], **{f"mutant/{n}": [ODD] for n in (1, 2, 3)}}
    found = both(first, second)
    assert found.mutators[0].both_missed == 3
    (blind, differ) = family_findings("s", "one", found)
    assert blind.sentence == "m: one catches 0 of 3, two 0 of 3; 3 pass both"
    assert differ.sentence.startswith("one and two differ on 3 of 4 items: mutant/1: correct against unusable reply;")
    assert not blind.blocking
    assert not differ.blocking


def test_graders_that_agree_give_no_finding():
    same = {"same": [OK], "golden/x": [HALF], **{f"mutant/{n}": [BAD] for n in (1, 2, 3)}}
    found = both(same, same)
    assert found.disagreed == 0
    assert family_findings("s", "one", found) == []
