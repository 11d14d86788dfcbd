"""From error rates to roles, and the card that carries them."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from grader_gate.audits.calibration import calibrate_slice, calibrate_slices
from grader_gate.audits.calibration_records import (
    Calibration,
    SuggestedSlice,
    Suggestion,
    SuiteCalibration,
)
from grader_gate.audits.calibration_roles import cases_needed, suggest
from grader_gate.config import Contract
from grader_gate.model import Role
from grader_gate.report.calibration_card import CARD_MARK, render_card
from grader_gate.result import Revision
from tests.calibrate.made import UNMEASURED, UNUSABLE, C, P, W, rows, table

CONTRACT = Contract()
GOOD = {(C, C): 100, (W, W): 60, (P, P): 40}


@pytest.mark.parametrize(
    ("counts", "role", "words"),
    [
        (GOOD, Role.GATE, "within 10.0 %"),
        ({**GOOD, (W, C): 3}, Role.GATE, "false accepts 3 of 103"),
        # 7 of 107 is 6.5 %, but up to 13.0 % cannot be excluded.
        ({**GOOD, (W, C): 7}, Role.SCREEN, "false accepts 7 of 107 (2.7 % to 13.0 %): not proven"),
        ({**GOOD, (C, W): 7}, Role.SCREEN, "false rejects 7 of 107"),
        ({**GOOD, (W, C): 25}, Role.ABSTAIN, "false accepts 25 of 125"),
        ({**GOOD, (C, P): 25}, Role.ABSTAIN, "proven above 10.0 %"),
        ({(C, C): 35, (W, W): 36}, Role.SCREEN, "at least 36 cases"),
        ({(C, C): 36, (W, W): 36}, Role.GATE, "false rejects 0 of 36 (0.0 % to 9.7 %)"),
    ],
)
def test_the_role_follows_from_the_bounds(counts, role, words):
    part = calibrate_slice(table(counts), CONTRACT, 0.1)
    assert part.suggested is role
    assert words in part.why


def test_unusable_replies_count_as_errors_of_their_class():
    good = table(GOOD)
    assert calibrate_slice(good + rows([(C, UNUSABLE)] * 7), CONTRACT, 0.1).suggested is Role.SCREEN
    broken = calibrate_slice(good + rows([(C, UNUSABLE)] * 60), CONTRACT, 0.1)
    assert broken.suggested is Role.ABSTAIN
    assert "beside 60 unusable replies" in broken.why
    assert calibrate_slice(rows([(C, UNUSABLE), (W, UNUSABLE)] * 40), CONTRACT, 0.1).suggested is Role.ABSTAIN


def test_a_case_that_was_not_measured_forbids_gate():
    part = calibrate_slice(table(GOOD) + rows([(C, UNMEASURED)]), CONTRACT, 0.1)
    assert part.suggested is Role.SCREEN
    assert "1 cases were not measured" in part.why


@pytest.mark.parametrize("acceptable", [0.01, 0.05, 0.1, 0.2, 0.5, 0.975])
def test_cases_needed_is_the_smallest_number_that_can_prove_it(acceptable):
    n = cases_needed(acceptable)

    def upper(count: int) -> float:
        return float(binomtest(0, count).proportion_ci(0.95, "exact").high) if count else 1.0

    assert upper(n) <= acceptable + 1e-12
    assert upper(n - 1) > acceptable


def test_an_acceptable_error_of_nothing_cannot_be_proven():
    assert cases_needed(0) is None
    part = calibrate_slice(table(GOOD), CONTRACT, 0.0)
    assert part.suggested is Role.SCREEN
    assert "no number of cases" in part.why
    assert cases_needed(1) == 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.floats(0.01, 0.5))
def test_one_more_error_never_strengthens_a_role(cc, ci, ii, ic, acceptable):
    strength = [Role.ABSTAIN, Role.SCREEN, Role.GATE]
    before = calibrate_slice(table({(C, C): cc + 1, (C, W): ci, (W, W): ii, (W, C): ic}), CONTRACT, acceptable)
    after = calibrate_slice(table({(C, C): cc, (C, W): ci + 1, (W, W): ii, (W, C): ic}), CONTRACT, acceptable)
    assert strength.index(after.suggested) <= strength.index(before.suggested)


def suggestion_of(data, acceptable: float = 0.1, contract: Contract = CONTRACT) -> Suggestion:
    return suggest(
        calibrate_slice(data, contract, acceptable), calibrate_slices(data, contract, acceptable), acceptable
    )


def test_a_bad_slice_is_taken_out_and_a_rare_one_inherits():
    data = table(GOOD, ("all",))
    data += table({(C, C): 40, (W, W): 20, (W, C): 16}, ("long",))
    data += rows([(C, C), (W, W)], ("rare",))
    data += rows([(W, C), (W, W), (C, C)], ("rare-bad",))
    found = suggestion_of(data)
    assert found.role is Role.SCREEN  # the long answers spoil the whole
    assert [(s.tags, s.role) for s in found.slices] == [(("all",), Role.GATE), (("long",), Role.ABSTAIN)]
    assert found.inherits == ()  # they say screen, as all cases together do
    found = suggestion_of([*table({k: 10 * n for k, n in GOOD.items()}, ("all",)), *data])
    assert found.role is Role.GATE
    assert [(s.tags, s.role) for s in found.slices] == [(("rare-bad",), Role.SCREEN), (("long",), Role.ABSTAIN)]
    assert [s.tags for s in found.inherits] == [("rare",)]


def test_few_cases_lift_nothing_out_of_abstain():
    data = table({(C, C): 50, (C, W): 50, (W, W): 50}, ("all",)) + rows([(C, C), (W, W)], ("rare",))
    found = suggestion_of(data)
    assert (found.role, found.slices) == (Role.ABSTAIN, ())
    assert [s.tags for s in found.inherits] == [("rare",)]


def calibration_of(suggestion: Suggestion, data=None, grader: str = "judge") -> Calibration:
    overall = calibrate_slice(data or table(GOOD), CONTRACT, 0.1)
    suite = SuiteCalibration(
        suite="main",
        grader=grader,
        kind="chat",
        grader_digest="a" * 64,
        ledger_digest="b" * 64,
        split="tune",
        held_out=12,
        acceptable_error=0.1,
        truth={},
        statistic="kappa",
        overall=overall,
        suggestion=suggestion,
    )
    return Calibration(
        tool_version="1.2.3",
        revision=Revision(sha="c" * 40, name="HEAD"),
        complete=True,
        exit_code=0,
        suites=(suite,),
        started_at="2026-01-02T03:04:05+00:00",
    )


def test_the_card_is_a_contract_with_its_evidence():
    data = table(GOOD, ("all",)) + table({(C, C): 40, (W, W): 20, (W, C): 16}, ("long", "all"))
    made = suggestion_of(data)
    text = render_card(calibration_of(made, data))
    assert text.startswith(CARD_MARK)
    loaded = yaml.safe_load(text)["graders"]["judge"]["contract"]
    contract = Contract.model_validate(loaded)
    assert contract.role_for(["all"]) is made.role is Role.SCREEN
    assert contract.role_for(["all", "long"]) is Role.ABSTAIN
    assert f"frozen from: revision {'c' * 40}, suite main, grader {'a' * 16}, ledger {'b' * 64}" in text
    assert "Split `tune`: 276 cases; 12 held out and not graded." in text
    assert "false accepts: 16 of 136 (11.8 %" in text


NASTY = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["a: b", "- x", "#no", '"', "\\", "x\ny", "on", "1", "\x85", "\u2028", "\U0001f600", "\x00", "{a}", "'"]
)


@settings(deadline=None)
@given(NASTY, st.lists(NASTY, min_size=1, max_size=3), NASTY)
def test_whatever_a_tag_or_grader_is_called_the_card_says_it_back(grader, tags, why):
    slice_ = SuggestedSlice(tags=tuple(tags), role=Role.ABSTAIN, why=why)
    made = Suggestion(role=Role.GATE, why=why, slices=(slice_,), inherits=(slice_,))
    loaded = yaml.safe_load(render_card(calibration_of(made, grader=grader)))
    contract = Contract.model_validate(loaded["graders"][grader]["contract"])
    assert contract.role is Role.GATE
    assert [(s.tags, s.role) for s in contract.slices] == [(tuple(tags), Role.ABSTAIN)]


def test_a_card_without_slices_clears_those_that_were():
    loaded = yaml.safe_load(render_card(calibration_of(Suggestion(role=Role.GATE, why="x"))))
    assert loaded["graders"]["judge"]["contract"] == {"role": "gate", "slices": []}
