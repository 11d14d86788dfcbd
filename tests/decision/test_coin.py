"""The coin rule: its bound is a bound, its lines are nested, runs not measured never flip it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.decision.coin import MAX_PAIRS, Lines, Outcome, false_confirmation_bound, judge, lines, next_look

FLIPS = [1, 2, 3, 5, 10, 30, 100, 500]
PAIRS = st.lists(st.integers(0, 2), min_size=MAX_PAIRS, max_size=MAX_PAIRS)


def chance_to_confirm(rule: Lines, head, base) -> float:
    """Exact chance of confirmation when head and base fail with these chances in pair 1, 2, …; forward."""
    at, confirmed = {0: 1.0}, 0.0
    for n in range(1, MAX_PAIRS + 1):
        h, b = head[n - 1], base[n - 1]
        step = {0: h * (1 - b), 1: h * b + (1 - h) * (1 - b), 2: (1 - h) * b}
        new: dict[int, float] = {}
        for s, mass in at.items():
            for add, share in step.items():
                new[s + add] = new.get(s + add, 0.0) + mass * share
        confirmed += sum(mass for s, mass in new.items() if s <= rule.accept[n - 1])
        at = {s: mass for s, mass in new.items() if rule.accept[n - 1] < s < rule.reject[n - 1]}
    return confirmed


@pytest.mark.parametrize("flips", FLIPS)
def test_no_constant_noise_exceeds_the_bound(flips):
    rule = lines(flips)
    assert rule.bound <= 0.01 / flips
    worst = max(chance_to_confirm(rule, [p] * MAX_PAIRS, [p] * MAX_PAIRS) for p in np.linspace(0, 1, 101))
    assert worst <= rule.bound * (1 + 1e-9)
    # The worst constant noise is a fair coin, and the bound is close to it: it is not merely loose.
    assert worst == pytest.approx(chance_to_confirm(rule, [0.5] * MAX_PAIRS, [0.5] * MAX_PAIRS))
    assert rule.bound <= 1.2 * worst


@given(st.lists(st.floats(0, 1), min_size=MAX_PAIRS, max_size=MAX_PAIRS), st.sampled_from(FLIPS))
def test_noise_that_changes_between_pairs_does_not_exceed_the_bound(noise, flips):
    rule = lines(flips)
    assert chance_to_confirm(rule, noise, noise) <= rule.bound * (1 + 1e-9)


def test_the_bound_of_one_look_is_the_binomial_tail():
    # Accept only without a surprise after 4 pairs: 2 ** -8.
    accept, reject = (-1, -1, -1, 0), (9, 9, 9, 9)
    assert false_confirmation_bound(accept, reject) == pytest.approx(2**-8)


@pytest.mark.parametrize(("head", "base", "least"), [(0.98, 0.001, 0.995), (0.8, 0.001, 0.97), (0.8, 0.02, 0.95)])
def test_real_breaks_are_confirmed(head, base, least):
    assert chance_to_confirm(lines(2), [head] * MAX_PAIRS, [base] * MAX_PAIRS) >= least


def test_a_clear_break_takes_four_pairs_alone_and_few_more_among_many():
    assert [next_look(lines(f), 0, 0) <= pairs for f, pairs in ((1, 4), (10, 6), (100, 8))] == [True] * 3
    assert judge(lines(1), [0] * 4, [0] * 4) == (Outcome.CONFIRMED, 4)
    assert judge(lines(1), [0] * 3, [0] * 3) == (Outcome.OPEN, 3)


def test_lines_are_nested_in_the_number_of_flips():
    rules = [lines(f) for f in range(1, 60)]
    for fewer, more in pairwise(rules):
        assert all(a >= b for a, b in zip(fewer.accept, more.accept, strict=True))
        assert fewer.reject == more.reject


@given(PAIRS, st.sampled_from(FLIPS))
def test_confirmed_among_more_flips_is_confirmed_among_fewer(pairs, flips):
    if judge(lines(flips * 2), pairs, pairs)[0] is Outcome.CONFIRMED:
        assert judge(lines(flips), pairs, pairs)[0] is Outcome.CONFIRMED


@given(PAIRS, st.sampled_from(FLIPS))
def test_every_full_course_ends_decided(pairs, flips):
    outcome, n = judge(lines(flips), pairs, pairs)
    assert outcome in (Outcome.CONFIRMED, Outcome.DISMISSED)
    assert 1 <= n <= MAX_PAIRS


@given(PAIRS, st.sets(st.integers(0, MAX_PAIRS - 1), max_size=6), st.sampled_from(FLIPS))
def test_a_run_not_measured_leaves_the_outcome_or_leaves_it_open(pairs, missing, flips):
    rule = lines(flips)
    truth = judge(rule, pairs, pairs)[0]
    # One side of the pair is missing: it may have been a surprise or not.
    least = [max(0, s - 1) if i in missing else s for i, s in enumerate(pairs)]
    most = [min(2, low + 1) if i in missing else low for i, low in enumerate(least)]
    assert judge(rule, least, most)[0] in (truth, Outcome.UNDECIDED)


@given(PAIRS, st.sampled_from(FLIPS))
def test_no_run_up_to_the_next_look_is_wasted(pairs, flips):
    rule = lines(flips)
    outcome, n = judge(rule, pairs, pairs)
    have, surprises = 0, 0
    while have < n:
        look = next_look(rule, have, surprises)
        # Whatever the pairs in between bring, nothing could be decided before that look.
        for stop in range(have + 1, look):
            assert surprises > rule.accept[stop - 1] or rule.accept[stop - 1] < 0
            assert surprises + 2 * (stop - have) < rule.reject[stop - 1]
        surprises, have = sum(pairs[:look]), look
    assert have == n, "the last look is where it ends"
    assert outcome is not Outcome.OPEN
