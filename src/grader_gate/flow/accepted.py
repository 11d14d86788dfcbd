"""What people read of a head that was accepted: old and new figures, under the limits of head's own policy. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from grader_gate import __version__
from grader_gate.audits.gradebook import Gradebook
from grader_gate.baselines.record import Baseline
from grader_gate.flow.compare import side_exam
from grader_gate.flow.heads import Heads, carry_over, covered
from grader_gate.flow.prepare import CheckOptions, Prepared, exit_code, policy_digest
from grader_gate.flow.single import suite_alone
from grader_gate.flow.suite_report import Rules, waived_in
from grader_gate.model import GateVerdict, Role, Side
from grader_gate.result import Cost, Notice, Result, SuiteResult


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who accepts, for the record and the report."""

    by: str
    pull_request: int | None = None
    run: str | None = None
    workflow: str | None = None


def accepted_result(
    prepared: Prepared,
    options: CheckOptions,
    heads: Heads,
    baseline: Baseline,
    pair: str,
    stamp: Stamp,
    cost: Cost,
) -> Result:
    """A pass where head keeps its own limits, whatever it does worse than base; else a fail."""
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
    heads: Heads,
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
            carry_over(book, exam, baseline, held)
            found[name] = suite_alone(base, name, exam, book, True, gate=False)
    return found
