"""Calibrate graders against people: grade the cases of one revision, compare with their labels, suggest a contract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader_gate import __version__
from grader_gate.audits.calibration import (
    calibrate_slice,
    calibrate_slices,
    disagreements,
    judge,
    overruled,
    sources,
    statistic_for,
)
from grader_gate.audits.calibration_labels import TUNE, Chosen, choose, no_cases
from grader_gate.audits.calibration_records import Calibration, SuiteCalibration
from grader_gate.audits.calibration_roles import suggest
from grader_gate.errors import ExitCode, GateError, UsageError
from grader_gate.flow.outputs import replace_file
from grader_gate.flow.single import SingleOptions, SingleRun, grade_all, single_run
from grader_gate.model import ClaimKind, GoldenCase, Purpose, Role, Suite, digest
from grader_gate.report.calibration import render_calibration_markdown
from grader_gate.report.calibration_card import CARD_MARK, render_card
from grader_gate.runs.plan import SideExam
from grader_gate.suite.items import examine

JSON_FILE = "calibration.json"
MARKDOWN_FILE = "calibration.md"


class CardAmbiguousError(UsageError):
    """Several suites calibrate one grader: a card holds one contract each."""


class ComparesTwoError(UsageError):
    """A grader that compares has no verdict on one answer to hold against people's."""


class CardInTheWayError(UsageError):
    """The file to write the card to is somebody's own."""


class CardIncompleteError(GateError):
    """Something could not be measured: a contract is not frozen from part of the evidence."""


@dataclass(frozen=True, slots=True)
class Split:
    """Which cases are calibrated on.

    :ivar name: ``tune``, ``holdout`` or a split that cases name.
    :ivar holdout: share of the cases without a split of their own that is held out.
    """

    name: str = TUNE
    holdout: float = 0.0


async def calibrate(
    root: Path, revision: str, options: SingleOptions, split: Split, card: Path | None = None
) -> Calibration:
    """Grade, compare and write ``calibration.json``, ``calibration.md`` and the card.

    Slices with the role ``abstain`` are graded too: without that, none could ever leave that role.

    :param card: where to write the suggested contract.
    :raises NoCasesError: no case of the split carries a human verdict.
    :raises CardIncompleteError: a card is wanted and a case was not measured; the reports are written.
    """
    options = replace(options, kinds=frozenset({ClaimKind.GOLDEN}))
    with single_run(root, revision, options, "calibrate") as run:
        try:
            chosen = _choose(run, split, named=bool(options.suites))
            _refuse_card(run, chosen, card)
            run.exams = {name: _exam(run, name, picked.cases) for name, picked in chosen.items()}
            repeats = options.repeats or 1
            # What cannot be repeated is played once: a second playing brings nothing new.
            counts = {name: repeats if exam.grader.repeatable else 1 for name, exam in run.exams.items()}
            complete = await grade_all(run, Purpose.SCREEN, counts.__getitem__)
            made = _report(run, chosen, split, counts, complete)
        finally:
            await run.side.aclose()
    options.out.mkdir(parents=True, exist_ok=True)
    dumped = json.dumps(made.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    replace_file(options.out / JSON_FILE, dumped)
    replace_file(options.out / MARKDOWN_FILE, render_calibration_markdown(made))
    if card is not None:
        if made.exit_code != ExitCode.OK:
            raise CardIncompleteError(
                f"no card written: {'; '.join(made.notices)}. The figures so far are in {options.out / JSON_FILE}; "
                "run the same command again to go on"
            )
        card.parent.mkdir(parents=True, exist_ok=True)
        replace_file(card, render_card(made))
    return made


def _choose(run: SingleRun, split: Split, *, named: bool) -> dict[str, Chosen]:
    """The cases of each suite; suites without any are passed over, unless that leaves none or they were named."""
    suites = {name: run.side.suites[name].cases for name in run.exams}
    chosen = {name: choose(cases, split.name, split.holdout) for name, cases in suites.items()}
    found = {name: picked for name, picked in chosen.items() if picked.cases}
    empty = [name for name in chosen if name not in found]
    if empty and (named or not found):
        cases = [case for name in empty for case in suites[name]]
        raise no_cases(empty, split.name, [case.split for case in cases if case.split is not None], len(cases))
    return found


def _exam(run: SingleRun, suite: str, cases: tuple[GoldenCase, ...]) -> SideExam:
    name = run.side.config.suites[suite].grader
    if run.side.config.graders[name].contract.compares:
        raise ComparesTwoError(
            f"suites.{suite}: {name} compares two answers, and people's verdicts are about one; its agreement with "
            "them is what `grader-gate run` shows on pairs and ladders. Choose another suite with --suite"
        )
    exam = examine(Suite(suite, cases=cases), (), 0, run.side.texts(name), lambda _: Role.GATE)
    return SideExam(run.side.side, suite, name, run.side.grader(name), exam)


def _refuse_card(run: SingleRun, chosen: Mapping[str, Chosen], card: Path | None) -> None:
    if card is None:
        return
    names = [run.side.config.suites[suite].grader for suite in chosen]
    if twice := next((name for name in names if names.count(name) > 1), None):
        suites = ", ".join(suite for suite in chosen if run.side.config.suites[suite].grader == twice)
        raise CardAmbiguousError(
            f"--write: suites {suites} all calibrate grader {twice}, whose card holds one contract; "
            "choose one of them with --suite"
        )
    if card.is_dir():
        raise CardInTheWayError(f"--write {card}: this is a folder; name a file in it")
    if card.exists() and not card.read_bytes().startswith(CARD_MARK.encode()):
        raise CardInTheWayError(f"--write {card}: this file is there and is no calibration card; name another one")


def _report(
    run: SingleRun, chosen: Mapping[str, Chosen], split: Split, counts: Mapping[str, int], complete: bool
) -> Calibration:
    suites = tuple(_suite(run, name, picked, split, counts[name]) for name, picked in chosen.items())
    notices = []
    if missing := sum(s.overall.unmeasured for s in suites):
        said = run.session.budget.exhausted or _first_error(run) or "not measured"
        notices.append(f"{missing} of {sum(s.overall.cases for s in suites)} cases were not measured ({said})")
    elif not complete:
        said = run.session.budget.exhausted or _first_error(run) or "not measured"
        notices.append(f"some repeats were not measured ({said})")
    notices += [
        f"suite {s.suite}: the grader gave no verdict on any of {s.overall.cases} cases"
        for s in suites
        if not s.overall.judged and not s.overall.unmeasured
    ]
    return Calibration(
        tool_version=__version__,
        revision=run.revision,
        complete=complete,
        exit_code=ExitCode.ERROR if notices else ExitCode.OK,
        notices=tuple(notices),
        suites=suites,
        cost=run.session.cost(),
        quote=run.side.config.report.quote,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _suite(run: SingleRun, name: str, chosen: Chosen, split: Split, repeats: int) -> SuiteCalibration:
    config, exam, book = run.side.config, run.exams[name], run.books[name]
    grader = config.graders[exam.name]
    acceptable = config.policy.acceptable_error
    grades = {
        case.id: dict(sorted(book.of(exam.side, Purpose.SCREEN, f"golden/{case.id}").items())) for case in chosen.cases
    }
    rows = [judge(case, grades[case.id].values()) for case in chosen.cases]
    overall = calibrate_slice(rows, grader.contract, acceptable)
    slices = calibrate_slices(rows, grader.contract, acceptable)
    found = [
        [case, exam.request_digest(f"golden/{case}"), repeat, grade.verdict, grade.score, grade.abstained, grade.reason]
        for case, repeated in sorted(grades.items())
        for repeat, grade in repeated.items()
    ]
    return SuiteCalibration(
        suite=name,
        grader=exam.name,
        kind=grader.kind,
        grader_digest=digest("grader", exam.grader.identity, exam.grader.judgement_digest),
        ledger_digest=digest("calibration", exam.grader.judgement_digest, found),
        split=split.name,
        held_out=chosen.held_out,
        left_out=chosen.left_out,
        repeats=repeats,
        acceptable_error=acceptable,
        truth=sources(rows),
        overruled=overruled(rows),
        statistic=statistic_for(rows),
        overall=overall,
        slices=slices,
        disagreements=disagreements(rows, config.report.quote),
        suggestion=suggest(overall, slices, acceptable),
    )


def _first_error(run: SingleRun) -> str | None:
    grades = (grade for name, exam in run.exams.items() for grade in run.books[name].grades(exam.side))
    return next((grade.error.message for grade in grades if grade.unmeasured and grade.error is not None), None)
