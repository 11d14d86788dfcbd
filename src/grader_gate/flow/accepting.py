"""Accept a head as the new baseline: fresh repeats of what is affected, the rest carried over, head's own limits held.

What head does worse than base is accepted, and so are moved goalposts. What breaks the absolute limits of head's own
policy is not. Nothing here writes a record: it is handed to a store by whoever called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from grader_gate import __version__
from grader_gate.audits.gradebook import Gradebook
from grader_gate.baselines.record import Baseline, BaselineRecord, RecordHead, group_rows, read_baseline
from grader_gate.errors import GateError, UsageError
from grader_gate.flow.compare import side_exam
from grader_gate.flow.contradiction import brought_along
from grader_gate.flow.freezing import FreezeIncompleteError
from grader_gate.flow.inheritance import pair_digest
from grader_gate.flow.prepare import CheckOptions, Prepared, exit_code, policy_digest
from grader_gate.flow.secrecy import redact_for
from grader_gate.flow.session import Session, caps, open_ledger
from grader_gate.flow.sides import SideSetup
from grader_gate.flow.single import suite_alone
from grader_gate.flow.suite_report import Rules, waived_in
from grader_gate.flow.unrun import changed_code
from grader_gate.flow.work import Work, find_work, tariff_of
from grader_gate.model import GateVerdict, PlannedGrade, Purpose, Role, Side
from grader_gate.result import Cost, Estimate, Notice, Result, SuiteResult
from grader_gate.runs.estimate import estimate
from grader_gate.runs.plan import SideExam, passes
from grader_gate.suite.mutators.registry import registry


class CodeNotRunError(UsageError):
    """The change is in a grader's code, and code of the head does not run here."""


class NothingToFreezeError(GateError):
    """Nothing of what is measured differs from base, and every item has a record."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who accepts, for the record and the report."""

    by: str
    pull_request: int | None = None
    run: str | None = None
    workflow: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """What came of it.

    :ivar record: None where the result is no pass: nothing may be frozen then.
    :ivar repeats: fresh grades per affected item, lowest and highest over the suites.
    """

    result: Result
    record: BaselineRecord | None
    items: int
    carried: int
    repeats: tuple[int, int]


@dataclass(slots=True)
class _Heads:
    """Head's suites under head's graders, and what is known of each item."""

    exams: dict[str, SideExam] = field(default_factory=dict)
    books: dict[str, Gradebook] = field(default_factory=dict)
    todo: dict[str, list[str]] = field(default_factory=dict)
    carried: int = 0


async def accept(
    prepared: Prepared, options: CheckOptions, stamp: Stamp, *, announce: Callable[[Estimate], None]
) -> Accepted:
    """Measure what is affected and make the record of it.

    :param announce: told what it will take before the first call.
    :raises CodeNotRunError: head's grader code differs and does not run here.
    :raises NothingToFreezeError: there is nothing to accept.
    :raises FreezeIncompleteError: a grade is missing; nothing may be frozen.
    """
    base, head = prepared.base, prepared.head
    try:
        _refuse_unrun_code(prepared)
        work = find_work(prepared, options.records)
        baseline = trusted_baseline(base, options.records)
        heads = _heads(prepared, options, baseline)
        if not any(heads.todo.values()) and not prepared.goalposts and work.empty:
            raise NothingToFreezeError("nothing to freeze: no item is affected and every item has a record")
        planned = _planned(prepared, heads)
        tariff = tariff_of(base, head)
        announce(estimate(planned, tariff, cache=None))
        head.prepare()
        base.prepare()
        pair = pair_digest(prepared, work, brought_along(prepared, options.records))
        redact = redact_for(options.environ, base, head)
        with open_ledger(options.out, {"command": "accept", "pair": pair}, redact) as ledger:
            session = Session(
                ledger=ledger,
                cache=None,
                budget=caps(base.config.policy.budget, options.max_calls),
                progress=options.progress,
                concurrency=base.config.concurrency,
                graders=dict(tariff.graders),
                tariff=tariff,
            )
            outcome = await session.grade(planned, "freeze")
            missing = len({p.key for p in planned}) - sum(not r.grade.unmeasured for r in outcome.rows.values())
            if missing:
                said = next((e.message for r in outcome.rows.values() if (e := r.grade.error) is not None), None)
                raise FreezeIncompleteError(
                    f"nothing frozen: {missing} of {len(planned)} grades are missing "
                    f"({session.budget.exhausted or said or 'not measured'}); only complete runs become a baseline"
                )
            for row in outcome.rows.values():
                heads.books[row.suite].put(Side.HEAD, Purpose.SCREEN, row.item, row.repeat, row.grade)
            record = BaselineRecord(
                _record_head(prepared, heads, stamp, pair, options),
                group_rows(
                    (
                        (r.suite, r.grader, r.item, r.request_digest, r.judgement_digest, r.grade)
                        for r in sorted(outcome.rows.values(), key=lambda r: r.repeat)
                    ),
                    base.config.report.quote,
                ),
            )
            result = _result(prepared, options, heads, baseline, pair, stamp, session.cost())
        counts = [len(row.grades) for row in record.rows] or [0]
        return Accepted(
            result,
            record if result.verdict is GateVerdict.PASS else None,
            sum(len(items) for items in heads.todo.values()),
            heads.carried,
            (min(counts), max(counts)),
        )
    finally:
        await head.aclose()
        await base.aclose()


def accepted_before(prepared: Prepared, options: CheckOptions, work: Work, pair: str) -> Result | None:
    """The result of a pair that the freeze label has accepted, from the record alone; no call is made.

    None where the record does not hold every item any more: then the pair is measured as any other.
    """
    if pair not in options.acceptances:
        return None
    baseline = trusted_baseline(prepared.base, options.records)
    heads = _heads(prepared, options, baseline)
    if any(not covered(baseline, exam, item) for exam in heads.exams.values() for item in exam.exam.items):
        return None
    for name, exam in heads.exams.items():
        _carry(heads.books[name], exam, baseline, list(exam.exam.items))
    record = next((r for r in options.records if r.head.accepts == pair), None)
    stamp = Stamp(record.head.by if record else "the freeze label")
    return _result(prepared, options, heads, baseline, pair, stamp, Cost())


def trusted_baseline(base: SideSetup, records: Iterable[BaselineRecord]) -> Baseline:
    """What is frozen: files of the base commit, and records that a trusted store handed over."""
    return read_baseline(base.tree, base.config.baseline.path, records)


# ---------------------------------------------------------------- what is measured


def _refuse_unrun_code(prepared: Prepared) -> None:
    for name in changed_code(prepared):
        raise CodeNotRunError(
            f"graders.{name}: its code changes here, and code of a pull request does not run in this workflow; "
            "freeze it with `grader-gate freeze`, or in a workflow on `pull_request` (docs/freezing.md)"
        )


def _heads(prepared: Prepared, options: CheckOptions, baseline: Baseline) -> _Heads:
    base, head = prepared.base, prepared.head
    heads = _Heads()
    for name, config in head.config.suites.items():
        if options.suites and name not in options.suites:
            continue
        if head.config.graders[config.grader].contract.role is Role.ABSTAIN:
            continue
        exam = side_exam(head, head, name, config.grader)
        known: set[tuple[str, str]] = set()
        if name in base.suites:
            left = side_exam(base, base, name, base.config.suites[name].grader)
            known = {(left.request_digest(i), left.grader.judgement_digest) for i in left.exam.items}
        todo = [
            item
            for item in exam.exam.items
            if (exam.request_digest(item), exam.grader.judgement_digest) not in known
            or not covered(baseline, exam, item)
        ]
        rest = [item for item in exam.exam.items if item not in set(todo)]
        heads.exams[name], heads.todo[name], heads.books[name] = exam, todo, Gradebook()
        _carry(heads.books[name], exam, baseline, rest)
        heads.carried += len(rest)
    return heads


def covered(baseline: Baseline, exam: SideExam, item: str) -> bool:
    """Whether a record holds this item as this grader is asked and judged now."""
    row = baseline.frozen(exam.request_digest(item))
    return row is not None and row.judgement_digest == exam.grader.judgement_digest


def _carry(book: Gradebook, exam: SideExam, baseline: Baseline, items: Iterable[str]) -> None:
    for item in items:
        row = baseline.frozen(exam.request_digest(item))
        for repeat, grade in enumerate(() if row is None else row.grades):
            book.put(exam.side, Purpose.SCREEN, item, repeat, grade)


def _planned(prepared: Prepared, heads: _Heads) -> list[PlannedGrade]:
    planned: list[PlannedGrade] = []
    for name, exam in heads.exams.items():
        trusted = prepared.base.config.suites.get(name, prepared.head.config.suites[name])
        planned += passes(exam, heads.todo[name], Purpose.FREEZE, range(trusted.repeats.freeze))
    return planned


def _record_head(prepared: Prepared, heads: _Heads, stamp: Stamp, pair: str, options: CheckOptions) -> RecordHead:
    return RecordHead(
        at=options.now() or datetime.now(UTC).isoformat(timespec="seconds"),
        commit=prepared.head.sha,
        by=stamp.by,
        pull_request=stamp.pull_request,
        run=stamp.run,
        workflow=stamp.workflow,
        policy_digest=policy_digest(prepared.head.config),
        accepts=pair,
        tool_version=__version__,
        graders={e.name: e.grader.identity for e in heads.exams.values()},
        mutators={n: m.version for n, m in registry().items()},
    )


# ---------------------------------------------------------------- what is told


def _result(
    prepared: Prepared,
    options: CheckOptions,
    heads: _Heads,
    baseline: Baseline,
    pair: str,
    stamp: Stamp,
    cost: Cost,
) -> Result:
    base = prepared.base
    old = _old_figures(prepared, options, baseline)
    suites = [_suite(prepared, options, name, heads, old.get(name), baseline) for name in heads.exams]
    verdicts = {s.verdict for s in suites if s.role is Role.GATE}
    verdict = next((v for v in (GateVerdict.FAIL, GateVerdict.ERROR) if v in verdicts), GateVerdict.PASS)
    why = "; ".join(w for s in suites if s.verdict is verdict for w in s.why[:3])
    if verdict is GateVerdict.PASS:
        headline = f"Accepted by {stamp.by} as the new baseline"
    else:
        headline = f"Not accepted: head breaks its own policy ({why or 'see below'})"
    return Result(
        tool_version=__version__,
        verdict=verdict,
        mode=base.config.mode.value,
        headline=headline,
        exit_code=exit_code(verdict, base.config.mode),
        base=prepared.revisions[0],
        head=prepared.revisions[1],
        key=options.key,
        config_path=options.config_path,
        policy_digest=policy_digest(base.config),
        pair=pair,
        suites=tuple(suites),
        goalposts=tuple(g.model_copy(update={"accepted": verdict is GateVerdict.PASS}) for g in prepared.goalposts),
        notices=(
            *prepared.notices,
            Notice(message="what is worse than on base is accepted; head's own limits hold"),
        ),
        next_steps=()
        if verdict is GateVerdict.PASS
        else ("The freeze label accepts what is worse than on base, never what breaks head's own policy: mend it.",),
        cost=cost,
        quote=base.config.report.quote,
        started_at=options.now() or datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _suite(
    prepared: Prepared,
    options: CheckOptions,
    name: str,
    heads: _Heads,
    before: SuiteResult | None,
    baseline: Baseline,
) -> SuiteResult:
    head, exam = prepared.head, heads.exams[name]
    today = (options.now() or datetime.now(UTC).isoformat())[:10]
    waived = waived_in(exam, Rules(head.config.policy, head.config.report.quote, today))
    gate = head.config.graders[exam.name].contract.role is Role.GATE
    shown = suite_alone(head, name, exam, heads.books[name], True, gate=gate, waived=waived)
    audits = {row.audit: row.head for row in before.audits} if before else {}
    rates = {row.mutator: row.head for row in before.mutators} if before else {}
    return shown.model_copy(
        update={
            "audits": tuple(row.model_copy(update={"base": audits.get(row.audit)}) for row in shown.audits),
            "mutators": tuple(row.model_copy(update={"base": rates.get(row.mutator)}) for row in shown.mutators),
            "baseline": baseline.describe(),
        }
    )


def _old_figures(prepared: Prepared, options: CheckOptions, baseline: Baseline) -> dict[str, SuiteResult]:
    """What the frozen grades of base show, for the comparison that people read; suites without a record have none."""
    base = prepared.base
    found = {}
    for name in base.suites:
        if options.suites and name not in options.suites:
            continue
        exam = replace(side_exam(base, base, name, base.config.suites[name].grader), side=Side.HEAD)
        held = [item for item in exam.exam.items if covered(baseline, exam, item)]
        if held:
            book = Gradebook()
            _carry(book, exam, baseline, held)
            found[name] = suite_alone(base, name, exam, book, True, gate=False)
    return found
