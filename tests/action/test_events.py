"""The action on every other kind of event, and where it is not started as a step."""

import json

import pytest

from tests.report import fixtures
from tests.servers.github_objects import event


@pytest.mark.parametrize("name", ["issue_comment", "push", "workflow_run", "watch"])
def test_an_event_without_two_sides_is_explained_and_ends_0(job, server, name):
    job.env["GITHUB_EVENT_NAME"] = name
    job.payload = event("push") if name == "push" else event("issue_comment")
    assert job.run() == 0
    assert f"a {name} event has no two sides to compare; nothing is measured and no check is set" in job.log
    assert job.measure.calls == []
    assert server.requests == []


def test_a_closed_pull_request_is_left_alone(job, server):
    job.payload["action"] = "closed"
    assert job.run() == 0
    assert server.requests == []
    assert "the pull request is closed" in job.log


@pytest.mark.parametrize("action", ["opened", "reopened", "edited", "labeled", "unlabeled", "ready_for_review"])
def test_every_other_action_of_a_pull_request_is_measured(job, action):
    job.payload["action"] = action
    assert job.run() == 1
    assert job.conclusions == ["failure"]


@pytest.mark.parametrize(("changes", "code"), [({"title": {"from": "x"}}, 0), ({"base": {"ref": {"from": "x"}}}, 1)])
def test_an_edit_is_measured_where_the_base_branch_changed(job, server, changes, code):
    job.payload |= {"action": "edited", "changes": changes}
    assert job.run() == code
    assert (server.requests == []) is (code == 0)
    assert job.conclusions == (["failure"] if code else [])


def test_a_draft_is_measured(job):
    job.payload["pull_request"]["draft"] = True
    assert job.run() == 1


def test_pull_request_target_is_refused_for_green_would_look_like_a_verdict(job, server):
    job.env["GITHUB_EVENT_NAME"] = "pull_request_target"
    assert job.run() == 2
    assert "let the workflow run on `pull_request`" in job.log
    assert server.requests == []


def test_a_merge_group_is_measured_under_the_same_check_and_without_a_comment(job, server):
    job.env["GITHUB_EVENT_NAME"] = "merge_group"
    job.payload = event("merge_group")
    job.payload["merge_group"] |= {"head_sha": job.origin.merge, "base_sha": job.origin.main}
    assert job.run() == 1
    assert (job.measure.calls[0]["base"], job.measure.calls[0]["head"]) == (job.origin.main, job.origin.merge)
    assert [(run["name"], run["head_sha"], run["conclusion"]) for run in server.check_runs] == [
        ("grader-gate", job.origin.merge, "failure")
    ]
    assert server.comments == {}
    assert "comment: left out: a merge_group event has no pull request" in job.log


def test_a_run_by_hand_compares_what_its_inputs_name_and_posts_nothing(job, server):
    job.env["GITHUB_EVENT_NAME"] = "workflow_dispatch"
    job.payload = event("workflow_dispatch")
    assert job.run(base=job.origin.fork_point, head=job.origin.head) == 1
    assert (job.measure.calls[0]["base"], job.measure.calls[0]["head"]) == (job.origin.fork_point, job.origin.head)
    assert job.measure.prompts == [b"old\n", b"new\n"]
    assert server.writes() == []
    assert fixtures.failing().headline in job.summary
    assert job.run(base="HEAD") == 1
    assert job.measure.calls[1]["head"] == job.origin.merge
    assert job.run() == 2
    assert "input `base`: workflow_dispatch has no base of its own" in job.log
    assert job.run(base="no-such-branch") == 2
    assert "'no-such-branch': no such commit" in job.log
    assert job.run(base="--upload-pack=touch /tmp/x") == 2


def test_a_branch_named_by_hand_is_found_as_a_remote_branch(job):
    job.env["GITHUB_EVENT_NAME"] = "workflow_dispatch"
    job.payload = event("workflow_dispatch")
    job.origin.repo.git(
        "--git-dir", str(job.workspace / ".git"), "update-ref", "refs/remotes/origin/main", job.origin.main
    )
    assert job.run(base="main") == 1
    assert job.measure.calls[0]["base"] == job.origin.main


def test_a_pull_request_fixes_its_own_sides(job):
    assert job.run(base="HEAD~5") == 2
    assert "inputs `base` and `head` are for workflow_dispatch" in job.log
    assert job.measure.calls == []
    assert job.conclusions == ["failure"]


@pytest.mark.parametrize("gone", ["GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"])
def test_outside_actions_it_says_what_to_use(job, gone):
    del job.env[gone]
    assert job.run() == 2
    assert "outside Actions use `grader-gate check`" in job.log


@pytest.mark.parametrize("text", ["", "{", "[" * 200_000, "\xff"])
def test_an_event_file_that_cannot_be_read_is_one_clear_line(job, text):
    bad = job.files / "bad.json"
    bad.write_bytes(text.encode("latin-1"))
    job.env["GITHUB_EVENT_PATH"] = str(bad)
    assert job.run() == 2
    assert "the event cannot be read" in job.log


def test_an_event_that_is_no_object_is_told(job):
    (job.files / "list.json").write_text(json.dumps([1]), encoding="utf-8")
    job.env["GITHUB_EVENT_PATH"] = str(job.files / "list.json")
    assert job.run() == 2
    assert "the payload has no `pull_request`" in job.log


def test_home_elsewhere_and_no_summary_file(job):
    job.env["HOME"] = "/nonexistent"
    del job.env["GITHUB_STEP_SUMMARY"], job.env["GITHUB_OUTPUT"]
    assert job.run() == 1
    assert (job.summary, job.outputs) == ("", {})
