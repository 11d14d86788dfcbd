"""Agreement of a grader with people, and of people with each other."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from grader_gate.decision.statistics import CONFIDENCE, clopper_pearson, z_value
from grader_gate.model import GradeVerdict

Weights = Literal["none", "linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval"]
BOOTSTRAPS = 1000
"""Resamples of a bootstrap interval; its ends are then steady to about 0.01."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its 95 % interval. ``value`` is None where it is not defined; ``n`` units entered it."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """``k`` errors of ``n``, with the exact 95 % interval of Clopper and Pearson."""

    k: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        """``k / n``, or None where nothing could go wrong."""
        return self.k / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Both ways to be wrong.

    :ivar false_accept: ``correct`` said of an answer that people do not call correct.
    :ivar false_reject: anything else said of an answer that people call correct.
    :ivar unjudged: answers without a verdict (abstained, not usable); in neither rate.
    """

    false_accept: ErrorRate
    false_reject: ErrorRate
    unjudged: int


def error_rates(expected: Sequence[GradeVerdict], got: Sequence[GradeVerdict | None]) -> ErrorRates:
    """False accepts and false rejects; the two sequences belong together, entry by entry."""
    accept = reject = bad = good = unjudged = 0
    for truth, said in zip(expected, got, strict=True):
        if said is None:
            unjudged += 1
        elif truth is GradeVerdict.CORRECT:
            good += 1
            reject += said is not GradeVerdict.CORRECT
        else:
            bad += 1
            accept += said is GradeVerdict.CORRECT
    return ErrorRates(
        ErrorRate(accept, bad, *clopper_pearson(accept, bad)),
        ErrorRate(reject, good, *clopper_pearson(reject, good)),
        unjudged,
    )


def confusion(expected: Sequence[Hashable], got: Sequence[Hashable], categories: Sequence[Hashable]) -> list[list[int]]:
    """Counts: one row for each expected category, one column for each that was given, in the order of ``categories``.

    :raises ValueError: a value outside ``categories``.
    """
    counts = Counter(zip(expected, got, strict=True))
    strange = {value for pair in counts for value in pair} - set(categories)
    if strange:
        raise ValueError(f"unknown categories: {', '.join(sorted(map(str, strange)))}")
    return [[counts[row, column] for column in categories] for row in categories]


def cohen_kappa(matrix: Sequence[Sequence[int]], weights: Weights = "none") -> Estimate:
    """Cohen's kappa of a square confusion matrix, unweighted (Cohen 1960) or weighted over ordered categories (1968).

    The interval is the large-sample one of Fleiss, Cohen and Everitt (1969, Psychol. Bull. 72:323, formula 9 there for
    weighted kappa, of which the unweighted one is a case), cut to -1 … 1. Undefined where both raters use one category.
    """
    size = len(matrix)
    n = sum(map(sum, matrix))
    if n == 0:
        return Estimate(None, None, None, 0)
    rows = [sum(row) / n for row in matrix]
    columns = [sum(row[j] for row in matrix) / n for j in range(size)]
    weight = [[_agreement(i, j, size, weights) for j in range(size)] for i in range(size)]
    places = [(i, j) for i in range(size) for j in range(size)]
    observed = sum(weight[i][j] * matrix[i][j] / n for i, j in places)
    chance = sum(weight[i][j] * rows[i] * columns[j] for i, j in places)
    if 1 - chance < 1e-12:
        return Estimate(None, None, None, n)
    # Rounding may carry a perfect disagreement past -1, and out of its own interval.
    kappa = max(-1.0, min(1.0, (observed - chance) / (1 - chance)))
    by_row = [sum(columns[j] * weight[i][j] for j in range(size)) for i in range(size)]
    by_column = [sum(rows[i] * weight[i][j] for i in range(size)) for j in range(size)]
    total = sum(matrix[i][j] / n * (weight[i][j] - (by_row[i] + by_column[j]) * (1 - kappa)) ** 2 for i, j in places)
    variance = (total - (kappa - chance * (1 - kappa)) ** 2) / (n * (1 - chance) ** 2)
    half = z_value() * sqrt(max(0.0, variance))
    return Estimate(kappa, max(-1.0, kappa - half), min(1.0, kappa + half), n)


def _agreement(i: int, j: int, size: int, weights: Weights) -> float:
    if weights == "none" or size < 2:
        return float(i == j)
    apart = abs(i - j) / (size - 1)
    return 1 - (apart if weights == "linear" else apart * apart)


def krippendorff_alpha(units: Sequence[Sequence[float | None]], metric: Metric = "nominal") -> Estimate:
    """Krippendorff's alpha (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability), with missing values.

    :param units: for each unit the values of its raters; None is missing; units with fewer than two values drop out.
    :return: the interval is the 95 % percentile bootstrap over units, seeded by the data: equal data, equal interval.
        Undefined where no unit has two values, or all values are equal.
    """
    patterns = Counter(
        tuple(sorted(value for value in unit if value is not None))
        for unit in units
        if sum(value is not None for value in unit) > 1
    )
    n = sum(patterns.values())
    value = _alpha(patterns, metric)
    if value is None:
        return Estimate(None, None, None, n)
    kinds = sorted(patterns)
    seed = hashlib.sha256(repr((metric, [(kind, patterns[kind]) for kind in kinds])).encode()).digest()
    rng = random.Random(int.from_bytes(seed[:8], "big"))  # noqa: S311 - a bootstrap, not a secret
    weights = [patterns[kind] for kind in kinds]
    drawn = (_alpha(Counter(rng.choices(kinds, weights, k=n)), metric) for _ in range(BOOTSTRAPS))
    found = sorted(a for a in drawn if a is not None)
    if not found:
        return Estimate(value, None, None, n)
    tail = (1 - CONFIDENCE) / 2
    return Estimate(value, _quantile(found, tail), _quantile(found, 1 - tail), n)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _alpha(patterns: Counter[tuple[float, ...]], metric: Metric) -> float | None:
    """Alpha of units grouped by their values.

    All three differences are squared distances of a score: nominal of an indicator each, ordinal of the mid-rank,
    interval of the value itself. So the sum over pairs is m * sum(x^2) - (sum x)^2 and needs no matrix.
    """
    counts: Counter[float] = Counter()
    for unit, times in patterns.items():
        for value in unit:
            counts[value] += times
    total = sum(counts.values())
    if len(counts) < 2:
        return None
    if metric == "nominal":
        expected = float(total * total - sum(c * c for c in counts.values()))
        observed = sum(
            times * (len(unit) ** 2 - sum(c * c for c in Counter(unit).values())) / (len(unit) - 1)
            for unit, times in patterns.items()
        )
    else:
        score = {value: value for value in counts} if metric == "interval" else _mid_ranks(counts)
        middle = sum(score[v] * c for v, c in counts.items()) / total
        score = {value: s - middle for value, s in score.items()}
        expected = 2 * total * sum(c * score[v] ** 2 for v, c in counts.items())
        observed = 0.0
        for unit, times in patterns.items():
            scores = [score[value] for value in unit]
            pairs = len(unit) * sum(s * s for s in scores) - sum(scores) ** 2
            observed += times * 2 * pairs / (len(unit) - 1)
    return 1 - (total - 1) * observed / expected if expected > 0 else None


def _mid_ranks(counts: Counter[float]) -> dict[float, float]:
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = below + counts[value] / 2
        below += counts[value]
    return ranks
