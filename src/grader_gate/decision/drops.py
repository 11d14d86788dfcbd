"""Drops of the suite or of a tag: many small changes that no single claim proves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from grader_gate.decision.evidence import MALFORMED, Distance
from grader_gate.decision.outcome import DropDecision, Settings
from grader_gate.decision.permutation import paired_tail, upper_tail
from grader_gate.decision.screening import Screened

SUITE = "suite"


SPEND = {
    3: (0.4, 0.3, 0.3),
    6: (0.0, 0.1, 0.2, 0.2, 0.2, 0.3),
}
"""How the false-alarm chance is shared out between the looks after each fresh pass, by the most passes there may be."""
FUTILE = (0.5, 0.35, 0.25, 0.2, 0.15, 0.1)
"""p after 1, 2, … fresh passes above which an alarm is dropped early. Can only clear, so it costs no error."""
FUTILE_FROM = 12
"""Pairs of runs a scope needs before it can be dropped early: fewer say too little."""

LOWEST, HIGHEST = 0, 1
"""Places of the two bounds of p in ``Alarm.p_looks``."""


class State(Enum):
    """Where an alarm stands."""

    AGAIN = "second look at head"
    OPEN = "open"
    BLOCKED = "blocked"
    CLEARED = "cleared"
    UNDECIDED = "undecided"


@dataclass(slots=True)
class Alarm:
    """A scope whose screen looks worse on head.

    :ivar passes: most fresh passes it may take.
    :ivar offset: fresh passes that only served to raise the alarm and so do not count as its confirmation.
    :ivar p_looks: p after each fresh pass, lowest and highest that runs not measured allow.
    """

    scope: str
    tags: tuple[str, ...]
    members: list[Screened]
    p_screen: float
    passes: int
    offset: int = 0
    p_looks: list[tuple[float, float]] = field(default_factory=list)
    state: State = State.OPEN


def clusters(members: Iterable[Screened]) -> list[list[Screened]]:
    """Members grouped by cluster, in a fixed order."""
    groups: dict[tuple[str, str], list[Screened]] = {}
    for member in members:
        e = member.evidence
        groups.setdefault(("c", e.cluster) if e.cluster else ("", e.claim), []).append(member)
    return list(groups.values())


def failures(runs: Sequence[int]) -> list[int]:
    """1 for each run that is farther off than the best of these runs, else 0.

    The best is a symmetric function of the runs, so which of them are head's stays a fair draw. For a claim with two
    outcomes this is plainly failed or not; a claim that is always equally far off says nothing of a difference.
    """
    best = min(runs)
    return [int(run > best) for run in runs]


def screen_p(members: Iterable[Screened], *, again: int | None = None, missing: int = 0) -> float:
    """Exact p of head's screen against the stored runs; runs not measured count against an alarm.

    :param again: fresh pass of head that counts as one more screening run.
    :param missing: distance of a run of head that was not measured.
    """
    strata: list[tuple[list[int], int]] = []
    observed = 0
    more = 0 if again is None else 1
    moved = [m for m in members if _moved(m, again)]
    for group in clusters(moved):
        heads = min(len(m.evidence.screen) for m in group)
        bases = min(len(m.evidence.stored) for m in group)
        if not heads or not bases:
            continue
        sums = [0] * (heads + more + bases)
        for member in group:
            e = member.evidence
            head = e.screen[:heads] if again is None else (*e.screen[:heads], e.fresh_head[again])
            runs = _filled(head, missing) + _filled(e.stored[:bases], MALFORMED)
            if min(runs) != max(runs):
                sums = [a + b for a, b in zip(sums, failures(runs), strict=True)]
        observed += sum(sums[: heads + more])
        if any(sums):
            strata.append((sums, heads + more))
    return upper_tail(strata, observed) if observed else 1.0


def _moved(member: Screened, again: int | None) -> bool:
    """Whether any two runs of the screen differ; a claim where none do says nothing of a drop."""
    e = member.evidence
    seen = {*e.screen, *e.stored} if again is None else {*e.screen, *e.stored, e.fresh_head[again]}
    return len(seen) > 1


def fresh_p(members: Iterable[Screened], start: int, stop: int) -> tuple[float, float]:
    """Exact paired p of fresh passes ``start`` to ``stop - 1``: the lowest and the highest that missing runs allow."""
    bounds: list[list[int]] = [[], []]
    moved = []
    for member in members:
        seen = {*member.evidence.fresh_head[start:stop], *member.evidence.fresh_base[start:stop]}
        if len(seen) > 1 or None in seen:
            moved.append(member)
    for group in clusters(moved):
        for place, (for_head, for_base) in enumerate(((MALFORMED, 0), (0, MALFORMED))):
            sums = [0] * (stop - start)
            for member in group:
                head = _filled(member.evidence.fresh_head[start:stop], for_head)
                base = _filled(member.evidence.fresh_base[start:stop], for_base)
                if head != base:
                    best = min(min(head), min(base))
                    for j, (h, b) in enumerate(zip(head, base, strict=True)):
                        sums[j] += (h > best) - (b > best)
            bounds[place] += sums
    return paired_tail(bounds[0]), paired_tail(bounds[1])


def _filled(runs: Sequence[Distance], missing: int) -> list[int]:
    return [missing if run is None else run for run in runs]


def scopes(members: Sequence[Screened]) -> list[tuple[tuple[str, ...], list[Screened]]]:
    """The suite (no tags), then every set of claims that shares a tag, by name; tags of the same claims are one."""
    by_tag: dict[str, list[Screened]] = {}
    for member in members:
        for tag in set(member.evidence.tags):
            by_tag.setdefault(tag, []).append(member)
    alike: dict[tuple[str, ...], list[str]] = {}
    for tag in sorted(by_tag):
        alike.setdefault(tuple(m.evidence.claim for m in by_tag[tag]), []).append(tag)
    parts = [(tuple(tags), by_tag[tags[0]]) for tags in alike.values()]
    return [((), list(members)), *sorted(parts, key=lambda part: part[0])]


def alarms(members: Sequence[Screened], settings: Settings, *, replaced: bool) -> list[Alarm]:
    """Scopes to look into.

    A scope that looks worse, but not clearly so, first gets one more run of head alone: half the price of a fresh pass,
    and it ends most false alarms.

    :param replaced: fresh pass 0 of both sides stands in for screen and store.
    """
    found: list[Alarm] = []
    for tags, part in scopes(members):
        small = bool(tags) and len(part) <= settings.small_tag
        passes = settings.tag_passes if tags else settings.suite_passes
        alarm = Alarm(", ".join(tags) or SUITE, tags, part, 1.0, passes)
        raised = settings.screen_p_tag if small else settings.screen_p_suite
        if replaced:
            alarm.p_screen, alarm.offset = fresh_p(part, 0, 1)[1], 1
            if alarm.p_screen <= raised:
                found.append(alarm)
            continue
        alarm.p_screen = screen_p(part)
        if alarm.p_screen > (settings.again_p_tag if small else settings.again_p_suite):
            continue
        if alarm.p_screen > settings.clear_p:
            if any(not m.evidence.fresh_head for m in part):
                alarm.state = State.AGAIN
            else:
                alarm.p_screen, alarm.offset = screen_p(part, again=0), 1
                if alarm.p_screen > raised:
                    if screen_p(part, again=0, missing=MALFORMED) > raised:
                        continue
                    alarm.state = State.UNDECIDED
        found.append(alarm)
    return found


def spend(passes: int, total: float) -> list[float]:
    """The false-alarm chance of each look; they add up to ``total``."""
    shares = SPEND.get(passes) or (1 / passes,) * passes
    return [share * total for share in shares]


def follow(found: Sequence[Alarm], settings: Settings) -> None:
    """Judge every raised alarm by the fresh passes there are; sets ``p_looks`` and ``state``.

    The looks share out ``confirm_p``, once for the suite and once for all tags together; between the tags by Holm's
    step-down, which holds for repeated looks as well (Maurer and Bretz 2013, Stat. Biopharm. Res. 5:311).
    """
    raised = [a for a in found if a.state is State.OPEN]
    for alarm in raised:
        done = min(alarm.passes, *(_complete(m, alarm.offset) for m in alarm.members))
        for stop in range(1, done + 1):
            alarm.p_looks.append(fresh_p(alarm.members, alarm.offset, alarm.offset + stop))
            if _futile(alarm, stop, LOWEST):
                break
    for family in ([a for a in raised if not a.tags], [a for a in raised if a.tags]):
        left = list(family)
        while reached := [a for a in left if _surely_blocks(a, settings.confirm_p / len(left))]:
            best = min(reached, key=lambda a: (a.p_looks[-1][1], a.scope))
            best.state = State.BLOCKED
            left.remove(best)
        for alarm in left:
            if len(alarm.p_looks) == alarm.passes or _futile(alarm, len(alarm.p_looks), LOWEST):
                limits = spend(alarm.passes, settings.confirm_p / len(left))
                doubt = any(p[LOWEST] <= limit for p, limit in zip(alarm.p_looks, limits, strict=False))
                alarm.state = State.UNDECIDED if doubt else State.CLEARED


def _futile(alarm: Alarm, looks: int, bound: int) -> bool:
    """Whether the last of these looks is so far from a drop that more passes are not worth their price."""
    if not looks or looks * len(alarm.members) < FUTILE_FROM:
        return False
    return alarm.p_looks[looks - 1][bound] > FUTILE[min(looks, len(FUTILE)) - 1]


def _surely_blocks(alarm: Alarm, total: float) -> bool:
    """Whether p reaches its limit at some look, and no run that was not measured could have ended it before."""
    for look, ((_, p), limit) in enumerate(zip(alarm.p_looks, spend(alarm.passes, total), strict=False), start=1):
        if p <= limit:
            return True
        if _futile(alarm, look, HIGHEST):
            return False
    return False


def _complete(member: Screened, offset: int) -> int:
    return max(0, min(len(member.evidence.fresh_head), len(member.evidence.fresh_base)) - offset)


def next_runs(pending: Sequence[Alarm], *, whole: bool = False) -> list[tuple[Screened, int, int]]:
    """For each claim of these alarms: up to which fresh pass head and base are to be run next.

    :param whole: all passes the alarms may take, instead of the next one.
    """
    upto: dict[str, tuple[Screened, int, int]] = {}
    for alarm in pending:
        if alarm.state is State.AGAIN:
            head, base = (1, 0) if not whole else (1 + alarm.passes, 1 + alarm.passes)
        else:
            head = base = alarm.offset + (alarm.passes if whole else len(alarm.p_looks) + 1)
        for member in alarm.members:
            _, old_head, old_base = upto.get(member.evidence.claim, (member, 0, 0))
            upto[member.evidence.claim] = (member, max(head, old_head), max(base, old_base))
    return list(upto.values())


def describe(alarm: Alarm) -> DropDecision:
    """The alarm as it is reported."""
    passes, offset = len(alarm.p_looks), alarm.offset
    head_ok = head_n = base_ok = base_n = worse = better = 0
    for member in alarm.members:
        e = member.evidence
        head = e.fresh_head[offset : offset + passes] if passes else e.screen
        base = e.fresh_base[offset : offset + passes] if passes else e.stored
        h = [d == 0 for d in head if d is not None]
        b = [d == 0 for d in base if d is not None]
        head_ok, head_n, base_ok, base_n = head_ok + sum(h), head_n + len(h), base_ok + sum(b), base_n + len(b)
        if h and b:
            known_h = [d for d in head if d is not None]
            known_b = [d for d in base if d is not None]
            change = sum(known_h) / len(known_h) - sum(known_b) / len(known_b)
            worse, better = worse + (change > 0), better + (change < 0)
    base_rate = base_ok / base_n if base_n else 0.0
    head_rate = head_ok / head_n if head_n else 0.0
    runs = f"over {passes} fresh pass{'es' if passes != 1 else ''} of both sides" if passes else "in the screen alone"
    sentence = (
        f"{base_rate:.1%} upheld on base, {head_rate:.1%} on this pull request {runs} "
        f"({worse} claims worse, {better} better)"
    )
    p_confirm = alarm.p_looks[-1][1] if passes else None
    return DropDecision(
        alarm.scope, alarm.tags, alarm.p_screen, p_confirm, alarm.state is State.BLOCKED,
        alarm.state is State.UNDECIDED, base_rate, head_rate, worse, better,
        passes, sentence,
    )  # fmt: skip
