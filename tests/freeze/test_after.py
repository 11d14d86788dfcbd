"""After the label: the same change again, the merge queue, the merge, and the next pull request."""

import pytest

from tests.freeze.world import config


@pytest.mark.parametrize("store", ["branch", "files"])
def test_what_was_accepted_stays_accepted_until_it_changes(new_world, store):
    world = new_world(store=store)
    world.open_pull()
    assert world.check() == 1
    assert world.freeze() == 0
    if store == "files":
        world.head = world.server.pulls[1]["head"]["sha"]
        assert world.verdict() == "success", "the record's commit has its own check"
        world.push({})
    assert world.check() == 0
    assert "Accepted by maintainer" in world.comment
    assert world.result["cost"]["calls"] == 0
    world.push({"README.md": "nothing to do with grading"})
    assert world.check() == 0
    assert world.merge_group() == 0
    assert world.verdict(world.merge) == "success"
    world.push({".grader-gate.yml": config("Rome", store)})
    assert world.check() == 1, "another change was never accepted"


@pytest.mark.parametrize("store", ["branch", "files"])
def test_once_merged_base_is_what_was_frozen(new_world, store):
    world = new_world(store=store)
    world.open_pull()
    assert world.check() == 1
    assert world.freeze() == 0
    world.merge_pull()
    assert world.pushed() == 0
    assert "2 items have a record, 0 measured now" in world.log
    world.repo.git("branch", "-D", "feature")
    world.open_pull({".grader-gate.yml": config("Paris", store)})
    assert world.check() == 0
    (suite,) = world.result["suites"]
    assert suite["baseline"].startswith("frozen ")
    assert "by maintainer" in suite["baseline"]
    assert [f["kind"] for f in suite["findings"]] == ["improvement", "improvement"]


def test_an_acceptance_is_of_one_pull_request(world):
    assert world.freeze() == 0
    for lines in world.records().values():
        assert lines[0]["pull_request"] == 1
    world.server.pulls[2] = world.server.pulls.pop(1) | {"number": 2}
    payload = world.pull_event_of(2)
    assert world.run("pull_request", payload, world.merge, "refs/pull/1/merge") == 1


def test_the_files_store_commits_to_the_pull_request(new_world):
    world = new_world(store="files")
    world.open_pull()
    assert world.check() == 1
    before = world.head
    assert world.freeze() == 0
    head = world.server.pulls[1]["head"]["sha"]
    assert world.repo.git("rev-parse", f"{head}^") == before
    assert len(world.records("feature")) == 1
    assert world.records() == {}
    assert (world.verdict(before), world.verdict(head)) == ("success", "success")
    assert f'"pr_head":"{head}"' in world.comment
    message = world.repo.git("log", "-1", "--format=%B", head)
    assert "By: maintainer" in message
    assert "Run: " in message


def test_a_record_that_a_person_commits_accepts_nothing(new_world):
    world = new_world(store="files")
    world.open_pull()
    assert world.check() == 1
    assert world.freeze() == 0
    head = world.server.pulls[1]["head"]["sha"]
    world.server.state.signed.pop(head)
    world.push({})
    assert world.check() == 1
    assert "it was not committed by the freeze workflow" in world.log


def test_a_fork_is_told_the_command_where_records_are_files(new_world):
    world = new_world(store="files")
    world.open_pull(fork=True)
    world.server.add_comment(1, f'<!-- grader-gate {{"v":1,"key":"","pr_head":"{world.head}"}} -->\n\nreport')
    assert world.freeze() == 2
    assert f"grader-gate freeze {world.head[:12]}" in world.log
    assert world.labels == []
