"""Exact permutation tests for drops: is head worse than base over many claims?

Each *cluster* (claims that share runs, or one claim) is a stratum. If head and base behave alike, the passes of a
cluster are exchangeable, so which of them happens to be head's is a fair draw, independent between clusters. The sum of
head's failures then has a known distribution: the convolution of one small distribution per cluster. This is McNemar's
test generalised to several base passes and to clusters (Fisher 1935, The Design of Experiments, section 21; Mehta,
Patel and Gray 1985, JASA 80:969 for the stratified form).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from grader_gate.decision.statistics import binomial_pmf

Distribution = list[float]
"""Probabilities of 0, 1, 2, …"""


def convolve(left: Distribution, right: Distribution) -> Distribution:
    """Distribution of the sum of two independent counts."""
    if len(left) < len(right):
        left, right = right, left
    total = [0.0] * (len(left) + len(right) - 1)
    for shift, weight in enumerate(right):
        if weight:
            for place, value in enumerate(left, start=shift):
                total[place] += weight * value
    return total


def head_draws(failures: Sequence[int], heads: int) -> Counter[int]:
    """In how many ways ``heads`` of the passes have which sum of failures, each choice of passes counted once."""
    ways: list[Counter[int]] = [Counter() for _ in range(heads + 1)]
    ways[0][0] = 1
    for value in failures:
        for chosen in range(heads, 0, -1):
            for total, count in ways[chosen - 1].items():
                ways[chosen][total + value] += count
    return ways[heads]


def upper_tail(strata: Iterable[tuple[Sequence[int], int]], observed: int) -> float:
    """P(sum of head's failures >= observed) under the fair draw.

    :param strata: for each cluster its failures by pass, both sides in any order, and how many passes are head's.
    """
    fixed = 0
    alike: Counter[tuple[tuple[int, int], ...]] = Counter()
    for failures, heads in strata:
        if min(failures) == max(failures):
            fixed += failures[0] * heads
        else:
            draws = head_draws(failures, heads)
            alike[tuple(sorted(draws.items()))] += 1
    total: Distribution = [1.0]
    for draws_of, count in sorted(alike.items()):
        offset, step = draws_of[0][0], draws_of[-1][0] - draws_of[0][0]
        fixed += offset * count
        ways = sum(number for _, number in draws_of)
        if len(draws_of) == 2:
            part = [0.0] * (step * count + 1)
            for k in range(count + 1):
                part[k * step] = binomial_pmf(k, count, draws_of[1][1] / ways)
        else:
            single = [0.0] * (step + 1)
            for value, number in draws_of:
                single[value - offset] = number / ways
            part = _power(single, count)
        total = convolve(total, part)
    return min(1.0, sum(total[max(0, observed - fixed) :]))


def _power(single: Distribution, count: int) -> Distribution:
    result: Distribution = [1.0]
    square = single
    while count:
        if count & 1:
            result = convolve(result, square)
        count >>= 1
        if count:
            square = convolve(square, square)
    return result


def paired_tail(differences: Iterable[int]) -> float:
    """One-sided exact p of paired differences (head's failures minus base's): each sign is a fair coin.

    For differences of 1 this is McNemar's exact test. Pairs without a difference say nothing.
    """
    sizes: Counter[int] = Counter()
    observed = 0
    for difference in differences:
        if difference:
            sizes[abs(difference)] += 1
            observed += max(0, difference)
    total: Distribution = [1.0]
    for size, count in sorted(sizes.items()):
        part = [0.0] * (size * count + 1)
        for k in range(count + 1):
            part[k * size] = binomial_pmf(k, count, 0.5)
        total = convolve(total, part)
    return min(1.0, sum(total[observed:]))
