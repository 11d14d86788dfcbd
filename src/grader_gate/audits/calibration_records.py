"""What a calibration reports: schema of ``calibration.json``. Pure data; names, labels and reasons are foreign."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from grader_gate.model import Frozen, GradeVerdict, Location, Role
from grader_gate.result import Cost, Revision, Tally

CALIBRATION_SCHEMA = 1
"""Version of ``calibration.json``; grows when a reader of the old form would be misled."""


class Said(StrEnum):
    """What a grader came to on a case, all repeats together. Every case is exactly one of these."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"
    ABSTAINED = "abstained"
    UNUSABLE = "unusable"
    UNMEASURED = "not measured"

    @property
    def verdict(self) -> GradeVerdict | None:
        """The verdict, where it is one."""
        return _VERDICTS.get(self)


_VERDICTS = {Said(v.value): v for v in GradeVerdict}


class TruthSource(StrEnum):
    """Where the verdict that counts as the people's comes from.

    ``majority``: a strict majority of the raters' labels. ``decided``: the raters are tied, so the case's ``expected``
    decides. ``expected``: nobody labelled the case, so that its ``expected`` is the one human say.
    """

    MAJORITY = "majority"
    DECIDED = "decided"
    EXPECTED = "expected"


class Evidence(StrEnum):
    """What the interval of an error rate says against the acceptable error."""

    WITHIN = "within"
    UNPROVEN = "unproven"
    ABOVE = "above"


class Interval(Frozen):
    """A statistic with its 95 % interval; null where it is not defined. ``n`` units entered it."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Share(Frozen):
    """``k`` of ``n`` with the exact 95 % interval of Clopper and Pearson; 0 to 1 where n = 0."""

    k: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        """``k / n``, or None where n = 0."""
        return self.k / self.n if self.n else None


class ErrorShare(Share):
    """An error rate beside the acceptable one.

    ``unusable`` replies are in neither ``k`` nor ``n``, but count as errors in ``evidence``.
    """

    unusable: int = 0
    evidence: Evidence = Evidence.UNPROVEN


class ConfusionRow(Frozen):
    """Cases to which people give one verdict, by what the grader came to. All counts add up to all cases."""

    people: GradeVerdict
    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    abstained: int = 0
    unusable: int = 0
    unmeasured: int = 0


class People(Frozen):
    """How far people agree with each other: the ceiling for any grader. Over cases with two or more labels."""

    raters: int = 0
    cases: int = Field(default=0, description="Cases with two or more labels")
    unanimous: Share | None = Field(default=None, description="Cases on which all raters agree")
    pairs: Tally | None = Field(default=None, description="Pairs of raters of one case that agree, of all such pairs")
    grader_pairs: Tally | None = Field(
        default=None, description="The like for the grader: pairs of its verdict and one rater's label that agree"
    )
    kappa: Interval | None = Field(default=None, description="Cohen, where there are exactly two raters")
    weighted_kappa: Interval | None = Field(default=None, description="The same with quadratic weights")
    alpha: Interval = Field(default=Interval(), description="Krippendorff, ordinal, among the raters")
    alpha_with_grader: Interval = Field(
        default=Interval(),
        description="The same with the grader as one more rater: lower if it agrees less than they do",
    )


class SliceCalibration(Frozen):
    """A grader against people on some cases: all of a suite, or those that carry all of ``tags``."""

    tags: tuple[str, ...] = Field(default=(), description="Empty: all cases (foreign)")
    cases: int
    judged: int = Field(description="Cases on which the grader gave a verdict: the others are in no rate")
    abstained: Share
    unusable: int = 0
    unmeasured: int = 0
    unstable: int = Field(default=0, description="Cases on which the grader's repeats disagree")
    confusion: tuple[ConfusionRow, ...] = ()
    agreement: Share = Field(description="Judged cases with the people's verdict")
    false_accept: ErrorShare = Field(description="`correct` said of an answer that people do not call correct")
    false_reject: ErrorShare = Field(description="Another verdict than `correct` said of an answer people call correct")
    kappa: Interval = Field(description="Cohen, unweighted, grader and people")
    weighted_kappa: Interval = Field(description="Cohen with quadratic weights over the ordered verdicts")
    people: People = People()
    role: Role = Field(description="What the contract says now")
    suggested: Role = Field(description="What this slice's own evidence supports")
    why: str


class Disagreement(Frozen):
    """One case to look at: the grader and the people differ, or it gave no verdict."""

    case: str = Field(description="foreign")
    kind: Literal["false accept", "false reject", "other verdict", "unusable", "abstained", "not measured"]
    tags: tuple[str, ...] = ()
    people: GradeVerdict
    truth: TruthSource
    labels: dict[str, GradeVerdict | None] = Field(default_factory=dict, description="Rater → label (foreign)")
    grader: Said
    runs: tuple[Said, ...] = Field(default=(), description="What each repeat came to")
    question: str | None = Field(default=None, description="As `report.quote` allows (foreign)")
    answer: str | None = Field(default=None, description="As `report.quote` allows (foreign)")
    reason: str | None = Field(default=None, description="As `report.quote` allows (foreign)")
    location: Location | None = None


class SuggestedSlice(Frozen):
    """A slice for the contract."""

    tags: tuple[str, ...]
    role: Role
    why: str


class Suggestion(Frozen):
    """Role and slices for the contract: strongest role first, for the last slice that matches a case decides."""

    role: Role
    why: str
    slices: tuple[SuggestedSlice, ...] = ()
    inherits: tuple[SuggestedSlice, ...] = Field(
        default=(), description="Slices with too few cases to be judged on their own; they keep the contract's role"
    )


class SuiteCalibration(Frozen):
    """One suite's grader against people, on one split."""

    suite: str
    grader: str
    kind: str
    grader_digest: str = Field(description="Content address of the grader that was calibrated")
    ledger_digest: str = Field(description="Content address of the grades these figures come from")
    split: str = Field(description="Which cases the figures are from")
    held_out: int = Field(default=0, description="Cases kept for `--split holdout`")
    left_out: int = Field(default=0, description="Cases of other splits, neither held out nor graded")
    repeats: int = 1
    acceptable_error: float
    truth: dict[TruthSource, int] = Field(description="Where the people's verdicts come from, in cases")
    overruled: int = Field(default=0, description="Cases whose `expected` differs from the raters' majority")
    statistic: Literal["kappa", "weighted kappa", "alpha"] = Field(
        description="The one that fits this scale and raters"
    )
    overall: SliceCalibration
    slices: tuple[SliceCalibration, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    suggestion: Suggestion


class Calibration(Frozen):
    """``calibration.json``."""

    schema_version: int = CALIBRATION_SCHEMA
    tool_version: str
    revision: Revision
    complete: bool = Field(description="Every case was measured")
    exit_code: int
    notices: tuple[str, ...] = ()
    suites: tuple[SuiteCalibration, ...] = ()
    cost: Cost = Cost()
    quote: Literal["none", "short", "full"] = "short"
    started_at: str = ""
