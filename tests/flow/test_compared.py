"""The design's table "what is compared", row by row, through the command line on real repositories."""

from __future__ import annotations

import pytest

from tests.flow.repository import CASES, CONFIG, LADDER, Repository, case_file


def test_nothing_changed_is_not_applicable_and_calls_nothing(repo: Repository) -> None:
    repo.commit({"README.md": "words\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"], run.ledger()) == (0, "not applicable", [])
    assert run.result["suites"] == []


def test_a_rubric_that_becomes_lenient_is_a_confirmed_regression_with_place_and_direction(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient: look at the last word\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (1, "fail")
    (finding,) = run.findings("regression")
    assert finding["case"] == "two"
    assert (finding["expected"], finding["base"], finding["head"]) == ("partial", "partial", "correct")
    assert finding["direction"] == "more lenient"
    assert finding["status"] == "confirmed"
    assert finding["blocking"] is True
    assert finding["head_runs"]["k"] == 0
    assert finding["base_runs"]["k"] == finding["base_runs"]["n"] > 0
    assert finding["reason"] == "it ends with half"
    assert finding["location"] == {"path": "cases/all.yaml", "line": 3}
    (change,) = run.suite["changes"]
    assert (change["what"], change["location"]["path"], change["lines"]) == ("rubric", "rubric.md", [1])


def test_a_change_that_only_improves_passes_and_is_shown(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({"rubric.md": "lenient\n"})
    repo.git("switch", "-q", "-c", "better")
    repo.commit({"rubric.md": "strict\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (0, "pass")
    assert [f["case"] for f in run.findings("improvement")] == ["two"]


def test_the_working_tree_can_be_the_head(repo: Repository) -> None:
    repo.write({"rubric.md": "lenient\n"})
    run = repo.check(head="WORKTREE")
    assert run.code == 1
    assert run.result["head"] == {"sha": "WORKTREE", "name": "WORKTREE"}


def test_whitespace_and_line_ends_alone_change_nothing(repo: Repository) -> None:
    repo.commit({"rubric.md": b"strict: look at the last word\r\n", "cases/all.yaml": case_file(CASES) + "\n# note\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"], run.ledger()) == (0, "not applicable", [])


def test_an_edited_answer_is_new_and_the_old_text_stays_a_relative_claim(repo: Repository) -> None:
    edited = {**CASES, "one": ("It is bad", "correct")}
    repo.commit({"cases/all.yaml": case_file(edited), "rubric.md": "lenient\n"})
    run = repo.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]
    (new,) = run.findings("new case")
    assert (new["case"], new["blocking"], new["expected"], new["head"]) == ("one", False, "correct", "incorrect")
    assert {"golden/one", "new/golden/one"} <= {row["item"] for row in run.ledger()}


def test_an_added_case_that_fails_warns_and_says_what_base_does(repo: Repository) -> None:
    repo.commit({"cases/all.yaml": case_file({**CASES, "five": ("It is bad", "correct")})})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (0, "pass")
    (new,) = run.findings("new case")
    assert new["case"] == "five"
    assert "base fails it too" in new["sentence"]


def test_an_added_case_blocks_where_the_base_policy_says_so(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": CONFIG + "policy: {new_cases: must_pass}\n"})
    repo.git("switch", "-q", "-c", "more")
    repo.commit({"cases/all.yaml": case_file({**CASES, "five": ("It is bad", "correct")})})
    assert repo.check().code == 1


def test_a_relabelled_case_is_a_goalpost_and_is_judged_by_the_old_label(repo: Repository) -> None:
    relabelled = {**CASES, "two": ("It is half", "correct")}
    repo.commit({"cases/all.yaml": case_file(relabelled), "rubric.md": "lenient\n"})
    run = repo.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]
    assert len(run.goalposts()) == 1
    assert "label" in run.goalposts()[0]


def test_a_deleted_case_is_a_goalpost_and_still_judged(repo: Repository) -> None:
    left = {name: case for name, case in CASES.items() if name != "two"}
    repo.commit({"cases/all.yaml": case_file(left), "rubric.md": "lenient\n"})
    run = repo.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]
    assert len(run.goalposts()) == 1


def test_a_deleted_case_alone_fails_although_nothing_is_graded(repo: Repository) -> None:
    left = {name: case for name, case in CASES.items() if name != "two"}
    repo.commit({"cases/all.yaml": case_file(left)})
    run = repo.check()
    assert (run.code, run.result["verdict"], run.ledger()) == (1, "fail", [])
    assert len(run.goalposts()) == 1


def test_a_retagged_case_is_a_goalpost(repo: Repository) -> None:
    repo.commit({"cases/all.yaml": case_file(CASES, two="other")})
    run = repo.check()
    assert run.code == 1
    assert "tag" in run.goalposts()[0]


def test_a_renamed_case_is_the_same_case(repo: Repository) -> None:
    # The question holds the id in these files, so the new id is written by hand here.
    renamed = case_file(CASES).replace("id: two,", "id: zwei,")
    repo.commit({"cases/all.yaml": renamed})
    run = repo.check()
    assert (run.code, run.result["verdict"], run.ledger()) == (0, "not applicable", [])


def test_a_file_moved_out_of_the_glob_takes_its_cases_along_only_with_a_goalpost(repo: Repository) -> None:
    repo.git("mv", "cases/all.yaml", "all.yaml")
    run_config = CONFIG.replace('cases: "cases/*.yaml", ', "")
    repo.commit({".grader-gate.yml": run_config})
    run = repo.check()
    assert run.code == 1
    assert run.goalposts()


def test_a_dropped_rung_is_a_goalpost(repo: Repository) -> None:
    repo.commit({"ladders/all.yaml": LADDER.replace('      - {answer: "so half", defect: incomplete}\n', "")})
    run = repo.check()
    assert run.code == 1
    assert "rung" in run.goalposts()[0]


def test_a_lenient_ladder_ties_and_an_inverted_one_is_confirmed(repo: Repository) -> None:
    upside = """
ladders:
  - id: steps
    question: How?
    rungs:
      - {answer: "so half", level: 1}
      - {answer: "so bad", level: 2}
      - {answer: "so good", level: 3}
"""
    repo.git("switch", "-q", "main")
    judge = 'def grade(answer, rubric):\n    return "correct" if "good" in answer or "ok" in rubric else "incorrect"\n'
    repo.commit({"ladders/all.yaml": upside, "code/judge.py": judge, "rubric.md": "plain\n"})
    repo.git("switch", "-q", "-c", "upside")
    worse = (
        "def grade(answer, rubric):\n"
        '    if "half" in answer:\n        return "partial"\n'
        '    return "correct" if "good" in answer else "incorrect"\n'
    )
    repo.commit({"code/judge.py": worse})
    run = repo.check()
    assert run.code == 1
    (inversion,) = run.findings("inversion")
    assert inversion["case"] == "steps"
    assert inversion["status"] == "confirmed"
    assert run.suite["ladders"]["inversions"] == 1


def test_a_renamed_grader_needs_formerly(repo: Repository) -> None:
    renamed = CONFIG.replace("  judge:\n", "  referee:\n").replace("grader: judge", "grader: referee")
    repo.commit({".grader-gate.yml": renamed.replace("    kind: python", "    formerly: judge\n    kind: python")})
    run = repo.check()
    assert (run.code, run.goalposts()) == (0, [])
    repo.commit({".grader-gate.yml": renamed})
    run = repo.check()
    assert run.code == 1
    assert run.goalposts()


def test_a_new_suite_only_reports_until_it_is_merged(repo: Repository) -> None:
    more = CONFIG + '  extra: {grader: judge, cases: "extra/*.yaml", mutators: none}\n'
    repo.commit({".grader-gate.yml": more, "extra/a.yaml": case_file({"x": ("It is bad", "correct")})})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (0, "pass")
    assert run.suite["role"] == "screen"
    assert run.suite["name"] == "extra"


def test_a_changed_policy_is_judged_by_the_base_policy(repo: Repository) -> None:
    repo.commit({".grader-gate.yml": CONFIG + "policy: {regressions: warn}\n", "rubric.md": "lenient\n"})
    run = repo.check()
    assert run.code == 1
    assert [f["blocking"] for f in run.findings("regression")] == [True]
    assert len(run.goalposts()) == 1


def test_a_raised_floor_is_no_goalpost(repo: Repository) -> None:
    repo.commit({".grader-gate.yml": CONFIG + "policy: {kill_rate: {default: 0.9}}\n"})
    run = repo.check()
    assert (run.code, run.goalposts()) == (0, [])


def test_no_configuration_on_base_is_not_adopted_and_never_green(repo: Repository) -> None:
    repo.git("switch", "-q", "--orphan", "empty")
    repo.commit({"README.md": "x\n"})
    run = repo.check(base="empty", head="main")
    assert (run.code, run.result["verdict"], run.ledger()) == (3, "error", [])
    assert "not adopted yet" in run.result["headline"]
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": CONFIG + "mode: report\n"})
    assert repo.check(base="empty", head="main").code == 3


def test_report_mode_of_base_posts_everything_and_never_blocks(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": CONFIG + "mode: report\n"})
    repo.git("switch", "-q", "-c", "lenient")
    repo.commit({"rubric.md": "lenient\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"], run.result["mode"]) == (0, "fail", "report")
    assert len(run.findings("regression")) == 1


def test_switching_to_report_mode_in_the_pull_request_does_not_help(repo: Repository) -> None:
    repo.commit({".grader-gate.yml": CONFIG + "mode: report\n", "rubric.md": "lenient\n"})
    run = repo.check()
    assert run.code == 1


def test_a_reply_that_can_no_longer_be_used_is_a_regression(repo: Repository) -> None:
    repo.commit({"rubric.md": "broken\n"})
    run = repo.check()
    assert run.code == 1
    (finding,) = run.findings("regression")
    assert (finding["case"], finding["head"]) == ("two", "unusable reply")


def test_a_noisy_case_is_dismissed_and_not_blamed(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({"rubric.md": "coin\n"})
    repo.git("switch", "-q", "-c", "noise")
    repo.commit({"rubric.md": "coin toss\n"})
    run = repo.check()
    assert run.code == 0
    assert not [f for f in run.findings() if f["blocking"]]


@pytest.mark.parametrize("name", ["comment.md", "report.html", "result.json", "junit.xml", "ledger.jsonl"])
def test_every_file_is_written(repo: Repository, name: str) -> None:
    repo.commit({"rubric.md": "lenient\n"})
    run = repo.check()
    assert (run.folder / name).stat().st_size > 0
