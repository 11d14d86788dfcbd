"""Deterministic checks: each type by example, the worst failure decides, nothing hangs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.errors import UsageError
from grader_gate.graders.checking.numbers import quantities
from grader_gate.model import GradeVerdict

from .parts import graded, grader, item

CORRECT, PARTIAL, INCORRECT = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT
SEES_SOURCES = {"inputs": ["question", "reference", "answer", "sources"]}


def checks(*blocks: dict[str, Any], files: dict[str, str] | None = None, **config: Any) -> Any:
    return grader({"kind": "checks", "checks": list(blocks), **config}, files=files)


async def passes(check: dict[str, Any], answer: str, **inputs: Any) -> bool:
    config = {"contract": SEES_SOURCES} if check["type"] in ("citations", "names") else {}
    (grade,) = await graded(checks(check, **config), item(answer, **inputs))
    assert grade.error is None
    (outcome,) = grade.checks
    assert (grade.verdict is CORRECT) == outcome.passed
    assert bool(outcome.detail) != outcome.passed
    return outcome.passed


# ---------------------------------------------------------------- form


@pytest.mark.parametrize(
    ("answer", "good"),
    [('{"a": 1}', True), (" [1] \n", True), ("5", True), ("```json\n{}\n```", False), ("{a: 1}", False), ("", False),
     ('{"a": NaN}', False), ('{"a": 1,}', False), ("[" * 100_000, False)],
)  # fmt: skip
async def test_json(answer: str, good: bool) -> None:
    assert await passes({"type": "json"}, answer) is good


async def test_json_schema_inline_and_from_a_file() -> None:
    schema = {
        "type": "object",
        "required": ["total"],
        "properties": {"total": {"type": "number"}, "id": {"pattern": r"^INV-\p{Nd}+$"}},
    }
    check = {"type": "json_schema", "schema": schema}
    assert await passes(check, '{"total": 5, "id": "INV-7"}')
    assert not await passes(check, '{"total": "5"}')
    assert not await passes(check, '{"total": 5, "id": "7"}')
    assert not await passes(check, "{}")
    built = checks({"type": "json_schema", "schema": "s.json"}, files={"s.json": json.dumps(schema)})
    (grade,) = await graded(built, item('{"total": "5"}'))
    assert grade.reason == "json_schema-1: $.total: '5' is not of type 'number'"


async def test_length() -> None:
    assert await passes({"type": "length", "max": 5}, "12345")
    assert not await passes({"type": "length", "max": 5}, "123456")
    assert not await passes({"type": "length", "min": 3, "unit": "words"}, "two words")
    assert await passes({"type": "length", "min": 2, "max": 2, "unit": "lines"}, "a\nb")


# ---------------------------------------------------------------- wording


async def test_contains() -> None:
    check = {"type": "contains", "values": ["alpha", "beta"]}
    assert await passes(check, "beta alphabet")
    assert not await passes(check, "alpha")
    assert await passes({**check, "expect": "any"}, "alpha")
    assert not await passes({**check, "expect": "none"}, "alpha")
    assert await passes({**check, "expect": "none"}, "gamma")
    assert not await passes(check, "ALPHA beta")
    assert await passes({**check, "ignore_case": True}, "ALPHA beta")
    assert await passes({"type": "contains", "expect": "reference"}, "it is 42 or so", reference="42\n")


@pytest.mark.parametrize(
    ("value", "answer", "good"),
    [
        ("B12", "Take B12.", True),
        ("B12", "Take B120.", False),
        ("B12", "Take AB12.", False),
        ("INV-20", "(INV-20)", True),
        ("INV-20", "INV-204", False),
        ("INV-20", "INV-20-b", False),
        ("INV-20", "see INV-20-", True),
        ("max_tokens", "max_tokens_2", False),
        ("v1.2", "v1.2.3", False),
        ("v1.2", "It is v1.2.", True),
        ("§ 12", "by § 12, clause 1", True),
        ("C++", "in C++ or C", True),
        ("Ärzte-7", "die Ärzte-7 kommen", True),
    ],
)
async def test_identifiers_are_whole_tokens(value: str, answer: str, good: bool) -> None:
    assert await passes({"type": "identifiers", "values": [value]}, answer) is good


async def test_identifiers_of_the_reference() -> None:
    check = {"type": "identifiers"}
    reference = "Set max_tokens for INV-2041 and v1.2 in well-known Berlin on 5 May."
    assert await passes(check, "v1.2, INV-2041: max_tokens", reference=reference)
    assert not await passes(check, "v1.2, INV-2014: max_tokens", reference=reference)
    assert await passes(check, "anything", reference="no identifier here")


async def test_names() -> None:
    assert await passes({"type": "names", "values": ["Marie Curie"]}, "It was Marie Curie's idea.")
    assert not await passes({"type": "names", "values": ["Marie Curie"]}, "It was Marie Curietta.")
    nobody_new = {"type": "names", "expect": "reference", "values": ["Nobel"]}
    reference = "Marie Curie found radium in Paris."
    assert await passes(nobody_new, "In Paris, Curie's radium won a Nobel. She was glad.", reference=reference)
    assert not await passes(nobody_new, "In Vienna, Curie found radium.", reference=reference)
    assert await passes(nobody_new, "In Vienna, Curie.", reference=reference, sources=[{"id": "1", "text": "Vienna"}])


async def test_regex() -> None:
    assert await passes({"type": "regex", "pattern": r"^\d+$"}, "42")
    assert not await passes({"type": "regex", "pattern": r"^\d+$"}, "x")
    assert not await passes({"type": "regex", "pattern": "sorry", "absent": True, "ignore_case": True}, "Sorry!")
    assert await passes({"type": "regex", "pattern": "sorry", "absent": True}, "Sorry!")


async def test_a_pattern_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader_gate.graders.checking.base.PATTERN_SECONDS", 0.05)
    (grade,) = await graded(checks({"type": "regex", "pattern": r"^(\w+\w+)+(\d+)+$"}), item("a" * 5000 + "!"))
    assert grade.error is not None
    assert grade.malformed
    assert grade.error.message.startswith("check 'regex-1': the pattern took over 0.05 s")


async def test_citations() -> None:
    sources = [{"id": "s1", "text": "a"}, {"id": "s2", "text": "b"}]
    check = {"type": "citations"}
    assert await passes(check, "So it is [s1], and so [s2, s1].", sources=sources)
    assert await passes(check, "So it is 【s2】.", sources=sources)
    assert not await passes(check, "So it is [s3].", sources=sources)
    assert not await passes(check, "So it is.", sources=sources)
    assert not await passes(check, "A [link](http://a) is none.", sources=sources)
    assert not await passes({**check, "min": 2}, "Once [s1].", sources=sources)
    assert not await passes({**check, "max": 1}, "Twice [s1] [s2].", sources=sources)
    assert await passes({**check, "pattern": r"\(see (\w+)\)"}, "It is (see s2).", sources=sources)
    assert not await passes({**check, "pattern": r"\(see (\w+)\)"}, "It is [s2].", sources=sources)
    assert not await passes(check, "So it is [s1].", sources=[])


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.5 and 1 234 and 1'234 and 1_234", [1234.5, 1234, 1234, 1234]),
        ("1.234,5 or 3,14 or 1,234", [1234.5, 3.14, 1234]),
        ("-5, −5, +5 and 3-5", [-5, -5, 5, 3, 5]),
        ("1.2×10^5, 1.2e-3, 3 x 10⁻² m", [120000, 0.0012, 0.03]),
        ("INV-2041 v1.2.3 B12 x2", []),
        ("about 5. Or .5!", [5, 0.5]),
        ("12,34,567", []),
        ("in 1999, 2000", [1999, 2000]),
        ("9" * 400, []),
    ],
)
def test_numbers_are_read_as_written(text: str, values: list[float]) -> None:
    assert [q.value for q in quantities(text)] == pytest.approx(values)


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)))
def test_grouped_numbers_read_the_same(value: float) -> None:
    assert [q.value for q in quantities(f"x {value:,} y")] == [value]


@pytest.mark.parametrize(
    ("check", "reference", "answer", "good"),
    [
        ({}, "It costs 1,234.50 euro.", "1234.5", True),
        ({}, "It costs 1,234.50 euro.", "1234.6", False),
        ({}, "Between 3 and 5.", "5 at most, 3 at least", True),
        ({}, "Between 3 and 5.", "5 at most", False),
        ({"expect": "any"}, "Between 3 and 5.", "5 at most", True),
        ({}, "5 %", "0.05", True),
        ({}, "5 %", "5", False),
        ({}, "5 %", "5 percent or 5%", True),
        ({}, "0.3", "0.30000000000000004", True),
        ({"tolerance": 0.01}, "100", "101", True),
        ({"tolerance": 0.01}, "100", "102", False),
        ({"absolute": 0.5}, "-3", "-3.4", True),
        ({}, "-3", "3", False),
        ({"unit": "m"}, "1.5 km", "It is 1500 m.", True),
        ({"unit": "m"}, "1.5 km", "It is 1500.", False),
        ({"unit": "m"}, "1.5 km", "It is 1.5 kg.", False),
        ({"unit": "m"}, "1.5 km in 3 days", "1500 m", True),
        ({"unit": "m"}, "1500", "1.5 km", True),
        ({"unit": "km/h"}, "10 m/s", "36 km/h", True),
        ({"unit": "degC", "absolute": 0.01}, "100 °C", "212 °F", True),
        ({"unit": "ohm"}, "4.7 kΩ", "4700 Ω", True),
        ({"values": ["7"], "expect": "none"}, "x", "not 7!", False),
        ({"values": ["7"]}, "x", "7", True),
    ],
)
async def test_numbers(check: dict[str, Any], reference: str, answer: str, good: bool) -> None:
    assert await passes({"type": "numbers", **check}, answer, reference=reference) is good


async def test_a_reference_without_a_number_is_said() -> None:
    built = checks({"type": "numbers"})
    with pytest.raises(UsageError, match=r"graders\.judge\.checks\.0: finds no number in the reference"):
        await graded(built, item(reference="none"))


# ---------------------------------------------------------------- together


async def test_the_worst_failure_decides_and_all_are_told() -> None:
    built = checks(
        {"type": "contains", "values": ["x"], "on_fail": "partial", "name": "says-x"},
        {"type": "length", "max": 100},
        {"type": "regex", "pattern": "y"},
    )
    both, one, none = await graded(built, item("z"), item("y"), item("xy"))
    assert (both.verdict, one.verdict, none.verdict) == (INCORRECT, PARTIAL, CORRECT)
    assert both.reason == "says-x: lacks 'x'; regex-3: does not match the pattern"
    assert [(c.name, c.passed) for c in both.checks] == [("says-x", False), ("length-2", True), ("regex-3", False)]
    assert (none.reason, none.usage.calls) == ("all checks passed", 0)


def test_digests_follow_the_checks_and_their_files() -> None:
    def built(schema: str, **more: Any) -> Any:
        return checks({"type": "json_schema", "schema": "s.json", **more}, files={"s.json": schema})

    one, two, three = built("{}"), built('{"type": "object"}'), built("{}", on_fail="partial")
    assert len({b.request(item()).digest for b in (one, two, three)}) == 3
    assert len({b.identity for b in (one, two, three)}) == 3
    assert built("{}").identity == one.identity
    assert one.request(item("a")).digest != one.request(item("b")).digest


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"type": "regex"}, r"graders\.judge\.checks\.0: needs `pattern`"),
        ({"type": "regex", "pattern": "("}, r"checks\.0\.pattern: is no regular expression: missing \)"),
        (
            {"type": "regex", "pattern": "a", "unit": "m"},
            r"`unit` does nothing for `type: regex` \(it reads absent, ig",
        ),
        ({"type": "contains", "expect": "any"}, r"needs `values` for `expect: any`"),
        ({"type": "contains", "values": [""]}, r"checks\.0\.values: holds an empty value"),
        ({"type": "json_schema"}, r"needs `schema`"),
        ({"type": "json_schema", "schema": {"type": "thing"}}, r"checks\.0\.schema: is no JSON Schema"),
        ({"type": "length"}, r"needs `min` or `max`"),
        ({"type": "length", "min": 5, "max": 4}, r"`min` is above `max`"),
        ({"type": "length", "max": 4, "unit": "miles"}, r"checks\.0\.unit: is one of characters, words, lines"),
        ({"type": "numbers", "unit": "smoots-per-fortnight!"}, r"checks\.0\.unit: .* is no unit that is known"),
        ({"type": "numbers", "values": ["many"]}, r"checks\.0\.values: holds what is no number"),
        ({"type": "citations"}, r"compares with the `sources`; add it to `contract\.inputs`"),
    ],
)
async def test_a_check_that_cannot_work_is_said_before_any_grade(block: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        await checks(block).prepare()


async def test_a_missing_schema_file_and_a_remote_reference() -> None:
    with pytest.raises(UsageError, match=r"gone\.json: .*no such file"):
        await checks({"type": "json_schema", "schema": "gone.json"}).prepare()
    remote = {"type": "json_schema", "schema": {"$ref": "http://127.0.0.1:1/s.json"}}
    with pytest.raises(UsageError, match="which it does not hold"):
        await graded(checks(remote), item("{}"))
    with pytest.raises(UsageError, match=r"checks\.0\.schema: is no regular expression"):
        await graded(checks({"type": "json_schema", "schema": {"pattern": "("}}), item('"text"'))


def test_an_item_without_the_reference_a_check_needs() -> None:
    with pytest.raises(UsageError, match=r"`numbers` compares with the reference, which golden/one does not have"):
        checks({"type": "numbers"}).request(item(reference=None))
    assert checks({"type": "numbers", "values": ["4"]}).request(item(reference=None)).digest


def test_two_checks_of_one_name() -> None:
    with pytest.raises(UsageError, match=r"checks\.1: two checks are named 'a'"):
        checks({"type": "json", "name": "a"}, {"type": "json", "name": "a"})
