"""The second family through the command line, on a real repository."""

from __future__ import annotations

import pytest

from tests.families.judges import CONFIG, JUDGES, cases, start
from tests.flow.repository import Repository


def test_an_audit_shows_both_side_by_side(repo: Repository):
    start(repo)
    run = repo.gate("audit")
    both = run.suite["second_family"]
    rows = {row["mutator"]: row for row in both["mutators"]}
    assert both["grader"] == "numbers"
    assert (both["first_family"], both["family"]) == ("alpha", "beta")
    # One is blind to numbers, the other to what is left out: together they see all.
    assert rows["corrupt_number"]["first"]["k"] == 0
    assert rows["corrupt_number"]["second"]["k"] == rows["corrupt_number"]["second"]["n"] >= 3
    assert rows["drop_last_sentence"]["first"]["k"] == rows["drop_last_sentence"]["first"]["n"] >= 3
    assert rows["corrupt_number"]["both_missed"] == 0
    assert both["first_right"] == {"k": 4, "n": 5, "planned": 5}
    assert both["second_right"] == {"k": 5, "n": 5, "planned": 5}
    assert not run.findings("monoculture")


def test_the_disagreements_are_listed_golden_cases_first(repo: Repository):
    start(repo)
    run = repo.gate("audit")
    both = run.suite["second_family"]
    first = both["disagreements"][0]
    assert (first["item"], first["first"], first["second"], first["expected"]) == (
        "golden/wrong", "correct", "incorrect", "incorrect",
    )  # fmt: skip
    assert both["disagreed"] == len(both["disagreements"])
    assert both["agreement"]["n"] - both["agreement"]["k"] == both["disagreed"]
    (finding,) = run.findings("second family disagrees")
    assert finding["blocking"] is False
    assert "golden/wrong: correct against incorrect" in finding["sentence"]


def test_a_common_blindness_is_named(repo: Repository):
    start(repo, CONFIG.replace("second_family: numbers", "second_family: blind"))
    run = repo.gate("audit")
    (found,) = run.findings("monoculture")
    assert found["mutator"] == "corrupt_number"
    assert found["blocking"] is False
    row = next(r for r in run.suite["second_family"]["mutators"] if r["mutator"] == "corrupt_number")
    assert row["both_missed"] == row["first"]["n"] >= 3
    # What the first one sees is no common blindness.
    assert next(r for r in run.suite["second_family"]["mutators"] if r["mutator"] == "drop_last_sentence")[
        "both_missed"
    ] == 0  # fmt: skip


def test_a_check_asks_it_only_on_request_and_never_changes_its_verdict(repo: Repository):
    start(repo)
    repo.commit({"judges.py": JUDGES.replace("Sees missing words", "Sees words that are missing")})
    plain = repo.check("--no-cache")
    assert plain.code == 0, plain.err
    assert plain.suite["second_family"] is None
    asked = repo.check("--no-cache", "--second-family", out="asked")
    assert (asked.code, asked.suite["verdict"]) == (plain.code, plain.suite["verdict"])
    assert asked.suite["second_family"]["disagreed"] > 0
    assert asked.result["estimate"]["calls"] > plain.result["estimate"]["calls"]


def test_the_policy_can_ask_for_it_always(repo: Repository):
    start(repo, CONFIG + "policy: {second_family: always}\n")
    repo.commit({"judges.py": JUDGES.replace("Sees missing words", "Sees words that are missing")})
    assert repo.check().suite["second_family"]["grader"] == "numbers"


def test_what_it_costs_is_said_before(repo: Repository):
    start(repo)
    plan = repo.gate("plan")
    assert "main: second family numbers, in `run` and `audit`:" in plan.out
    repo.commit({"judges.py": JUDGES + "\n# more\n"})
    dry = repo.check("--dry-run")
    assert "is not asked for; --second-family would add it" in dry.out
    dry = repo.check("--dry-run", "--second-family")
    assert "is asked for" in dry.out


def test_a_second_family_that_cannot_run_is_a_notice_and_no_error(repo: Repository):
    start(repo, CONFIG.replace("judges:by_numbers", "nowhere:at_all"))
    run = repo.gate("run")
    assert run.code == 0, run.err
    assert run.suite["second_family"] is None
    assert any("the second family numbers was not graded" in n["message"] for n in run.result["notices"])


def test_the_budget_serves_the_first_family_first(repo: Repository):
    start(repo)
    run = repo.gate("run", "--max-calls", "5")
    assert run.suite["verdict"] == "pass"
    assert run.suite["second_family"]["agreement"] == {"k": 0, "n": 0, "planned": 5}
    assert any("5 of 5 items have no grade of both families" in n["message"] for n in run.result["notices"])


@pytest.mark.parametrize("where", ["metadata", "suite"])
def test_a_grader_that_judges_its_own_family_is_warned_of(repo: Repository, where: str):
    config, texts = CONFIG, cases()
    if where == "metadata":
        texts = cases(generator_family="Alpha")
    else:
        config = CONFIG.replace("second_family: numbers", "second_family: numbers, generator_family: alpha")
    start(repo, config, texts)
    said = [n["message"] for n in repo.gate("run").result["notices"] if n["level"] == "warning"]
    (kin,) = [m for m in said if "also wrote the answers" in m]
    assert f"of {4 if where == 'metadata' else 5} of 5 cases" in kin
    repo.commit({"judges.py": JUDGES + "\n# more\n"})
    assert kin in [n["message"] for n in repo.check().result["notices"]]


def test_two_graders_of_one_family_are_warned_of(repo: Repository):
    start(repo, CONFIG.replace("family: beta", "family: alpha"))
    said = [n["message"] for n in repo.gate("run").result["notices"]]
    assert any("both of the family `alpha`" in m for m in said)


def test_nobody_is_warned_without_kin(repo: Repository):
    start(repo, texts=cases(generator_family="delta"))
    assert not [n for n in repo.gate("run").result["notices"] if "family" in n["message"]]


def test_one_answer_and_two_are_no_second_family(repo: Repository):
    config = CONFIG.replace("{inputs: [reference, answer], family: beta", "{compares: true, family: beta")
    start(repo, config)
    run = repo.gate("run")
    assert run.code == 2
    assert "both must be asked the same" in run.err


def test_every_report_shows_it(repo: Repository):
    start(repo)
    repo.commit({"judges.py": JUDGES.replace("Sees missing words", "Sees words that are missing")})
    run = repo.check("--second-family")
    comment = (run.folder / "comment.md").read_text("utf-8")
    assert "The second family numbers says the same of" in comment
    assert "The second family numbers says the same of" in " ".join(run.out.split())
    page = (run.folder / "report.html").read_text("utf-8")
    assert "Second family: words beside numbers" in page
    assert "<code>golden/wrong</code>" in page
