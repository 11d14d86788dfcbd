"""The policy's absolute limits: floors, inversion rate, flat ladders, cited evidence. Pure.

A limit that is broken on base as well is standing debt: reported, and not blamed on the pull request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader_gate.audits.ladders import LadderView, flat, total
from grader_gate.audits.rates import Outcome, rate
from grader_gate.config import Policy
from grader_gate.decision.floors import judge
from grader_gate.model import ClaimKind, Side
from grader_gate.result import CheckRow, Finding, FindingKind, FindingStatus, MutatorRow, Rate


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor and the counts it is held against.

    :ivar name: what the policy calls it: a mutator, a property or a check.
    :ivar base: kills and mutants on base, where known.
    :ivar new_survivors: see :func:`grader_gate.decision.floors.judge`.
    """

    name: str
    floor: float
    head: Rate
    base: Rate | None
    new_survivors: int | None
    mutator: str | None = None


def floors(
    policy: Mapping[str, float],
    rows: Sequence[MutatorRow],
    checks: Sequence[CheckRow],
    survivors: Mapping[str, int | None] | None,
) -> list[Floor]:
    """The floors that this suite exercises: of each mutator, of a property over its mutators, of a check over all.

    :param survivors: per mutator the number of survivors confirmed as new; None where some were not re-run. None as
        a whole where nothing is compared: then the counts decide alone.
    """

    def new_of(mutator: str) -> int | None:
        return None if survivors is None else survivors.get(mutator, 0)

    degrade = [row for row in rows if row.polarity == "degrade" and row.head is not None]
    found = [
        Floor(row.mutator, row.floor, row.head, row.base, new_of(row.mutator), row.mutator)
        for row in degrade
        if row.floor is not None and row.head is not None
    ]
    for name in policy:
        mine = [row for row in degrade if row.property == name]
        if mine and not any(row.mutator == name for row in degrade):
            news = [new_of(row.mutator) for row in mine]
            new = None if None in news else sum(n for n in news if n is not None)
            head = total([row.head for row in mine if row.head is not None])
            base = total([row.base for row in mine if row.base is not None])
            found.append(Floor(name, policy[name], head, base if base.n else None, new))
    for check in checks:
        if check.check in policy:
            head = Rate(k=check.killed, n=check.mutants, planned=check.mutants)
            found.append(Floor(check.check, policy[check.check], head, check.base, None))
    return found


def floor_findings(suite: str, grader: str, held: Sequence[Floor], *, gate: bool = True) -> list[Finding]:
    """Floors that are breached, or broken on base as well.

    :param gate: whether a breach blocks.
    """
    found = []
    for floor in held:
        base = None if floor.base is None else (floor.base.k, floor.base.n)
        said = judge((floor.head.k, floor.head.n), floor.floor, base, new_survivors=floor.new_survivors)
        if not said.breached and not said.debt:
            continue
        found.append(
            Finding(
                kind=FindingKind.STANDING if said.debt else FindingKind.KILL_RATE,
                status=FindingStatus.ABSOLUTE,
                blocking=said.breached and gate,
                suite=suite,
                grader=grader,
                mutator=floor.mutator,
                sentence=f"{floor.name}: {said.sentence}",
                base=None if base is None else f"{base[0]} of {base[1]}",
                head=f"{floor.head.k} of {floor.head.n}",
                expected=f"{floor.floor:.0%}",
                severity=3.5,
                suggestion="Name this defect in the rubric as one that must fail." if said.breached else None,
            )
        )
    return found


def ladder_findings(
    suite: str,
    grader: str,
    found: Sequence[Outcome],
    views: Mapping[Side, Sequence[LadderView]],
    policy: Policy,
) -> list[Finding]:
    """Inversion rate, flat ladders and cited evidence against the policy, where they can have moved.

    :param views: ladders of each side; none of base where a revision is looked at on its own.
    """
    common = {"suite": suite, "grader": grader, "status": FindingStatus.ABSOLUTE}
    made: list[Finding] = []
    pairs = [o for o in found if o.claim.kind is ClaimKind.RUNGS and o.claim.gating]
    base, head = rate(o.base for o in pairs), rate(o.head for o in pairs)
    moved = any(o.affected for o in pairs)
    if policy.max_inversion_rate is not None and head.n and moved:
        broken, was = head.n - head.k, base.n - base.k
        if broken / head.n > policy.max_inversion_rate:
            standing_debt = base.n > 0 and was / base.n >= broken / head.n
            made.append(
                Finding(
                    kind=FindingKind.STANDING if standing_debt else FindingKind.INVERSION_RATE,
                    blocking=not standing_debt,
                    expected=f"at most {policy.max_inversion_rate:.1%}",
                    sentence=f"{broken} of {head.n} adjacent rungs are out of order"
                    + (", and on base too" if standing_debt else f" (base: {was} of {base.n})" if base.n else ""),
                    base=f"{was} of {base.n}" if base.n else None,
                    head=f"{broken} of {head.n}",
                    severity=1.5,
                    **common,
                )
            )
    if moved:
        flat_base = flat(views[Side.BASE], policy.min_spread)
        for ladder_id, seen in flat(views[Side.HEAD], policy.min_spread).items():
            old = ladder_id in flat_base
            made.append(
                Finding(
                    kind=FindingKind.STANDING if old else FindingKind.FLAT,
                    blocking=policy.flat_ladders == "block" and not old,
                    case=ladder_id,
                    sentence=f"ladder {ladder_id}: the best rung stands only {seen.spread:.2f} of the scale above the "
                    "worst" + (", as on base" if old else ""),
                    expected=f"at least {policy.min_spread:.2f}",
                    head=f"{seen.spread:.2f}",
                    location=seen.ladder.location,
                    severity=1.2,
                    **common,
                )
            )
        cited, before = (total([v.cited for v in views[side]]) for side in (Side.HEAD, Side.BASE))
        if policy.min_cited_ratio is not None and cited.n and cited.k / cited.n < policy.min_cited_ratio:
            old = before.n > 0 and before.k / before.n <= cited.k / cited.n
            made.append(
                Finding(
                    kind=FindingKind.STANDING if old else FindingKind.CITATION,
                    blocking=not old,
                    sentence=f"{cited.k} of {cited.n} rungs have a reason that cites their evidence",
                    expected=f"at least {policy.min_cited_ratio:.0%}",
                    base=f"{before.k} of {before.n}" if before.n else None,
                    head=f"{cited.k} of {cited.n}",
                    severity=1.1,
                    **common,
                )
            )
    return made
