"""What became of each claim, with its tallies and the sentence a teammate understands."""

from __future__ import annotations

from collections.abc import Sequence

from grader_gate.decision.coin import Outcome
from grader_gate.decision.confirm import Flip
from grader_gate.decision.evidence import Distance
from grader_gate.decision.outcome import ClaimDecision, ClaimStatus, Settings, sides, tally
from grader_gate.decision.screening import Screened, is_gray
from grader_gate.result import Tally

DRIFT_FROM = 2
"""Re-runs of base that can show a drift; a single one is not called that."""


def upheld(runs: Sequence[Distance], reference: int) -> Tally:
    """How many of the measured runs were no farther off than ``reference``."""
    known = [d for d in runs if d is not None]
    return tally(sum(d <= reference for d in known), len(known))


def claim_decisions(
    claims: Sequence[Screened], flips: Sequence[Flip], settings: Settings, *, replaced: bool
) -> dict[str, ClaimDecision]:
    """One decision for each claim, in the order of the claims."""
    by_name = {flip.claim.evidence.claim: flip for flip in flips}
    confirmed = sum(flip.outcome is Outcome.CONFIRMED for flip in flips)
    enough = confirmed >= settings.max_confirmed
    return {
        claim.evidence.claim: _flip(flip, settings, enough=enough)
        if (flip := by_name.get(claim.evidence.claim)) is not None
        else _still(claim, settings, replaced=replaced)
        for claim in claims
    }


def _flip(flip: Flip, settings: Settings, *, enough: bool) -> ClaimDecision:
    """A claim that was re-run, or was to be."""
    e, reference = flip.claim.evidence, flip.reference
    base_runs, head_runs = e.confirm_base, e.confirm_head
    if not settings.base_obtainable or not base_runs:
        base_runs = e.stored
    base, head = upheld(base_runs, reference), upheld(head_runs or e.screen, reference)
    words = sides(e.kind, reference, base, head)
    if flip.outcome is Outcome.CONFIRMED:
        if not settings.base_obtainable:
            words += " (base as it was frozen; it could not be run)"
        return ClaimDecision(ClaimStatus.CONFIRMED, base, head, words)
    if flip.outcome is Outcome.DISMISSED:
        if settings.base_obtainable and base.n >= DRIFT_FROM and 2 * base.k < base.n:
            stored = upheld(e.stored, reference)
            frozen = f"; {stored.k} of {stored.n} when it was frozen" if stored.n else ""
            return ClaimDecision(ClaimStatus.DRIFT, base, head, f"base itself moved: {words}{frozen}")
        return ClaimDecision(ClaimStatus.DISMISSED, base, head, f"noise: {words}")
    if enough:
        reason = f"not re-run to the end, {settings.max_confirmed} others are confirmed: "
        return ClaimDecision(ClaimStatus.NOT_RERUN, base, head, reason + words)
    return ClaimDecision(ClaimStatus.UNDECIDED, base, head, "not decided: " + words)


def _still(claim: Screened, settings: Settings, *, replaced: bool) -> ClaimDecision:
    """A claim that was not re-run."""
    e = claim.evidence
    fresh = replaced and claim.counts and bool(e.fresh_base) and bool(e.fresh_head)
    base_runs = e.fresh_base[:1] if fresh else e.stored
    head_runs = e.fresh_head[:1] if fresh else e.screen
    reference = claim.reference if claim.reference is not None else 0
    base, head = upheld(base_runs, reference), upheld(head_runs, reference)
    words = sides(e.kind, reference, base, head)
    if is_gray(e, settings):
        return ClaimDecision(ClaimStatus.GRAY, base, head, f"too unstable to gate: {words}")
    if claim.reference is None or claim.head is None:
        return ClaimDecision(ClaimStatus.UNDECIDED, base, head, f"not decided: {words}")
    if claim.flipped:
        if not e.repeatable:
            return ClaimDecision(ClaimStatus.UNCONFIRMED, base, head, f"cannot be repeated: {words}")
        if not e.gating:
            return ClaimDecision(ClaimStatus.UNCONFIRMED, base, head, f"reported only, not re-run: {words}")
        return ClaimDecision(ClaimStatus.UNDECIDED, base, head, f"not decided: {words}")
    status = ClaimStatus.IMPROVED if claim.head < claim.reference else ClaimStatus.UPHELD
    return ClaimDecision(status, base, head, words)
