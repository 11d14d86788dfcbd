"""The policy's absolute limits: floors, inversion rate, flat ladders, cited evidence. Pure.

A limit that is broken on base as well is standing debt: reported, and not blamed on the pull request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader_gate.audits.ladders import LadderView, flat, total
from grader_gate.audits.rates import Outcome, rate
from grader_gate.config import Policy
from grader_gate.decision.floors import standing
from grader_gate.model import ClaimKind, Side
from grader_gate.result import Finding, FindingKind, FindingStatus, MutatorRow, Standing


def floor_findings(suite: str, grader: str, rows: Sequence[MutatorRow]) -> list[Finding]:
    """Kill rates below their floor by count; blocking where base is not below it too."""
    found = []
    for row in rows:
        if row.floor is None or row.standing is not Standing.BELOW or row.head is None:
            continue
        base_below = row.base is not None and standing(row.base.k, row.base.n, row.floor) is Standing.BELOW
        said = f"{row.head.k} of {row.head.n} killed, floor {row.floor:.0%}"
        found.append(
            Finding(
                kind=FindingKind.STANDING if base_below else FindingKind.KILL_RATE,
                status=FindingStatus.ABSOLUTE,
                blocking=not base_below,
                suite=suite,
                grader=grader,
                mutator=row.mutator,
                sentence=f"{row.mutator}: {said}" + (", and base is below it too" if base_below else ""),
                base=None if row.base is None else f"{row.base.k} of {row.base.n}",
                head=f"{row.head.k} of {row.head.n}",
                expected=f"{row.floor:.0%}",
                severity=3.5,
                suggestion="Name this defect in the rubric as one that must fail." if not base_below else None,
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
    """Inversion rate, flat ladders and cited evidence against the policy, where they can have moved."""
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
                    + (", and on base too" if standing_debt else f" (base: {was} of {base.n})"),
                    base=f"{was} of {base.n}",
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
                    base=f"{before.k} of {before.n}",
                    head=f"{cited.k} of {cited.n}",
                    severity=1.1,
                    **common,
                )
            )
    return made
