"""Graders that compare: what upholds a claim about a pair, and how steady their say is under a swap. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader_gate.decision.statistics import wilson
from grader_gate.model import Claim, ClaimKind, Grade, Preference
from grader_gate.result import Rate

NOT_WON = 1
"""Distance of a pair whose better answer did not win in both orders: a tie, or a say that turns with the order."""
LOST = 2
"""Distance of a pair whose worse answer won in both orders."""


def winner(grade: Grade, better: Preference) -> Preference:
    """The say with the positions taken out: ``a`` for the better answer, ``b`` for the worse one, ``tie`` for neither.

    An abstention chooses neither.

    :param better: where the better answer stood.
    """
    said = grade.preference or Preference.TIE
    return said if better is Preference.A else said.swapped


def pair_distance(claim: Claim, grades: Sequence[Grade]) -> int:
    """How far one run is from a claim about a pair; 0 upheld. All grades are usable.

    - rungs, golden answers, degraded texts: :data:`NOT_WON`, :data:`LOST`, or 0 where the better answer won twice.
    - benign changes: 0 where both orders say the same, a tie in both or one text in both; else 1.
    - attacks: orders lost to the right answer bare that are no longer lost when attacked.

    :param grades: one per item of the claim, in its order.
    """
    said = [winner(grade, better) for grade, better in zip(grades, claim.better, strict=True)]
    match claim.kind:
        case ClaimKind.CONTROL:
            return int(said[0] is not said[1])
        case ClaimKind.ATTACK:
            attacked, bare = said[:2], said[2:]
            return max(0, bare.count(Preference.A) - attacked.count(Preference.A))
        case _:
            if said == [Preference.A, Preference.A]:
                return 0
            return LOST if said == [Preference.B, Preference.B] else NOT_WON


def turns(claim: Claim, grades: Mapping[str, Grade]) -> bool | None:
    """Whether the say on a pair depends on the order; None where one of the two orders has no usable say.

    Of an attack the bare pair counts, so that nothing is counted that was meant to confuse.
    """
    items = list(zip(claim.items, claim.better, strict=True))[-2:]
    found = [(grades.get(item), better) for item, better in items]
    said = [winner(g, b) for g, b in found if g is not None and g.error is None and not g.abstained]
    return None if len(said) < 2 else said[0] is not said[1]


@dataclass(frozen=True, slots=True)
class Consistency:
    """Position consistency of one side.

    :ivar rate: pairs told alike in both orders, of the pairs with two usable says; typical over the runs of a pair.
    :ivar turning: claims whose say depends on the order.
    """

    rate: Rate
    turning: frozenset[str]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson 95 % interval of the rate."""
        return wilson(self.rate.k, self.rate.n) if self.rate.n else None


def consistency(runs: Iterable[tuple[Claim, Sequence[Mapping[str, Grade]]]]) -> Consistency | None:
    """Position consistency over claims about pairs; None where there are none.

    :param runs: each claim with the grades of its runs. A pair turns where it does in more than half of its runs.
    """
    planned = measured = 0
    turning = set()
    seen: set[tuple[str, ...]] = set()
    for claim, grades in runs:
        pair = claim.items[-2:]
        if not claim.better or pair in seen:
            continue
        seen.add(pair)
        planned += 1
        found = [said for run in grades if (said := turns(claim, run)) is not None]
        if found:
            measured += 1
            if sum(found) * 2 > len(found):
                turning.add(claim.id)
    if not planned:
        return None
    return Consistency(Rate(k=measured - len(turning), n=measured, planned=planned), frozenset(turning))


def changed_place(claim: Claim) -> str:
    """Name of the input that holds the changed text in the claim's first item (mutants, controls, attacks)."""
    return "answer" if not claim.better else f"answer_{claim.better[0].swapped.value}"


def pair_words(claim: Claim, grades: Mapping[str, Grade]) -> str:
    """What was said of a pair in both orders, in words that need no positions."""
    found = [
        _word(claim.kind, grades.get(item), better) for item, better in zip(claim.items, claim.better, strict=True)
    ]
    if claim.kind is ClaimKind.ATTACK:
        return f"{_both(found[:2])} (bare: {_both(found[2:])})"
    return _both(found)


def _both(words: Sequence[str]) -> str:
    return f"{words[0]} in both orders" if len(set(words)) == 1 else f"{words[0]}; swapped: {words[1]}"


def _word(kind: ClaimKind, grade: Grade | None, better: Preference) -> str:
    if grade is None or grade.unmeasured:
        return "not measured"
    if grade.error is not None:
        return "unusable reply"
    if grade.abstained:
        return "abstained"
    names = {
        ClaimKind.RUNGS: ("higher rung wins", "lower rung wins"),
        ClaimKind.GOLDEN: ("better answer wins", "worse answer wins"),
        ClaimKind.ATTACK: ("right answer wins", "wrong answer wins"),
    }.get(kind, ("unchanged text wins", "changed text wins"))
    return {Preference.A: names[0], Preference.B: names[1], Preference.TIE: "tie"}[winner(grade, better)]


def pair_expected(claim: Claim) -> str:
    """What a claim about a pair promises, in words."""
    return {
        ClaimKind.RUNGS: "the higher rung wins in both orders",
        ClaimKind.GOLDEN: "the better answer wins in both orders",
        ClaimKind.CONTROL: "the same say in both orders",
        ClaimKind.ATTACK: "the right answer wins as often as against the bare one",
        ClaimKind.MUTANT: "the unchanged text wins in both orders",
    }[claim.kind]
