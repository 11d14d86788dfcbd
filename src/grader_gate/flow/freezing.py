"""Freeze a baseline, or measure the noise floor: fresh repeats of one revision into a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader_gate import __version__
from grader_gate.audits.claims import Reading, needed_items
from grader_gate.audits.gradebook import flip_rate
from grader_gate.baselines.files import write_record
from grader_gate.baselines.record import Baseline, BaselineRecord, RecordHead, group_rows, read_baseline
from grader_gate.errors import GateError
from grader_gate.flow.prepare import policy_digest
from grader_gate.flow.single import SingleOptions, SingleRun, single_run
from grader_gate.model import Grade, PlannedGrade, Purpose
from grader_gate.runs.plan import SideExam, passes
from grader_gate.suite.mutators.registry import registry

GRAY_FLIP_RATE = 0.4
"""Flip rate from which a claim no longer gates; known from 10 or more noise repeats (the decision page)."""


class FreezeIncompleteError(GateError):
    """Some grades could not be measured: only complete runs may become a baseline."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a freeze brought.

    :ivar path: the record written; None where every item already had one.
    :ivar items: items frozen now. :ivar kept: items an older record already covers.
    :ivar gray: claims whose repeats disagree, with their flip rate and number of repeats.
    :ivar expected_flips: flips that noise alone brings in one screen, from these repeats.
    :ivar not_gating: claims whose flip rate is known to be too high to gate.
    """

    path: Path | None
    items: int
    kept: int
    gray: tuple[tuple[str, float, int], ...]
    expected_flips: float
    not_gating: tuple[str, ...]
    calls: int


async def freeze(
    root: Path,
    revision: str,
    options: SingleOptions,
    *,
    by: str,
    purpose: Purpose = Purpose.FREEZE,
    again: bool = False,
    default_repeats: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Frozen:
    """Measure the items that no record covers (all with ``again``) and write one record.

    :param by: who freezes, for the record.
    :param tell: is told, before the first call, where the cap will stop it.
    :raises FreezeIncompleteError: a grade is missing; what came is in the ledger, run again to go on.
    """
    label = purpose.value
    with single_run(root, revision, options, label) as run:
        try:
            return await _freeze(root, run, options, by, purpose, again, default_repeats, tell)
        finally:
            await run.side.aclose()


async def _freeze(
    root: Path,
    run: SingleRun,
    options: SingleOptions,
    by: str,
    purpose: Purpose,
    again: bool,
    default_repeats: int | None,
    tell: Callable[[str], None],
) -> Frozen:
    side, config = run.side, run.side.config
    baseline = read_baseline(side.tree, config.baseline.path)
    side.prepare()
    planned: list[PlannedGrade] = []
    kept = 0
    for name, exam in run.exams.items():
        todo = [item for item in exam.exam.items if again or not _covered(baseline, exam, item, purpose)]
        kept += len(exam.exam.items) - len(todo)
        repeats = options.repeats or default_repeats or config.suites[name].repeats.freeze
        planned += passes(exam, todo, purpose, range(repeats))
    left = run.session.calls_left
    new = sum(run.session.ledger.get(one) is None for one in planned)
    if left is not None and new > left:
        tell(f"this takes {new} calls and the cap is {left}: it stops there; run it again to go on")
    outcome = await run.session.grade(planned, purpose.value)
    missing = len({p.key for p in planned}) - sum(not r.grade.unmeasured for r in outcome.rows.values())
    if missing:
        said = next(
            (r.grade.error.message for r in outcome.rows.values() if r.grade.unmeasured and r.grade.error), None
        )
        raise FreezeIncompleteError(
            f"nothing frozen: {missing} of {len(planned)} grades are missing "
            f"({run.session.budget.exhausted or said or 'not measured'}); only complete runs become a baseline. "
            f"What came is kept in {options.out}: run the same command again to go on"
        )
    path = None
    if planned:
        rows = sorted(outcome.rows.values(), key=lambda r: r.repeat)
        record = BaselineRecord(
            RecordHead(
                kind="noise" if purpose is Purpose.NOISE else "freeze",
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                commit=side.sha,
                by=by,
                policy_digest=policy_digest(config),
                tool_version=__version__,
                graders={e.name: e.grader.identity for e in run.exams.values()},
                mutators={n: m.version for n, m in registry().items()},
            ),
            group_rows(
                ((r.suite, r.grader, r.item, r.request_digest, r.judgement_digest, r.grade) for r in rows),
                config.report.quote,
            ),
        )
        path = write_record(side.git.root, config.baseline.path, record)
        baseline.add(record)
    return _summary(run, baseline, purpose, path, len({p.item.id + p.suite for p in planned}), kept)


def _covered(baseline: Baseline, exam: SideExam, item: str, purpose: Purpose) -> bool:
    digest = exam.request_digest(item)
    row = baseline.noise(digest) if purpose is Purpose.NOISE else baseline.frozen(digest)
    return row is not None and row.judgement_digest == exam.grader.judgement_digest


def _summary(run: SingleRun, baseline: Baseline, purpose: Purpose, path: Path | None, items: int, kept: int) -> Frozen:
    gray: list[tuple[str, float, int]] = []
    not_gating: list[str] = []
    expected = 0.0
    for exam in run.exams.values():
        reading = Reading(run.side.config.graders[exam.name].contract.scale)
        for claim in exam.exam.claims.values():
            noise = {i: _repeats(baseline, exam, i, purpose) for i in needed_items(claim)}
            measured = flip_rate(claim, noise, reading)
            if measured is None:
                continue
            share, repeats = measured
            expected += share
            if share > 0:
                gray.append((claim.id, share, repeats))
            if share >= GRAY_FLIP_RATE and repeats >= 10:
                not_gating.append(claim.id)
    gray.sort(key=lambda g: (-g[1], g[0]))
    return Frozen(path, items, kept, tuple(gray), expected, tuple(not_gating), run.session.cost().calls)


def _repeats(baseline: Baseline, exam: SideExam, item: str, purpose: Purpose) -> Sequence[Grade]:
    digest = exam.request_digest(item)
    row = baseline.noise(digest) if purpose is Purpose.NOISE else baseline.frozen(digest)
    return () if row is None else row.grades
