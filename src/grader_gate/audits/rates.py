"""Counts of a suite: accuracy, kill rates, controls, attacks and ladders, on each side. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader_gate.audits.gradebook import STORED, Gradebook, ReadingPair, distances
from grader_gate.decision.evidence import Distance
from grader_gate.decision.floors import standing
from grader_gate.decision.statistics import wilson
from grader_gate.model import Claim, ClaimKind, Purpose, Side
from grader_gate.result import AuditRow, CheckRow, MutatorRow, Rate, Standing
from grader_gate.suite.items import IDENTITY, Applicability

AUDITS = {
    ClaimKind.GOLDEN: "golden",
    ClaimKind.MUTANT: "mutants",
    ClaimKind.CONTROL: "controls",
    ClaimKind.ATTACK: "attacks",
    ClaimKind.RUNGS: "ladders",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The typical distance of one claim on each side, None where not measured.

    :ivar affected: whether this pull request can have moved it; elsewhere head is what base is.
    """

    claim: Claim
    base: Distance
    head: Distance
    affected: bool


def typical(found: Sequence[Distance]) -> Distance:
    """The median distance of the measured runs, the lower of the two middle ones for an even number: a tie between
    upheld and broken is no evidence against the claim."""
    measured = sorted(d for d in found if d is not None)
    return measured[(len(measured) - 1) // 2] if measured else None


def outcomes(
    claims: Mapping[str, Claim],
    affected: frozenset[str] | set[str],
    book: Gradebook,
    readings: ReadingPair,
    inverted: Mapping[str, bool] | None = None,
) -> list[Outcome]:
    """One outcome per claim, in the order of ``claims``.

    A survivor or a flip that was re-run counts by all its runs of this side together (screen and confirmation). Base
    counts by its fresh pass where there was one: it was graded beside head, and the store may be of another day.

    :param inverted: claims whose fate the decision settled (confirmed broken: True, dismissed: False).
    """
    found = []
    for claim in claims.values():
        fresh = typical(distances(claim, book, Side.BASE, Purpose.FRESH, readings.base))
        stored = typical(distances(claim, book, Side.BASE, STORED, readings.base))
        base = stored if fresh is None else fresh
        if claim.id not in affected:
            found.append(Outcome(claim, base, base, affected=False))
            continue
        runs = (
            *distances(claim, book, Side.HEAD, Purpose.SCREEN, readings.head),
            *distances(claim, book, Side.HEAD, Purpose.FRESH, readings.head),
            *distances(claim, book, Side.HEAD, Purpose.CONFIRM, readings.head),
        )
        head = typical(runs)
        if inverted is not None and claim.id in inverted and base is not None and head is not None:
            head = max(head, base + 1) if inverted[claim.id] else min(head, base)
        found.append(Outcome(claim, base, head, affected=True))
    return found


def rate(found: Iterable[Distance]) -> Rate:
    """How many of the measured claims are upheld outright."""
    values = list(found)
    measured = [v for v in values if v is not None]
    return Rate(k=sum(v == 0 for v in measured), n=len(measured), planned=len(values))


def audit_rows(all_outcomes: Sequence[Outcome]) -> tuple[AuditRow, ...]:
    """One row per audit that has claims: upheld on base, upheld on head."""
    rows = []
    for kind, name in AUDITS.items():
        mine = [o for o in all_outcomes if o.claim.kind is kind and (o.base is not None or o.affected)]
        if not mine:
            continue
        worse = sum(o.base is not None and o.head is not None and o.head > o.base for o in mine)
        better = sum(o.base is not None and o.head is not None and o.head < o.base for o in mine)
        base = rate(o.base for o in mine)
        rows.append(
            AuditRow(
                audit=name,
                base=base if base.n else None,
                head=rate(o.head for o in mine),
                regressions=worse,
                improvements=better,
            )
        )
    return tuple(rows)


def floor_for(floors: Mapping[str, float], mutator: str, property_: str | None) -> float | None:
    """The floor of a mutator: its own, else ``default``; none where a floor is set over its property as a whole."""
    if mutator in floors:
        return floors[mutator]
    return None if property_ in floors else floors.get("default")


def mutator_rows(
    all_outcomes: Sequence[Outcome],
    floors: Mapping[str, float],
    applicability: Mapping[str, Applicability],
    waived: frozenset[str],
    polarity: Mapping[str, str],
) -> tuple[MutatorRow, ...]:
    """Kill rate per mutator. A kill counts only where the unchanged text passes and the reply could be read.

    :param waived: claim ids of survivors a maintainer called equivalent: left out of the rate and counted apart.
    :param polarity: ``degrade``, ``benign`` or ``attack`` per mutator.
    """
    identity = {side: _identities(all_outcomes, side) for side in Side}
    grouped: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in all_outcomes:
        if outcome.claim.mutator is not None and (outcome.base is not None or outcome.affected):
            grouped[outcome.claim.mutator].append(outcome)
    rows = []
    for name, mine in sorted(grouped.items()):
        kept = [o for o in mine if o.claim.id not in waived]
        degrade = polarity.get(name) == "degrade"
        sides = {
            side: rate(_kill(o, side, identity[side]) if degrade else _distance(o, side) for o in kept) for side in Side
        }
        base, head = sides[Side.BASE], sides[Side.HEAD]
        floor = floor_for(floors, name, mine[0].claim.property) if degrade else None
        tally = applicability.get(name, Applicability())
        rows.append(
            MutatorRow(
                mutator=name,
                polarity=polarity.get(name, "degrade"),
                property=mine[0].claim.property,
                base=base if base.n else None,
                head=head,
                interval=wilson(head.k, head.n) if head.n else None,
                floor=floor,
                standing=Standing.NO_FLOOR if floor is None else standing(head.k, head.n, floor),
                applicable=tally.applicable,
                cases=tally.texts,
                malformed=sum(o.head is not None and o.head >= 3 for o in kept),
                waived=len(mine) - len(kept),
            )
        )
    return tuple(rows)


def _identities(all_outcomes: Sequence[Outcome], side: Side) -> dict[str, bool]:
    """Item of the unchanged text → whether it passes on this side, where it is known."""
    return {
        o.claim.items[0]: d == 0
        for o in all_outcomes
        if o.claim.mutator == IDENTITY and (d := _distance(o, side)) is not None
    }


def _distance(outcome: Outcome, side: Side) -> Distance:
    return outcome.base if side is Side.BASE else outcome.head


def _kill(outcome: Outcome, side: Side, identity: Mapping[str, bool]) -> Distance:
    """0 killed, 1 survived, None where it does not count: not measured, or a grader that rejects the text unchanged."""
    found = _distance(outcome, side)
    if found is None or not identity.get(outcome.claim.items[-1], True):
        return None
    return 0 if found == 0 else 1


def check_rows(claims: Mapping[str, Claim], book: Gradebook, known_checks: Iterable[str]) -> tuple[CheckRow, ...]:
    """Which deterministic check kills how many mutants on head; a check that kills none shows as decoration."""
    seen = {side: _check_kills(claims, book, side) for side in Side}
    names = dict.fromkeys([*known_checks, *(name for kills in seen.values() for name, _ in kills)])
    rows = []
    for name in names:
        head = [(mutator, failed) for check, runs in seen[Side.HEAD] if check == name for mutator, failed in runs]
        base = [failed for check, runs in seen[Side.BASE] if check == name for _, failed in runs]
        by: dict[str, int] = {}
        for mutator, failed in head:
            if failed:
                by[mutator] = by.get(mutator, 0) + 1
        rows.append(
            CheckRow(
                check=name,
                killed=sum(by.values()),
                mutants=len(head),
                by_mutator=by,
                base=Rate(k=sum(base), n=len(base), planned=len(base)) if base else None,
            )
        )
    return tuple(rows)


def _check_kills(claims: Mapping[str, Claim], book: Gradebook, side: Side) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Check → (mutator, whether the check failed) for each mutant that was graded on this side."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for claim in claims.values():
        if claim.kind is not ClaimKind.MUTANT or claim.mutator is None:
            continue
        stored = book.of(Side.BASE, STORED, claim.items[0])
        grades = stored if side is Side.BASE else book.of(Side.HEAD, Purpose.SCREEN, claim.items[0]) or stored
        grade = next(iter(grades.values()), None)
        for check in () if grade is None or grade.error is not None else grade.checks:
            found.setdefault(check.name, []).append((claim.mutator, not check.passed))
    return list(found.items())
