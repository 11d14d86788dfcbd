"""Head's suites under head's graders, against what is frozen: what has a record, and what has to be measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from grader_gate.audits.gradebook import Gradebook
from grader_gate.baselines.record import Baseline, BaselineRecord, read_baseline
from grader_gate.flow.compare import side_exam
from grader_gate.flow.prepare import CheckOptions, Prepared
from grader_gate.flow.sides import SideSetup
from grader_gate.model import Purpose, Role
from grader_gate.runs.plan import SideExam


@dataclass(slots=True)
class Heads:
    """Head's suites under head's graders, and what is known of each item."""

    exams: dict[str, SideExam] = field(default_factory=dict)
    books: dict[str, Gradebook] = field(default_factory=dict)
    todo: dict[str, list[str]] = field(default_factory=dict)
    carried: int = 0


def read_heads(prepared: Prepared, options: CheckOptions, baseline: Baseline) -> Heads:
    """Every suite of head: affected items and those without a record are to do, the others are carried over."""
    base, head = prepared.base, prepared.head
    heads = Heads()
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
        carry_over(heads.books[name], exam, baseline, rest)
        heads.carried += len(rest)
    return heads


def covered(baseline: Baseline, exam: SideExam, item: str) -> bool:
    """Whether a record holds this item as this grader is asked and judged now."""
    row = baseline.frozen(exam.request_digest(item))
    return row is not None and row.judgement_digest == exam.grader.judgement_digest


def carry_over(book: Gradebook, exam: SideExam, baseline: Baseline, items: Iterable[str]) -> None:
    """Enter frozen grades as if they had been graded now."""
    for item in items:
        row = baseline.frozen(exam.request_digest(item))
        for repeat, grade in enumerate(() if row is None else row.grades):
            book.put(exam.side, Purpose.SCREEN, item, repeat, grade)


def trusted_baseline(base: SideSetup, records: Iterable[BaselineRecord]) -> Baseline:
    """What is frozen: files of the base commit, and records that a trusted store handed over."""
    return read_baseline(base.tree, base.config.baseline.path, records)
