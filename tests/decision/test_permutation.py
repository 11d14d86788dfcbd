"""The permutation tests against enumeration and scipy."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from grader_gate.decision.permutation import convolve, head_draws, paired_tail, upper_tail

STRATUM = st.integers(2, 5).flatmap(
    lambda n: st.tuples(st.lists(st.integers(0, 2), min_size=n, max_size=n), st.integers(1, n - 1))
)


def by_enumeration(strata, observed):
    """Every choice of head's passes in every stratum, one by one."""
    chances = [
        [(sum(chosen), Fraction(1, len(list(combinations(runs, heads))))) for chosen in combinations(runs, heads)]
        for runs, heads in strata
    ]
    total = Fraction(0)
    for outcome in product(*chances):
        if sum(value for value, _ in outcome) >= observed:
            chance = Fraction(1)
            for _, share in outcome:
                chance *= share
            total += chance
    return float(total)


@given(st.lists(STRATUM, max_size=4), st.integers(0, 12))
def test_upper_tail_equals_enumeration(strata, observed):
    assert upper_tail(strata, observed) == pytest.approx(by_enumeration(strata, observed), abs=1e-12)


@given(st.integers(1, 5), st.integers(0, 6), st.integers(0, 6))
def test_one_stored_run_is_mcnemar(same, worse, better):
    strata = [([1, 0], 1)] * worse + [([0, 1], 1)] * better + [([1, 1], 1)] * same
    expected = stats.binomtest(worse, worse + better, alternative="greater").pvalue if worse + better else 1.0
    assert upper_tail(strata, worse + same) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(0, 1), min_size=4, max_size=9), st.integers(1, 3))
def test_draws_of_one_claim_are_hypergeometric(runs, heads):
    draws = head_draws(runs, heads)
    ways = sum(draws.values())
    for k in range(heads + 1):
        assert draws[k] / ways == pytest.approx(stats.hypergeom.pmf(k, len(runs), sum(runs), heads), abs=1e-12)


@given(st.lists(st.integers(-3, 3), max_size=9))
def test_paired_tail_equals_all_sign_flips(differences):
    observed = sum(differences)
    sizes = [abs(d) for d in differences]
    flips = [sum(s * x for s, x in zip(signs, sizes, strict=True)) for signs in product((1, -1), repeat=len(sizes))]
    expected = sum(total >= observed for total in flips) / len(flips)
    assert paired_tail(differences) == pytest.approx(expected, abs=1e-12)


def test_two_thousand_pairs_are_exact_as_well():
    assert paired_tail([1] * 1040 + [-1] * 960) == pytest.approx(stats.binom.sf(1039, 2000, 0.5), rel=1e-8)


def test_convolution_of_two_dice():
    die = [0.0] + [1 / 6] * 6
    assert convolve(die, die)[7] == pytest.approx(1 / 6)
    assert sum(convolve(die, [1.0])) == pytest.approx(1)
