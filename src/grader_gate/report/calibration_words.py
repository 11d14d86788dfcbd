"""A calibration in words and tables, alike in every renderer. Strings that come out of here are not escaped yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader_gate.audits.calibration_labels import HOLDOUT, TUNE
from grader_gate.audits.calibration_records import (
    Disagreement,
    ErrorShare,
    Evidence,
    Interval,
    Said,
    Share,
    SliceCalibration,
    SuiteCalibration,
    TruthSource,
)
from grader_gate.report.figures import percent, plural
from grader_gate.result import Tally

SLICES_SHOWN = 30
CASES_SHOWN = 20
"""Slices and cases shown; ``calibration.json`` has them all."""

COUNTS = (
    "Accept means the verdict `correct`. A false accept is `correct` said of an answer that people do not call correct "
    "(partial or incorrect); a false reject is another verdict than `correct` said of one that they do. Abstentions "
    "and unusable replies are in neither rate and are counted apart."
)
EVIDENCE_WORDS = {
    Evidence.WITHIN: "proven within",
    Evidence.UNPROVEN: "unproven",
    Evidence.ABOVE: "proven above",
}
_STATISTIC_NOTES = {
    "kappa": "two verdicts are in use, so unweighted kappa fits",
    "weighted kappa": "three ordered verdicts are in use, so kappa with quadratic weights fits",
    "alpha": "several raters labelled, so Krippendorff's alpha (ordinal) fits",
}


class Table(NamedTuple):
    """Header and rows of words, not yet escaped."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def title(suite: SuiteCalibration) -> str:
    """Which grader on which suite."""
    return f"{suite.grader} ({suite.kind}) against people, suite {suite.suite}"


def split_words(suite: SuiteCalibration) -> str:
    """Which cases the figures are from, and which they are not."""
    words = f"Split `{suite.split}`: {plural(suite.overall.cases, 'case')}"
    if suite.split not in (TUNE, HOLDOUT):
        words += f" of {suite.left_out + suite.overall.cases + suite.held_out:,}"
    if suite.repeats > 1:
        words += f", each graded {suite.repeats} times"
    if suite.split == HOLDOUT:
        return f"{words}, kept from tuning."
    if suite.held_out:
        return f"{words}; {suite.held_out:,} held out and not graded."
    return f"{words}; none is held out, so tuning may have seen each of them."


def truth_words(suite: SuiteCalibration) -> str:
    """Where the people's verdicts come from."""
    words = {
        TruthSource.MAJORITY: "by the majority of raters",
        TruthSource.DECIDED: "by `expected` where raters are tied",
        TruthSource.EXPECTED: "by `expected` alone",
    }
    said = ", ".join(f"{count:,} {words[source]}" for source, count in suite.truth.items() if count)
    if suite.overruled:
        said += f"; in {suite.overruled:,} the majority overrules `expected`"
    return f"The people's verdict: {said}."


def confusion_table(part: SliceCalibration) -> Table:
    """People's verdicts by what the grader came to; columns that stay empty are left out, verdicts never."""
    always = {Said.CORRECT, Said.PARTIAL, Said.INCORRECT}
    columns = [s for s in Said if s in always or any(getattr(row, s.name.lower()) for row in part.confusion)]
    rows = [[row.people.value, *(f"{getattr(row, s.name.lower()):,}" for s in columns)] for row in part.confusion]
    return Table(["people ↓ grader →", *(s.value for s in columns)], rows)


def figures(suite: SuiteCalibration) -> Iterator[str]:
    """One line per figure of all cases."""
    part, people = suite.overall, suite.overall.people
    yield f"false accepts: {error_words(part.false_accept, suite.acceptable_error)}"
    yield f"false rejects: {error_words(part.false_reject, suite.acceptable_error)}"
    agreement = part.agreement
    if agreement.value is None:
        yield "agrees with people: not measured"
    else:
        span = span_words(agreement.low, agreement.high)
        yield f"agrees with people: {agreement.k:,} of {agreement.n:,} ({percent(agreement.value)}, {span})"
    weighted = f"weighted kappa (quadratic) {interval_words(part.weighted_kappa)}"
    yield f"agreement beyond chance: kappa {interval_words(part.kappa)}; {weighted}"
    if people.cases:
        yield (
            f"Krippendorff's alpha (ordinal): people alone {interval_words(people.alpha)}; "
            f"with the grader as one more rater {interval_words(people.alpha_with_grader)}"
        )
        yield (
            f"ceiling: {plural(people.raters, 'rater')}, two or more labels on {plural(people.cases, 'case')}; "
            f"all agree on {_of(people.unanimous)}; two raters agree in {_of(people.pairs)} pairs, "
            f"the grader and a rater in {_of(people.grader_pairs)}"
        )
        if people.kappa is not None and people.weighted_kappa is not None:
            yield (
                f"ceiling of kappa, one rater with the other: {interval_words(people.kappa)}; "
                f"weighted {interval_words(people.weighted_kappa)}"
            )
    else:
        yield "ceiling: unknown, for no case has two labels; add `labels: {ann: correct, bob: partial}` to some cases"
    yield f"read first: {suite.statistic}, for {_STATISTIC_NOTES[suite.statistic]}"
    yield (
        f"no verdict: {part.abstained.k:,} of {part.abstained.n:,} abstained, {part.unusable:,} unusable, "
        f"{part.unmeasured:,} of {part.cases:,} not measured"
    )
    if suite.repeats > 1:
        yield f"repeats disagree on {plural(part.unstable, 'case')}; the median counts"


def slice_table(suite: SuiteCalibration) -> Table:
    """Slices, most cases first."""
    rows = [
        (
            " + ".join(part.tags),
            f"{part.judged:,} of {part.cases:,}",
            _short(part.false_accept),
            _short(part.false_reject),
            _two(part.weighted_kappa.value),
            _two(part.people.alpha.value),
            part.role.value,
            part.suggested.value,
        )
        for part in suite.slices[:SLICES_SHOWN]
    ]
    head = ("slice", "judged", "false accepts", "false rejects", "weighted kappa", "people's alpha", "role", "supports")
    return Table(head, rows)


def suggestion_lines(suite: SuiteCalibration) -> Iterator[str]:
    """Role and slices, each with the numbers behind it."""
    suggestion = suite.suggestion
    now = suite.overall.role
    change = "as now" if now is suggestion.role else f"now {now.value}"
    yield f"role: {suggestion.role.value} ({change}). {suggestion.why}"
    for part in suggestion.slices:
        yield f"slice {' + '.join(part.tags)}: {part.role.value}. {part.why}"
    if suggestion.inherits:
        names = ", ".join(" + ".join(part.tags) for part in suggestion.inherits[:10])
        more = len(suggestion.inherits) - 10
        yield (
            f"too few cases to be judged on their own, so they inherit the role: {names}"
            + (f" and {more:,} more" if more > 0 else "")
        )


def case_words(case: Disagreement) -> str:
    """A case to review in one line, without the reason."""
    where = "" if case.location is None else f" ({case.location.path}:{case.location.line or 1})"
    return f"{case.case}{where}: {case.kind}; people {people_words(case)}; grader {grader_words(case)}"


def people_words(case: Disagreement) -> str:
    """The people's verdict, with each rater's label."""
    labels = ", ".join(f"{rater} {'–' if label is None else label.value}" for rater, label in case.labels.items())
    return f"{case.people.value} ({labels})" if labels else case.people.value


def grader_words(case: Disagreement) -> str:
    """What the grader came to; with repeats that differ, in how many of them."""
    if len(set(case.runs)) < 2:
        return case.grader.value
    return f"{case.grader.value} ({case.runs.count(case.grader)} of {len(case.runs)} repeats)"


def error_words(rate: ErrorShare, acceptable: float) -> str:
    """An error rate with its interval, beside the acceptable error."""
    if rate.value is None:
        said = f"0 of 0: no such case, nothing is known; acceptable {percent(acceptable)}"
    else:
        said = (
            f"{rate.k:,} of {rate.n:,} ({percent(rate.value)}, {span_words(rate.low, rate.high)}); "
            f"acceptable {percent(acceptable)}: {EVIDENCE_WORDS[rate.evidence]}"
        )
    return said + (f", with {plural(rate.unusable, 'unusable reply', 'unusable replies')}" if rate.unusable else "")


def interval_words(interval: Interval) -> str:
    """``0.61 (0.52 to 0.70)``, or why there is none."""
    if interval.value is None:
        return "not defined (no variation)" if interval.n else "not defined (no cases)"
    if interval.low is None or interval.high is None:
        return _two(interval.value)
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def span_words(low: float, high: float) -> str:
    """A 95 % interval of a share."""
    return f"95 % interval {percent(low)} to {percent(high)}"


def _of(rate: Share | Tally | None) -> str:
    return "0 of 0" if rate is None else f"{rate.k:,} of {rate.n:,}" + (f" ({rate.k / rate.n:.0%})" if rate.n else "")


def _short(rate: ErrorShare) -> str:
    said = f"{rate.k:,}/{rate.n:,}"
    return said if rate.value is None else f"{said} ({100 * rate.low:.0f}–{100 * rate.high:.0f} %)"


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
