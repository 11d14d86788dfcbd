"""The coin rule: when do side-by-side re-runs of one claim prove that head broke it?

A *pair* is one fresh run of head and one of base. A *surprise* is a head run that upholds the claim or a base run that
breaks it. If head and base behave alike, and break the claim with any chance p, a pair has on average exactly one
surprise: 0 and 2 surprises have the same chance p(1 - p), at most 1/4 each. So the surprises minus the pairs are a
symmetric walk, and noise of any strength rarely gets far below one surprise a pair. That is all the rule rests on: no
model of the noise, no prior.

After each pair the rule looks at two lines. On or below the *accept* line the claim is confirmed broken; on or above
the *reject* line it is dismissed. Both have the slope of Wald's sequential test (Wald 1945, Ann. Math. Statist. 16:117)
of a surprise chance of 1/2 a run against :data:`SURPRISE`; the accept line is then placed by exact computation, not by
Wald's approximation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import ceil, floor, log

SURPRISE = 0.14
"""Surprises a run that the rule is tuned for: a claim that fails 72 % of head's runs and none of base's."""
MAX_PAIRS = 24
"""Pairs after which a claim that reached neither line is dismissed."""
MISS = 0.08
"""Wald's chance of dismissing a claim with :data:`SURPRISE`; places the reject line. Chosen together: noise
is dismissed after 8 to 9 runs on average, a claim that fails 80 % is confirmed in 97 to 99 %."""

_AGREE = log((1 - SURPRISE) / 0.5)
_DISAGREE = -log(SURPRISE / 0.5)
_STEP = _AGREE + _DISAGREE


class Outcome(Enum):
    """Where the re-runs of one claim stand."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Lines:
    """The two lines. Entry n - 1 belongs to n complete pairs.

    :ivar accept: most surprises that still confirm; -1 where no count does.
    :ivar reject: fewest surprises that dismiss.
    :ivar bound: chance that noise is confirmed, at most, whatever it is and however it changes between pairs.
    """

    accept: tuple[int, ...]
    reject: tuple[int, ...]
    bound: float


def _accept_line(height: float) -> tuple[int, ...]:
    return tuple(max(-1, floor((2 * n * _AGREE - height) / _STEP + 1e-9)) for n in range(1, MAX_PAIRS + 1))


def _reject_line() -> tuple[int, ...]:
    height = -log(MISS)
    return tuple(max(1, ceil((2 * n * _AGREE + height) / _STEP - 1e-9)) for n in range(1, MAX_PAIRS + 1))


def false_confirmation_bound(accept: Sequence[int], reject: Sequence[int]) -> float:
    """Chance that a claim on which both sides behave alike crosses the accept line: an upper bound over all noise.

    Exact by backward induction. Within a pair both sides break the claim with one chance p, which may be different in
    each pair and may even be chosen by an adversary who sees the pairs before. The chance of crossing is linear in
    v = p(1 - p), so the adversary loses nothing by choosing v = 0 or v = 1/4; the better of the two is taken at each
    point. Equal p in all pairs is one of the adversary's choices.
    """
    ahead: dict[int, float] = {}
    for n in range(len(accept), 0, -1):
        value: dict[int, float] = {}
        for s in range(2 * n + 1):
            if s <= accept[n - 1]:
                value[s] = 1.0
            elif s >= reject[n - 1] or n == len(accept):
                value[s] = 0.0
            else:
                still = ahead[s + 1]
                value[s] = max(still, (ahead[s] + 2 * still + ahead[s + 2]) / 4)
        ahead = value
    return max(ahead[1], (ahead[0] + 2 * ahead[1] + ahead[2]) / 4)


@lru_cache(maxsize=4096)
def lines(flips: int, alpha: float = 0.01) -> Lines:
    """The lines for each of ``flips`` claims of one run: noise is confirmed with chance ``alpha`` over all of them.

    The accept line is the highest of its slope whose bound is at most alpha / flips. More flips never raise it, and the
    reject line and the number of pairs do not depend on them: so a claim that is confirmed among many flips is
    confirmed among fewer.
    """
    share = alpha / max(1, flips)
    reject = _reject_line()
    heights = sorted({2 * n * _AGREE - s * _STEP for n in range(1, MAX_PAIRS + 1) for s in range(n)})
    low, high = 0, len(heights) - 1
    while low < high:
        middle = (low + high) // 2
        if false_confirmation_bound(_accept_line(heights[middle]), reject) <= share:
            high = middle
        else:
            low = middle + 1
    accept = _accept_line(heights[low])
    return Lines(accept, reject, false_confirmation_bound(accept, reject))


def judge(rule: Lines, least: Sequence[int], most: Sequence[int]) -> tuple[Outcome, int]:
    """Where a claim stands after its pairs, and how many of them that took.

    :param least: surprises of each pair when runs that were not measured count as expected.
    :param most: the same when they count as surprises; equal to ``least`` where all was measured.
    :return: ``UNDECIDED`` where what was not measured could have decided otherwise: so a missing run never turns a
        confirmed claim into a dismissed one or the reverse.
    """
    low = high = 0
    may_confirm = may_dismiss = False
    n = 0
    for n, (fewest, greatest) in enumerate(zip(least, most, strict=True), start=1):
        low, high = low + fewest, high + greatest
        last = n == MAX_PAIRS
        accept, reject = rule.accept[n - 1], rule.reject[n - 1]
        if high <= accept:
            return (Outcome.UNDECIDED if may_dismiss else Outcome.CONFIRMED), n
        if low >= reject or (last and low > accept):
            return (Outcome.UNDECIDED if may_confirm else Outcome.DISMISSED), n
        may_confirm |= low <= accept
        may_dismiss |= high >= reject
        if last or (may_confirm and may_dismiss):
            return Outcome.UNDECIDED, n
    return Outcome.OPEN, n


def next_look(rule: Lines, pairs: int, surprises: int) -> int:
    """How many pairs to have before either line can be reached: no run up to there can be wasted."""
    for n in range(pairs + 1, MAX_PAIRS):
        if surprises <= rule.accept[n - 1] or surprises + 2 * (n - pairs) >= rule.reject[n - 1]:
            return n
    return MAX_PAIRS
