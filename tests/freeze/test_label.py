"""The freeze label, end to end: who may, when it counts, what it accepts, what it leaves."""

import os
import signal

import pytest

from tests.freeze.world import AUTHOR, FREEZE, MAINTAINER, TRIAGER, config
from tests.servers.github_server import Fault, Token

LADDER = """\
- id: capital
  question: What is the capital of France?
  rungs:
    - {level: 0, answer: It is London.}
    - {level: 1, answer: I do not know.}
    - {level: 2, answer: It is Paris.}
"""


def refused(world, *words: str) -> None:
    """The label is off, nothing is frozen, the verdict stands, and one line says why."""
    assert world.labels == []
    assert world.records() == {}
    assert world.verdict() == "failure"
    note = next(line for line in world.comment.splitlines() if line.startswith("> 🏷️ "))
    for word in words:
        assert word in world.log
    assert words[0][:30] in note.replace("\\", "").replace("&#8203;", "").replace("​", "")


def test_a_maintainers_label_accepts_what_is_worse(world):
    assert world.freeze() == 0
    assert world.labels == []
    (lines,) = world.records().values()
    head, *rows = lines
    assert (head["kind"], head["by"], head["pull_request"], head["commit"]) == ("freeze", MAINTAINER, 1, world.merge)
    assert head["run"].endswith("/actions/runs/102/attempts/1")
    assert head["workflow"].endswith("freeze.yml@refs/heads/main")
    assert [(r["item"], [g["verdict"] for g in r["grades"]]) for r in rows] == [
        ("golden/france", ["incorrect"] * 2),
        ("golden/wrong", ["correct"] * 2),
    ]
    assert world.verdict() == "success"
    assert "Frozen by maintainer: 2 items with 2 fresh repeats each, 0 carried over" in world.comment
    assert "Freezing for maintainer: 4 calls" in world.log
    assert world.log.index("Freezing for maintainer: 4 calls") < world.log.index("verdict: pass")
    assert world.server.state.labels[FREEZE]["description"].startswith("Accept this pull request's grades")


def test_the_label_is_there_to_be_picked_once_a_report_speaks_of_it(new_world, server):
    world = new_world(more="policy: {freeze: {label: bless}}")
    world.open_pull({".grader-gate.yml": config("aris", more="policy: {freeze: {label: bless}}")})
    assert world.check() == 0
    assert server.state.labels == {}
    world.push({".grader-gate.yml": config("London", more="policy: {freeze: {label: bless}}")})
    assert world.check() == 1
    assert list(server.state.labels) == ["bless"]
    server.tokens["check-job-token-1"] = Token(permissions={"contents": "read", "checks": "write"})
    server.state.labels.clear()
    assert world.check(token="check-job-token-1") == 1
    assert server.state.labels == {}


def test_old_and_new_figures_stand_side_by_side_once_base_is_frozen(new_world):
    world = new_world()
    assert world.pushed() == 0
    world.open_pull()
    assert world.check() == 1
    assert world.freeze() == 0
    (row,) = world.result["suites"][0]["audits"]
    assert (row["base"]["k"], row["head"]["k"], row["head"]["n"]) == (2, 0, 2)
    assert "100.0 %" in world.comment


def test_what_is_unchanged_is_carried_over(new_world):
    world = new_world()
    assert world.pushed() == 0
    more = '- {id: tokyo, question: "Capital of Japan?", reference: Tokyo, answer: It is Tokyo., expected: incorrect}\n'
    files = {"cases.yml": world.repo.git("show", "main:cases.yml") + "\n" + more.replace("Tokyo.,", '"It is Tokyo",')}
    world.open_pull(
        {**files, "cases.yml": files["cases.yml"].replace("expected: incorrect\n- {id", "expected: correct\n- {id")}
    )
    assert world.check() == 1
    assert world.freeze() == 0
    assert "1 items with 2 fresh repeats each, 2 carried over" in world.comment
    assert sorted(len(lines) - 1 for lines in world.records().values()) == [1, 2]


@pytest.mark.parametrize(
    ("by", "more", "why"),
    [
        (AUTHOR, "", f"{AUTHOR} opened this pull request"),
        (TRIAGER, "", "triager has read permission"),
        ("stranger", "", "stranger has read permission"),
        (MAINTAINER, "policy: {freeze: {permission: admin}}", "maintainer has write permission"),
        (MAINTAINER, "policy: {freeze: {users: [boss]}}", "none of the users and teams"),
        (MAINTAINER, "policy: {freeze: {teams: [judges]}}", "none of the users and teams"),
    ],
)
def test_who_may_not(new_world, by, more, why):
    world = new_world(more=more)
    world.open_pull()
    assert world.check() == 1
    assert world.freeze(by) == 2
    refused(world, f"label 'freeze-baseline' not served: {by}"[:30], why)


@pytest.mark.parametrize(
    ("by", "more"),
    [
        (TRIAGER, "policy: {freeze: {users: [Triager]}}"),
        (TRIAGER, "policy: {freeze: {teams: [judges]}}"),
        (TRIAGER, "policy: {freeze: {teams: ['@acme/judges'], permission: admin}}"),
        (MAINTAINER, "policy: {freeze: {users: [boss], permission: write}}"),
        (AUTHOR, "policy: {freeze: {not_author: false}}"),
    ],
)
def test_who_may(new_world, server, by, more):
    server.state.teams["acme", "judges"] = {TRIAGER}
    world = new_world(more=more)
    world.open_pull()
    assert world.check() == 1
    assert world.freeze(by) == 0
    assert len(world.records()) == 1


def test_a_token_that_may_not_look_into_teams_is_told(new_world, server):
    world = new_world(more="policy: {freeze: {teams: [judges]}}")
    world.open_pull()
    assert world.check() == 1
    server.fault("GET", r"/teams/", Fault(403, "Resource not accessible by integration"))
    assert world.freeze() == 2
    refused(world, "label 'freeze-baseline' not served", "this token may not read the members of judges")


@pytest.mark.parametrize("what", [r"/permission$", r"/issues/1/events$", r"/pulls/1$", r"/issues/1/comments$"])
def test_what_cannot_be_asked_freezes_nothing_and_keeps_the_label(world, server, what):
    server.fault("GET", what, *[Fault(502)] * 5)
    assert world.freeze() == 3
    assert (world.records(), world.labels, world.verdict()) == ({}, [FREEZE], "failure")
    assert world.freeze(put=False) == 0
    assert world.verdict() == "success"


def test_the_policy_is_the_base_branchs(new_world):
    world = new_world()
    world.open_pull({".grader-gate.yml": config("London", more="policy: {freeze: {users: [triager]}}")})
    assert world.check() == 1
    assert world.freeze(TRIAGER) == 2
    refused(world, "label 'freeze-baseline' not served", "triager has read permission")


def test_a_label_before_the_report_does_not_count(new_world):
    world = new_world()
    world.open_pull()
    assert world.freeze() == 2
    assert "there is no report on" in world.log
    assert (world.labels, world.records(), world.server.comments) == ([], {}, {})
    assert world.check() == 1
    assert world.freeze() == 0


def test_a_label_older_than_the_report_does_not_count(new_world):
    world = new_world()
    world.open_pull()
    world.label()
    assert world.check() == 1
    assert world.freeze(put=False) == 2
    refused(world, "label 'freeze-baseline' not served", "is newer than the label")


def test_a_push_after_the_label_unmakes_it(world):
    world.label()
    stale = world.pull_event("labeled") | {"label": {"name": FREEZE}}
    world.push({"README.md": "pushed since"})
    assert world.run("pull_request_target", stale, world.main, "refs/heads/main") == 2
    assert "was pushed since" in world.log
    assert (world.labels, world.records()) == ([], {})


def test_a_push_after_the_report_needs_a_report_of_its_own(world):
    world.push({"README.md": "pushed since"})
    assert world.freeze() == 2
    assert "there is no report on" in world.log
    assert world.records() == {}


def test_a_label_that_is_gone_again_asks_nothing(world):
    stale = world.pull_event("labeled") | {"label": {"name": FREEZE}}
    assert world.run("pull_request_target", stale, world.main, "refs/heads/main") == 0
    assert "is not on the pull request any more" in world.log
    assert world.records() == {}


def test_another_label_asks_nothing_and_stays(world):
    before = world.comment
    assert world.freeze(label="documentation") == 0
    assert "asks nothing of the gate" in world.log
    assert (world.labels, world.records(), world.comment) == (["documentation"], {}, before)
    assert [run["conclusion"] for run in world.server.check_runs] == ["failure"]


def test_a_forged_report_is_no_report(new_world, server):
    world = new_world()
    world.open_pull()
    server.add_comment(1, f'<!-- grader-gate {{"v":1,"pr_head":"{world.head}"}} -->\nfine', login=AUTHOR)
    assert world.freeze() == 2
    assert "there is no report on" in world.log
    assert world.records() == {}


def test_the_freeze_label_has_the_name_that_base_gives_it(new_world):
    world = new_world(more="policy: {freeze: {label: bless}}")
    world.open_pull()
    assert world.check() == 1
    assert world.freeze() == 0
    assert world.records() == {}
    assert world.freeze(label="bless") == 0
    assert len(world.records()) == 1
    assert world.labels == [FREEZE]


def test_absolute_breaches_of_heads_policy_are_not_accepted(new_world):
    suites = {"ladders.yml": LADDER}
    world = new_world(files=suites)
    text = config().replace("    cases: cases.yml", "    cases: cases.yml\n    ladders: ladders.yml")
    world.repo.commit({".grader-gate.yml": text})
    world.open_pull({".grader-gate.yml": text.replace("[Paris]", "[London]")})
    assert world.check() == 1
    assert world.freeze() == 1
    assert world.records() == {}
    assert world.labels == []
    assert world.verdict() == "failure"
    assert "Not accepted: head breaks its own policy" in world.comment
    assert "Not frozen: the freeze label accepts what is worse than on base" in world.comment


def test_goalposts_are_accepted(new_world):
    world = new_world(
        files={
            "cases.yml": "- {id: a, question: q, answer: It is Paris., expected: correct}\n"
            "- {id: b, question: q, answer: It is Rome., expected: incorrect}\n"
        }
    )
    world.open_pull({"cases.yml": "- {id: a, question: q, answer: It is Paris., expected: correct}\n"})
    assert world.check() == 1
    assert "case" in world.result["goalposts"][0]["what"]
    assert world.freeze() == 0
    assert [g["accepted"] for g in world.result["goalposts"]] == [True]
    assert world.verdict() == "success"
    assert world.check() == 0, "the same change again is accepted"


def test_a_closed_pull_request_is_refused(world):
    world.server.pulls[1]["state"] = "closed"
    assert world.freeze() == 2
    assert "pull request 1 is closed" in world.log
    assert world.records() == {}


def test_a_conflict_is_refused(world):
    world.server.pulls[1]["merge_commit_sha"] = None
    assert world.freeze() == 2
    refused(world, "label 'freeze-baseline' not served", "resolve the conflict")


def test_before_adoption_no_key_goes_where_an_unmerged_configuration_says(new_world):
    world = new_world()
    world.repo.git("rm", "-q", ".grader-gate.yml")
    world.repo.commit()
    world.open_pull({".grader-gate.yml": config()})
    assert world.check() == 3
    assert "not adopted yet" in world.log
    assert world.freeze() == 2
    refused(world, "label 'freeze-baseline' not served", "is not on the base branch yet: merge it")
    world.merge_pull()
    assert world.pushed() == 0
    assert len(world.records()) == 1, "the push measures the baseline"


def test_by_hand(world):
    assert world.dispatch(TRIAGER) == 2
    assert "triager has read permission" in world.log
    assert world.dispatch(AUTHOR) == 2
    assert world.dispatch(pr="0x1") == 2
    assert "is no number of a pull request" in world.log
    assert world.dispatch(pr="99") == 2
    assert "there is no pull request 99" in world.log
    assert world.records() == {}
    assert world.dispatch() == 0
    assert len(world.records()) == 1
    assert world.verdict() == "success"


def test_the_answer_replaces_a_refusal(world):
    assert world.freeze(TRIAGER) == 2
    assert "🏷️" in world.comment
    assert world.freeze(TRIAGER) == 2
    assert world.comment.count("🏷️") == 1
    assert world.freeze() == 0
    assert "🏷️" not in world.comment


def test_a_stale_label_of_somebody_elses_is_not_taken_off(world):
    world.label("documentation")
    stale = world.pull_event("labeled") | {"label": {"name": "documentation"}}
    world.push({"README.md": "pushed since"})
    assert world.run("pull_request_target", stale, world.main, "refs/heads/main") == 0
    assert world.labels == ["documentation"]


def test_a_pull_request_that_changes_nothing_measured_keeps_its_green(new_world):
    world = new_world()
    world.open_pull({"README.md": "a typo mended\n"})
    assert world.check() == 0
    world.server.add_comment(1, f'<!-- grader-gate {{"v":1,"key":"","pr_head":"{world.head}"}} -->\n\nan older report')
    assert world.freeze() == 2
    assert "nothing to freeze" in world.log
    assert (world.verdict(), world.labels, world.records()) == ("success", [], {})


# ---------------------------------------------------------------- graders in code


def change_code(new_world, tmp_path):
    from tests.freeze.moody import JUDGE, moody_world

    world, _ = moody_world(new_world, tmp_path)
    world.open_pull({"code/judge.py": JUDGE.replace('"good": "correct"', '"good": "partial"')})
    assert world.check() == 1
    return world


def test_changed_code_is_not_frozen_where_it_does_not_run(new_world, tmp_path):
    world = change_code(new_world, tmp_path)
    assert world.freeze() == 2
    refused(world, "label 'freeze-baseline' not served", "code of a pull request does not run in this workflow")


def test_changed_code_is_frozen_by_the_task_on_pull_request(new_world, tmp_path):
    world = change_code(new_world, tmp_path)
    world.label()
    payload = world.pull_event("labeled") | {"label": {"name": FREEZE}}
    assert world.run("pull_request", payload, world.merge, "refs/pull/1/merge", task="freeze") == 0
    assert len(world.records()) == 1
    assert world.verdict() == "success"
    assert world.check() == 0


def test_the_task_asks_the_same_questions(new_world, tmp_path):
    world = change_code(new_world, tmp_path)
    world.label(by=TRIAGER)
    payload = world.pull_event("labeled") | {"label": {"name": FREEZE}}
    assert world.run("pull_request", payload, world.merge, "refs/pull/1/merge", task="freeze") == 2
    refused(world, "label 'freeze-baseline' not served", "triager has read permission")
    assert world.check(task="freeze") == 0
    assert "nothing is frozen and no check is set" in world.log
    assert world.check(task="thaw") == 2


# ---------------------------------------------------------------- interrupted


@pytest.mark.parametrize("where", [r"/git/blobs$", r"/git/trees$", r"/check-runs$"])
def test_a_cancelled_freeze_is_not_green_and_may_be_run_again(world, server, where):
    server.fault("POST", where, Fault(pass_through=True, then=lambda: os.kill(os.getpid(), signal.SIGTERM)))
    assert world.freeze() == 3
    assert (world.verdict(), world.records(), world.labels) == ("failure", {}, [FREEZE])
    assert all(run["status"] == "completed" for run in server.check_runs)
    assert world.freeze(put=False) == 0
    assert (world.verdict(), len(world.records()), world.labels) == ("success", 1, [])
    assert "Frozen by maintainer" in world.comment
