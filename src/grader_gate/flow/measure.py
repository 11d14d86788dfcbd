"""Measure a prepared comparison: baseline, estimate, screen, confirmation, new cases; then the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from grader_gate import __version__
from grader_gate.baselines.record import shown_error
from grader_gate.config import ChecksGrader, Mode
from grader_gate.decision.outcome import Settings
from grader_gate.flow.accepting import accepted_before
from grader_gate.flow.compare import Comparison, after_screen, settle
from grader_gate.flow.contradiction import brought_along, contradicted, unproven
from grader_gate.flow.debt import verify_debt
from grader_gate.flow.examining import look_closer
from grader_gate.flow.exams import idle_trials
from grader_gate.flow.families import add_second, family_notices, of_comparison, second_calls, second_exams
from grader_gate.flow.inheritance import inherit, pair_digest
from grader_gate.flow.novelty import NEW, Novelty, new_findings
from grader_gate.flow.novelty import measure as measure_new
from grader_gate.flow.prepare import CheckOptions, Prepared, exit_code, overall, policy_digest
from grader_gate.flow.secrecy import redact_for
from grader_gate.flow.session import Session, caps, into, open_ledger
from grader_gate.flow.sides import SideSetup
from grader_gate.flow.suite_report import Rules, blocking_claims, suite_result, waived_claims
from grader_gate.flow.unrun import unmeasured_code
from grader_gate.flow.usable import unusable
from grader_gate.flow.why import case_changes, grader_changes
from grader_gate.flow.work import Work, estimate_of, find_work, first_calls, plan_digest, tariff_of
from grader_gate.model import ClaimKind, GateVerdict, GoldenCase, Ladder, Location, Purpose, Role, Side
from grader_gate.result import Change, Estimate, Notice, Rate, Result, SuiteResult
from grader_gate.runs.cache import Cache
from grader_gate.runs.plan import SideExam


async def measure(prepared: Prepared, options: CheckOptions) -> Result:
    """Run it; the ledger in ``options.out`` holds every grade as it comes."""
    base, head = prepared.base, prepared.head
    config = base.config
    started = options.now() or datetime.now(UTC).isoformat(timespec="seconds")
    cache: Cache | None = None
    try:
        work = find_work(prepared, options.records)
        brought = brought_along(prepared, options.records)
        compared = pair_digest(prepared, work, brought)
        if (before := accepted_before(prepared, options, work, compared)) is not None:
            return before
        prepared.notices += [
            Notice(message=said, level="warning")
            for grader in head.built.values()
            for said in getattr(grader, "warnings", ())
        ]
        prepared.notices += [
            n for c in work.comparisons for n in idle_trials(config.graders[c.base.name], c.suite, c.base.exam)
        ]
        cache = None if options.cache is None else Cache(options.cache, readable=("local",), writes="local")
        asked = options.second_family or config.policy.second_family == "always"
        seconds, notes = second_exams(work.comparisons if asked else (), base, head)
        prepared.notices += [*notes, *family_notices(config, [c.suite for c in work.comparisons], base)]
        price = estimate_of(work, prepared, cache, [call for exam in seconds.values() for call in second_calls(exam)])
        if work.empty and not brought.contents:
            return _result(prepared, options, work, [], None, started, price, compared)
        base.prepare()
        head.prepare()
        pair = {"base": base.sha, "head": head.sha, "plan": plan_digest(work)}
        with open_ledger(options.out, pair, redact_for(options.environ, base, head)) as ledger:
            tariff = tariff_of(base, head)
            session = Session(
                ledger=ledger,
                cache=cache,
                budget=caps(config.policy.budget, options.max_calls),
                progress=options.progress,
                concurrency=config.concurrency,
                graders=dict(tariff.graders),
                tariff=tariff,
            )
            session.from_baseline = sum(c.from_baseline for c in work.comparisons)
            suites = await _run(prepared, work, session, options, seconds)
            posts, unmeasured = await contradicted(brought, session)
            prepared.goalposts += posts
            suites = unproven(brought, suites, unmeasured)
            return _result(prepared, options, work, suites, session, started, price, compared)
    finally:
        await base.aclose()
        await head.aclose()
        if cache is not None:
            cache.close()


async def _run(
    prepared: Prepared, work: Work, session: Session, options: CheckOptions, seconds: Mapping[str, SideExam]
) -> list[SuiteResult]:
    config = prepared.base.config
    outcome = await session.grade(first_calls(work, config), "screen")
    by_suite: dict[str, Comparison] = {c.suite: c for c in work.comparisons}
    for row in outcome.rows.values():
        comparison = by_suite.get(row.suite)
        if comparison is not None and not row.item.startswith(NEW):
            into(comparison.book, [row])
    made: dict[str, SuiteResult] = {}
    for name in prepared.suites:
        comparison = by_suite.get(name)
        new = work.novelties.get(name)
        if comparison is None and new is None:
            continue
        planned, measured = session.planned, session.measured
        complete = True
        if new is not None:
            screen = config.suites[name].repeats.screen if name in config.suites else 1
            complete = await measure_new(new, session, screen)
        if comparison is not None:
            settled = await _settle(prepared, work, comparison, new, complete, session, options, outcome)
            made[name] = look_closer(comparison, prepared.base, prepared.head, settled)
        elif new is not None:
            graded = Rate(k=session.measured - measured, n=session.planned - planned, planned=session.planned - planned)
            made[name] = _new_only(prepared, new, complete, graded)
    # After all verdicts, so that the second opinion takes nothing from them.
    for name, exam in seconds.items():
        first = of_comparison(by_suite[name], prepared.head)
        made[name], notes = await add_second(made[name], first, exam, session, prepared.head.config)
        prepared.notices += notes
    return list(made.values())


async def _settle(
    prepared: Prepared,
    work: Work,
    comparison: Comparison,
    new: Novelty | None,
    complete: bool,
    session: Session,
    options: CheckOptions,
    screened: object,
) -> SuiteResult:
    base, head = prepared.base, prepared.head
    config = base.config
    assert comparison.head is not None
    contract = config.graders[comparison.base.name].contract
    after_screen(comparison)
    await verify_debt(comparison, session)
    rules = Rules(config.policy, config.report.quote, (options.now() or datetime.now(UTC).isoformat())[:10])
    blocking, waived = blocking_claims(config.policy), waived_claims(comparison, rules)
    decision = await settle(
        comparison,
        session,
        _settings(len(work.comparisons)),
        deterministic=contract.deterministic,
        gates=lambda claim: claim.kind in blocking and claim.id not in waived,
    )
    extra = []
    errors = [*_unexercised(prepared, comparison), *unusable(comparison)]
    if new is not None:
        findings, unmeasured = new_findings(new, config.policy, gating=contract.strongest_role() is Role.GATE)
        extra += findings
        if unmeasured or not complete:
            errors.append(f"{unmeasured or 'some'} new claims could not be measured")
    if session.budget.exhausted and decision.verdict is GateVerdict.ERROR:
        errors.append(session.budget.exhausted)
    errors += _what_failed(comparison, new, config.report.quote)
    head_name = comparison.head.name
    kind = config.graders[comparison.base.name].kind
    checks = head.config.graders.get(head_name)
    changes: list[Change] = [
        *grader_changes(base, head, comparison.base.name, head_name, options.config_path),
        *case_changes(base, head, comparison.suite),
    ]
    total = _graded(comparison, new)
    return suite_result(
        comparison,
        decision,
        base.suites[comparison.suite],
        rules,
        role=contract.strongest_role(),
        changes=changes,
        extra=extra,
        errors=errors,
        places=_places(head, comparison.suite),
        baseline=_baseline_words(work, comparison),
        graded=total,
        kind=kind,
        contract_costs=(contract.false_accept, contract.false_reject),
        checks=checks if isinstance(checks, ChecksGrader) else None,
    )


def _places(head: SideSetup, suite: str) -> dict[str, Location]:
    """Where head has its cases and ladders: annotations stand on head's lines."""
    if suite not in head.suites:
        return {}
    things: list[GoldenCase | Ladder] = [*head.suites[suite].ladders, *head.suites[suite].cases]
    return {thing.id: thing.location for thing in things if thing.location is not None}


def _settings(suites: int) -> Settings:
    """The rule's numbers; the chance of blocking on noise is shared out over the suites of the run (Bonferroni)."""
    default = Settings()
    share = max(1, suites)
    return replace(default, alpha_flip=default.alpha_flip / share, confirm_p=default.confirm_p / share)


def _graded(comparison: Comparison, new: Novelty | None) -> Rate:
    """Affected items of head that have a usable or unusable reply, of all that were to be graded."""
    moved = [i for i in comparison.affected.items if comparison.head is not None]
    wanted = {i for c in comparison.affected.claims.values() for i in c.items}
    planned = [i for i in moved if i in wanted]
    got = sum(any(not g.unmeasured for g in comparison.book.of(Side.HEAD, Purpose.SCREEN, i).values()) for i in planned)
    fresh = list(new.items) if new is not None else []
    got_new = 0
    if new is not None:
        got_new = sum(any(not g.unmeasured for g in new.book.of(Side.HEAD, Purpose.SCREEN, i).values()) for i in fresh)
    count = len(planned) + len(fresh)
    return Rate(k=got + got_new, n=got + got_new, planned=count)


def _what_failed(comparison: Comparison, new: Novelty | None, quote: str) -> list[str]:
    """The different messages of grades that could not be measured, most frequent first, three at most.

    Where nothing may be quoted, without the words of providers and programs: they may repeat what they were sent.
    """
    from collections import Counter

    books = [comparison.book] + ([new.book] if new is not None else [])
    said: Counter[str] = Counter()
    for book in books:
        for side in (Side.HEAD,) if comparison.base_gone else Side:
            said.update(shown_error(g.error, quote) for g in book.grades(side) if g.unmeasured and g.error is not None)
    return [f"{n} × {message}" for message, n in said.most_common(3)]


def _unexercised(prepared: Prepared, comparison: Comparison) -> list[str]:
    """Floors that nothing exercised: silence there would look like a pass."""
    claims = comparison.base.exam.claims.values()
    names = {c.mutator for c in claims if c.kind is ClaimKind.MUTANT}
    properties = {c.property for c in claims if c.kind is ClaimKind.MUTANT}
    floors = prepared.base.config.policy.kill_rate
    return [
        f"policy.kill_rate.{key}: no mutant of this suite exercises the floor; add cases it applies to or remove it"
        for key in floors
        if key != "default" and key not in names and key not in properties
    ]


def _baseline_words(work: Work, comparison: Comparison) -> str:
    if comparison.base_gone:
        return f"{work.baseline.describe()}; base could not be run any more: only its frozen grades speak for it"
    if not comparison.live:
        return work.baseline.describe()
    if comparison.from_baseline:
        return f"{work.baseline.describe()}; {len(comparison.live)} items without a record measured live"
    return "no baseline record covers these items; the base side was measured live in this run"


def _new_only(prepared: Prepared, new: Novelty, complete: bool, graded: Rate) -> SuiteResult:
    config = prepared.base.config
    known = new.suite in config.suites
    role = config.graders[config.suites[new.suite].grader].contract.strongest_role() if known else Role.SCREEN
    findings, unmeasured = new_findings(new, config.policy, gating=role is Role.GATE)
    why: list[str] = []
    verdict = GateVerdict.PASS
    if any(f.blocking for f in findings):
        verdict, why = GateVerdict.FAIL, ["new cases must pass"]
    elif unmeasured or not complete:
        verdict, why = GateVerdict.ERROR, [f"{unmeasured or 'some'} new claims could not be measured"]
    if not known:
        why.append("new suite: it only reports until it is merged and frozen")
    grader = prepared.head.config.graders[new.head.name]
    return SuiteResult(
        name=new.suite,
        grader=new.head.name,
        kind=grader.kind,
        role=role,
        verdict=verdict,
        why=tuple(why),
        changes=(Change(what="new cases", detail=f"{len(new.head.exam.claims)} new claims"),),
        affected=len(new.items),
        items=len(new.items),
        graded=graded,
        findings=tuple(findings),
        baseline="new: nothing to compare with",
    )


def _result(
    prepared: Prepared,
    options: CheckOptions,
    work: Work,
    suites: Sequence[SuiteResult],
    session: Session | None,
    started: str,
    price: Estimate,
    pair: str,
) -> Result:
    config = prepared.base.config
    gone = [
        SuiteResult(
            name=name,
            grader=config.suites[name].grader,
            kind="",
            verdict=GateVerdict.ERROR,
            why=("head has no grader for this suite; name the old one in `formerly:` of its successor",),
        )
        for name in work.gone
    ]
    suites = unmeasured_code(prepared, [*suites, *gone])
    verdict = overall(suites, prepared.goalposts)
    from grader_gate.flow.words import headline, next_steps

    result = Result(
        tool_version=__version__,
        verdict=verdict,
        mode=config.mode.value,
        headline="",
        exit_code=exit_code(verdict, config.mode),
        base=prepared.revisions[0],
        head=prepared.revisions[1],
        key=options.key,
        config_path=options.config_path,
        policy_digest=policy_digest(config),
        pair=pair,
        suites=tuple(suites),
        goalposts=tuple(prepared.goalposts),
        notices=tuple(prepared.notices),
        estimate=price,
        quote=config.report.quote,
        started_at=started,
        **({} if session is None else {"cost": session.cost()}),
    )
    result = inherit(result, options.inherited, {c.suite: c.affected.claims for c in work.comparisons})
    result = result.model_copy(update={"exit_code": exit_code(result.verdict, config.mode)})
    steps = next_steps(result, report_mode=config.mode is Mode.REPORT)
    return result.model_copy(update={"headline": headline(result), "next_steps": steps})
