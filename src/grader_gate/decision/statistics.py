"""Exact binomial probabilities, intervals and tests. Pure functions of counts, no heavy import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
"""Confidence of every interval that is shown."""


def z_value(confidence: float = CONFIDENCE) -> float:
    """Two-sided standard normal quantile, e.g. 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def binomial_pmf(k: int, n: int, p: float) -> float:
    """P(X = k) for X ~ Bin(n, p), through log-gamma (relative error below 1e-11 for n up to 10^5)."""
    if k < 0 or k > n:
        return 0.0
    if p <= 0.0:
        return 1.0 if k == 0 else 0.0
    if p >= 1.0:
        return 1.0 if k == n else 0.0
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k), summed term by term over the shorter tail."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    if k > n * p:
        return max(0.0, 1.0 - _sum(k + 1, n, n, p))
    return min(1.0, _sum(0, k, n, p))


def binomial_sf(k: int, n: int, p: float) -> float:
    """P(X >= k): the upper tail, ``k`` included."""
    return binomial_cdf(n - k, n, 1.0 - p)


def _sum(low: int, high: int, n: int, p: float) -> float:
    """P(low <= X <= high)."""
    return sum(binomial_pmf(i, n, p) for i in range(low, high + 1))


def wilson(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927, JASA 22:209); (0, 1) where n = 0."""
    if n == 0:
        return (0.0, 1.0)
    z = z_value(confidence)
    share, z2 = k / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return (0.0 if k == 0 else max(0.0, middle - half), 1.0 if k == n else min(1.0, middle + half))


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934, Biometrika 26:404), by bisection on the exact tails."""
    if n == 0:
        return (0.0, 1.0)
    tail = (1.0 - confidence) / 2
    low = 0.0 if k == 0 else _bisect(lambda p: binomial_sf(k, n, p) - tail)
    high = 1.0 if k == n else _bisect(lambda p: tail - binomial_cdf(k, n, p))
    return (low, high)


def _bisect(rising: Callable[[float], float]) -> float:
    """The root in [0, 1] of a rising function, to 1e-12."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def mcnemar(worse: int, better: int) -> float:
    """One-sided exact p of McNemar's test (1947, Psychometrika 12:153): P(Bin(worse + better, 1/2) >= worse)."""
    return binomial_sf(worse, worse + better, 0.5)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjusted p values (Holm 1979, Scand. J. Statist. 6:65), by name, each at most 1."""
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda key: (p_values[key], key))):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = running
    return adjusted


def runs_needed(flips: int, allowed: int = 6, alpha: float = 0.01) -> int:
    """Pairs k of a fixed-size confirmation that tolerates ``allowed`` surprises in its 2k runs.

    The smallest k with P(Bin(2k, 1/2) <= allowed) <= alpha / flips. For any share p of broken runs that both sides
    have in common the surprises are Bin(k, 1 - p) + Bin(k, p), with mean k; by Hoeffding (1956, Ann. Math. Statist.
    27:713, theorem 4) their lower tail is largest at p = 1/2 as long as ``allowed`` < k.

    :param flips: claims to be confirmed in the same run, 1 or more; the chance is shared out between them.
    """
    k = allowed + 1
    while binomial_cdf(allowed, 2 * k, 0.5) > alpha / max(1, flips):
        k += 1
    return k
