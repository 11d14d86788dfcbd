"""The schemas say what the loaders accept."""

from __future__ import annotations

import json

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from grader_gate.baselines.record import FrozenGrades, RecordHead
from grader_gate.config import Config
from grader_gate.model import Grade, GradeVerdict, LedgerRow, Purpose, Side
from grader_gate.result import Result, Revision
from grader_gate.schemas import schemas
from grader_gate.suite.cases import CASE_KEYS
from grader_gate.suite.ladders import LADDER_KEYS
from grader_gate.suite.load import TOP_KEYS
from tests.config.test_configfile import GOOD

SCHEMAS = schemas()
CASE = {"id": "a", "question": "q", "answer": "x", "expected": "correct"}
LADDER = {"id": "l", "question": "q", "rungs": ["bad", {"output": "good", "defect": None, "human_label": "x"}]}


def accepts(name: str, value) -> bool:
    return Draft202012Validator(SCHEMAS[name]).is_valid(value)


@pytest.mark.parametrize("name", ["config", "cases", "ladders", "ledger", "result", "calibration", "baseline"])
def test_each_is_a_schema_an_editor_can_show(name):
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["title"].startswith("grader-gate ")
    assert "``" not in json.dumps(schema)
    assert ":class:" not in json.dumps(schema)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"cases": ["a.yml", "b.yml"]}, True),
        ({"mutators": "all"}, True),
        ({"mutators": ["negate"]}, True),
        ({"mutators": {"use": "none", "include": ["negate"]}}, True),
        ({"mutators": "some"}, False),
        ({"cases": 3}, False),
        ({"casse": "a.yml"}, False),
    ],
)
def test_configuration(change, fits):
    value = yaml.safe_load(GOOD)
    value["suites"]["main"].update(change)
    assert accepts("config", value) is fits
    if fits:
        Config.model_validate(value)


def test_configuration_knows_the_kinds():
    value = yaml.safe_load(GOOD)
    value["graders"]["judge"]["kind"] = "chta"
    assert not accepts("config", value)
    value["graders"] = {"bad name": {"kind": "checks", "checks": [{"type": "json"}]}}
    assert not accepts("config", value)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"expected": "FAIL"}, True), ({"expected": True}, True), ({"expected": 0}, True),
        ({"expected": "maybe"}, False),
        ({"id": 3}, True), ({"id": None}, False), ({"answer": 1.5}, False), ({"answer": {"file": "a.txt"}}, True),
        ({"answer": {"fiel": "a.txt"}}, False), ({"answr": "x"}, False), ({"notes": ["any"]}, True),
        ({"rubric": "x"}, True), ({"rubric": ["a", {"criterion": "b", "weight": 2}]}, True), ({"rubric": []}, False),
        ({"rubric": {"text": "t", "criteria": ["c"]}}, True), ({"rubric": {"file": "r.md"}}, True),
        ({"rubric": [{"criterion": "b", "weight": 0}]}, False), ({"rubric": None}, True),
        ({"labels": {"a": "pass", "b": None}}, True), ({"labels": [{"rater": "a", "label": 1}]}, True),
        ({"labels": ["pass", None]}, True), ({"labels": {"a": "dunno"}}, False),
        ({"sources": {"a": "x"}}, True), ({"sources": [{"id": "a", "file": "x"}, "y"]}, True),
        ({"tags": "one"}, True), ({"tags": ["a", 1]}, True), ({"tags": [1.5]}, False), ({"tolerance": -1}, False),
        ({"question": {"prompt": "p", "model_answer": "m", "rubric": ["c"]}}, True), ({"ideal": ["r"]}, True),
        ({"question": {"model_answer": "m"}}, False), ({"metadata": {"x": [1]}}, True),
    ],
)  # fmt: skip
def test_a_case(change, fits):
    row = {**CASE, **change}
    assert accepts("cases", row) is fits
    assert accepts("cases", [row]) is fits
    assert accepts("cases", {"cases": [row]}) is fits


def test_files():
    assert accepts("cases", {"name": "n", "version": 2, "defaults": {"tags": "t", "label": 1}, "cases": [CASE]})
    assert accepts("cases", {"cases": [CASE], "ladders": [LADDER]})
    assert not accepts("cases", {"case": [CASE]})
    assert not accepts("cases", {"defaults": {"id": "x"}, "cases": [CASE]})
    assert not accepts("cases", {"name": "n"})
    assert accepts("ladders", [LADDER])
    assert accepts("ladders", LADDER)
    assert not accepts("ladders", [{**LADDER, "rungs": ["one"]}])
    assert not accepts("ladders", [CASE])


def test_every_spelling_can_be_completed():
    assert set(CASE_KEYS) <= set(SCHEMAS["cases"]["$defs"]["case"]["properties"])
    for name in ("cases", "ladders"):
        assert set(SCHEMAS[name]["anyOf"][1]["properties"]) == TOP_KEYS
    assert set(LADDER_KEYS) <= set(SCHEMAS["ladders"]["$defs"]["ladder"]["properties"])


GRADE = Grade(verdict=GradeVerdict.CORRECT, raw="{}")
ROW = LedgerRow(
    suite="s", grader="g", item="golden/a", side=Side.HEAD, purpose=Purpose.SCREEN,
    request_digest="d", judgement_digest="j", repeat=0, grade=GRADE, at="2026-01-01T00:00:00Z",
)  # fmt: skip
REVISION = Revision(sha="0" * 40, name="main")
RESULT = Result(tool_version="0", verdict="pass", headline="h", exit_code=0, base=REVISION, head=REVISION)
FROZEN = FrozenGrades(suite="s", grader="g", item="i", request_digest="d", judgement_digest="j", grades=(GRADE,))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("ledger", ROW),
        ("result", RESULT),
        ("baseline", RecordHead(at="2026-01-01T00:00:00Z", commit="c", by="ann")),
        ("baseline", FROZEN),
    ],
)
@pytest.mark.parametrize("short", [True, False])
def test_what_is_written_fits(name, model: BaseModel, short):
    value = model.model_dump(mode="json", exclude_defaults=short)
    assert accepts(name, value)
    assert not accepts(name, {**value, "surprise": 1})
