"""Evidence belongs to the pair of digests: no re-running until green."""

from tests.freeze.moody import moody_world


def red(new_world, tmp_path):
    world, state = moody_world(new_world, tmp_path)
    world.open_pull({"rubric.md": "harsh\n"})
    assert world.check() == 1
    assert world.result["suites"][0]["findings"][0]["status"] == "confirmed"
    return world, state


def test_a_rerun_inherits_what_was_confirmed(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("kind")
    assert world.check() == 1
    assert world.verdict() == "failure"
    named = [f for f in world.result["suites"][0]["findings"] if f["blocking"]]
    assert len(named) == 5
    assert all(f["claim"].startswith("golden/g") for f in named)
    assert "confirmed by an earlier run of the same change" in world.comment


def test_an_empty_commit_inherits_it_too(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("kind")
    world.push({"README.md": "another commit, the same graders"})
    assert world.check() == 1
    assert world.verdict() == "failure"


def test_a_deleted_comment_does_not_clear_it(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("kind")
    world.server.comments[1].clear()
    assert world.check() == 1
    assert world.verdict() == "failure"


def test_to_and_fro_does_not_clear_it(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("kind")
    world.push({"rubric.md": "strict\n"})
    assert world.check() == 0
    world.push({"rubric.md": "harsh\n"})
    assert world.check() == 1


def test_a_mended_change_is_judged_on_its_own(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("kind")
    world.push({"rubric.md": "harsh, and mended\n"})
    assert world.check() == 0
    assert world.verdict() == "success"


def test_an_unmeasured_run_in_between_loses_nothing(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("down")
    assert world.check() in (1, 3)
    state.write_text("kind")
    assert world.check() == 1


def test_somebody_elses_comment_is_no_evidence(new_world, tmp_path):
    world, _ = moody_world(new_world, tmp_path)
    world.open_pull({"rubric.md": "harsh but read kindly\n"})
    (tmp_path / "mood").write_text("kind")
    assert world.check() == 0
    pair = world.result["pair"]
    header = f'<!-- grader-gate {{"v":1,"key":"","evidence":{{"{pair}":["{"a" * 16}"]}}}} -->'
    world.server.add_comment(1, header, login="mallory")
    assert world.check() == 0


def test_the_label_accepts_what_was_confirmed(new_world, tmp_path):
    world, _ = red(new_world, tmp_path)
    assert world.freeze() == 0
    assert world.check() == 0
    assert world.verdict() == "success"


def test_an_outage_freezes_nothing_and_is_never_green(new_world, tmp_path):
    world, state = red(new_world, tmp_path)
    state.write_text("down")
    assert world.freeze() == 3
    assert "nothing frozen: " in world.log
    assert (world.records(), world.labels, world.verdict()) == ({}, [], "failure")
