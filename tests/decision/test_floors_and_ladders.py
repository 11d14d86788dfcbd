"""Floors by count with their evidence; ladders by medians, cross pairs and chains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.decision.floors import below, judge, killed, mutants_needed, standing, surely_below
from grader_gate.decision.ladders import (
    adjacent_pairs,
    confirmed_inversion,
    flat,
    inverted,
    outliers,
    spread,
    unstable,
    worse_wins,
)
from grader_gate.result import Standing


@pytest.mark.parametrize(
    ("n", "breach_under", "sure_at"),
    [(5, 5, 2), (10, 9, 6), (15, 14, 10), (20, 18, 15), (30, 27, 23), (50, 45, 40), (100, 90, 84)],
)
def test_the_table_of_a_floor_of_90(n, breach_under, sure_at):
    assert below(breach_under - 1, n, 0.9)
    assert not below(breach_under, n, 0.9)
    assert surely_below(sure_at, n, 0.9)
    assert not surely_below(sure_at + 1, n, 0.9)


@pytest.mark.parametrize(
    ("floor", "needed"),
    [(0.9, [29, 46, 61, 76]), (0.8, [14, 22, 30, 37]), (0.95, [59, 93, 124, 153])],
)
def test_mutants_needed_to_prove_a_floor(floor, needed):
    assert [mutants_needed(floor, survivors) for survivors in range(4)] == needed
    assert mutants_needed(1.0) is None


def test_standings():
    assert standing(9, 9, 0.9) is Standing.UNENFORCEABLE
    assert standing(17, 20, 0.9) is Standing.BELOW
    assert standing(18, 20, 0.9) is Standing.UNPROVEN
    assert standing(40, 40, 0.9) is Standing.ABOVE
    assert standing(10, 20, 0.5) is Standing.UNPROVEN
    assert standing(11, 20, 0.55) is Standing.UNPROVEN, "0.55 * 20 is a little over 11 in binary"
    with pytest.raises(ValueError, match="3 kills of 2"):
        standing(3, 2, 0.9)


def test_a_breach_is_new_against_base():
    new = judge((17, 20), 0.9, (19, 20))
    assert (new.breached, new.debt, new.standing) == (True, False, Standing.BELOW)
    assert new.sentence == "17 of 20 killed, 64% to 95%: below the floor of 90%"
    old = judge((16, 20), 0.9, (17, 20))
    assert (old.breached, old.debt) == (False, True)
    assert old.sentence.endswith("base is below as well, 17 of 20")
    assert judge((17, 20), 0.9).breached, "an unknown base excuses nothing"
    assert judge((17, 20), 0.9, (0, 0)).breached
    noise = judge((17, 20), 0.9, (19, 20), new_survivors=0)
    assert (noise.breached, noise.debt, noise.standing) == (False, False, Standing.BELOW)
    assert noise.sentence.endswith("; no survivor is confirmed as new")
    assert judge((17, 20), 0.9, (19, 20), new_survivors=1).breached
    assert not judge((16, 20), 0.9, (17, 20), new_survivors=1).breached, "base is below as well"
    fine = judge((18, 20), 0.9, (20, 20))
    assert not fine.breached
    assert not fine.debt


def test_too_few_and_none_at_all():
    few = judge((2, 9), 0.9, (9, 9))
    assert (few.breached, few.unexercised, few.standing) == (False, False, Standing.UNENFORCEABLE)
    none = judge((0, 0), 0.9)
    assert none.unexercised
    assert not none.breached
    assert none.sentence == "no mutant exercises the floor of 90%"


@pytest.mark.parametrize(
    ("runs", "result"),
    [
        ([], None),
        ([True], True),
        ([False], None),
        ([None], None),
        ([False, True], None),
        ([False, True, True], True),
        ([False, True, False], False),
        ([False, False], False),
        ([None, True, True], True),
        ([None, True, False], None),
    ],
)
def test_a_survivor_is_run_again(runs, result):
    assert killed(runs) is result


def test_only_neighbouring_distinct_levels_are_compared():
    assert adjacent_pairs([0, 0, 0.5, 1, 1]) == [(0, 2), (1, 2), (2, 3), (2, 4)]
    assert adjacent_pairs([1, 0]) == [(1, 0)]
    assert adjacent_pairs([2, 2]) == []


def test_screen_and_confirmation_of_an_inversion():
    assert inverted([3, 9, 9], [8, 8, 8])
    assert not inverted([8], [8])
    assert worse_wins([1, 2], [1, 1]) == 0.75
    assert confirmed_inversion([5] * 5, [4, 4, 4, 4, 5])
    assert worse_wins([5] * 5, [4, 4, 4, 5, 5]) == pytest.approx(0.8)
    assert not confirmed_inversion([5] * 5, [4, 4, 4, 5, 5])
    assert not confirmed_inversion([5] * 5, [5] * 5)
    assert unstable([5, 1], [3, 3])
    assert not unstable([5, 5], [5, 5])
    assert not unstable([1, 1], [3, 3])
    for wrong in (inverted, worse_wins):
        with pytest.raises(ValueError, match="no score"):
            wrong([], [1])


def test_one_defect_is_one_outlier():
    assert outliers([0, 1, 2, 3], [0.9, 0.2, 0.3, 0.4]) == [0]
    assert outliers([0, 1, 2, 3], [0.1, 0.2, 0.9, 0.4]) in ([2], [3])
    assert outliers([0, 0, 1], [0.5, 0.1, 0.6]) == []
    assert outliers([0, 1, 1], [0.5, 0.9, 0.1]) == [2]
    assert outliers([], []) == []


LADDER = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=7)


@given(LADDER)
def test_without_its_outliers_a_ladder_is_in_order_and_none_is_named_in_vain(rungs):
    def ordered(kept):
        return all(a[1] <= b[1] for a in kept for b in kept if a[0] < b[0])

    out = outliers([level for level, _ in rungs], [score for _, score in rungs])
    kept = [rung for i, rung in enumerate(rungs) if i not in out]
    assert ordered(kept)
    size = len(rungs)
    best = max(
        sum(1 for i in range(size) if mask >> i & 1)
        for mask in range(1 << size)
        if ordered([rungs[i] for i in range(size) if mask >> i & 1])
    )
    assert len(kept) == best


def test_spread_and_flat():
    levels, scores = [0, 0, 1, 2], [2, 4, 5, 8]
    assert spread(levels, scores, 10) == pytest.approx(0.5)
    assert not flat(levels, scores, 10)
    assert flat(levels, [5, 5, 5, 7], 10)
    assert not flat([0, 1], [0, 3], 10), "exactly the smallest spread is enough"
    with pytest.raises(ValueError, match="two levels"):
        spread([1, 1], [1, 2], 10)
