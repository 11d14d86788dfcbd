"""Drops of the suite or of a tag: many small changes that no single claim proves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grader_gate.decision.evidence import MALFORMED, Distance
from grader_gate.decision.outcome import DropDecision, Settings, passes_for
from grader_gate.decision.permutation import paired_tail, upper_tail
from grader_gate.decision.screening import Screened

SUITE = "suite"


@dataclass(slots=True)
class Alarm:
    """A scope whose screen looks worse on head.

    :ivar passes: most fresh passes it may take.
    :ivar p_looks: p after each fresh pass, lowest and highest that runs not measured allow.
    """

    scope: str
    tags: tuple[str, ...]
    members: list[Screened]
    p_screen: float
    passes: int
    p_looks: list[tuple[float, float]] = field(default_factory=list)
    state: str = "open"


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


def screen_p(members: Iterable[Screened]) -> float:
    """Exact p of the screen against the stored runs; runs not measured count against an alarm."""
    strata: list[tuple[list[int], int]] = []
    observed = 0
    for group in clusters(members):
        heads = min(len(m.evidence.screen) for m in group)
        bases = min(len(m.evidence.stored) for m in group)
        if not heads or not bases:
            continue
        sums = [0] * (heads + bases)
        for member in group:
            runs = _filled(member.evidence.screen[:heads], 0) + _filled(member.evidence.stored[:bases], MALFORMED)
            if min(runs) != max(runs):
                sums = [a + b for a, b in zip(sums, failures(runs), strict=True)]
        observed += sum(sums[:heads])
        if any(sums):
            strata.append((sums, heads))
    return upper_tail(strata, observed) if observed else 1.0


def fresh_p(members: Iterable[Screened], start: int, stop: int) -> tuple[float, float]:
    """Exact paired p of fresh passes ``start`` to ``stop - 1``: the lowest and the highest that missing runs allow."""
    bounds: list[list[int]] = [[], []]
    for group in clusters(members):
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
    """The suite (no tags), then every set of claims that shares a tag and is not the whole suite, by name."""
    by_tag: dict[str, list[Screened]] = {}
    for member in members:
        for tag in set(member.evidence.tags):
            by_tag.setdefault(tag, []).append(member)
    alike: dict[tuple[str, ...], list[str]] = {}
    for tag in sorted(by_tag):
        if len(by_tag[tag]) < len(members):
            alike.setdefault(tuple(m.evidence.claim for m in by_tag[tag]), []).append(tag)
    parts = [(tuple(tags), by_tag[tags[0]]) for tags in alike.values()]
    return [((), list(members)), *sorted(parts, key=lambda part: part[0])]


def alarms(members: Sequence[Screened], settings: Settings, *, replaced: bool) -> list[Alarm]:
    """Scopes to look into. ``replaced``: fresh pass 0 of both sides stands in for screen and store."""
    found: list[Alarm] = []
    for tags, part in scopes(members):
        p = fresh_p(part, 0, 1)[1] if replaced else screen_p(part)
        if p <= (settings.screen_p_tag if tags else settings.screen_p_suite):
            passes = settings.tag_passes if tags else settings.suite_passes or passes_for(len(part))
            found.append(Alarm(", ".join(tags) or SUITE, tags, part, p, passes))
    return found


def spend(passes: int, total: float) -> list[float]:
    """The false-alarm chance shared out between the looks after each fresh pass; the shares add up to ``total``."""
    return [0.0] * (passes - 1) + [total]


def follow(found: Sequence[Alarm], settings: Settings, offset: int) -> None:
    """Judge every alarm by the fresh passes there are; sets ``p_looks`` and ``state``.

    The looks share out ``confirm_p``, once for the suite and once for all tags together; between the tags by Holm's
    step-down, which holds for repeated looks as well (Maurer and Bretz 2013, Stat. Biopharm. Res. 5:311).
    """
    for alarm in found:
        alarm.p_looks = []
        done = min(alarm.passes, *(_complete(m, offset) for m in alarm.members))
        for stop in range(1, done + 1):
            alarm.p_looks.append(fresh_p(alarm.members, offset, offset + stop))
    for family in ([a for a in found if not a.tags], [a for a in found if a.tags]):
        left = list(family)
        while left:
            blocked = [a for a in left if _reaches(a, settings.confirm_p / len(left))]
            if not blocked:
                break
            best = min(blocked, key=lambda a: (a.p_looks[-1][1], a.scope))
            best.state = "blocked"
            left.remove(best)
        for alarm in left:
            if len(alarm.p_looks) == alarm.passes:
                limits = spend(alarm.passes, settings.confirm_p / len(left))
                may = any(low <= limit for (low, _), limit in zip(alarm.p_looks, limits, strict=True))
                alarm.state = "undecided" if may else "cleared"


def _reaches(alarm: Alarm, total: float) -> bool:
    limits = spend(alarm.passes, total)
    return any(high <= limit for (_, high), limit in zip(alarm.p_looks, limits, strict=False))


def _complete(member: Screened, offset: int) -> int:
    return max(0, min(len(member.evidence.fresh_head), len(member.evidence.fresh_base)) - offset)


def describe(alarm: Alarm, offset: int, *, blocked: bool, undecided: bool) -> DropDecision:
    """The alarm as it is reported."""
    passes = len(alarm.p_looks)
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
        alarm.scope, alarm.tags, alarm.p_screen, p_confirm, blocked, undecided, base_rate, head_rate, worse, better,
        passes, sentence,
    )  # fmt: skip


def next_look(alarm: Alarm, settings: Settings) -> int:
    """The number of fresh passes at which the alarm can next be blocked or cleared."""
    limits = spend(alarm.passes, settings.confirm_p)
    return next(n for n in range(len(alarm.p_looks) + 1, alarm.passes + 1) if limits[n - 1] > 0)
