"""The data branch: append-only, raced for, and believed only where GitHub vouches for a workflow."""

import pytest

from grader_gate.github.client import Client
from grader_gate.github.gitdata import ROUNDS, RaceLost, add_file
from tests.action.job import TOKEN
from tests.servers.github_server import Fault


@pytest.fixture
def frozen(new_world):
    """Main is measured, and its record lies on the data branch."""
    made = new_world()
    assert made.pushed() == 0
    return made


def by_hand(world, files, *, remove=()):
    """Somebody pushes to the data branch."""
    world.repo.git("checkout", "-q", "grader-gate-data")
    for name in remove:
        (world.repo.root / name).unlink()
    sha = world.repo.commit(files)
    world.repo.git("checkout", "-q", "main")
    return sha


def baseline(world):
    world.open_pull()
    assert world.check() == 1
    (suite,) = world.result["suites"]
    return suite["baseline"]


def test_records_of_the_workflow_are_believed(frozen):
    assert baseline(frozen).startswith("frozen ")


def record_path(world):
    return world.repo.git("ls-tree", "-r", "--name-only", "grader-gate-data").splitlines()[0]


def test_an_edited_record_is_not_believed_and_base_is_measured_live(frozen):
    path = record_path(frozen)
    text = frozen.repo.git("show", f"grader-gate-data:{path}")
    by_hand(frozen, {path: text.replace('"correct"', '"incorrect"') + "\n"})
    assert "measured live" in baseline(frozen)
    assert "baseline record not used" in frozen.log
    assert "unverified touched it" in frozen.log


def test_a_planted_record_is_not_believed(frozen):
    path = record_path(frozen)
    text = frozen.repo.git("show", f"grader-gate-data:{path}")
    by_hand(frozen, {path.replace("Z-", "9-").replace("2026", "2099"): text.replace('"correct"', '"incorrect"') + "\n"})
    assert baseline(frozen).startswith("frozen ")
    assert "baseline record not used" in frozen.log


def test_a_signed_commit_of_a_person_is_not_the_workflow(frozen):
    path = record_path(frozen)
    text = frozen.repo.git("show", f"grader-gate-data:{path}")
    sha = by_hand(frozen, {path: text + "\n\n"})
    frozen.server.state.signed[sha] = "mallory"
    assert "measured live" in baseline(frozen)
    assert "of mallory touched it" in frozen.log


def test_an_edit_that_was_taken_back_stays_suspicious(frozen):
    path = record_path(frozen)
    text = frozen.repo.git("show", f"grader-gate-data:{path}")
    by_hand(frozen, {path: "{}\n"})
    by_hand(frozen, {path: text + "\n"})
    assert "measured live" in baseline(frozen)


def test_a_readme_on_the_branch_does_no_harm(frozen):
    by_hand(frozen, {"README.md": "the records of the gate\n"})
    assert baseline(frozen).startswith("frozen ")


def test_where_commits_cannot_be_asked_nothing_is_believed(frozen, server):
    server.fault("GET", r"/commits$", Fault(403, "Resource not accessible by integration"))
    assert "measured live" in baseline(frozen)
    assert "its commits could not be verified" in frozen.log


def test_unsigned_commits_of_a_personal_token_are_told(new_world, server):
    server.tokens[TOKEN].app = False
    server.tokens[TOKEN].login = "maintainer"
    world = new_world()
    assert world.pushed() == 0
    assert "measured live" in baseline(world)
    assert "unverified touched it" in world.log


# ---------------------------------------------------------------- races


def test_a_lost_race_is_run_again_and_both_records_are_there(frozen, server):
    frozen.repo.commit({"cases.yml": "- {id: new, question: q, answer: It is Paris., expected: correct}\n"})
    raced = []

    def other() -> None:
        raced.append(by_hand(frozen, {"README.md": "faster\n"}))

    server.fault("POST", r"/git/commits$", Fault(pass_through=True, then=other))
    assert frozen.pushed() == 0
    assert len(raced) == 1
    assert len(frozen.records()) == 2
    assert frozen.repo.git("show", "grader-gate-data:README.md") == "faster"
    history = frozen.repo.git("rev-list", "grader-gate-data").splitlines()
    assert raced[0] in history
    assert len(history) == 3


def test_the_first_record_may_race_too(new_world, server):
    world = new_world()

    def other() -> None:
        world.repo.git("branch", "grader-gate-data", "main")

    server.fault("POST", r"/git/commits$", Fault(pass_through=True, then=other))
    assert world.pushed() == 0
    assert len(world.records()) == 1
    assert world.repo.git("rev-parse", "grader-gate-data^") == world.main


@pytest.mark.parametrize("status", [409, 422])
def test_losing_for_ever_ends(frozen, server, status):
    server.fault("PATCH", r"/git/refs/", *[Fault(status, "is at A but expected B")] * ROUNDS)
    client = Client(TOKEN, server.url, sleep=lambda seconds: None)
    with pytest.raises(RaceLost, match="times another run was faster"):
        add_file(client, server.repo, "grader-gate-data", "x/y.txt", b"z", "m")
    client.close()
    assert len(frozen.records()) == 1


def test_a_ruleset_that_forbids_is_told_at_once(frozen, server):
    frozen.repo.commit({"cases.yml": "- {id: new, question: q, answer: It is Paris., expected: correct}\n"})
    server.fault("PATCH", r"/git/refs/", Fault(422, "Repository rule violations found"))
    assert frozen.pushed() == 3
    assert "Repository rule violations found" in frozen.log
    assert len(frozen.records()) == 1


@pytest.mark.parametrize("path", [r"/git/blobs$", r"/git/trees$", r"/git/commits$", r"/git/refs$"])
def test_an_answer_that_was_lost_makes_one_record(new_world, server, path):
    world = new_world()
    server.fault("POST", path, Fault(500, after=True))
    assert world.pushed() == 0
    assert len(world.records()) == 1
    assert len(world.repo.git("rev-list", "grader-gate-data").splitlines()) == 1
