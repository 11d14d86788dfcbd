"""Records that a change brings along itself: believed where this run does not contradict them.

A record file is reviewed in the diff, but nobody can review numbers. Merged, it would say what base is known to say:
one that was made up hides every later regression. So its items are graded here. One that differs is noise until it is
confirmed: contradicted is an item whose five fresh grades all lie outside whatever the record holds, the same number
that the decision asks for where only stored runs speak for a side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from grader_gate.baselines.record import BaselineRecord, read_records
from grader_gate.decision.outcome import Settings
from grader_gate.flow.compare import side_exam
from grader_gate.flow.freezing import GRAY_FLIP_RATE
from grader_gate.flow.prepare import Prepared
from grader_gate.flow.session import Session
from grader_gate.model import GateVerdict, Grade, Location, PlannedGrade, Purpose, Role, digest
from grader_gate.result import Goalpost, SuiteResult
from grader_gate.runs.plan import SideExam, passes

RUNS = Settings().fallback_runs
"""Fresh grades that must all differ."""


@dataclass(slots=True)
class Brought:
    """New record files of head, and the items of head's suites that they speak of.

    :ivar said: (suite, item) → the repeats that the newest of them holds. :ivar paths: the same → its file.
    :ivar noise: noise records, by path. :ivar contents: content address of each file.
    """

    exams: dict[str, SideExam] = field(default_factory=dict)
    said: dict[tuple[str, str], tuple[Grade, ...]] = field(default_factory=dict)
    paths: dict[tuple[str, str], str] = field(default_factory=dict)
    noise: dict[str, BaselineRecord] = field(default_factory=dict)
    contents: tuple[str, ...] = ()


def brought_along(prepared: Prepared, trusted: Iterable[BaselineRecord]) -> Brought:
    """The records that head adds, but for those that a trusted store vouches for; nothing is called.

    :raises RecordError: one of them cannot be read.
    """
    base, head = prepared.base, prepared.head
    folder = base.config.baseline.path
    brought = Brought()
    if all(base.raw.exists(path) for path in head.raw.glob(f"{folder.strip('/')}/*.jsonl")):
        return brought
    known = {record.render() for record in trusted}
    records = {
        path: record
        for path, record in read_records(head.raw, folder).items()
        if not base.raw.exists(path) and record.render() not in known
    }
    brought.contents = tuple(sorted(digest("record", record.render()) for record in records.values()))
    rows: dict[tuple[str, str], tuple[str, tuple[Grade, ...]]] = {}
    for path, record in sorted(records.items(), key=lambda pair: (pair[1].head.at, pair[0])):
        if record.head.kind == "noise":
            brought.noise[path] = record
            continue
        for row in record.rows:
            rows[row.request_digest, row.judgement_digest] = (path, row.grades)
    for name, config in head.config.suites.items():
        if name not in prepared.suites or head.config.graders[config.grader].contract.role is Role.ABSTAIN:
            continue
        exam = side_exam(head, head, name, config.grader)
        for item in exam.exam.items:
            found = rows.get((exam.request_digest(item), exam.grader.judgement_digest))
            if found is not None and exam.grader.repeatable:
                brought.exams[name] = exam
                brought.paths[name, item], brought.said[name, item] = found
    return brought


async def contradicted(brought: Brought, session: Session) -> tuple[list[Goalpost], set[str]]:
    """Grade what the records speak of; the goalposts of what is not so, and the suites that could not be measured."""
    goalposts = [_noisy(path, record) for path, record in brought.noise.items() if _noisy_rows(record)]
    doubted = list(brought.said)
    unmeasured: set[tuple[str, str]] = set()
    for runs in (range(1), range(1, RUNS)):
        planned = [p for at in doubted for p in _planned(brought, at, runs)]
        outcome = await session.grade(planned, "records of this change")
        seen: dict[tuple[str, str], list[Grade]] = {at: [] for at in doubted}
        for row in outcome.rows.values():
            seen[row.suite, row.item].append(row.grade)
        unmeasured |= {
            at for at, grades in seen.items() if len(grades) < len(runs) or any(g.unmeasured for g in grades)
        }
        doubted = [
            at
            for at, grades in seen.items()
            if at not in unmeasured and not {_outcome(g) for g in grades} & {_outcome(g) for g in brought.said[at]}
        ]
        if not doubted:
            break
    for at in doubted:
        said = brought.said[at]
        goalposts.append(
            Goalpost(
                what="baseline record contradicted",
                detail=f"{at[1]}: the record says {_words(said)}, {RUNS} fresh runs never did",
                location=Location(path=brought.paths[at]),
            )
        )
    return goalposts, {suite for suite, _ in unmeasured}


def unproven(brought: Brought, suites: list[SuiteResult], unmeasured: set[str]) -> list[SuiteResult]:
    """The suites, with those in error whose records could not be looked into; a fail stays a fail."""
    made = {suite.name: suite for suite in suites}
    for name in sorted(unmeasured):
        exam = brought.exams[name]
        why = "the baseline records that this change brings along could not be graded to the end"
        suite = made.get(name) or SuiteResult(name=name, grader=exam.name, kind="", verdict=GateVerdict.ERROR)
        verdict = suite.verdict if suite.verdict is GateVerdict.FAIL else GateVerdict.ERROR
        made[name] = suite.model_copy(update={"verdict": verdict, "why": (why, *suite.why)})
    return list(made.values())


def _planned(brought: Brought, at: tuple[str, str], runs: range) -> Iterable[PlannedGrade]:
    suite, item = at
    return passes(brought.exams[suite], [item], Purpose.FREEZE, runs)


def _outcome(grade: Grade) -> str:
    if grade.verdict is not None:
        return grade.verdict.value
    return "abstained" if grade.abstained else "malformed" if grade.malformed else "nothing"


def _words(grades: Iterable[Grade]) -> str:
    return " and ".join(sorted({_outcome(g) for g in grades})) or "nothing"


def _noisy_rows(record: BaselineRecord) -> int:
    """Items that this record alone would take out of the gate."""
    count = 0
    for row in record.rows:
        outcomes = [_outcome(g) for g in row.grades]
        most = max((outcomes.count(o) for o in set(outcomes)), default=0)
        count += bool(outcomes) and 1 - most / len(outcomes) >= GRAY_FLIP_RATE
    return count


def _noisy(path: str, record: BaselineRecord) -> Goalpost:
    return Goalpost(
        what="noise record takes items out of the gate",
        detail=f"{_noisy_rows(record)} items disagree with themselves in it so often that they would no longer gate",
        location=Location(path=path),
    )
