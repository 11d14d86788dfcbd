"""Whatever stands in a file, the answer is a suite or a configuration, or one clear error."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from grader_gate.config import Config, SuiteConfig
from grader_gate.configfile import ConfigError, parse_config
from grader_gate.documents import DocumentError, read_document
from grader_gate.errors import UsageError
from grader_gate.model import Suite
from grader_gate.suite.cases import CASE_KEYS
from grader_gate.suite.entry import SuiteError
from grader_gate.suite.ladders import LADDER_KEYS, RUNG_KEYS
from grader_gate.suite.load import TOP_KEYS, load_suite


class OneFile:
    """A tree with one file."""

    label = "MEMORY"

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data

    def exists(self, path: str) -> bool:
        return path == self.path

    def read(self, path: str) -> bytes:
        if path != self.path:
            raise UsageError(f"{path}: no such file")
        return self.data

    def glob(self, pattern: str) -> list[str]:
        return [self.path] if pattern == self.path else []


SCALAR = st.none() | st.booleans() | st.integers(-1, 2) | st.floats(-1, 2) | st.sampled_from(
    ["", "a", "q", "pass", "partial", "x.md", "../x", " ", "chat", "checks", "json"]
)  # fmt: skip
INNER = ["file", "text", "criteria", "criterion", "weight", "id", "rater", "label", "prompt", "model_answer", "kind"]
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER), inner, max_size=3),
    max_leaves=6,
)
RUNG = st.dictionaries(st.sampled_from(sorted(RUNG_KEYS)), VALUE, max_size=2)
CHANGES = st.dictionaries(st.sampled_from(sorted({*CASE_KEYS, *LADDER_KEYS})), VALUE | st.lists(RUNG), max_size=3)
CASE = {"id": "a", "question": "q", "answer": "x", "expected": "pass"}
LADDER = {"id": "l", "question": "q", "rungs": ["a", {"answer": "b", "defect": "d"}]}


def raised(kind, call):
    """The error of this kind that a call ends in, if any."""
    try:
        call()
    except kind as error:
        return error
    return None


def outcome(value, sections=("cases", "ladders")):
    data = json.dumps(value, indent=1).encode()
    tree = OneFile("c.json", data)
    config = SuiteConfig(grader="g", **dict.fromkeys(sections, "c.json"))
    error = raised(SuiteError, lambda: load_suite(tree, "s", config))
    if error is None:
        return load_suite(tree, "s", config)
    assert error.path is not None
    assert "\n" not in str(error)
    assert error.line is None or 1 <= error.line <= data.count(b"\n") + 1
    return error


@given(CHANGES, st.sampled_from([CASE, LADDER]))
@settings(max_examples=300, deadline=None)
def test_any_entry(changes, base):
    entry = {**base, **changes}
    found = outcome([entry])
    if isinstance(found, Suite):
        assert len(found.cases) + len(found.ladders) == 1
    assert isinstance(outcome([CASE, LADDER]), Suite)


@given(st.dictionaries(st.sampled_from(sorted(TOP_KEYS)), VALUE | CHANGES | st.just([CASE]), max_size=4) | VALUE)
@settings(max_examples=200, deadline=None)
def test_any_file(value):
    found = outcome(value)
    if isinstance(found, Suite):
        assert found.cases or found.ladders


CONFIG = {
    "providers": {"p": {"base_url": "http://x"}},
    "graders": {"g": {"kind": "chat", "provider": "p", "model": "m", "prompt": "p.md"}},
    "suites": {"s": {"grader": "g", "cases": "c.yml"}},
}


@given(
    st.lists(st.sampled_from(sorted(Config.model_fields)), max_size=1),
    st.lists(st.sampled_from(["g", "s", "p", "contract", "prompt", "checks", "kind", "mutators", "x"]), max_size=3),
    VALUE,
)
@settings(max_examples=300, deadline=None)
def test_any_configuration(first, further, value):
    config = json.loads(json.dumps(CONFIG))
    place = config
    keys = [*first, *further] or ["mode"]
    for key in keys[:-1]:
        place = place.setdefault(key, {}) if isinstance(place.get(key, {}), dict) else {}
    place[keys[-1]] = value
    text = json.dumps(config, indent=1)
    error = raised(ConfigError, lambda: parse_config(text.encode()))
    for problem in error.problems if error is not None else ():
        assert problem.line is not None
        assert "\n" not in str(problem)
        assert "pydantic" not in str(problem)


@given(
    st.text(st.sampled_from("ab:- \n[]{}\"'&*!|>#,?%@\t<1.~"), max_size=40),
    st.sampled_from(["a.yml", "a.json", "a.jsonl"]),
)
@settings(max_examples=500, deadline=None)
def test_any_text(text, name):
    error = raised(DocumentError, lambda: read_document(text.encode(), name))
    if error is not None:
        assert "\n" not in str(error)
        assert error.line is not None


@given(st.binary(max_size=60), st.sampled_from(["a.yml", "a.json", "a.jsonl"]))
@settings(max_examples=200, deadline=None)
def test_any_bytes(data, name):
    error = raised(DocumentError, lambda: read_document(data, name))
    assert error is None or str(error).startswith(name)
