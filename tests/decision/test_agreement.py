"""Agreement statistics against scikit-learn, krippendorff and published values."""

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from grader_gate.decision.agreement import cohen_kappa, confusion, error_rates, krippendorff_alpha
from grader_gate.model import GradeVerdict as V

RATINGS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60)


@given(RATINGS, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_agrees_with_scikit_learn(pairs, weights):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    mine = cohen_kappa(confusion(a, b, range(4)), weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cohen_kappa_score(a, b, labels=range(4), weights=None if weights == "none" else weights)
    if mine.value is None:
        assert len({*a, *b}) == 1
    else:
        assert mine.value == pytest.approx(theirs, abs=1e-9)
        assert mine.low <= mine.value <= mine.high


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_a_perfect_disagreement_stays_inside_its_interval(weights):
    found = cohen_kappa(confusion([1, 3], [3, 1], range(4)), weights)
    assert (found.value, found.low) == (-1.0, -1.0)


def test_kappa_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(5)
    joint = np.array([[0.45, 0.08, 0.02], [0.05, 0.15, 0.05], [0.01, 0.04, 0.15]])
    for weights in ("none", "quadratic"):
        truth = cohen_kappa((joint * 10_000).round().astype(int).tolist(), weights).value
        hits = 0
        for _ in range(600):
            found = cohen_kappa(rng.multinomial(200, joint.ravel()).reshape(3, 3).tolist(), weights)
            hits += found.low <= truth <= found.high
        assert 0.92 <= hits / 600 <= 0.98


def test_kappa_of_the_textbook_table():
    # 20 both yes, 15 both no, 5 and 10 apart: kappa .4.
    assert cohen_kappa([[20, 5], [10, 15]]).value == pytest.approx(0.4)
    assert cohen_kappa([[0, 0], [0, 0]]).value is None
    assert cohen_kappa([[7, 0], [0, 0]]).value is None


UNITS = st.lists(st.lists(st.none() | st.integers(1, 5), min_size=3, max_size=3), min_size=2, max_size=25)


@given(UNITS, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_agrees_with_krippendorff(units, metric):
    mine = krippendorff_alpha(units, metric)
    pairable = [u for u in units if sum(v is not None for v in u) > 1]
    assert mine.n == len(pairable)
    if len({v for u in pairable for v in u if v is not None}) < 2:
        assert mine.value is None
        return
    data = np.array([[np.nan if v is None else v for v in u] for u in pairable]).T
    assert mine.value == pytest.approx(krippendorff.alpha(data, level_of_measurement=metric), abs=1e-9)


def test_alpha_of_krippendorffs_own_example():
    # Krippendorff 2011, four observers, twelve units, missing values: .743 nominal, .815 ordinal, .849 interval.
    columns = [
        (1, 1, None, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4),
        (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (None, 5, 5, 5), (None, None, 1, 1), (None, None, 3, None),
    ]  # fmt: skip
    for metric, value in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        found = krippendorff_alpha(columns, metric)
        assert found.value == pytest.approx(value, abs=5e-4)
        assert found.low < found.value < found.high
        assert found == krippendorff_alpha(list(reversed(columns)), metric), "units have no order"


def test_confusion_and_error_rates():
    expected = [V.CORRECT, V.CORRECT, V.PARTIAL, V.INCORRECT, V.INCORRECT, V.CORRECT]
    got = [V.CORRECT, V.PARTIAL, V.CORRECT, V.INCORRECT, None, V.CORRECT]
    rates = error_rates(expected, got)
    assert (rates.false_accept.k, rates.false_accept.n) == (1, 2)
    assert (rates.false_reject.k, rates.false_reject.n) == (1, 3)
    assert rates.unjudged == 1
    assert rates.false_accept.value == 0.5
    assert rates.false_reject.low == pytest.approx(0.0084, abs=1e-4)
    assert rates.false_reject.high == pytest.approx(0.9057, abs=1e-4)
    assert error_rates([], []).false_accept.value is None
    judged = [(e, g) for e, g in zip(expected, got, strict=True) if g is not None]
    table = confusion([e for e, _ in judged], [g for _, g in judged], list(V))
    assert table == [[2, 1, 0], [1, 0, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="unknown categories: x"):
        confusion(["x"], [V.CORRECT], list(V))
