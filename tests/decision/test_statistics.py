"""Counts, intervals and tests against scipy, scikit-learn, krippendorff and published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grader_gate.decision import statistics as own

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHARES = st.floats(1e-9, 1 - 1e-9) | st.sampled_from([0.0, 1.0, 0.5])


@given(COUNTS, SHARES)
def test_binomial_agrees_with_scipy(count, p):
    k, n = count
    assert own.binomial_pmf(k, n, p) == pytest.approx(stats.binom.pmf(k, n, p), rel=1e-9, abs=1e-13)
    assert own.binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9, abs=1e-12)
    assert own.binomial_sf(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=1e-9, abs=1e-12)


def test_binomial_outside_its_range():
    assert own.binomial_pmf(-1, 5, 0.5) == 0
    assert own.binomial_pmf(6, 5, 0.5) == 0
    assert own.binomial_cdf(-1, 5, 0.5) == 0
    assert own.binomial_cdf(5, 5, 0.5) == 1


@given(COUNTS)
def test_intervals_agree_with_scipy(count):
    k, n = count
    result = stats.binomtest(k, n)
    for mine, method in ((own.wilson, "wilson"), (own.clopper_pearson, "exact")):
        theirs = result.proportion_ci(0.95, method)
        assert mine(k, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_intervals_of_17_of_20_are_the_published_ones():
    assert own.wilson(17, 20) == pytest.approx((0.640, 0.948), abs=5e-4)
    assert own.clopper_pearson(17, 20) == pytest.approx((0.621, 0.968), abs=5e-4)
    assert own.wilson(0, 0) == (0.0, 1.0) == own.clopper_pearson(0, 0)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_sign_test(worse, better):
    expected = stats.binomtest(worse, worse + better, alternative="greater").pvalue if worse + better else 1.0
    assert own.mcnemar(worse, better) == pytest.approx(expected, rel=1e-9)


def test_holm_of_a_worked_example():
    # Sorted .005, .01, .03, .04 times 4, 3, 2, 1, never falling.
    p = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
    assert own.holm(p) == pytest.approx({"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06})
    assert own.holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_the_order(p):
    adjusted = own.holm(p)
    assert all(p[name] <= adjusted[name] <= 1 for name in p)
    by_raw = sorted(p, key=lambda name: p[name])
    values = [adjusted[name] for name in by_raw]
    assert all(a <= b or p[x] == p[y] for (a, b, x, y) in zip(values, values[1:], by_raw, by_raw[1:], strict=False))


@pytest.mark.parametrize(
    ("flips", "pairs"), [(1, 13), (2, 13), (4, 13), (5, 14), (9, 14), (10, 15), (20, 16), (49, 16), (50, 17), (200, 18)]
)
def test_runs_needed_by_six_allowed_surprises(flips, pairs):
    found = own.runs_needed(flips)
    assert stats.binom.cdf(6, 2 * found, 0.5) <= 0.01 / flips < stats.binom.cdf(6, 2 * found - 2, 0.5)
    assert abs(found - pairs) <= 1


@pytest.mark.parametrize(("flips", "pairs"), [(1, 7), (2, 8), (4, 8), (5, 9), (15, 9), (16, 10), (49, 10), (50, 11)])
def test_runs_needed_by_two_allowed_surprises_is_the_published_table(flips, pairs):
    assert own.runs_needed(flips, allowed=2) == pairs


@pytest.mark.parametrize("k", [7, 10, 14])
def test_hoeffdings_bound_holds_on_a_grid_of_p(k):
    bound = own.binomial_cdf(2, 2 * k, 0.5)
    for p in np.linspace(0, 1, 201):
        both = np.convolve(stats.binom.pmf(range(k + 1), k, 1 - p), stats.binom.pmf(range(k + 1), k, p))
        assert both[:3].sum() <= bound * (1 + 1e-9)
