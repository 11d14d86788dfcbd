"""What the pairs of a comparing grader show of a suite: order, position consistency, what they have in common. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader_gate.audits.gradebook import STORED
from grader_gate.audits.ladders import coverage
from grader_gate.audits.pairwise import Consistency, consistency
from grader_gate.audits.rates import Outcome, rate
from grader_gate.decision.outcome import Decision
from grader_gate.flow.compare import Comparison
from grader_gate.model import Claim, Grade, Purpose, Side, Suite
from grader_gate.result import Finding, FindingKind, FindingStatus, LadderStats

MAX_TURNING = 0.1
"""Share of pairs whose say turns with the order from which one revision alone is called biased. GPT-4 turns on 7 % of
the expert pairs of LLMBar (Zeng et al., ICLR 2024), ChatGPT on a third."""
MIN_TURNING = 3
"""Pairs that must turn for that: fewer are single odd pairs."""
NEXT = "Say in the prompt that the order means nothing, and ask for the defects of each answer first."


def pair_stats(pairs: Sequence[Outcome], suite: Suite, head: Consistency, base: Consistency | None) -> LadderStats:
    """What the pairs of a grader that compares show; it places no rung by itself, so nothing is flat or unstable."""
    in_order = rate(o.head for o in pairs)
    return LadderStats(
        ladders=len({o.claim.case_id for o in pairs}),
        pairs=in_order if pairs else None,
        inversions=in_order.n - in_order.k,
        coverage=coverage(suite.ladders, {c.question for c in suite.cases}),
        consistency=head.rate,
        consistency_base=None if base is None or not base.rate.n else base.rate,
        consistency_interval=head.interval,
    )


def steadiness(comparison: Comparison, affected: Mapping[str, Claim]) -> dict[Side, Consistency | None]:
    """Position consistency of each side over all pairs of the suite."""
    book = comparison.book

    def runs(claim: Claim, side: Side) -> list[dict[str, Grade]]:
        if side is Side.BASE or claim.id not in affected:
            return book.runs(Side.BASE, STORED, claim.items)
        purposes = (Purpose.SCREEN, Purpose.FRESH, Purpose.CONFIRM)
        return [run for purpose in purposes for run in book.runs(side, purpose, claim.items)]

    claims = comparison.base.exam.claims.values()
    return {side: consistency((c, runs(c, side)) for c in claims) for side in Side}


def position_finding(
    comparison: Comparison, decision: Decision, steady: Mapping[Side, Consistency | None]
) -> Finding | None:
    """That head's say turns with the order where base's did not, as far as the claims' own re-runs confirm it.

    The claims block by themselves: the finding names what they have in common.
    """
    head, base = steady[Side.HEAD], steady[Side.BASE]
    if head is None or base is None or not head.rate.n or not base.rate.n:
        return None
    status = {"confirmed": FindingStatus.CONFIRMED, "unconfirmed": FindingStatus.UNCONFIRMED}
    newly = head.turning - base.turning
    by = {name: decision.claims[name].status.value for name in newly if name in decision.claims}
    worst = next((s for s in status if s in by.values()), None)
    fell = head.rate.k / head.rate.n < base.rate.k / base.rate.n
    if worst is None or not fell:
        return None
    count = sum(said == worst for said in by.values())
    how = "confirmed by re-runs" if worst == "confirmed" else "that cannot be repeated"
    return Finding(
        kind=FindingKind.POSITION,
        status=status[worst],
        blocking=False,
        suite=comparison.suite,
        grader=comparison.base.name,
        sentence=f"the say on {len(newly)} more pairs depends on which answer stands first, {count} of them {how}",
        expected="the same say in both orders",
        base=f"{base.rate.k} of {base.rate.n} pairs told alike",
        head=f"{head.rate.k} of {head.rate.n}",
        severity=4.5,
        suggestion=NEXT,
    )


def position_alone(suite: str, grader: str, steady: Consistency | None) -> Finding | None:
    """That one revision on its own lets the order decide on too many pairs; reported, never blocking."""
    if steady is None or len(steady.turning) < max(MIN_TURNING, MAX_TURNING * steady.rate.n):
        return None
    return Finding(
        kind=FindingKind.POSITION,
        status=FindingStatus.ABSOLUTE,
        blocking=False,
        suite=suite,
        grader=grader,
        sentence=f"the say on {len(steady.turning)} of {steady.rate.n} pairs depends on which answer stands first",
        expected="the same say in both orders",
        severity=4.5,
        suggestion=NEXT,
    )
