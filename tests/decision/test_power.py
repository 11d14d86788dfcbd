"""What a suite can see, and that the benchmark runs the program's own decision."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from grader_gate.decision.decide import Settings
from grader_gate.decision.power import detectable_drop, expected_flips, noise_of

from .worlds import claim

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "decision.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("decision_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_noise_is_half_the_share_of_pairs_that_differ():
    assert noise_of(claim("a")) == 0
    assert noise_of(claim("a", stored=(0, 2, 0))) == pytest.approx(1 / 3)
    assert noise_of(claim("a", stored=(0, 2))) == pytest.approx(1 / 2)
    assert noise_of(claim("a", stored=(0,))) is None
    assert noise_of(claim("a", stored=(0, None))) is None
    assert noise_of(claim("a", stored=(0, 0, 0), noise_flip_rate=0.2)) == pytest.approx(0.16)


def test_noise_estimate_is_unbiased():
    rng = np.random.default_rng(1)
    for p in (0.05, 0.3):
        runs = (2 * (rng.random((20_000, 3)) < p)).tolist()
        mean = np.mean([noise_of(claim("a", stored=tuple(r))) for r in runs])
        assert mean == pytest.approx(p * (1 - p), abs=0.004)


def test_claims_without_an_estimate_count_as_the_mean():
    assert expected_flips([0.1, 0.3, None, None]) == pytest.approx(0.8)
    assert expected_flips([None]) is None
    assert expected_flips([]) is None


def test_larger_suites_and_quieter_graders_see_smaller_drops():
    drops = [detectable_drop(n, 0.015 * n, 3, Settings()) for n in (72, 150, 300, 1000, 2000)]
    assert drops == sorted(drops, reverse=True)
    assert 0.08 < drops[0] < 0.12
    assert 0.008 < drops[-1] < 0.013
    assert detectable_drop(300, 0.5, 3, Settings()) < detectable_drop(300, 20, 3, Settings())
    assert detectable_drop(300, 4.5, 10, Settings()) < detectable_drop(300, 4.5, 1, Settings())
    assert detectable_drop(3, 0.1, 3, Settings()) is None
    assert detectable_drop(0, 0.0, 3, Settings()) is None


def cell(benchmark, scenario, n=72, requests=60, mix="typical"):
    found = benchmark.mixes(benchmark.DATA)[mix]
    rows = list(benchmark.operating_rows(mix, found, n, scenario, requests, 11, Settings()))
    assert [set(r) for r in rows] == [{"rule", "mix", "n", "scenario", "blocked", "passes"}] * 5
    return rows[0]


def test_the_rule_tells_nothing_from_something(benchmark):
    nothing = cell(benchmark, "nothing changed", requests=150)
    broken = cell(benchmark, "3 claims fail 98%")
    assert nothing["blocked"] <= 0.01
    assert nothing["passes"] <= 1.4
    assert broken["blocked"] == 1.0


def test_measured_noise_is_decided_as_well(benchmark):
    for mix in ("t0_real", "t1_real", "quiet"):
        assert cell(benchmark, "nothing changed", requests=25, mix=mix)["blocked"] <= 0.04


def test_runs_that_lean_together_block_nothing(benchmark):
    assert cell(benchmark, "nothing changed, runs lean together", n=300, requests=25)["blocked"] == 0


def test_floor_and_ladder_rows_are_those_of_the_decision_page(benchmark):
    floors = {(r["rule"], r["n"], r["scenario"]): r["blocked"] for r in benchmark.floor_rows(200, 1)}
    healthy = "healthy set of .92, nothing changed"
    assert floors["floor", 20, healthy] == 0
    assert floors["one count", 20, healthy] > 0.1
    assert floors["new survivor", 20, "a tenth of a .98 set lost"] > 0.95
    ladder = {(r["rule"], r["scenario"]): r["blocked"] for r in benchmark.ladder_rows(400, 1)}
    assert ladder["ladder", "clean, rungs 0.05 apart"] <= 0.01
    assert ladder["one run", "clean, rungs 0.05 apart"] > 0.4
    assert ladder["ladder", "one rung 0.3 too low"] > 0.97


def test_the_table_and_the_file_hold_the_same_rows(benchmark, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "cells", lambda names, quick: [("quiet", 72, "nothing changed", 5)])
    target = tmp_path / "rows.json"
    assert benchmark.main(["--quick", "--json", str(target), "--jobs", "1"]) == 0
    rows = json.loads(target.read_text())["rows"]
    assert {r["rule"] for r in rows} >= {"grader-gate", "any flip", "single McNemar", "floor", "ladder"}
    assert all(0 <= r["blocked"] <= 1 for r in rows)
    shown = capsys.readouterr().out
    assert "quiet, N = 72: % blocked (passes)" in shown
