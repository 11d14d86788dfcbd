"""Ladders: is a worse answer scored higher than a better one? Pure on numbers; higher is better.

A single noisy score inverts close rungs all the time, so the screen compares medians and only fresh repeats confirm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

CONFIRM_SHARE = 0.9
"""Cross pairs the worse rung must win. At 5 runs each a true tie reaches it in 0.24 % (benchmark: ladder rows)."""
CONFIRM_RUNS = 5
"""Fresh runs of each rung to confirm an inversion."""


def adjacent_pairs(levels: Sequence[float]) -> list[tuple[int, int]]:
    """Indices (worse, better) of all rungs on neighbouring distinct levels. Rungs of one level are never compared."""
    distinct = sorted(set(levels))
    pairs = []
    for low, high in pairwise(distinct):
        below = [i for i, level in enumerate(levels) if level == low]
        above = [i for i, level in enumerate(levels) if level == high]
        pairs += [(i, j) for i in below for j in above]
    return pairs


def inverted(low: Sequence[float], high: Sequence[float]) -> bool:
    """Screen: whether the worse rung's median is above the better one's. A tie upholds.

    :raises ValueError: a rung without a score.
    """
    if not low or not high:
        raise ValueError("a rung has no score")
    return median(low) > median(high)


def worse_wins(low: Sequence[float], high: Sequence[float]) -> float:
    """Share of cross pairs in which the worse rung scores higher, ties half: Mann and Whitney's U over all pairs.

    (Mann and Whitney 1947, Ann. Math. Statist. 18:50.)

    :raises ValueError: a rung without a score.
    """
    if not low or not high:
        raise ValueError("a rung has no score")
    wins = sum((a > b) + (a == b) / 2 for a in low for b in high)
    return wins / (len(low) * len(high))


def confirmed_inversion(low: Sequence[float], high: Sequence[float]) -> bool:
    """Whether fresh repeats confirm an inversion: the worse rung wins 90 % of the cross pairs or more."""
    return worse_wins(low, high) >= CONFIRM_SHARE - 1e-9


def unstable(low: Sequence[float], high: Sequence[float]) -> bool:
    """Whether repeats contradict each other: neither rung wins 90 % of the cross pairs, and scores differ."""
    share = worse_wins(low, high)
    return 1 - CONFIRM_SHARE + 1e-9 < share < CONFIRM_SHARE - 1e-9 and len({*low, *high}) > 1


def outliers(levels: Sequence[float], scores: Sequence[float]) -> list[int]:
    """Rungs that break the order: those outside the longest chain in which no better rung scores lower.

    One defect is one outlier, however many pairs it inverts. Of chains of equal length the one that keeps the lower
    rungs wins, so the same scores always name the same rung.
    """
    order = sorted(range(len(levels)), key=lambda i: (levels[i], scores[i], i))
    best: list[int] = []
    previous: list[int | None] = []
    for place, i in enumerate(order):
        length, before = 1, None
        for earlier in range(place):
            if scores[order[earlier]] <= scores[i] and best[earlier] + 1 > length:
                length, before = best[earlier] + 1, earlier
        best.append(length)
        previous.append(before)
    if not order:
        return []
    place_or_none: int | None = best.index(max(best))
    chain = set()
    while place_or_none is not None:
        chain.add(order[place_or_none])
        place_or_none = previous[place_or_none]
    return [i for i in range(len(levels)) if i not in chain]


def spread(levels: Sequence[float], scores: Sequence[float], width: float) -> float:
    """Median score of the top level minus that of the bottom level, as a share of the scale's width.

    :raises ValueError: fewer than two levels, or a scale without width.
    """
    bottom, top = min(levels, default=0), max(levels, default=0)
    if bottom == top or width <= 0:
        raise ValueError("a spread needs two levels and a scale")
    return (
        median(s for level, s in zip(levels, scores, strict=True) if level == top)
        - median(s for level, s in zip(levels, scores, strict=True) if level == bottom)
    ) / width


def flat(levels: Sequence[float], scores: Sequence[float], width: float, min_spread: float = 0.3) -> bool:
    """Whether the best and the worst answers are scored too much alike. 0.3 of the scale is the policy's default."""
    return spread(levels, scores, width) < min_spread - 1e-9
