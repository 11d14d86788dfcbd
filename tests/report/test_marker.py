import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.model import GateVerdict
from grader_gate.report.marker import PREFIX, fields, header, parse_header
from grader_gate.result import Result, Revision


def result(**changes) -> Result:
    base = {
        "tool_version": "0.1.0",
        "verdict": GateVerdict.FAIL,
        "headline": "Fails",
        "exit_code": 1,
        "base": Revision(sha="a" * 40, name="main"),
        "head": Revision(sha="b" * 40, name="feature"),
    }
    return Result(**{**base, **changes})


def test_header_carries_identity_and_the_callers_fields():
    line = header(result(key="leg-1"), {"run_id": 42, "attempt": 2})
    assert parse_header(line) == {
        "v": 1,
        "tool": "0.1.0",
        "key": "leg-1",
        "base": "a" * 40,
        "head": "b" * 40,
        "verdict": "fail",
        "run_id": 42,
        "attempt": 2,
    }


def test_the_callers_key_wins_and_no_other_name_of_ours_can_be_replaced():
    got = fields(result(key="mine"), {"key": "theirs", "head": "forged"})
    assert (got["key"], got["head"]) == ("theirs", "b" * 40)


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=60) | st.integers(), max_size=5), st.text(max_size=300))
def test_parse_is_the_inverse_of_render(run, rest):
    line = header(result(), run)
    inside = line.removeprefix(PREFIX).removesuffix(" -->")
    assert not [forbidden for forbidden in ("--", "<", ">", "\n") if forbidden in inside]
    assert parse_header(f"{line}\n{rest}") == fields(result(), run)
    assert parse_header(f"{line}\r\n{rest}") == fields(result(), run)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hello",
        " " + header(result(), {}),
        "\n" + header(result(), {}),
        "\ufeff" + header(result(), {}),
        "> " + header(result(), {}),
        header(result(), {}) + " and more",
        "<!-- grader-gate {not json} -->",
        "<!-- grader-gate [1] -->",
        '<!-- grader-gate {"a":1 -->',
        '<!-- grader-gate {"a":\n1} -->',
        '<!-- grader-gate-other {"a":1} -->',
        "<!-- grader-gate " + '{"a":' * 700 + "1" + "}" * 700 + " -->",
        '<!-- grader-gate {"a":"' + "x" * 5000 + '"} -->',
    ],
)
def test_anything_but_our_line_at_position_0_is_not_ours(body):
    assert parse_header(body) is None


def test_header_is_readable_json():
    line = header(result(), {"run_id": "x--y"})
    assert json.loads(line.removeprefix(PREFIX).removesuffix(" -->"))["run_id"] == "x--y"
