"""What counts as the people's verdict, and which cases belong to a split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.audits.calibration_labels import (
    HOLDOUT,
    TUNE,
    HoldoutError,
    Truth,
    choose,
    is_held_out,
    no_cases,
    truth,
)
from grader_gate.audits.calibration_records import TruthSource
from tests.calibrate.made import BY_RANK, C, P, W, case


@pytest.mark.parametrize(
    ("labels", "expected", "verdict", "source"),
    [
        ({}, P, P, TruthSource.EXPECTED),
        ({"ann": None, "bob": None}, W, W, TruthSource.EXPECTED),
        ({"ann": W}, C, W, TruthSource.MAJORITY),
        ({"ann": C, "bob": C, "eve": W}, W, C, TruthSource.MAJORITY),
        ({"ann": C, "bob": None, "eve": None}, W, C, TruthSource.MAJORITY),
        ({"ann": C, "bob": W}, P, P, TruthSource.DECIDED),
        ({"ann": C, "bob": C, "eve": W, "joe": P}, W, W, TruthSource.DECIDED),
        ({"ann": C, "bob": P, "eve": W}, C, C, TruthSource.DECIDED),
    ],
)
def test_truth_is_the_strict_majority_else_expected(labels, expected, verdict, source):
    assert truth(case(expected=expected, labels=labels)) == Truth(verdict, source)


LABELS = st.dictionaries(st.sampled_from("abcdefg"), st.none() | st.sampled_from(BY_RANK))


@given(LABELS, st.sampled_from(BY_RANK), st.permutations("abcdefg"))
def test_names_of_raters_do_not_matter(labels, expected, names):
    renamed = {names["abcdefg".index(rater)]: label for rater, label in sorted(labels.items(), reverse=True)}
    assert truth(case(expected=expected, labels=renamed)) == truth(case(expected=expected, labels=labels))


def test_a_split_is_taken_at_its_word_before_the_hash():
    assert is_held_out(case(split="holdout"), 0.0)
    assert is_held_out(case(split=" Holdout "), 0.0)
    assert not is_held_out(case(split="golden"), 0.999999)
    assert not is_held_out(case(), 0.0)


@given(st.text(min_size=1), st.floats(0, 1), st.floats(0, 1))
def test_all_answers_to_a_question_stand_on_one_side_and_a_larger_share_only_adds(question, one, other):
    low, high = sorted((one, other))
    first, second = case("a", C, question=question), case("b", W, question=question, answer="B")
    assert is_held_out(first, low) == is_held_out(second, low)
    assert is_held_out(first, high) or not is_held_out(first, low)


def test_the_share_held_out_is_the_share_asked_for():
    cases = [case(str(n)) for n in range(4000)]
    held = sum(is_held_out(c, 0.3) for c in cases)
    assert held == pytest.approx(1200, abs=120)  # four standard deviations


def test_splits_part_the_cases():
    cases = [case("a", split="holdout"), case("b", split="golden"), case("c"), case("d", split="dev")]
    tune, holdout, dev = (choose(cases, split, 0.0) for split in (TUNE, HOLDOUT, "dev"))
    assert [c.id for c in tune.cases] == ["b", "c", "d"]
    assert (tune.held_out, tune.left_out) == (1, 0)
    assert [c.id for c in holdout.cases] == ["a"]
    assert [c.id for c in dev.cases] == ["d"]
    assert (dev.held_out, dev.left_out) == (1, 2)


@given(st.lists(st.sampled_from([None, "holdout", "dev", "golden"]), max_size=30), st.floats(0, 0.99))
def test_tune_and_holdout_are_disjoint_and_miss_nothing(splits, share):
    cases = [case(str(n), split=split) for n, split in enumerate(splits)]
    if share > 0 and cases and None not in splits:
        with pytest.raises(HoldoutError, match="every case names its `split`"):
            choose(cases, TUNE, share)
        return
    tune, holdout = choose(cases, TUNE, share), choose(cases, HOLDOUT, share)
    names = [c.id for c in (*tune.cases, *holdout.cases)]
    assert sorted(names) == sorted(c.id for c in cases)
    assert tune.held_out == len(holdout.cases)


@pytest.mark.parametrize(
    ("split", "golden", "words"),
    [
        (TUNE, 0, "labels: {ann: correct, bob: partial}"),
        (HOLDOUT, 4, "set `split: holdout` on some cases, or give --holdout 0.3"),
        (TUNE, 4, "all 4 cases are held out"),
        ("dve", 4, "known: dev, holdout, tune"),
    ],
)
def test_nothing_to_calibrate_on_says_the_way_out(split, golden, words):
    assert words in str(no_cases(["main"], split, ["dev"], golden))
