"""Freezing, forks and drift with a chat grader over a real wire: keys, hosts, prices, served versions, outages."""

import json
from collections.abc import Iterator

import pytest

from tests.breaker.models import Model
from tests.freeze.world import FREEZE, World
from tests.servers.model_server import Fault

KEY = "sk-the-judges-own-key-424242"
CONFIG = """\
version: 1
providers:
  p:
    base_url: "%(url)s"
    key_env: JUDGE_KEY
    max_retries: 0
    prices: {m: {input_per_million: 1000, output_per_million: 1000}}
graders:
  judge:
    kind: chat
    provider: p
    model: m
    prompt: judge.j2
    contract: {inputs: [question, answer]}
suites:
  main: {grader: judge, cases: cases.yml, mutators: none, repeats: {freeze: 5}}
baseline: {store: branch}
"""
PROMPT = "Q {{ question }}\nANSWER<<{{ answer }}>>\n"
CASES = "\n".join(
    f'- {{id: c{n}, question: "Q{n}?", answer: "It is {word}", expected: {verdict}}}'
    for n, (word, verdict) in enumerate([("good", "correct"), ("half", "partial"), ("bad", "incorrect")] * 4)
)
ENV = {"JUDGE_KEY": KEY}


@pytest.fixture
def model() -> Iterator[Model]:
    running = Model()
    yield running
    running.close()


@pytest.fixture
def judged(new_world, model) -> World:
    """A judge behind a model server, frozen on main."""
    made = new_world(
        files={".grader-gate.yml": CONFIG % {"url": model.url}, "judge.j2": PROMPT, "cases.yml": CASES + "\n"}
    )
    assert made.pushed(env=ENV) == 0
    return made


def test_a_fork_can_point_no_key_elsewhere(judged, model):
    asked = model.server.calls
    evil = (CONFIG % {"url": "http://127.0.0.1:9"}).replace("JUDGE_KEY", "INPUT_TOKEN")
    judged.open_pull({"judge.j2": "LENIENT\n" + PROMPT, ".grader-gate.yml": evil}, fork=True)
    assert judged.freeze(label="safe-to-grade", env=ENV) == 1
    assert model.server.calls > asked
    assert {r.headers["authorization"] for r in model.server.received} == {f"Bearer {KEY}"}
    assert judged.verdict() == "failure"
    everything = judged.log + json.dumps([judged.server.comments, judged.server.check_runs])
    assert KEY not in everything


def test_the_label_says_the_price_before_it_spends(judged, model):
    judged.open_pull({"judge.j2": "LENIENT\n" + PROMPT})
    assert judged.check(env=ENV) == 1
    before = model.server.calls
    assert judged.freeze(env=ENV) == 0
    assert model.server.calls - before == 12 * 5
    line = next(line for line in judged.log.splitlines() if line.startswith("Freezing for maintainer"))
    assert line.startswith("Freezing for maintainer: 60 calls, ")
    assert line.endswith(" US dollars")
    spent = model.server.calls
    assert judged.check(env=ENV) == 0
    assert model.server.calls == spent, "what is accepted is not paid for again"


def test_an_outage_in_the_middle_freezes_nothing(judged, model):
    judged.open_pull({"judge.j2": "LENIENT\n" + PROMPT})
    assert judged.check(env=ENV) == 1
    usual, start = model.reply, model.server.calls

    def failing(messages, body, call):
        return usual(messages, body, call) if model.server.calls - start < 20 else Fault(503)

    model.reply = failing
    assert judged.freeze(env=ENV) == 3
    assert "nothing frozen" in judged.log
    assert (len(judged.records()), judged.verdict(), judged.labels) == (1, "failure", [])
    model.reply = usual
    judged.repo.commit({"other.txt": "time goes by"})
    assert judged.check(env=ENV) == 1
    assert judged.freeze(env=ENV) == 0
    assert len(judged.records()) == 2


def test_drift_names_the_versions_that_were_served(judged, model):
    usual = model.reply
    model.server.model = "m-2026-11-30"
    model.reply = lambda messages, body, call: usual(
        [{**m, "content": "LENIENT " + m["content"]} for m in messages], body, call
    )
    assert judged.scheduled(env=ENV) == 1
    (issue,) = judged.server.state.issues
    assert "model served when frozen: `m`; now: `m-2026-11-30`" in issue["body"]
    assert "4 claims are worse than frozen, each confirmed by re-runs" in issue["body"]
    model.reply = usual
    assert judged.scheduled(env=ENV) == 0
    assert issue["state"] == "closed"


def test_what_is_frozen_keeps_no_more_than_quote_allows(new_world, model):
    text = (CONFIG % {"url": model.url}) + "report: {quote: none}\n"
    world = new_world(files={".grader-gate.yml": text, "judge.j2": PROMPT, "cases.yml": CASES + "\n"})
    world.open_pull({"judge.j2": "LENIENT\n" + PROMPT})
    assert world.check(env=ENV) == 1
    assert world.freeze(env=ENV) == 0
    stored = json.dumps(world.records())
    assert "its last word" not in stored
    assert '"raw"' not in stored
    assert world.labels == [] != [FREEZE]
