"""Rolling forward on main, and the nightly look at the provider."""

from tests.freeze.moody import moody_world
from tests.freeze.world import config


def test_a_clean_merge_is_measured_once(new_world):
    world = new_world()
    assert world.pushed() == 0
    (lines,) = world.records().values()
    assert (lines[0]["kind"], lines[0]["commit"], len(lines)) == ("measured", world.main, 3)
    assert world.pushed() == 0
    assert "2 items have a record, 0 measured now" in world.log
    assert len(world.records()) == 1
    world.repo.commit({".grader-gate.yml": config("Pa")})
    assert world.pushed() == 0
    assert len(world.records()) == 2


def test_what_was_measured_on_main_is_the_baseline(new_world):
    world = new_world()
    assert world.pushed() == 0
    world.open_pull()
    assert world.check() == 1
    (suite,) = world.result["suites"]
    assert suite["baseline"].startswith("frozen ")
    assert not any("measured live" in n["message"] for n in world.result["notices"])


def test_the_files_store_commits_to_main(new_world):
    world = new_world(store="files")
    before = world.main
    assert world.pushed() == 0
    assert world.repo.git("rev-parse", "main^") == before
    assert len(world.records("main")) == 1
    assert world.pushed() == 0
    assert "2 items have a record, 0 measured now" in world.log


def test_a_token_that_may_not_write_is_told_and_the_record_kept(new_world, server):
    world = new_world()
    server.tokens["good-token-0123456789"].permissions["contents"] = "read"
    assert world.pushed() == 3
    assert "the record could not be stored" in world.log
    assert len(list((world.workspace / "grader-gate-report/baseline").glob("*.jsonl"))) == 1
    assert world.records() == {}


def test_an_incomplete_measurement_records_nothing(new_world, tmp_path):
    world, state = moody_world(new_world, tmp_path)
    state.write_text("down")
    assert world.pushed() == 3
    assert world.records() == {}


def test_other_branches_tags_and_deletions_are_explained(new_world):
    world = new_world()
    for change in ({"ref": "refs/heads/other"}, {"ref": "refs/tags/v1"}, {"after": "0" * 40}):
        payload = {"ref": "refs/heads/main", "after": world.main, "repository": {"default_branch": "main"}} | change
        assert world.run("push", payload, world.main, "refs/heads/main") == 0
        assert "nothing is measured" in world.log
    assert world.records() == {}


# ---------------------------------------------------------------- drift


def drifting(new_world, tmp_path, **options):
    world, state = moody_world(new_world, tmp_path, **options)
    assert world.pushed() == 0
    return world, state


def issues(world):
    return [(i["state"], i["labels"][0]["name"]) for i in world.server.state.issues]


def test_a_provider_that_stays_is_no_issue(new_world, tmp_path):
    world, _ = drifting(new_world, tmp_path)
    assert world.scheduled() == 0
    assert issues(world) == []
    assert "main: pass, 12 claims, 12 items graded" in world.log


def test_a_provider_that_changed_is_one_issue_until_it_recovers(new_world, tmp_path):
    world, state = drifting(new_world, tmp_path)
    state.write_text("drifted")
    assert world.scheduled() == 1
    assert issues(world) == [("open", "grader-gate-drift")]
    body = world.server.state.issues[0]["body"]
    assert "5 claims are worse than frozen, each confirmed by re-runs" in body
    assert world.scheduled() == 1
    assert len(issues(world)) == 1
    state.write_text("usual")
    assert world.scheduled() == 0
    assert issues(world) == [("closed", "grader-gate-drift")]
    assert world.server.state.issues[0]["state_reason"] == "completed"
    state.write_text("drifted")
    assert world.scheduled() == 1
    assert [state for state, _ in issues(world)] == ["closed", "open"]


def test_an_outage_says_nothing_of_the_provider(new_world, tmp_path):
    world, state = drifting(new_world, tmp_path)
    state.write_text("drifted")
    assert world.scheduled() == 1
    state.write_text("down")
    assert world.scheduled() == 3
    assert issues(world) == [("open", "grader-gate-drift")]


def test_a_more_lenient_provider_is_drift_too(new_world, tmp_path):
    world, state = moody_world(new_world, tmp_path, good=1)
    harsh = "\n".join(f'- {{id: g{n}, question: "Q{n}?", answer: "It is half", expected: correct}}' for n in range(20))
    world.repo.commit({"cases.yml": harsh + "\n"})
    assert world.pushed() == 0
    state.write_text("lenient")
    assert world.scheduled() == 1
    assert "better: " in world.server.state.issues[0]["body"]


def test_without_a_frozen_grade_there_is_nothing_to_compare(new_world, tmp_path):
    world, _ = moody_world(new_world, tmp_path)
    assert world.scheduled() == 0
    assert "no frozen grade has these digests" in world.log
    assert issues(world) == []


def test_an_issue_of_somebody_else_is_left_alone(new_world, tmp_path):
    world, _state = drifting(new_world, tmp_path)
    from tests.servers import github_objects as objects

    server = world.server
    theirs = objects.issue(
        server.url, server.repo, 9, "drift", "<!-- grader-gate-drift - -->", "mallory", server.time()
    )
    theirs["labels"] = [{"name": "grader-gate-drift"}]
    server.state.issues.append(theirs)
    assert world.scheduled() == 0
    assert theirs["state"] == "open"


def test_without_permission_the_summary_has_the_report(new_world, tmp_path, server):
    world, state = drifting(new_world, tmp_path)
    state.write_text("drifted")
    server.tokens["good-token-0123456789"].permissions.pop("issues")
    server.tokens["good-token-0123456789"].permissions.pop("pull_requests")
    assert world.scheduled() == 1
    assert "the issue could not be written" in world.log
    assert "drifted" in (world.run_files / "summary").read_text("utf-8")
