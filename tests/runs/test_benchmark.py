"""The benchmark measures what it says: real calls over a real socket, within the limit that is set."""

import importlib.util
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "benchmarks" / "engine.py"


@pytest.fixture
def benchmark(monkeypatch):
    spec = importlib.util.spec_from_file_location("benchmark_engine", ENGINE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


async def test_every_call_reaches_the_server_once_and_never_more_than_allowed_at_a_time(benchmark, tmp_path):
    with benchmark.model_server(0.01) as server:
        seconds = await benchmark.measure(server.base_url, 24, 4, tmp_path)
        counts = server.counts()
        assert counts["served"] == 24
        assert 1 <= counts["most_in_flight"] <= 4
        # Twenty-four calls, four at a time, cannot take less than six times the latency.
        assert seconds >= counts["span_s"] * 0.9 >= 6 * 0.01 * 0.9
        assert server.counts() == {"served": 0, "most_in_flight": 0, "span_s": 0.0}
    assert (tmp_path / "ledger.jsonl").read_bytes().count(b"\n") == 24
