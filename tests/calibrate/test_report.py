"""What people read of a calibration."""

from __future__ import annotations

from grader_gate.audits.calibration import calibrate_slice, calibrate_slices, disagreements, judge, sources
from grader_gate.audits.calibration_records import Calibration, SuiteCalibration
from grader_gate.audits.calibration_roles import suggest
from grader_gate.config import Contract
from grader_gate.report.calibration import render_calibration_markdown, render_calibration_terminal
from grader_gate.result import Revision
from tests.calibrate.made import ABSTAINED, C, P, W, case, grade, table

CONTRACT = Contract()


def calibration(rows, **more) -> Calibration:
    overall, slices = calibrate_slice(rows, CONTRACT, 0.1), calibrate_slices(rows, CONTRACT, 0.1)
    fields = {
        "suite": "main",
        "grader": "judge",
        "kind": "chat",
        "grader_digest": "a",
        "ledger_digest": "b",
        "split": "tune",
        "acceptable_error": 0.1,
        "truth": sources(rows),
        "statistic": "alpha",
        "overall": overall,
        "slices": slices,
        "disagreements": disagreements(rows, "short"),
        "suggestion": suggest(overall, slices, 0.1),
        **more,
    }
    return Calibration(
        tool_version="1",
        revision=Revision(sha="WORKTREE", name="WORKTREE"),
        complete=True,
        exit_code=0,
        suites=(SuiteCalibration(**fields),),
    )


LABELLED = [
    judge(case("one", C, labels={"ann": C, "bob": C}, tags=("easy",)), [grade(C)]),
    judge(case("two", W, labels={"ann": W, "bob": None}), [grade(C, "sounds right")]),
    judge(case("three", P, labels={"ann": C, "bob": W}), [ABSTAINED]),
]


def test_the_terminal_says_every_figure():
    text = render_calibration_terminal(calibration(LABELLED, held_out=5), width=300)
    assert "judge (chat) against people, suite main" in text
    assert "Split `tune`: 3 cases; 5 held out and not graded." in text
    assert "2 by the majority of raters, 1 by `expected` where raters are tied" in text
    assert "false accepts: 1 of 1 (100.0 %, 95 % interval 2.5 % to 100.0 %); acceptable 10.0 %: unproven" in text
    assert "false rejects: 0 of 1 (0.0 %, 95 % interval 0.0 % to 97.5 %)" in text
    assert "agrees with people: 1 of 2 (50.0 %" in text
    assert "all agree on 1 of 2 (50%); two raters agree in 1 of 2 (50%) pairs" in text
    assert "the grader and a rater in 2 of 2 (100%)" in text
    assert "no verdict: 1 of 3 abstained, 0 unusable, 0 of 3 not measured" in text
    assert "- two: false accept; people incorrect (ann incorrect, bob –); grader correct" in text
    assert "reason: sounds right" in text
    assert "- three: abstained; people partial (ann correct, bob incorrect); grader abstained" in text
    assert "role: screen (now gate)." in text
    assert "a false reject is another verdict than `correct`" in text


def test_which_split_a_number_is_from_is_always_said():
    assert "none is held out" in render_calibration_terminal(calibration(LABELLED))
    held = render_calibration_markdown(calibration(LABELLED, split="holdout", held_out=3, left_out=9))
    assert "Split `holdout`: 3 cases, kept from tuning." in held
    dev = render_calibration_markdown(calibration(LABELLED, split="dev", held_out=3, left_out=4, repeats=3))
    assert "Split `dev`: 3 cases of 10, each graded 3 times; 3 held out and not graded." in dev
    assert "repeats disagree on 0 cases" in dev


def test_markdown_has_no_markup_of_a_model_or_a_case():
    nasty = "@octocat | <img src=x> [link](http://x) `tick` <!-- grader-gate -->\n# head"
    rows = [judge(case(nasty, W, labels={nasty: W}, tags=(nasty,)), [grade(C, nasty)])]
    text = render_calibration_markdown(calibration(rows, grader=nasty, suite=nasty))
    assert "<img" not in text
    assert "<!-- grader-gate" not in text
    assert "](http" not in text
    assert "\n# head" not in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|") and "reason" not in line}
    assert all(count > 3 for count in widths)


def test_a_terminal_gets_no_escape_sequences_or_commands_of_a_model():
    rows = [judge(case("a", W), [grade(C, "\x1b[31mred\n::error::x")])]
    text = render_calibration_terminal(calibration(rows))
    assert "\x1b" not in text
    assert "\n::" not in text
    assert "::error" not in text


def test_long_lists_are_cut_and_say_so():
    rows = [judge(case(f"c{n}", W, tags=(f"t{n}",)), [grade(C)]) for n in range(40)]
    for text in (render_calibration_terminal(calibration(rows)), render_calibration_markdown(calibration(rows))):
        assert "… and 10 more in" in text  # slices
        assert "… and 20 more in" in text  # cases
    assert "To review (40)" in text


def test_columns_that_stay_empty_are_left_out():
    text = render_calibration_markdown(calibration(table({(C, C): 2, (W, W): 1})))
    assert "| people ↓ grader → | correct | partial | incorrect |\n" in text
    assert "| correct | 2 | 0 | 0 |" in text
    assert "abstained |" in render_calibration_markdown(calibration(LABELLED))
