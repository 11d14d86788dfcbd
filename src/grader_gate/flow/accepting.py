"""Accept a head as the new baseline: fresh repeats of what is affected, the rest carried over, head's own limits held.

What head does worse than base is accepted, and so are moved goalposts. What breaks the absolute limits of head's own
policy is not. Nothing here writes a record: it is handed to a store by whoever called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from grader_gate import __version__
from grader_gate.baselines.record import BaselineRecord, RecordHead, group_rows
from grader_gate.errors import GateError, UsageError
from grader_gate.flow.accepted import Stamp, accepted_result
from grader_gate.flow.contradiction import brought_along
from grader_gate.flow.freezing import FreezeIncompleteError
from grader_gate.flow.heads import Heads, carry_over, covered, read_heads, trusted_baseline
from grader_gate.flow.inheritance import pair_digest
from grader_gate.flow.prepare import CheckOptions, Prepared, policy_digest
from grader_gate.flow.secrecy import redact_for
from grader_gate.flow.session import Session, caps, open_ledger
from grader_gate.flow.unrun import changed_code
from grader_gate.flow.work import Work, find_work, tariff_of
from grader_gate.model import GateVerdict, PlannedGrade, Purpose, Side
from grader_gate.result import Cost, Estimate, Result
from grader_gate.runs.estimate import estimate
from grader_gate.runs.plan import passes
from grader_gate.suite.mutators.registry import registry


class CodeNotRunError(UsageError):
    """The change is in a grader's code, and code of the head does not run here."""


class NothingToFreezeError(GateError):
    """Nothing of what is measured differs from base, and every item has a record."""


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
        heads = read_heads(prepared, options, baseline)
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
            result = accepted_result(prepared, options, heads, baseline, pair, stamp, session.cost())
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
    heads = read_heads(prepared, options, baseline)
    if any(not covered(baseline, exam, item) for exam in heads.exams.values() for item in exam.exam.items):
        return None
    for name, exam in heads.exams.items():
        carry_over(heads.books[name], exam, baseline, list(exam.exam.items))
    record = next((r for r in options.records if r.head.accepts == pair), None)
    stamp = Stamp(record.head.by if record else "the freeze label")
    return accepted_result(prepared, options, heads, baseline, pair, stamp, Cost())


def _refuse_unrun_code(prepared: Prepared) -> None:
    for name in changed_code(prepared):
        raise CodeNotRunError(
            f"graders.{name}: its code changes here, and code of a pull request does not run in this workflow; "
            "freeze it with `grader-gate freeze`, or in a workflow on `pull_request` (docs/freezing.md)"
        )


def _planned(prepared: Prepared, heads: Heads) -> list[PlannedGrade]:
    planned: list[PlannedGrade] = []
    for name, exam in heads.exams.items():
        trusted = prepared.base.config.suites.get(name, prepared.head.config.suites[name])
        planned += passes(exam, heads.todo[name], Purpose.FREEZE, range(trusted.repeats.freeze))
    return planned


def _record_head(prepared: Prepared, heads: Heads, stamp: Stamp, pair: str, options: CheckOptions) -> RecordHead:
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
