"""Kill-rate floors: an absolute guard beside the claims.

Two questions, kept apart. *Did this pull request lose mutants?* is asked of the mutants themselves: each is a claim,
and a new survivor is confirmed side by side like any flip. *Is the grader sensitive enough?* is asked here, by count,
with the interval beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader_gate.decision.statistics import binomial_cdf, wilson
from grader_gate.result import Standing

ENFORCEABLE_FROM = 10
"""Mutants below which no floor is enforced: at 9 the 95 % interval of a perfect score still reaches down to 0.70."""
KILLS_NEEDED = 2
"""Kills among the first run and two re-runs that count as a kill."""
RUNS = 3
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class FloorDecision:
    """What a floor says of head.

    :ivar breached: below the floor on head, and new against base: fails the suite.
    :ivar debt: below on base as well: reported, not blamed on the pull request.
    :ivar unexercised: a floor that no mutant exercises: the verdict is ``error``.
    :ivar interval: Wilson 95 % of head.
    """

    standing: Standing
    breached: bool
    debt: bool
    unexercised: bool
    interval: tuple[float, float]
    sentence: str


def killed(runs: Sequence[bool | None]) -> bool | None:
    """Whether a mutant counts as killed: in its first run, or else in 2 of 3 runs.

    :param runs: True where the grader rejected it; False also where the reply could not be used; None not measured.
    :return: None while the runs so far do not decide: run it again, up to three runs.
    """
    if not runs or runs[0] is True:
        return True if runs else None
    first = runs[:RUNS]
    kills = sum(run is True for run in first)
    survivals = sum(run is False for run in first)
    if kills >= KILLS_NEEDED:
        return True
    return False if survivals > RUNS - KILLS_NEEDED else None


def below(kills: int, n: int, floor: float) -> bool:
    """Whether the count is below the floor: 17 of 20 is, against 0.90; 18 of 20 is not."""
    return kills + _EPSILON < floor * n


def standing(kills: int, n: int, floor: float) -> Standing:
    """A count against a floor (0 to 1): ``above`` where the lower 95 % Wilson bound reaches it, else by count.

    :raises ValueError: ``kills`` is not between 0 and ``n``.
    """
    if not 0 <= kills <= n:
        raise ValueError(f"{kills} kills of {n} mutants")
    if n < ENFORCEABLE_FROM:
        return Standing.UNENFORCEABLE
    if below(kills, n, floor):
        return Standing.BELOW
    return Standing.ABOVE if wilson(kills, n)[0] >= floor - _EPSILON else Standing.UNPROVEN


def surely_below(kills: int, n: int, floor: float, alpha: float = 0.05) -> bool:
    """Whether even a grader right at the floor would rarely kill so few: P(Bin(n, floor) <= kills) <= alpha."""
    return binomial_cdf(kills, n, floor) <= alpha


def mutants_needed(floor: float, survivors: int = 0, alpha: float = 0.05) -> int | None:
    """Mutants with this many survivors that prove the floor: least n with P(Bin(n, 1 - floor) <= survivors) <= alpha.

    29 for 0.90 without a survivor, 46 with one; None for a floor of 1, which nothing proves.
    """
    if floor >= 1:
        return None
    n = survivors + 1
    while binomial_cdf(survivors, n, 1 - floor) > alpha:
        n += 1
    return n


def judge(
    head: tuple[int, int],
    floor: float,
    base: tuple[int, int] | None = None,
    *,
    new_survivors: int | None = None,
) -> FloorDecision:
    """A floor's verdict on head's count after re-runs.

    A count near the floor falls below it by noise alone in many runs. So where base is known a breach takes both: a
    count that base reaches and head does not, and a survivor that side-by-side runs confirm as new.

    :param head: kills and mutants where the identity passed.
    :param base: the same for base; None where it is not known, which then excuses nothing.
    :param new_survivors: mutants of this floor that were confirmed as new survivors; None where nothing was confirmed
        one by one (no base to run beside): the counts decide alone.
    """
    kills, n = head
    where = standing(kills, n, floor)
    interval = wilson(kills, n)
    if n == 0:
        return FloorDecision(where, False, False, True, interval, f"no mutant exercises the floor of {floor:.0%}")
    count = f"{kills} of {n} killed, {interval[0]:.0%} to {interval[1]:.0%}"
    if where is Standing.UNENFORCEABLE:
        sentence = f"{count}: fewer than {ENFORCEABLE_FROM} mutants, the floor of {floor:.0%} is not enforceable"
        return FloorDecision(where, False, False, False, interval, sentence)
    if where is not Standing.BELOW:
        reach = "is proven" if where is Standing.ABOVE else "is reached, not proven"
        return FloorDecision(where, False, False, False, interval, f"{count}: the floor of {floor:.0%} {reach}")
    debt = base is not None and base[1] > 0 and below(base[0], base[1], floor)
    new = not debt and new_survivors != 0
    tail = f"; base is below as well, {base[0]} of {base[1]}" if debt and base else ""
    if not debt and not new:
        tail = "; no survivor is confirmed as new"
    return FloorDecision(where, new, debt, False, interval, f"{count}: below the floor of {floor:.0%}{tail}")
