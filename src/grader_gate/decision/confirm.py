"""Flips: claims that head broke in the screen, re-run side by side until they are confirmed or dismissed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader_gate.decision import coin
from grader_gate.decision.coin import MAX_PAIRS, Outcome
from grader_gate.decision.evidence import Distance, RunRequest
from grader_gate.decision.outcome import Settings
from grader_gate.decision.screening import Screened
from grader_gate.model import Side

CONFIRM = "confirm"


@dataclass(slots=True)
class Flip:
    """One flip and where its re-runs stand.

    :ivar pairs: pairs of re-runs that led to ``outcome``.
    :ivar wanted: the runs it would take next; empty where it is settled.
    :ivar most: grades it could still take at most.
    """

    claim: Screened
    reference: int
    outcome: Outcome
    pairs: int
    wanted: tuple[RunRequest, ...] = ()
    cost: int = 0
    most: int = 0


def follow(flips: Sequence[Screened], count: int, settings: Settings, *, promise: bool) -> list[Flip]:
    """Judge every flip by the re-runs there are, in the order given.

    :param count: flips to share the false-alarm chance between: those given, and claims that may be flips unmeasured.
    :param promise: False once a grader called deterministic contradicted itself in this run.
    """
    rule = coin.lines(count, settings.alpha_flip)
    return [
        _alone(claim, settings)
        if not settings.base_obtainable
        else _once(claim)
        if promise and claim.evidence.deterministic
        else _paired(claim, rule)
        for claim in flips
    ]


def _reference(claim: Screened) -> int:
    if claim.reference is None:
        raise ValueError(f"{claim.evidence.claim} has no base to compare with")
    return claim.reference


def _paired(claim: Screened, rule: coin.Lines) -> Flip:
    """Pairs under the coin rule."""
    reference, e = _reference(claim), claim.evidence
    least, most = surprises(e.confirm_head, e.confirm_base, reference)
    outcome, pairs = coin.judge(rule, least, most)
    flip = Flip(claim, reference, outcome, pairs)
    if outcome is Outcome.OPEN:
        _want(flip, coin.next_look(rule, pairs, sum(least)), MAX_PAIRS)
    return flip


def _once(claim: Screened) -> Flip:
    """One pair, for a grader whose equal runs are promised to be equal."""
    reference, e = _reference(claim), claim.evidence
    least, most = surprises(e.confirm_head[:1], e.confirm_base[:1], reference)
    if not least:
        flip = Flip(claim, reference, Outcome.OPEN, 0)
        _want(flip, 1, 1)
        return flip
    outcome = Outcome.CONFIRMED if most == [0] else Outcome.DISMISSED if least[0] else Outcome.UNDECIDED
    return Flip(claim, reference, outcome, 1)


def _alone(claim: Screened, settings: Settings) -> Flip:
    """Head's re-runs against stored runs, where base cannot be run: all must fail, and all stored ones have passed."""
    reference, e = _reference(claim), claim.evidence
    stored = [d for d in e.stored if d is not None]
    if len(stored) < settings.fallback_runs or max(stored) > reference:
        return Flip(claim, reference, Outcome.UNDECIDED, 0)
    runs = e.confirm_head[: settings.fallback_runs]
    if any(d is not None and d <= reference for d in runs):
        return Flip(claim, reference, Outcome.DISMISSED, len(runs))
    if len(runs) == settings.fallback_runs:
        return Flip(claim, reference, Outcome.UNDECIDED if None in runs else Outcome.CONFIRMED, len(runs))
    most = settings.fallback_runs - len(runs)
    wanted = (RunRequest(e.claim, Side.HEAD, CONFIRM, len(runs) + 1),)
    return Flip(claim, reference, Outcome.OPEN, len(runs), wanted, e.calls, most * e.calls)


def surprises(head: Sequence[Distance], base: Sequence[Distance], reference: int) -> tuple[list[int], list[int]]:
    """Surprises of each complete pair: at least, and at most, as runs not measured allow."""
    least, most = [], []
    for h, b in zip(head, base, strict=False):
        known = (h is not None and h <= reference) + (b is not None and b > reference)
        least.append(known)
        most.append(known + (h is None) + (b is None))
    return least, most


def _want(flip: Flip, upto: int, limit: int) -> None:
    """Ask for both sides up to pair ``upto``, head and base in turn."""
    e = flip.claim.evidence
    done = {Side.HEAD: len(e.confirm_head), Side.BASE: len(e.confirm_base)}
    flip.wanted = tuple(RunRequest(e.claim, side, CONFIRM, upto) for side in done if done[side] < upto)
    flip.cost = e.calls * sum(max(0, upto - have) for have in done.values())
    flip.most = e.calls * sum(max(0, limit - have) for have in done.values())


def worth_running(flips: Sequence[Flip], settings: Settings) -> list[Flip]:
    """The open flips to re-run next, severest first; none once enough are confirmed.

    As many at a time as are still missing to ``max_confirmed``, plus one for each that turned out to be noise: real
    breaks cost no more runs than they need, and much noise is worked off in ever larger rounds.
    """
    confirmed = sum(f.outcome is Outcome.CONFIRMED for f in flips)
    if confirmed >= settings.max_confirmed:
        return []
    window = settings.max_confirmed - confirmed
    window += sum(f.outcome in (Outcome.DISMISSED, Outcome.UNDECIDED) for f in flips)
    return [f for f in flips if f.outcome is Outcome.OPEN][:window]
