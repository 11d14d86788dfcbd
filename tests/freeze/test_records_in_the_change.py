"""Record files that a pull request brings along: believed where its run does not contradict them."""

import json

import pytest

from grader_gate.baselines.record import BaselineRecord, FrozenGrades, RecordHead, parse_record
from grader_gate.model import Grade, GradeVerdict
from tests.freeze.world import config

FOLDER = ".grader-gate/baseline"


def grades(*verdicts: str) -> tuple[Grade, ...]:
    return tuple(Grade(verdict=GradeVerdict(v)) for v in verdicts)


@pytest.fixture
def honest(new_world):
    """A world with the `files` store, and the record that a trusted run on main would make."""
    world = new_world(store="files")
    assert world.pushed() == 0
    (name, lines), *_ = world.records("main").items()
    world.repo.git("reset", "-q", "--hard", world.base)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return world, parse_record(text, name)


def brought(world, record: BaselineRecord, files=None) -> None:
    world.open_pull({f"{FOLDER}/{record.name}": record.render(), **(files or {})})


def altered(record: BaselineRecord, *verdicts: str, kind: str = "freeze") -> BaselineRecord:
    """The record with the first item's grades made up."""
    first, *rest = record.rows
    head = RecordHead(**{**record.head.model_dump(), "kind": kind, "at": "2099-01-01T00:00:00"})
    return BaselineRecord(head, [FrozenGrades(**{**first.model_dump(), "grades": grades(*verdicts)}), *rest])


def test_an_honest_record_passes(honest):
    world, record = honest
    brought(world, record)
    assert world.check() == 0
    assert world.result["goalposts"] == []
    assert world.verdict() == "success"


def test_a_record_that_says_what_no_run_says_is_a_goalpost(honest):
    world, record = honest
    brought(world, altered(record, "incorrect", "incorrect"))
    assert world.check() == 1
    (post,) = world.result["goalposts"]
    assert post["what"] == "baseline record contradicted"
    assert post["detail"] == "golden/france: the record says incorrect, 5 fresh runs never did"
    assert post["location"]["path"].startswith(FOLDER)


def test_repeats_that_disagree_contradict_nothing_they_hold(honest):
    world, record = honest
    brought(world, altered(record, "incorrect", "correct", "incorrect"))
    assert world.check() == 0


def test_a_made_up_record_does_not_accept_what_is_worse(honest):
    world, record = honest
    brought(world, record, {".grader-gate.yml": config("London", "files")})
    assert world.check() == 1
    assert world.verdict() == "failure"


def test_noise_that_takes_items_out_of_the_gate_needs_the_label(honest):
    world, record = honest
    brought(world, altered(record, *["correct", "incorrect"] * 5, kind="noise"))
    assert world.check() == 1
    assert [g["what"] for g in world.result["goalposts"]] == ["noise record takes items out of the gate"]


def test_quiet_noise_is_welcome(honest):
    world, record = honest
    brought(world, altered(record, *["correct"] * 10, kind="noise"))
    assert world.check() == 0


def test_records_that_cannot_be_graded_to_the_end_are_not_green(new_world, tmp_path):
    from tests.freeze.moody import moody_world

    world, state = moody_world(new_world, tmp_path)
    assert world.pushed() == 0
    ((name, lines),) = world.records().items()
    world.open_pull({f"{FOLDER}/{name}": "".join(json.dumps(line) + "\n" for line in lines)})
    state.write_text("down")
    world.server.state.signed.clear()
    assert world.check() == 3
    assert world.verdict() == "failure"
    assert "could not be graded to the end" in world.log


def test_an_accepted_change_is_looked_at_anew_once_it_brings_a_record(honest):
    world, record = honest
    world.open_pull()
    assert world.check() == 1
    assert world.freeze() == 0
    world.push({})
    assert world.check() == 0
    forged = altered(record, "incorrect", "incorrect")
    world.push({f"{FOLDER}/{forged.name}": forged.render()})
    assert world.check() == 1
