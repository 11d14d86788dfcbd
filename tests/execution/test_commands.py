"""Graders that execute answers through the command line, on a real repository."""

from __future__ import annotations

import sys

from tests.execution.test_fixtures import GRADE, TOOL
from tests.flow.repository import Repository

# A careful program looks at what the answer did; a careless one at what is there in the end.
CAREFUL = GRADE.replace(
    'there = "row ann" in state', 'there = "row ann" not in before.splitlines() and "row ann" in state'
)

CONFIG = f"""
version: 1
graders:
  runner:
    kind: command
    command: [{sys.executable}, grade.py]
    fixtures:
      setup: [{sys.executable}, tool.py, setup]
      query: [{sys.executable}, tool.py, query]
      cleanup: [{sys.executable}, tool.py, cleanup]
      dirty: [{sys.executable}, tool.py, dirty]
    contract: {{inputs: [answer], deterministic: true}}
suites:
  main: {{grader: runner, cases: cases.yaml, mutators: [empty]}}
"""

CASES = """
cases:
  - {id: does, question: "Add Ann.", answer: "insert", expected: correct}
  - {id: idle, question: "Add Ann.", answer: "nothing", expected: incorrect}
"""


def start(repo: Repository, grade: str = CAREFUL, config: str = CONFIG, cases: str = CASES) -> None:
    repo.commit({".grader-gate.yml": config, "cases.yaml": cases, "grade.py": grade, "tool.py": TOOL}, "base")
    repo.git("switch", "-q", "-c", "topic")


def test_a_careful_grader_is_not_fooled_by_a_dirty_environment(repo: Repository):
    start(repo)
    run = repo.gate("audit")
    assert run.code == 0, run.err
    (row,) = [r for r in run.suite["mutators"] if r["mutator"] == "dirty_environment"]
    assert (row["polarity"], row["head"]) == ("attack", {"k": 1, "n": 1, "planned": 1})
    (graded,) = [r for r in run.ledger() if r["item"] == "dirty/idle"]
    assert graded["grade"]["environment"]["dirtied"] is True
    assert all(r["grade"]["environment"]["cleaned"] for r in run.ledger())


def test_a_careless_grader_is_caught_alone(repo: Repository):
    start(repo, GRADE)
    run = repo.gate("audit")
    (found,) = run.findings("attack")
    assert found["claim"] == "dirty/idle"
    assert found["mutator"] == "dirty_environment"
    assert found["head"] == "correct (unchanged: incorrect)"


def test_a_change_that_stops_looking_is_blocked(repo: Repository):
    start(repo)
    repo.commit({"grade.py": GRADE})
    run = repo.check()
    assert run.code == 1, run.out
    (found,) = run.findings("attack")
    assert (found["claim"], found["status"], found["blocking"]) == ("dirty/idle", "confirmed", True)
    assert found["suggestion"]


def test_a_changed_fixture_script_regrades_the_suite(repo: Repository):
    start(repo)
    repo.commit({"tool.py": TOOL.replace("table users", "table people")})
    run = repo.check()
    assert run.code == 0, run.out
    assert run.suite["affected"] == run.suite["items"] > 0
    assert "tool.py" in str(run.suite["changes"])


def test_taking_the_dirty_trial_away_is_a_goalpost_and_no_pass(repo: Repository):
    start(repo)
    repo.commit({".grader-gate.yml": CONFIG.replace(f"      dirty: [{sys.executable}, tool.py, dirty]\n", "")})
    run = repo.check()
    assert "fixtures weakened" in run.goalposts()
    assert run.code == 1


def test_an_environment_that_does_not_come_is_an_error_and_named(repo: Repository):
    start(repo)
    repo.commit(
        {"tool.py": TOOL.replace('if what == "setup":', 'if what == "setup":\n    sys.exit("no disk")\nelif 0:')}
    )
    run = repo.check()
    assert run.code == 2
    assert "graders.runner.fixtures.setup: ended with 1: no disk" in run.err


def test_without_a_wrong_answer_the_dirty_trial_is_said_to_be_idle(repo: Repository):
    start(repo, cases=CASES.rsplit("  - ", 1)[0])
    run = repo.gate("audit")
    assert run.code == 0, run.err
    assert any("no case expected `incorrect`" in n["message"] for n in run.result["notices"])
