"""The figures of a slice: against scikit-learn, krippendorff and scipy, against known tables, and what never changes them."""

from __future__ import annotations

import random
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from grader_gate.audits.calibration import (
    calibrate_slice,
    calibrate_slices,
    disagreements,
    judge,
    overruled,
    sources,
    statistic_for,
    typical,
)
from grader_gate.audits.calibration_records import Evidence, Said, TruthSource
from grader_gate.config import Contract, Slice
from grader_gate.model import Role
from grader_gate.result import Tally
from tests.calibrate.made import ABSTAINED, BY_RANK, UNMEASURED, UNUSABLE, C, P, W, case, grade, rows, table

CONTRACT = Contract()


def exact(k: int, n: int) -> tuple[float, float]:
    found = binomtest(k, n).proportion_ci(confidence_level=0.95, method="exact")
    return found.low, found.high


def random_rows(seed: int, raters: int, n: int = 60, missing: float = 0.3):
    rng = random.Random(seed)
    made = []
    for index in range(n):
        true = rng.randrange(3)
        labels = {
            f"r{r}": None if rng.random() < missing else BY_RANK[true if rng.random() < 0.7 else rng.randrange(3)]
            for r in range(raters)
        }
        said = grade(BY_RANK[true if rng.random() < 0.6 else rng.randrange(3)])
        said = ABSTAINED if rng.random() < 0.1 else said
        made.append(judge(case(f"c{index}", BY_RANK[true], labels=labels, tags=(f"t{index % 3}",)), [said]))
    return made


@pytest.mark.parametrize("seed", range(8))
def test_against_scikit_learn_and_scipy(seed):
    data = random_rows(seed, raters=3)
    part = calibrate_slice(data, CONTRACT, 0.1)
    both = [(r.truth.verdict.rank, r.said.verdict.rank) for r in data if r.said.verdict is not None]
    people, said = [a for a, _ in both], [b for _, b in both]
    assert part.judged == len(both) < part.cases == 60
    assert part.kappa.value == pytest.approx(cohen_kappa_score(people, said))
    assert part.weighted_kappa.value == pytest.approx(cohen_kappa_score(people, said, weights="quadratic"))
    theirs = confusion_matrix(people, said, labels=[2, 1, 0])
    assert [[row.correct, row.partial, row.incorrect] for row in part.confusion] == [
        [int(row[0]), int(row[1]), int(row[2])] for row in theirs
    ]
    accepts = sum(a != 2 and b == 2 for a, b in both), sum(a != 2 for a, _ in both)
    rejects = sum(a == 2 and b != 2 for a, b in both), sum(a == 2 for a, _ in both)
    for rate, (k, n) in ((part.false_accept, accepts), (part.false_reject, rejects)):
        assert (rate.k, rate.n) == (k, n)
        assert (rate.low, rate.high) == pytest.approx(exact(k, n), abs=1e-9)
    agree = sum(a == b for a, b in both)
    assert (part.agreement.k, part.agreement.n) == (agree, len(both))
    assert (part.agreement.low, part.agreement.high) == pytest.approx(exact(agree, len(both)), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("raters", [2, 3, 5])
def test_the_ceiling_against_krippendorff(seed, raters):
    data = random_rows(seed, raters)
    people = calibrate_slice(data, CONTRACT, 0.1).people
    several = [r for r in data if len(r.labels) > 1]

    def alpha(with_grader: bool) -> float:
        columns = []
        for row in several:
            column = [np.nan if label is None else float(label.rank) for label in row.case.labels.values()]
            if with_grader:
                column.append(np.nan if row.said.verdict is None else float(row.said.verdict.rank))
            columns.append(column)
        return float(krippendorff.alpha(np.array(columns).T, level_of_measurement="ordinal"))

    assert (people.raters, people.cases) == (raters, len(several))
    assert people.alpha.value == pytest.approx(alpha(False))
    assert people.alpha_with_grader.value == pytest.approx(alpha(True))
    assert people.alpha.low < people.alpha.value < people.alpha.high
    if raters > 2:
        assert people.kappa is None
        return
    a, b = ([r.case.labels[f"r{n}"].rank for r in several] for n in (0, 1))
    assert people.kappa.value == pytest.approx(cohen_kappa_score(a, b))
    assert people.weighted_kappa.value == pytest.approx(cohen_kappa_score(a, b, weights="quadratic"))


def test_a_known_table():
    # Cohen's textbook table: 20 both yes, 15 both no, 5 and 10 apart; kappa .4.
    data = table({(C, C): 20, (C, W): 5, (W, C): 10, (W, W): 15})
    part = calibrate_slice(data, CONTRACT, 0.1)
    assert part.kappa.value == pytest.approx(0.4)
    assert part.weighted_kappa.value == pytest.approx(0.4), "two verdicts in use: weights change nothing"
    assert (part.false_accept.k, part.false_accept.n) == (10, 25)
    assert (part.false_reject.k, part.false_reject.n) == (5, 25)
    assert statistic_for(data) == "kappa"


def test_partial_accepted_is_a_false_accept_and_correct_called_partial_a_false_reject():
    part = calibrate_slice(rows([(P, C), (P, W), (C, P), (C, C), (W, P)]), CONTRACT, 0.1)
    assert (part.false_accept.k, part.false_accept.n) == (1, 3)
    assert (part.false_reject.k, part.false_reject.n) == (1, 2)


def test_every_case_is_in_the_confusion_and_nothing_unmeasured_in_a_rate():
    data = rows([(C, C), (C, ABSTAINED), (C, UNUSABLE), (W, UNUSABLE), (W, UNMEASURED), (P, P)])
    part = calibrate_slice(data, CONTRACT, 0.1)
    correct, partial, incorrect = part.confusion
    assert (correct.correct, correct.abstained, correct.unusable, correct.unmeasured) == (1, 1, 1, 0)
    assert (partial.partial, incorrect.unusable, incorrect.unmeasured) == (1, 1, 1)
    assert (part.cases, part.judged, part.unusable, part.unmeasured) == (6, 2, 2, 1)
    assert (part.abstained.k, part.abstained.n) == (1, 5)
    assert (part.false_accept.n, part.false_accept.unusable) == (1, 1)
    assert (part.false_reject.n, part.false_reject.unusable) == (1, 1)


def test_one_class_leaves_the_other_rate_unknown_and_kappa_undefined():
    part = calibrate_slice(rows([(C, C)] * 50), CONTRACT, 0.1)
    assert part.false_accept.value is None
    assert (part.false_accept.low, part.false_accept.high, part.false_accept.evidence) == (0, 1, Evidence.UNPROVEN)
    assert part.false_reject.evidence is Evidence.WITHIN
    assert part.kappa.value is part.weighted_kappa.value is None
    assert part.suggested is Role.SCREEN
    assert "false accepts unknown (n = 0)" in part.why


def test_no_case_at_all():
    part = calibrate_slice([], CONTRACT, 0.1)
    assert (part.cases, part.judged, part.agreement.value, part.kappa.value) == (0, 0, None, None)
    assert part.suggested is Role.SCREEN


def test_one_rater_gives_no_ceiling():
    people = calibrate_slice([judge(case(labels={"ann": C, "bob": None}), [grade(C)])], CONTRACT, 0.1).people
    assert (people.raters, people.cases, people.unanimous, people.pairs) == (1, 0, None, None)
    assert people.alpha.value is None


def test_pairs_of_raters_beside_pairs_with_the_grader():
    data = [
        judge(case("a", labels={"ann": C, "bob": C, "eve": W}), [grade(C)]),
        judge(case("b", W, labels={"ann": W, "bob": W}), [grade(W)]),
        judge(case("c", P, labels={"ann": C, "eve": W}), [ABSTAINED]),
    ]
    people = calibrate_slice(data, CONTRACT, 0.1).people
    assert people.pairs == Tally(k=2, n=5)  # one of three, one of one, none of one
    assert people.grader_pairs == Tally(k=4, n=5)  # two of three, two of two; abstained on the last
    assert (people.unanimous.k, people.unanimous.n) == (1, 3)
    assert sources(data) == {TruthSource.MAJORITY: 2, TruthSource.DECIDED: 1, TruthSource.EXPECTED: 0}
    assert statistic_for(data) == "alpha"


def test_a_majority_overrules_expected_and_is_counted():
    data = [judge(case("a", C, labels={"ann": W, "bob": W}), [grade(C)]), judge(case("b", C), [grade(C)])]
    assert overruled(data) == 1
    assert calibrate_slice(data, CONTRACT, 0.1).false_accept.k == 1


S = Said


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([S.CORRECT, S.INCORRECT, S.CORRECT], S.CORRECT),
        ([S.CORRECT, S.INCORRECT], S.INCORRECT),  # an even split: the stricter
        ([S.CORRECT, S.PARTIAL, S.INCORRECT], S.PARTIAL),
        ([S.CORRECT, S.UNMEASURED, S.UNMEASURED], S.CORRECT),
        ([S.CORRECT, S.UNUSABLE], S.CORRECT),
        ([S.CORRECT, S.UNUSABLE, S.UNUSABLE], S.UNUSABLE),
        ([S.ABSTAINED, S.UNUSABLE, S.CORRECT, S.ABSTAINED, S.ABSTAINED], S.ABSTAINED),
        ([S.ABSTAINED, S.UNUSABLE], S.UNUSABLE),
        ([S.UNMEASURED], S.UNMEASURED),
        ([], S.UNMEASURED),
    ],
)
def test_repeats_together(runs, said):
    assert typical(runs) is said


@given(st.lists(st.sampled_from(list(Said)), max_size=8), st.randoms())
def test_the_order_of_repeats_does_not_matter(runs, rng):
    shuffled = list(runs)
    rng.shuffle(shuffled)
    assert typical(shuffled) is typical(runs)


def test_repeats_that_disagree_are_counted():
    data = [judge(case("a"), [grade(C), grade(W), grade(C)]), judge(case("b"), [grade(C), UNMEASURED])]
    part = calibrate_slice(data, CONTRACT, 0.1)
    assert (part.unstable, part.judged) == (1, 2)


def test_slices_are_tags_and_the_contract_s_combinations():
    contract = Contract(slices=(Slice(tags=("x", "y"), role=Role.SCREEN), Slice(tags=("none",), role=Role.ABSTAIN)))
    data = rows([(C, C)] * 3, ("x", "y")) + rows([(W, C)], ("x",))
    found = {part.tags: part for part in calibrate_slices(data, contract, 0.1)}
    assert {tags: part.cases for tags, part in found.items()} == {("x",): 4, ("x", "y"): 3, ("y",): 3}
    assert found["x", "y"].role is Role.SCREEN
    assert found["x",].role is Role.GATE
    assert found["x",].false_accept.k == 1


def test_the_list_to_review_is_in_order_of_harm():
    data = [
        judge(case("abstains", C), [ABSTAINED]),
        judge(case("other", W), [grade(P)]),
        judge(case("reject", C), [grade(W)]),
        judge(case("accept-partial", P), [grade(C)]),
        judge(case("accept-wrong", W), [grade(C, "it looks right")]),
        judge(case("fine", C), [grade(C)]),
        judge(case("broken", C), [UNUSABLE]),
        judge(case("gone", C), [UNMEASURED]),
    ]
    found = disagreements(data, "short")
    assert [(d.case, d.kind) for d in found] == [
        ("accept-wrong", "false accept"),
        ("accept-partial", "false accept"),
        ("reject", "false reject"),
        ("other", "other verdict"),
        ("broken", "unusable"),
        ("abstains", "abstained"),
        ("gone", "not measured"),
    ]
    assert found[0].reason == "it looks right"
    assert found[-1].reason == "timeout after 60 s"


def test_the_reason_shown_is_of_a_run_that_says_what_is_reported():
    (one,) = disagreements([judge(case("a", C), [grade(C, "good"), grade(W, "bad"), grade(W, "worse")])], "full")
    assert (one.grader, one.reason, one.runs) == (Said.INCORRECT, "bad", (S.CORRECT, S.INCORRECT, S.INCORRECT))


@pytest.mark.parametrize(("quote", "length"), [("none", None), ("short", 201), ("full", 500)])
def test_quotes_are_bounded(quote, length):
    made = case("a", C, question="q" * 500, answer="a" * 500)
    (one,) = disagreements([judge(made, [grade(W, "r" * 500)])], quote)
    assert [None if t is None else len(t) for t in (one.question, one.answer, one.reason)] == [length] * 3


LABEL = st.none() | st.sampled_from(BY_RANK)
SAID = st.sampled_from([*(grade(v) for v in BY_RANK), ABSTAINED, UNUSABLE, UNMEASURED])
DATA = st.lists(
    st.tuples(st.sampled_from(BY_RANK), st.fixed_dictionaries(dict.fromkeys(("ann", "bob", "eve"), LABEL)), SAID),
    max_size=12,
)


def build(data, names=None):
    names = names or {}
    return [
        judge(case(f"c{n}", e, labels={names.get(r, r): v for r, v in labels.items()}, tags=(f"t{n % 2}",)), [said])
        for n, (e, labels, said) in enumerate(data)
    ]


@settings(max_examples=25, deadline=None)
@given(DATA, st.randoms())
def test_neither_the_order_of_cases_nor_names_of_raters_change_a_figure(data, rng):
    plain = build(data)
    shuffled = build(data, {"ann": "zoe", "bob": "ann", "eve": "bob"})
    rng.shuffle(shuffled)
    assert calibrate_slice(shuffled, CONTRACT, 0.1) == calibrate_slice(plain, CONTRACT, 0.1)
    assert calibrate_slices(shuffled, CONTRACT, 0.1) == calibrate_slices(plain, CONTRACT, 0.1)
    assert [d.case for d in disagreements(shuffled, "short")] == [d.case for d in disagreements(plain, "short")]


@settings(max_examples=40, deadline=None)
@given(DATA)
def test_every_case_is_counted_exactly_once(data):
    built = build(data)
    part = calibrate_slice(built, CONTRACT, 0.1)
    cells = [n for row in part.confusion for n in row.model_dump(exclude={"people"}).values()]
    assert sum(cells) == part.cases == len(data)
    assert part.judged + part.abstained.k + part.unusable + part.unmeasured == part.cases
    assert part.false_accept.n + part.false_reject.n == part.judged
    assert part.agreement.n - part.agreement.k + part.cases - part.judged == len(disagreements(built, "none"))


def test_a_grader_that_is_always_right_has_kappa_one():
    part = calibrate_slice(table({(C, C): 5, (P, P): 5, (W, W): 5}), CONTRACT, 0.1)
    assert (part.kappa.value, part.weighted_kappa.value) == (pytest.approx(1), pytest.approx(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert part.agreement.value == 1
