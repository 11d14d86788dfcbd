"""From a settled comparison to the suite's part of the result. Pure but for reading what is already in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader_gate.audits.abstentions import abstentions
from grader_gate.audits.findings import KINDS, View, claim_findings, text_digest
from grader_gate.audits.gradebook import STORED, Gradebook
from grader_gate.audits.ladders import LadderView, coverage, flat, total
from grader_gate.audits.ladders import view as ladder_view
from grader_gate.audits.limits import floor_findings, floors, ladder_findings
from grader_gate.audits.pairwise import Consistency, changed_place
from grader_gate.audits.rates import Outcome, audit_rows, check_rows, mutator_rows, outcomes, rate
from grader_gate.config import ChecksGrader, Policy
from grader_gate.decision.outcome import Decision, DropDecision
from grader_gate.flow.compare import Comparison
from grader_gate.flow.examining import check_kinds
from grader_gate.flow.positions import pair_stats, position_finding, steadiness
from grader_gate.model import Claim, ClaimKind, GateVerdict, Grade, Location, Purpose, Role, Side, Suite
from grader_gate.result import (
    Change,
    Finding,
    FindingKind,
    FindingStatus,
    LadderStats,
    Rate,
    SuiteResult,
)
from grader_gate.runs.plan import SideExam
from grader_gate.suite.dirty import DIRTY
from grader_gate.suite.mutators.registry import registry


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy says of this suite, and on which day waivers are read."""

    policy: Policy
    quote: str
    today: str


def polarities() -> dict[str, str]:
    """``degrade``, ``benign`` or ``attack`` of whatever stands as a claim's mutator."""
    return {DIRTY: "attack", **{name: mutator.polarity.value for name, mutator in registry().items()}}


def blocking_kinds(policy: Policy) -> frozenset[FindingKind]:
    """The kinds of claim findings that fail a suite under this policy."""
    kinds = {FindingKind.INVERSION, FindingKind.ATTACK}
    if policy.regressions == "block":
        kinds |= {FindingKind.REGRESSION, FindingKind.DROP}
    if policy.survivors == "block":
        kinds.add(FindingKind.SURVIVOR)
    if policy.controls == "block":
        kinds.add(FindingKind.CONTROL)
    return frozenset(kinds)


def blocking_claims(policy: Policy) -> frozenset[ClaimKind]:
    """The kinds of claims whose confirmed break fails a suite under this policy."""
    kinds = blocking_kinds(policy)
    return frozenset(claim for claim, finding in KINDS.items() if finding in kinds)


def waived_claims(comparison: Comparison, rules: Rules) -> frozenset[str]:
    """Survivors whose text a maintainer called equivalent, as long as the waiver holds."""
    return waived_in(comparison.base, rules)


def waived_in(side: SideExam, rules: Rules) -> frozenset[str]:
    """The same for one side's claims."""
    live = tuple(w.text for w in rules.policy.waivers if w.expires >= rules.today)
    if not live:
        return frozenset()
    found = set()
    for claim in side.exam.claims.values():
        if claim.kind is ClaimKind.MUTANT:
            digest = text_digest(str(side.exam.items[claim.items[0]].inputs[changed_place(claim)]))
            if any(digest.startswith(w) or w.startswith(digest) for w in live):
                found.add(claim.id)
    return frozenset(found)


def suite_result(
    comparison: Comparison,
    decision: Decision,
    suite: Suite,
    rules: Rules,
    *,
    role: Role,
    changes: Sequence[Change],
    extra: Sequence[Finding] = (),
    errors: Sequence[str] = (),
    places: Mapping[str, Location],
    baseline: str,
    graded: Rate,
    kind: str,
    contract_costs: tuple[str | None, str | None] = (None, None),
    checks: ChecksGrader | None = None,
) -> SuiteResult:
    """Put together what people read of one suite.

    :param extra: findings made elsewhere (new cases, drift of served models).
    :param places: where head has a case or ladder, by id; others are shown where base has them.
    :param errors: reasons why the suite could not be measured or decided, beside the decision's own.
    """
    assert comparison.head is not None
    waived = waived_claims(comparison, rules)
    view = View(
        suite=comparison.suite,
        grader=comparison.base.name,
        book=comparison.book,
        readings=comparison.readings,
        items=comparison.head.exam.items,
        before=comparison.head.exam.before,
        blocking=blocking_kinds(rules.policy),
        waived=waived,
        quote=rules.quote,
        places=places,
    )
    claims = comparison.affected.claims
    findings = claim_findings(claims, decision.claims, view)
    findings += [_drop(comparison, drop, rules.policy) for drop in decision.drops if drop.blocked]
    findings += _promises(comparison, decision)
    settled = {
        name: said.status == "confirmed"
        for name, said in decision.claims.items()
        if said.status in ("confirmed", "dismissed", "drift")
    }
    found = outcomes(comparison.base.exam.claims, set(claims), comparison.book, comparison.readings, settled)
    rows = mutator_rows(
        found,
        rules.policy.kill_rate,
        comparison.base.exam.applicability,
        waived,
        polarities(),
    )
    views = {side: _ladders(suite, comparison, side) for side in Side}
    check_table = check_rows(
        comparison.base.exam.claims,
        comparison.book,
        check_kinds(checks) if checks is not None else (),
    )
    held = floors(rules.policy.kill_rate, rows, check_table, _new_survivors(claims, decision))
    findings += floor_findings(comparison.suite, comparison.base.name, held)
    findings += ladder_findings(comparison.suite, comparison.base.name, found, views, rules.policy)
    steady = steadiness(comparison, claims)
    if (biased := position_finding(comparison, decision, steady)) is not None:
        findings.append(biased)
    findings += list(extra)
    if role is not Role.GATE:
        findings = [f.model_copy(update={"blocking": False}) for f in findings]
    why, verdict = _verdict(findings, decision, errors, role)
    pairs = [o for o in found if o.claim.kind is ClaimKind.RUNGS]
    declined = {s: abstentions(view.items, side_runs(comparison, s), rules.quote) for s in Side}
    return SuiteResult(
        name=comparison.suite,
        grader=comparison.base.name,
        kind=kind,
        role=role,
        verdict=verdict,
        why=tuple(why),
        changes=tuple(changes),
        affected=len(comparison.affected.items),
        items=len(comparison.base.exam.items),
        graded=graded,
        audits=audit_rows(found),
        mutators=rows,
        checks=check_table,
        ladders=_stats(views[Side.HEAD], pairs, suite, rules.policy, steady),
        findings=tuple(findings),
        certainty=decision.certainty,
        baseline=baseline,
        served_models=_served(comparison.book),
        abstained=declined[Side.HEAD].rate,
        abstained_base=declined[Side.BASE].rate if declined[Side.BASE].rate.n else None,
        review=declined[Side.HEAD].review,
        contract_false_accept=contract_costs[0],
        contract_false_reject=contract_costs[1],
    )


def _verdict(
    findings: Sequence[Finding], decision: Decision, errors: Sequence[str], role: Role
) -> tuple[list[str], GateVerdict]:
    blocking = [f for f in findings if f.blocking]
    if role is Role.GATE and blocking:
        counts: dict[str, int] = {}
        for finding in blocking:
            counts[finding.kind.value] = counts.get(finding.kind.value, 0) + 1
        # What could not be measured is said beside what failed: mending the one may show the other.
        return [*(f"{n} × {kind}" for kind, n in counts.items()), *errors], GateVerdict.FAIL
    why = list(errors) + (list(decision.why) if decision.verdict == GateVerdict.ERROR else [])
    if why or decision.verdict == GateVerdict.ERROR:
        return why or ["not decided"], GateVerdict.ERROR
    return list(decision.why), GateVerdict.PASS


def _new_survivors(claims: Mapping[str, Claim], decision: Decision) -> dict[str, int | None]:
    """Survivors confirmed as new, per mutator; None where some of its flips were not re-run to the end."""
    found: dict[str, int | None] = {}
    for name, said in decision.claims.items():
        claim = claims[name]
        if claim.kind is not ClaimKind.MUTANT or claim.mutator is None:
            continue
        count = found.get(claim.mutator, 0)
        if said.status in ("not_rerun", "undecided", "unconfirmed"):
            found[claim.mutator] = None
        elif said.status == "confirmed" and count is not None:
            found[claim.mutator] = count + 1
    return found


def _drop(comparison: Comparison, drop: DropDecision, policy: Policy) -> Finding:
    where = "the suite" if not drop.tags else f"tag {drop.scope}"
    return Finding(
        kind=FindingKind.DROP,
        status=FindingStatus.UNCONFIRMED if drop.p_confirm is None else FindingStatus.CONFIRMED,
        blocking=policy.regressions == "block",
        suite=comparison.suite,
        grader=comparison.base.name,
        sentence=f"{where}: {drop.sentence}",
        base=f"{drop.base_rate:.1%}",
        head=f"{drop.head_rate:.1%}",
        tags=drop.tags,
        severity=6 if not drop.tags else 5.9,
        suggestion="Many cases get a little worse: compare the reasons of the cases listed as noise.",
    )


def _promises(comparison: Comparison, decision: Decision) -> list[Finding]:
    claims = comparison.base.exam.claims
    return [
        Finding(
            kind=FindingKind.BROKEN_PROMISE,
            status=FindingStatus.CONFIRMED,
            blocking=False,
            suite=comparison.suite,
            grader=comparison.base.name,
            claim=name,
            case=claims[name].case_id,
            location=claims[name].location,
            sentence=f"{name}: the contract says `deterministic`, but equal calls gave different verdicts",
            suggestion="Take `deterministic` out of the contract.",
            severity=0.5,
        )
        for name in decision.broken_promises
    ]


def side_runs(comparison: Comparison, side: Side) -> Callable[[str], list[Grade]]:
    """All grades of an item on a side; what did not move says on head what it says on base."""
    book, affected = comparison.book, set(comparison.affected.items)

    def runs(item: str) -> list[Grade]:
        if side is Side.BASE or item not in affected:
            return list(book.of(Side.BASE, STORED, item).values())
        return [g for p in (Purpose.SCREEN, Purpose.FRESH, Purpose.CONFIRM) for g in book.of(side, p, item).values()]

    return runs


def _ladders(suite: Suite, comparison: Comparison, side: Side) -> list[LadderView]:
    exam = comparison.base if side is Side.BASE else comparison.head
    assert exam is not None
    runs = side_runs(comparison, side)
    known = [ladder for ladder in suite.ladders if f"rung/{ladder.id}/0" in exam.exam.items]
    return [ladder_view(ladder, runs, comparison.readings.of(side)) for ladder in known]


def _stats(
    views: Sequence[LadderView],
    pairs: Sequence[Outcome],
    suite: Suite,
    policy: Policy,
    steady: Mapping[Side, Consistency | None],
) -> LadderStats:
    head, base = steady[Side.HEAD], steady[Side.BASE]
    if head is not None:
        return pair_stats(pairs, suite, head, base)
    if not views:
        return LadderStats()
    in_order = rate(o.head for o in pairs)
    return LadderStats(
        ladders=len(views),
        pairs=in_order,
        inversions=in_order.n - in_order.k,
        flat=len(flat(views, policy.min_spread)),
        unstable=sum(v.unstable for v in views),
        cited=total([v.cited for v in views]),
        coverage=coverage(suite.ladders, {c.question for c in suite.cases}),
    )


def _served(book: Gradebook) -> tuple[str, ...]:
    found = {g.served_model for side in Side for g in book.grades(side) if g.served_model is not None}
    return tuple(sorted(found))
