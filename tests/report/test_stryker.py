import json
from collections import Counter

from hypothesis import HealthCheck, given, settings

from grader_gate.model import GateVerdict
from grader_gate.report.stryker import render_mutation_report
from grader_gate.result import MutatorRow, Rate
from tests.report import fixtures
from tests.report.strategies import hostile_results

STATUSES = {"Killed", "Survived", "NoCoverage", "CompileError", "RuntimeError", "Timeout", "Ignored", "Pending"}


def load(result):
    return json.loads(render_mutation_report(result))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results(examples=("fail",)))
def test_shape_follows_the_schema_whatever_the_names(result):
    assert_shape(load(result))


def test_shape_follows_the_schema():
    report = load(fixtures.failing())
    assert report["thresholds"] == {"high": 90, "low": 90}
    assert list(report["files"]) == ["capitals.judge"]
    assert_shape(report)


def assert_shape(report):
    assert report["schemaVersion"] == "2"
    [file] = report["files"].values()
    lines = file["source"].split("\n")
    assert len({m["id"] for m in file["mutants"]}) == len(file["mutants"])
    for mutant in file["mutants"]:
        assert mutant["status"] in STATUSES
        place = mutant["location"]
        assert 1 <= place["start"]["line"] == place["end"]["line"] <= len(lines)
        assert 1 <= place["start"]["column"] < place["end"]["column"] <= len(lines[place["end"]["line"] - 1]) + 1


def test_every_mutant_counts_once():
    statuses = Counter(
        (m["mutatorName"], m["status"]) for m in load(fixtures.failing())["files"]["capitals.judge"]["mutants"]
    )
    assert statuses == {
        ("number_shift", "Killed"): 24,
        ("number_shift", "Survived"): 16,
        ("drop_fact", "Killed"): 12,
        ("drop_fact", "Ignored"): 1,
    }


def test_what_was_not_graded_is_neither_killed_nor_survived():
    row = MutatorRow(mutator="m", polarity="degrade", head=Rate(k=3, n=5, planned=9))
    report = load(fixtures.failing(suites=(fixtures.suite(GateVerdict.ERROR, mutators=(row,)),)))
    got = Counter(m["status"] for m in report["files"]["capitals.judge"]["mutants"])
    assert got == {"Killed": 3, "Survived": 2, "RuntimeError": 4}


def test_a_survivor_shows_what_replaced_what():
    file = load(fixtures.failing())["files"]["capitals.judge"]
    [survivor] = [m for m in file["mutants"] if "replacement" in m]
    assert survivor["replacement"].startswith("Lima is the capital of Peru; about 17 million")
    assert "about 10 million" in file["source"].split("\n")[survivor["location"]["start"]["line"] - 1]


def test_quote_none_quotes_nothing():
    assert "Lima" not in render_mutation_report(fixtures.report_mode())


def test_no_mutants_no_files():
    assert load(fixtures.not_applicable())["files"] == {}
