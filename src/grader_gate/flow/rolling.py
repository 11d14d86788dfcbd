"""Keep the baseline whole: measure what no record covers on a commit of the default branch, and make a record of it.

A clean change is merged without a label, so its digests have no record. Without this the baseline would wear away, and
every later pull request would measure base live.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader_gate import __version__
from grader_gate.baselines.record import BaselineRecord, RecordHead, group_rows, read_baseline
from grader_gate.flow.accepted import Stamp
from grader_gate.flow.freezing import FreezeIncompleteError
from grader_gate.flow.heads import covered
from grader_gate.flow.prepare import policy_digest
from grader_gate.flow.single import SingleOptions, single_run
from grader_gate.model import PlannedGrade, Purpose, Role
from grader_gate.runs.plan import passes
from grader_gate.suite.mutators.registry import registry

MEASURED = "measured"
"""Kind of a record that nobody froze: measured by a trusted run after a merge."""


@dataclass(frozen=True, slots=True)
class Rolled:
    """What came of it.

    :ivar record: None where every item has a record.
    :ivar items: items measured now. :ivar kept: items an older record covers.
    """

    record: BaselineRecord | None
    items: int
    kept: int
    calls: int


async def measure_missing(
    root: Path, revision: str, options: SingleOptions, stamp: Stamp, records: Iterable[BaselineRecord] = ()
) -> Rolled:
    """Measure the items without a record, as often as a freeze would.

    :param records: trusted records beside the commit's own files.
    :raises FreezeIncompleteError: a grade is missing; nothing is recorded.
    """
    with single_run(root, revision, options, MEASURED) as run:
        side, config = run.side, run.side.config
        try:
            baseline = read_baseline(side.tree, config.baseline.path, records)
            planned: list[PlannedGrade] = []
            items = kept = 0
            for name, exam in run.exams.items():
                if config.graders[exam.name].contract.role is Role.ABSTAIN or not exam.grader.repeatable:
                    continue
                todo = [item for item in exam.exam.items if not covered(baseline, exam, item)]
                items, kept = items + len(todo), kept + len(exam.exam.items) - len(todo)
                planned += passes(exam, todo, Purpose.FREEZE, range(config.suites[name].repeats.freeze))
            if not planned:
                return Rolled(None, 0, kept, 0)
            side.prepare()
            outcome = await run.session.grade(planned, MEASURED)
            missing = len({p.key for p in planned}) - sum(not r.grade.unmeasured for r in outcome.rows.values())
            if missing:
                said = next((e.message for r in outcome.rows.values() if (e := r.grade.error) is not None), None)
                raise FreezeIncompleteError(
                    f"nothing recorded: {missing} of {len(planned)} grades are missing "
                    f"({run.session.budget.exhausted or said or 'not measured'}); the next push tries again"
                )
            head = RecordHead(
                kind=MEASURED,
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                commit=side.sha,
                by=stamp.by,
                run=stamp.run,
                workflow=stamp.workflow,
                policy_digest=policy_digest(config),
                tool_version=__version__,
                graders={e.name: e.grader.identity for e in run.exams.values()},
                mutators={n: m.version for n, m in registry().items()},
            )
            rows = group_rows(
                (
                    (r.suite, r.grader, r.item, r.request_digest, r.judgement_digest, r.grade)
                    for r in sorted(outcome.rows.values(), key=lambda r: r.repeat)
                ),
                config.report.quote,
            )
            return Rolled(BaselineRecord(head, rows), items, kept, run.session.cost().calls)
        finally:
            await side.aclose()
