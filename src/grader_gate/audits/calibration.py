"""Calibration: a grader's verdicts against people's, overall and by slice. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median_low
from typing import Any, Literal

from grader_gate.audits.calibration_labels import Truth, truth
from grader_gate.audits.calibration_records import (
    ConfusionRow,
    Disagreement,
    ErrorShare,
    Evidence,
    Interval,
    People,
    Said,
    Share,
    SliceCalibration,
    TruthSource,
)
from grader_gate.audits.calibration_roles import suggested_role
from grader_gate.config import Contract
from grader_gate.decision.agreement import (
    Estimate,
    cohen_kappa,
    confusion,
    error_rates,
    krippendorff_alpha,
)
from grader_gate.decision.statistics import clopper_pearson
from grader_gate.model import GoldenCase, Grade, GradeVerdict
from grader_gate.result import Tally

ORDER = (GradeVerdict.INCORRECT, GradeVerdict.PARTIAL, GradeVerdict.CORRECT)
SHORT = 200
"""Characters of a question, an answer or a reason that ``quote: short`` lets through."""

Kind = Literal["false accept", "false reject", "other verdict", "unusable", "abstained", "not measured"]
_KIND_ORDER: tuple[Kind, ...] = (
    "false accept",
    "false reject",
    "other verdict",
    "unusable",
    "abstained",
    "not measured",
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with what people and the grader say of it.

    :ivar runs: what each repeat came to, in order. :ivar said: all repeats together; see :func:`typical`.
    :ivar reason: of the first run that came to ``said``.
    """

    case: GoldenCase
    truth: Truth
    runs: tuple[Said, ...]
    said: Said
    reason: str = ""

    @property
    def labels(self) -> list[GradeVerdict]:
        """The labels that raters gave."""
        return [label for label in self.case.labels.values() if label is not None]


def outcome(grade: Grade) -> Said:
    """What one graded call came to. A reply without a verdict (a bare score) is not usable."""
    if grade.unmeasured:
        return Said.UNMEASURED
    if grade.malformed:
        return Said.UNUSABLE
    if grade.abstained:
        return Said.ABSTAINED
    return Said.UNUSABLE if grade.verdict is None else Said(grade.verdict.value)


def typical(runs: Sequence[Said]) -> Said:
    """All repeats of a case together.

    Runs that were not measured do not count. The median verdict where at least half of the others gave one, the
    stricter of two middle ones; else unusable or abstained, whichever came more often, unusable at a tie.
    """
    measured = [run for run in runs if run is not Said.UNMEASURED]
    if not measured:
        return Said.UNMEASURED
    ranks = [verdict.rank for run in measured if (verdict := run.verdict) is not None]
    if 2 * len(ranks) >= len(measured):
        return Said(ORDER[median_low(ranks)].value)
    counts = Counter(measured)
    return Said.ABSTAINED if counts[Said.ABSTAINED] > counts[Said.UNUSABLE] else Said.UNUSABLE


def judge(case: GoldenCase, grades: Iterable[Grade]) -> Judged:
    """Put a case's grades, one per repeat, beside what people say of it."""
    listed = list(grades)
    runs = tuple(outcome(grade) for grade in listed)
    said = typical(runs)
    shown = next((grade for grade, run in zip(listed, runs, strict=True) if run is said), None)
    reason = "" if shown is None else shown.error.message if shown.error is not None else shown.reason
    return Judged(case, truth(case), runs, said, reason)


def calibrate_slice(
    rows: Sequence[Judged], contract: Contract, acceptable: float, tags: tuple[str, ...] = ()
) -> SliceCalibration:
    """The figures of some cases.

    :param acceptable: highest tolerable error rate, a share.
    :param tags: what these cases have in common; empty for all of a suite.
    """
    judged = [(row.truth.verdict, said) for row in rows if (said := row.said.verdict) is not None]
    rates = error_rates([people for people, _ in judged], [said for _, said in judged])
    matrix = confusion([people for people, _ in judged], [said for _, said in judged], ORDER)
    unusable = Counter(row.truth.verdict is GradeVerdict.CORRECT for row in rows if row.said is Said.UNUSABLE)
    counts = Counter(row.said for row in rows)
    measured = len(rows) - counts[Said.UNMEASURED]
    accept = _error(rates.false_accept.k, rates.false_accept.n, unusable[False], acceptable)
    reject = _error(rates.false_reject.k, rates.false_reject.n, unusable[True], acceptable)
    suggested, why = suggested_role(accept, reject, counts[Said.UNMEASURED], acceptable)
    return SliceCalibration(
        tags=tags,
        cases=len(rows),
        judged=len(judged),
        abstained=_share(counts[Said.ABSTAINED], measured),
        unusable=counts[Said.UNUSABLE],
        unmeasured=counts[Said.UNMEASURED],
        unstable=sum(len({run for run in row.runs if run is not Said.UNMEASURED}) > 1 for row in rows),
        confusion=tuple(_confusion_row(people, rows) for people in reversed(ORDER)),
        agreement=_share(sum(people is said for people, said in judged), len(judged)),
        false_accept=accept,
        false_reject=reject,
        kappa=_interval(cohen_kappa(matrix)),
        weighted_kappa=_interval(cohen_kappa(matrix, "quadratic")),
        people=_people(rows),
        role=contract.role_for(tags),
        suggested=suggested,
        why=why,
    )


def calibrate_slices(rows: Sequence[Judged], contract: Contract, acceptable: float) -> tuple[SliceCalibration, ...]:
    """The figures by tag, and by each combination of tags the contract names; most cases first, then by name."""
    wanted: set[tuple[str, ...]] = {(tag,) for row in rows for tag in row.case.tags}
    wanted |= {part.tags for part in contract.slices}
    found = []
    for tags in wanted:
        mine = [row for row in rows if set(tags) <= set(row.case.tags)]
        if mine:
            found.append(calibrate_slice(mine, contract, acceptable, tags))
    return tuple(sorted(found, key=lambda part: (-part.cases, part.tags)))


def statistic_for(rows: Sequence[Judged]) -> Literal["kappa", "weighted kappa", "alpha"]:
    """The statistic that fits: alpha where several raters labelled, weighted kappa where all three verdicts are in
    use, plain kappa for accept or reject."""
    if any(len(row.labels) > 1 for row in rows):
        return "alpha"
    used = {row.truth.verdict for row in rows} | {row.said.verdict for row in rows}
    return "weighted kappa" if GradeVerdict.PARTIAL in used else "kappa"


def disagreements(rows: Sequence[Judged], quote: str) -> tuple[Disagreement, ...]:
    """The cases to look at, false accepts first, then by how far apart the verdicts are, then by id.

    :param quote: ``none``, ``short`` or ``full``: how much foreign text may be carried.
    """
    found = [(kind, row) for row in rows if (kind := _kind(row)) is not None]
    found.sort(key=lambda pair: (_KIND_ORDER.index(pair[0]), -_apart(pair[1]), pair[1].case.id))
    return tuple(
        Disagreement(
            case=row.case.id,
            kind=kind,
            tags=row.case.tags,
            people=row.truth.verdict,
            truth=row.truth.source,
            labels=row.case.labels,
            grader=row.said,
            runs=row.runs,
            question=_quoted(row.case.question, quote),
            answer=_quoted(row.case.answer, quote),
            reason=_quoted(row.reason, quote),
            location=row.case.location,
        )
        for kind, row in found
    )


def sources(rows: Sequence[Judged]) -> dict[TruthSource, int]:
    """How many cases get their human verdict from where."""
    counts = Counter(row.truth.source for row in rows)
    return {source: counts[source] for source in TruthSource}


def overruled(rows: Sequence[Judged]) -> int:
    """Cases whose ``expected`` differs from the majority of their raters."""
    return sum(row.truth.verdict is not row.case.expected for row in rows)


# ---------------------------------------------------------------- parts


def _people(rows: Sequence[Judged]) -> People:
    raters = sorted({rater for row in rows for rater, label in row.case.labels.items() if label is not None})
    several = [row for row in rows if len(row.labels) > 1]
    if not several:
        return People(raters=len(raters))
    # Pairs of one case hang together: an interval that takes them for independent would be too narrow.
    pairs = [a is b for row in several for a, b in combinations(row.labels, 2)]
    mine = [label is said for row in several if (said := row.said.verdict) is not None for label in row.labels]
    two = None
    if len(raters) == 2:
        both = [(row.case.labels[raters[0]], row.case.labels[raters[1]]) for row in several]
        table = confusion([a for a, _ in both], [b for _, b in both], ORDER)
        # Which of the two comes first must not show, not even in the last digit.
        two = min(table, [list(column) for column in zip(*table, strict=True)])
    # Units have no order; a fixed one keeps sums of floats equal to the last digit.
    several = sorted(several, key=lambda row: (sorted(label.rank for label in row.labels), row.said))
    units: list[list[float | None]] = [[float(label.rank) for label in row.labels] for row in several]
    joined = [
        [*unit, None if row.said.verdict is None else float(row.said.verdict.rank)]
        for unit, row in zip(units, several, strict=True)
    ]
    return People(
        raters=len(raters),
        cases=len(several),
        unanimous=_share(sum(len(set(row.labels)) == 1 for row in several), len(several)),
        pairs=Tally(k=sum(pairs), n=len(pairs)),
        grader_pairs=Tally(k=sum(mine), n=len(mine)),
        kappa=None if two is None else _interval(cohen_kappa(two)),
        weighted_kappa=None if two is None else _interval(cohen_kappa(two, "quadratic")),
        alpha=_interval(krippendorff_alpha(units, "ordinal")),
        alpha_with_grader=_interval(krippendorff_alpha(joined, "ordinal")),
    )


def _confusion_row(people: GradeVerdict, rows: Sequence[Judged]) -> ConfusionRow:
    counts: Mapping[Said, int] = Counter(row.said for row in rows if row.truth.verdict is people)
    fields: dict[str, Any] = {said.name.lower(): counts.get(said, 0) for said in Said}
    return ConfusionRow(people=people, **fields)


def _error(k: int, n: int, unusable: int, acceptable: float) -> ErrorShare:
    # A gate that gets unusable replies blocks or stops: for what a grader may decide they are errors.
    low, high = clopper_pearson(k + unusable, n + unusable)
    evidence = Evidence.WITHIN if high <= acceptable else Evidence.ABOVE if low > acceptable else Evidence.UNPROVEN
    if n + unusable == 0:
        evidence = Evidence.UNPROVEN
    return ErrorShare(**_share(k, n).model_dump(), unusable=unusable, evidence=evidence)


def _share(k: int, n: int) -> Share:
    low, high = clopper_pearson(k, n)
    return Share(k=k, n=n, low=low, high=high)


def _interval(estimate: Estimate) -> Interval:
    return Interval(value=estimate.value, low=estimate.low, high=estimate.high, n=estimate.n)


def _kind(row: Judged) -> Kind | None:
    match row.said:
        case Said.UNUSABLE:
            return "unusable"
        case Said.ABSTAINED:
            return "abstained"
        case Said.UNMEASURED:
            return "not measured"
    if row.said.verdict is row.truth.verdict:
        return None
    if row.said is Said.CORRECT:
        return "false accept"
    return "false reject" if row.truth.verdict is GradeVerdict.CORRECT else "other verdict"


def _apart(row: Judged) -> int:
    return 0 if row.said.verdict is None else abs(row.said.verdict.rank - row.truth.verdict.rank)


def _quoted(text: str, quote: str) -> str | None:
    if not text or quote == "none":
        return None
    return text if quote == "full" or len(text) <= SHORT else text[:SHORT] + "…"
