"""Which cases are calibrated on, and what people say of them. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grader_gate.audits.calibration_records import TruthSource
from grader_gate.errors import UsageError
from grader_gate.model import GoldenCase, GradeVerdict

TUNE = "tune"
HOLDOUT = "holdout"


class NoCasesError(UsageError):
    """Nothing in the chosen suites and split carries a human verdict."""


class HoldoutError(UsageError):
    """A share to hold out that has no case to act on."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What people say of a case."""

    verdict: GradeVerdict
    source: TruthSource


def truth(case: GoldenCase) -> Truth:
    """The people's verdict: the strict majority of the labels given; ``expected`` where there is none.

    One label is a majority. Null labels do not vote.
    """
    votes = Counter(label for label in case.labels.values() if label is not None)
    if not votes:
        return Truth(case.expected, TruthSource.EXPECTED)
    verdict, count = max(votes.items(), key=lambda vote: vote[1])
    if 2 * count > votes.total():
        return Truth(verdict, TruthSource.MAJORITY)
    return Truth(case.expected, TruthSource.DECIDED)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The cases of one split. :ivar held_out: cases kept for the holdout. :ivar left_out: those of other splits."""

    cases: tuple[GoldenCase, ...]
    held_out: int
    left_out: int


def is_held_out(case: GoldenCase, share: float) -> bool:
    """Whether tuning must not see a case: it says ``split: holdout``, or it names no split and its hash says so.

    The hash is of the question, so that all answers to one question stand on one side; a larger share only adds cases.

    :param share: of the questions, 0 to 1.
    """
    if case.split is not None:
        return case.split.strip().lower() == HOLDOUT
    place = hashlib.sha256(b"holdout\0" + case.question.encode("utf-8", "surrogatepass")).digest()[:8]
    return int.from_bytes(place, "big") < share * 2**64


def choose(cases: Sequence[GoldenCase], split: str, share: float) -> Chosen:
    """The cases of a split.

    :param split: ``tune`` is all that is not held out, ``holdout`` what is, any other name the cases that bear it.
    :param share: of the cases without a split of their own to be held out, 0 to 1.
    :raises HoldoutError: a share is given and every case names its split.
    """
    if share > 0 and cases and all(case.split is not None for case in cases):
        raise HoldoutError(
            "--holdout: every case names its `split`, so nothing is left to divide; "
            "set `split: holdout` on the cases to keep, or remove `split` from the others"
        )
    held = [case for case in cases if is_held_out(case, share)]
    rest = [case for case in cases if not is_held_out(case, share)]
    if split == HOLDOUT:
        return Chosen(tuple(held), len(held), len(rest))
    mine = [case for case in rest if split == TUNE or case.split == split]
    return Chosen(tuple(mine), len(held), len(rest) - len(mine))


def no_cases(suites: Sequence[str], split: str, splits: Sequence[str], golden: int) -> NoCasesError:
    """The error for a choice without cases, with the way out.

    :param splits: splits that cases of the suites name. :param golden: golden cases in all of the suites' splits.
    """
    where = f"suite {', '.join(suites)}" if len(suites) < 4 else f"{len(suites)} suites"
    if golden == 0:
        return NoCasesError(
            f"{where}: no golden case, so nothing carries a human label; add cases with "
            "`labels: {ann: correct, bob: partial}` (null where a rater did not label), "
            "or with the one verdict `expected: correct`"
        )
    if split == HOLDOUT:
        return NoCasesError(
            f"{where}: no case is held out; set `split: holdout` on some cases, or give --holdout 0.3 "
            "(the same share each time) to keep that share of the questions"
        )
    if split == TUNE:
        return NoCasesError(f"{where}: all {golden} cases are held out; lower --holdout, or look at --split holdout")
    known = ", ".join(sorted({TUNE, HOLDOUT, *splits}))
    return NoCasesError(f"--split {split}: no case of {where} has this split; known: {known}")
