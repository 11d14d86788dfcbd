"""The decision: from runs to a verdict, or to the runs that are missing.

``decide`` is a pure function. It starts over from all runs each time it is asked, so equal evidence gives an equal
answer, and a run of the program that is interrupted goes on where it stopped. The steps: screen every claim once;
confirm the flips side by side; look into drops of the suite and of tags with fresh passes of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader_gate.decision import coin, confirm, drops
from grader_gate.decision.coin import Outcome
from grader_gate.decision.evidence import Evidence, Requests, RunRequest
from grader_gate.decision.outcome import Decision, DropDecision, Settings
from grader_gate.decision.power import detectable_drop, expected_flips, noise_of
from grader_gate.decision.screening import Screened, broken_promises, lower_median, screen, upper_median
from grader_gate.decision.statistics import holm
from grader_gate.decision.wording import claim_decisions
from grader_gate.model import GateVerdict, Side
from grader_gate.result import Certainty

__all__ = ["Decision", "Requests", "Settings", "decide"]


@dataclass(slots=True)
class _State:
    """What is known so far; filled step by step."""

    claims: list[Screened]
    settings: Settings
    calls_left: int | None
    voters: list[Screened] = field(default_factory=list)
    unmeasured: list[Screened] = field(default_factory=list)
    replaced: bool = False
    flips: list[confirm.Flip] = field(default_factory=list)
    share: int = 0
    alarms: list[drops.Alarm] = field(default_factory=list)
    reported: list[DropDecision] = field(default_factory=list)
    promise: bool = True
    why: list[str] = field(default_factory=list)
    calls_needed: int = 0
    undecided: bool = False


def decide(
    evidence: Sequence[Evidence], settings: Settings, *, spent: int = 0, calls_left: int | None = None
) -> Decision | Requests:
    """The verdict over these claims, or the runs to make before it is asked again.

    Fulfilling requests always ends in a decision: each round adds runs, and their number is bounded by the settings.

    :param spent: grades already spent on confirmation, for the report; 0 counts the runs in the evidence.
    :param calls_left: grades that may still be made; None for no limit. What does not fit is not asked for, and what
        stays undecided for it makes the verdict ``error``, with the grades it needs.
    :raises ValueError: two claims of one name.
    """
    if len({e.claim for e in evidence}) < len(evidence):
        raise ValueError("two claims have the same name")
    state = _State(screen(evidence, settings), settings, calls_left)
    return (
        _screen(state)
        or _replace(state)
        or _confirm(state)
        or _drops(state)
        or _decision(state, broken_promises(evidence), spent)
    )


def _screen(state: _State) -> Requests | None:
    """Ask for the first run of a side that has none; sort out what could not be measured."""
    wanted: list[tuple[RunRequest, int]] = []
    for claim in state.claims:
        e = claim.evidence
        if not e.repeatable:
            continue
        if not e.screen:
            wanted.append((RunRequest(e.claim, Side.HEAD, "screen", 1), e.calls))
        if not e.stored and state.settings.base_obtainable:
            upto = state.settings.min_stored
            wanted.append((RunRequest(e.claim, Side.BASE, "screen", upto), e.calls * upto))
    if wanted:
        runs, rest = _afford(wanted, state.calls_left)
        if runs:
            return Requests(runs, f"{len(runs)} first runs")
        state.calls_needed += rest
    state.voters = [c for c in state.claims if c.counts and c.decided]
    state.unmeasured = [c for c in state.claims if c.counts and not c.decided]
    return None


def _replace(state: _State) -> Requests | None:
    """Where so much flipped that base itself may have moved: one fresh pass of both sides instead of the screen.

    Flips that the stored repeats foresee do not count: a fresh pass would bring as many again.
    """
    settings = state.settings
    if not settings.base_obtainable or not all(c.evidence.repeatable for c in state.claims):
        return None
    flips = sum(c.flipped for c in state.voters)
    everything = len(state.voters) + len(state.unmeasured)
    foreseen = sum(noise_of(c.evidence) or 0.0 for c in (*state.voters, *state.unmeasured))
    limit = foreseen + max(settings.max_confirmed, settings.flip_share_for_fresh_pass * everything)
    if flips <= limit < flips + len(state.unmeasured):
        state.undecided = True
        state.why.append("too many claims were not measured to tell a regression from a drift of base")
        return None
    if flips <= limit:
        return None
    wanted = _fresh_requests([(c, 1, 1) for c in state.voters])
    if wanted:
        cost = sum(c for _, c in wanted)
        if state.calls_left is not None and cost > state.calls_left:
            state.undecided = True
            state.calls_needed += cost
            state.why.append(
                f"{flips} of {everything} claims flipped, and a fresh pass of both sides is over the budget"
            )
            return None
        return Requests(
            tuple(r for r, _ in wanted), f"{flips} of {everything} claims flipped: a fresh pass of both sides"
        )
    state.replaced = True
    for claim in state.voters:
        claim.reference = lower_median(claim.evidence.fresh_base[:1])
        claim.head = upper_median(claim.evidence.fresh_head[:1])
    state.unmeasured += [c for c in state.voters if not c.decided]
    state.voters = [c for c in state.voters if c.decided]
    return None


def _confirm(state: _State) -> Requests | None:
    """Re-run the flips, severest first."""
    if state.undecided or not all(c.evidence.repeatable for c in state.claims):
        return None
    settings = state.settings
    flipped = [c for c in state.voters if c.flipped]
    state.share = len(flipped) + len(state.unmeasured)
    state.promise = not broken_promises(c.evidence for c in state.claims)
    state.flips = confirm.follow(flipped, state.share, settings, promise=state.promise)
    open_flips = confirm.worth_running(state.flips, settings)
    if not open_flips:
        return None
    left = state.calls_left
    runs: list[RunRequest] = []
    reserved = 0
    for flip in open_flips:
        # With few calls left it is better to decide the severest flip than to begin all of them.
        if left is not None and (reserved + flip.cost > left or (runs and reserved + flip.most > left)):
            continue
        reserved += flip.most
        runs += flip.wanted
    if runs:
        return Requests(tuple(runs), f"{len(flipped)} flip{'s' if len(flipped) != 1 else ''} to confirm")
    return None


def _drops(state: _State) -> Requests | None:
    """Look into drops, unless a flip has already decided."""
    settings = state.settings
    if state.undecided or any(f.outcome is Outcome.CONFIRMED for f in state.flips):
        return None
    if not settings.base_obtainable or not all(c.evidence.repeatable for c in state.claims):
        _unconfirmed_drops(state)
        return None
    if any(f.outcome is Outcome.OPEN for f in state.flips):
        return None
    state.alarms = drops.alarms(state.voters, settings, replaced=state.replaced)
    drops.follow(state.alarms, settings)
    pending = [a for a in state.alarms if a.state in (drops.State.OPEN, drops.State.AGAIN)]
    if pending and not any(a.state is drops.State.BLOCKED for a in state.alarms):
        wanted = _fresh_requests(drops.next_runs(pending))
        if state.calls_left is None or sum(cost for _, cost in wanted) <= state.calls_left:
            names = "; ".join(a.scope for a in pending)
            return Requests(tuple(r for r, _ in wanted), f"fresh passes for a drop of {names}")
        state.calls_needed += sum(cost for _, cost in _fresh_requests(drops.next_runs(pending, whole=True)))
        for alarm in pending:
            alarm.state = drops.State.UNDECIDED
    state.reported = [drops.describe(a) for a in state.alarms]
    return None


def _fresh_requests(wanted: Sequence[tuple[Screened, int, int]]) -> list[tuple[RunRequest, int]]:
    """Requests for fresh passes, head and base in turn, with the grades each takes."""
    found = []
    for claim, head, base in wanted:
        e = claim.evidence
        for side, have, upto in ((Side.HEAD, len(e.fresh_head), head), (Side.BASE, len(e.fresh_base), base)):
            if have < upto:
                found.append((RunRequest(e.claim, side, "fresh", upto), e.calls * (upto - have)))
    return found


def _unconfirmed_drops(state: _State) -> None:
    """Where nothing can be repeated: the exact test of the screen alone, Holm over all tags."""
    settings = state.settings
    scopes = drops.scopes(state.voters) if state.voters else []
    raw = {", ".join(tags) or drops.SUITE: drops.screen_p(part) for tags, part in scopes if tags}
    adjusted = holm(raw)
    for tags, part in scopes:
        name = ", ".join(tags) or drops.SUITE
        p = adjusted[name] if tags else drops.screen_p(part)
        if p <= settings.doubtful_p:
            known = drops.State.BLOCKED if p <= settings.unconfirmed_p else drops.State.UNDECIDED
            state.reported.append(drops.describe(drops.Alarm(name, tags, list(part), p, 0, state=known)))


def _afford(wanted: list[tuple[RunRequest, int]], left: int | None) -> tuple[tuple[RunRequest, ...], int]:
    """The requests that fit into the calls left, in order, and what the others cost."""
    runs, rest = [], 0
    for request, cost in wanted:
        if left is None or cost <= left:
            runs.append(request)
            left = None if left is None else left - cost
        else:
            rest += cost
    return tuple(runs), rest


def _decision(state: _State, broken: tuple[str, ...], spent: int) -> Decision:
    settings = state.settings
    claims = claim_decisions(state.claims, state.flips, settings, replaced=state.replaced)
    confirmed = [f for f in state.flips if f.outcome is Outcome.CONFIRMED]
    enough = len(confirmed) >= settings.max_confirmed
    waiting = [] if enough else [f for f in state.flips if f.outcome is Outcome.OPEN]
    stuck = [] if enough else [f for f in state.flips if f.outcome is Outcome.UNDECIDED]
    blocked = [d for d in state.reported if d.blocked]
    doubtful = [d for d in state.reported if d.undecided]
    repeatable = all(c.evidence.repeatable for c in state.claims)

    why: list[str] = []
    if confirmed:
        why.append(f"{len(confirmed)} confirmed regression{'s' if len(confirmed) != 1 else ''}")
    for drop in blocked:
        scope = "the suite" if not drop.tags else f"tag {drop.scope}"
        how = "confirmed by fresh passes" if drop.p_confirm is not None else "unconfirmed: it cannot be repeated"
        why.append(f"{scope} dropped ({how}): {drop.sentence}")
    failed = bool(why)
    errors = list(state.why)
    needed = state.calls_needed + sum(f.most for f in waiting)
    if not state.claims:
        errors.append("there is no claim to decide on")
    elif not any(c.decided for c in state.claims):
        errors.append("nothing was measured on both sides")
    if state.unmeasured:
        needed += sum(c.evidence.calls for c in state.unmeasured if c.evidence.repeatable and c.evidence.screen)
        errors.append(
            f"{len(state.unmeasured)} claim{'s' if len(state.unmeasured) != 1 else ''} not measured on both sides"
        )
    if waiting:
        errors.append(f"{len(waiting)} flip{'s' if len(waiting) != 1 else ''} not re-run to the end: no calls left")
    if stuck:
        what = (
            "re-runs were not measured" if settings.base_obtainable else "base cannot be run and too little is stored"
        )
        errors.append(f"{len(stuck)} flip{'s' if len(stuck) != 1 else ''} not decided: {what}")
    errors += [f"a drop of {drop.scope} is not decided: {drop.sentence}" for drop in doubtful]
    if errors and needed:
        errors.append(f"not decided: needs up to {needed} more calls")
    verdict = GateVerdict.FAIL if failed else GateVerdict.ERROR if errors else GateVerdict.PASS
    certainty = _certainty(state, spent, repeatable=repeatable)
    return Decision(verdict, claims, state.reported, certainty, needed if errors else 0, why + errors, broken)


def _certainty(state: _State, spent: int, *, repeatable: bool) -> Certainty:
    """How sure: the bound holds for the re-runs this verdict rests on, whatever the screen showed.

    There is none where a flip rests on the contract's word that equal runs are equal.
    """
    settings = state.settings
    bound: float | None = None
    trusted = state.promise and any(f.claim.evidence.deterministic for f in state.flips)
    if repeatable and settings.base_obtainable and not trusted:
        bound = state.share * coin.lines(state.share, settings.alpha_flip).bound if state.flips else 0.0
        families = {bool(a.tags) for a in state.alarms}
        bound = min(1.0, bound + settings.confirm_p * len(families))
    voters = [c.evidence for c in state.claims if c.counts]
    noise = [noise_of(e) for e in voters]
    flips = expected_flips(noise)
    repeats = sorted(len(e.stored) for e in voters)
    drop = None
    if repeatable and settings.base_obtainable and flips is not None:
        drop = detectable_drop(len(voters), flips, repeats[len(repeats) // 2], settings)
    gray = tuple(
        sorted(c.evidence.claim for c in state.claims if len({d for d in c.evidence.stored if d is not None}) > 1)
    )
    runs = spent or sum(
        c.evidence.calls
        * (
            len(c.evidence.confirm_head)
            + len(c.evidence.confirm_base)
            + len(c.evidence.fresh_head)
            + len(c.evidence.fresh_base)
        )
        for c in state.claims
    )
    flipped = len(state.flips) or sum(c.flipped for c in state.voters)
    return Certainty(
        false_block_bound=bound,
        detectable_drop=drop,
        gray=gray,
        expected_flips=flips,
        flips=flipped,
        reruns=runs,
        confirmable=repeatable and settings.base_obtainable,
    )
