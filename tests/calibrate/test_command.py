"""``grader-gate calibrate``, end to end on real repositories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from grader_gate.config import Config
from grader_gate.model import Role
from grader_gate.schemas import schemas
from tests.flow.repository import CONFIG, Repository, Run, base_files

WORDS = {"correct": "good", "partial": "half", "incorrect": "bad"}


@pytest.fixture
def repo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    return Repository(tmp_path / "repo", capsys)


def cases(*rows: dict[str, object]) -> str:
    """A case file: each row says what the judge says (``says``) and what people say."""
    made = []
    for n, row in enumerate(rows):
        row = dict(row)
        word = WORDS[str(row.pop("says"))]
        made.append({"id": f"c{n:03}", "question": f"Q {n}?", "answer": f"It is {word}", **row})
    return yaml.safe_dump({"cases": made})


def calibrate(repo: Repository, text: str, *arguments: str, config: str = CONFIG, rubric: str = "strict\n") -> Run:
    repo.commit(base_files(cases=text, config=config, rubric=rubric))
    return repo.gate("calibrate", "HEAD", *arguments)


def read(run: Run) -> dict:
    value = json.loads((run.folder / "calibration.json").read_text("utf-8"))
    Draft202012Validator(schemas()["calibration"]).validate(value)
    return value


def only(run: Run) -> dict:
    (suite,) = read(run)["suites"]
    return suite


MIXED = cases(
    {"says": "correct", "labels": {"ann": "correct", "bob": "correct"}, "tags": ["easy"]},
    {"says": "correct", "labels": {"ann": "incorrect", "bob": "incorrect", "eve": "correct"}, "expected": "incorrect"},
    {"says": "partial", "labels": {"ann": "correct", "bob": None}, "tags": ["hard"]},
    {"says": "incorrect", "labels": {"ann": "partial", "bob": "incorrect"}, "expected": "partial", "tags": ["hard"]},
    {"says": "incorrect", "expected": "incorrect", "tags": ["easy"]},
)


def test_labels_are_compared_with_what_the_grader_says(repo: Repository) -> None:
    run = calibrate(repo, MIXED)
    assert run.code == 0, run.err
    suite = only(run)
    whole = suite["overall"]
    assert (whole["cases"], whole["judged"]) == (5, 5)
    assert (whole["false_accept"]["k"], whole["false_accept"]["n"]) == (1, 3)
    assert (whole["false_reject"]["k"], whole["false_reject"]["n"]) == (1, 2)
    assert suite["truth"] == {"majority": 3, "decided": 1, "expected": 1}
    assert (whole["people"]["raters"], whole["people"]["cases"]) == (3, 3)
    assert whole["people"]["pairs"] == {"k": 2, "n": 5}  # both; ann and bob of three; none
    assert [(d["case"], d["kind"]) for d in suite["disagreements"]] == [
        ("c001", "false accept"),
        ("c002", "false reject"),
        ("c003", "other verdict"),
    ]
    assert suite["disagreements"][0]["labels"] == {"ann": "incorrect", "bob": "incorrect", "eve": "correct"}
    assert suite["disagreements"][0]["reason"] == "it ends with good"
    assert suite["disagreements"][0]["location"]["path"] == "cases/all.yaml"
    assert {tuple(s["tags"]): s["cases"] for s in suite["slices"]} == {("easy",): 2, ("hard",): 2}
    assert suite["statistic"] == "alpha"
    assert "false accepts: 1 of 3" in run.out
    assert "### `judge` on `main`" in (run.folder / "calibration.md").read_text("utf-8")
    assert {row["item"] for row in run.ledger()} == {f"golden/c00{n}" for n in range(5)}, "no mutant, no rung"


def test_the_same_grades_give_the_same_figures_and_digest(repo: Repository) -> None:
    first = only(calibrate(repo, MIXED))
    again = repo.gate("calibrate", "HEAD", "--no-cache", out="again")
    assert only(again) == first
    repo.commit({"rubric.md": "lenient\n"})
    other = only(repo.gate("calibrate", "HEAD", out="other"))
    assert other["ledger_digest"] != first["ledger_digest"]
    assert other["grader_digest"] != first["grader_digest"]


PROVEN = [{"says": "correct", "expected": "correct", "tags": ["plain"]}] * 40 + [
    {"says": "incorrect", "expected": "incorrect", "tags": ["plain"]}
] * 40
LONG = [{"says": "correct", "expected": "incorrect", "tags": ["long"]}] * 8


def test_the_card_goes_into_the_contract_and_holds(repo: Repository) -> None:
    card = repo.root.parent / "cards" / "judge.yml"
    run = calibrate(repo, cases(*PROVEN, *LONG), "--write", str(card))
    assert run.code == 0, run.err
    found = yaml.safe_load(card.read_text("utf-8"))["graders"]["judge"]["contract"]
    assert found == {
        "role": "screen",
        "slices": [{"tags": ["plain"], "role": "gate"}, {"tags": ["long"], "role": "abstain"}],
    }
    config = yaml.safe_load(CONFIG)
    config["graders"]["judge"]["contract"].update(found)
    repo.commit({".grader-gate.yml": yaml.safe_dump(config)})
    assert Config.model_validate(config).graders["judge"].contract.role_for(["long"]) is Role.ABSTAIN
    # What abstains is graded again all the same: the role can be earned back.
    again = repo.gate("calibrate", "HEAD", "--write", str(card), out="again")
    assert again.code == 0
    suite = only(again)
    assert suite["overall"]["cases"] == 88
    assert {tuple(s["tags"]): (s["role"], s["suggested"]) for s in suite["slices"]} == {
        ("plain",): ("gate", "gate"),
        ("long",): ("abstain", "abstain"),
    }


def test_the_holdout_is_neither_graded_nor_shown_before_it_is_asked_for(repo: Repository) -> None:
    held = {"says": "correct", "expected": "incorrect", "split": "holdout"}
    seen = {"says": "correct", "expected": "correct"}
    run = calibrate(repo, cases(held, seen, seen))
    assert {row["item"] for row in run.ledger()} == {"golden/c001", "golden/c002"}
    assert only(run)["held_out"] == 1
    assert "c000" not in run.out
    assert "1 held out and not graded" in run.out
    held_run = repo.gate("calibrate", "HEAD", "--split", "holdout", out="held")
    assert [d["case"] for d in only(held_run)["disagreements"]] == ["c000"]
    assert only(held_run)["split"] == "holdout"
    assert "Split `holdout`: 1 case, kept from tuning." in held_run.out


def test_a_share_is_held_out_by_hash(repo: Repository) -> None:
    text = cases(*[{"says": "correct", "expected": "correct"}] * 40)
    tune = {r["item"] for r in calibrate(repo, text, "--holdout", "0.4").ledger()}
    held = {
        r["item"] for r in repo.gate("calibrate", "HEAD", "--holdout", "0.4", "--split", "holdout", out="h").ledger()
    }
    assert tune.isdisjoint(held)
    assert len(tune | held) == 40
    assert 8 <= len(held) <= 24


def test_repeats_are_the_median_and_their_disagreement_is_said(repo: Repository) -> None:
    text = cases(*[{"says": "partial", "expected": "partial"}] * 6)
    run = calibrate(repo, text, "--repeats", "5", rubric="coin\n")
    suite = only(run)
    assert suite["repeats"] == 5
    by_item: dict[str, list[str]] = {}
    for row in run.ledger():
        by_item.setdefault(row["item"], []).append(row["grade"]["verdict"])
    assert suite["overall"]["unstable"] == sum(len(set(said)) > 1 for said in by_item.values()) > 0
    accepted = sum(said.count("correct") > said.count("partial") for said in by_item.values())
    assert suite["overall"]["false_accept"]["k"] == accepted


def test_a_grader_that_cannot_answer_is_an_error_and_no_card(repo: Repository) -> None:
    text = cases({"says": "partial", "expected": "partial"}, {"says": "correct", "expected": "correct"})
    card = repo.root.parent / "card.yml"
    run = calibrate(repo, text, "--write", str(card), "--max-calls", "1")
    assert run.code == 3
    assert "no card written: 1 of 2 cases were not measured" in run.err
    assert not card.exists()
    suite = only(run)
    assert suite["overall"]["unmeasured"] == 1
    assert read(run)["complete"] is False
    rest = repo.gate("calibrate", "HEAD", "--write", str(card))
    assert (rest.code, card.exists()) == (0, True)
    assert only(rest)["overall"]["unmeasured"] == 0


def test_replies_that_cannot_be_used_are_counted(repo: Repository) -> None:
    text = cases({"says": "partial", "expected": "partial"}, {"says": "correct", "expected": "correct"})
    run = calibrate(repo, text, rubric="broken\n")
    assert run.code == 0
    whole = only(run)["overall"]
    assert (whole["cases"], whole["judged"], whole["unusable"], whole["unmeasured"]) == (2, 1, 1, 0)
    (found,) = only(run)["disagreements"]
    assert (found["kind"], found["case"]) == ("unusable", "c000")
    assert "cannot read this" in found["reason"]


def test_a_grader_without_any_verdict_measured_nothing(repo: Repository) -> None:
    run = calibrate(repo, cases({"says": "partial", "expected": "partial"}), rubric="broken\n")
    assert run.code == 3
    assert "the grader gave no verdict on any of 1 cases" in run.out


def test_no_labelled_case_is_a_usage_error_that_says_how_to_add_one(repo: Repository) -> None:
    ladders_only = CONFIG.replace('cases: "cases/*.yaml", ', "")
    run = calibrate(repo, MIXED, config=ladders_only)
    assert run.code == 2
    assert "labels: {ann: correct, bob: partial}" in run.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--split", "holdout"), "no case is held out; set `split: holdout`"),
        (("--split", "dve"), "--split dve: no case of suite main has this split; known: holdout, tune"),
        (("--holdout", "1"), "is not a share from 0 to below 1"),
        (("--holdout", "nan"), "is not a share"),
        (("--suite", "mian"), "mian"),
    ],
)
def test_bad_input_is_said_in_one_line(repo: Repository, arguments: tuple[str, ...], words: str) -> None:
    run = calibrate(repo, MIXED, *arguments)
    assert run.code == 2
    assert words in run.err
    assert "Traceback" not in run.err


def test_a_file_of_somebody_else_is_never_overwritten(repo: Repository) -> None:
    run = calibrate(repo, MIXED, "--write", str(repo.root / ".grader-gate.yml"))
    assert run.code == 2
    assert "is no calibration card" in run.err
    assert (repo.root / ".grader-gate.yml").read_text("utf-8") == CONFIG
    assert run.ledger() == [], "said before a call is made"


def test_two_suites_of_one_grader_have_no_one_card(repo: Repository) -> None:
    config = CONFIG + '  more: {grader: judge, cases: "cases/*.yaml", mutators: none}\n'
    run = calibrate(repo, MIXED, "--write", str(repo.root.parent / "card.yml"), config=config)
    assert run.code == 2
    assert "suites main, more all calibrate grader judge" in run.err
    both = repo.gate("calibrate", "HEAD", out="both")
    assert [s["suite"] for s in read(both)["suites"]] == ["main", "more"]
    one = repo.gate("calibrate", "HEAD", "--suite", "more", "--write", str(repo.root.parent / "card.yml"), out="one")
    assert one.code == 0


def test_quote_none_carries_no_text(repo: Repository) -> None:
    run = calibrate(repo, MIXED, config=CONFIG + "report: {quote: none}\n")
    for found in only(run)["disagreements"]:
        assert (found["question"], found["answer"], found["reason"]) == (None, None, None)
    assert "ends with" not in (run.folder / "calibration.md").read_text("utf-8")


def test_schema_is_printed(repo: Repository) -> None:
    run = repo.gate("schema", "calibration")
    assert json.loads(run.out)["title"] == "grader-gate calibration"
