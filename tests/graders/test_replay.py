"""Recorded grades are played back as they were, and nothing is made up."""

from __future__ import annotations

from typing import Any

import pytest

from grader_gate.errors import LocatedError
from grader_gate.graders.base import Call
from grader_gate.model import CheckOutcome, ErrorKind, Grade, GradeError, GradeVerdict, LedgerRow, Purpose, Side, Usage

from .parts import grader, item

CORRECT, PARTIAL, INCORRECT = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT


def row(verdict: GradeVerdict | None = CORRECT, *, repeat: int = 0, **more: Any) -> LedgerRow:
    fields: dict[str, Any] = {
        "suite": "main", "grader": "judge", "item": "golden/one", "side": Side.HEAD, "purpose": Purpose.SCREEN,
        "request_digest": "r", "judgement_digest": "j", "at": "2026-01-05T12:00:00Z",
        "grade": Grade(verdict=verdict, reason="so", usage=Usage(input_tokens=9)),
    }  # fmt: skip
    return LedgerRow.model_validate({**fields, "repeat": repeat, **more})


def replay(*rows: LedgerRow, text: str | None = None) -> Any:
    lines = "\n".join(one.model_dump_json() for one in rows) if text is None else text
    return grader({"kind": "replay", "ledger": "runs/old.jsonl"}, files={"runs/old.jsonl": lines})


async def played(built: Any, repeat: int = 0, **inputs: Any) -> Grade:
    one = item(**inputs)
    return await built.grade(one, built.request(one), Call(repeat=repeat))


async def test_each_repeat_comes_back_as_recorded() -> None:
    checks = (CheckOutcome(name="units", passed=False),)
    built = replay(
        row(repeat=1, grade=Grade(verdict=PARTIAL, score=0.5, reason="half", checks=checks)),
        row(CORRECT),
        row(repeat=2, grade=Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="empty"))),
    )
    first, second, third = [await played(built, repeat) for repeat in range(3)]
    assert (first.verdict, first.reason, first.usage) == (CORRECT, "so", Usage(calls=0))
    assert (second.verdict, second.score, second.checks) == (PARTIAL, 0.5, checks)
    assert third.malformed
    assert built.repeatable is False
    assert built.judge("anything") is None


async def test_what_was_not_recorded_is_unmeasured() -> None:
    built = replay(row())
    missing = await played(built, 1)
    assert missing.error is not None
    assert missing.unmeasured
    assert missing.error.message == "runs/old.jsonl holds 1 grades of golden/one, none of repeat 1"
    other = await played(built, id="golden/two")
    assert other.error is not None
    assert other.error.message == "runs/old.jsonl holds no grade of golden/two"


async def test_rows_of_this_grader_win_over_others() -> None:
    built = replay(row(INCORRECT, grader="other"), row(CORRECT))
    assert (await played(built)).verdict is CORRECT
    assert (await played(replay(row(INCORRECT, grader="other")))).verdict is INCORRECT


async def test_screening_wins_over_confirmation_and_twins_must_agree() -> None:
    built = replay(row(INCORRECT, purpose="confirm"), row(CORRECT), row(CORRECT, side="base"))
    assert (await played(built)).verdict is CORRECT
    with pytest.raises(
        LocatedError, match=r"two different grades of golden/one, repeat 0 \(main/judge head screen and"
    ):
        await replay(row(CORRECT), row(INCORRECT, side="base")).prepare()


def test_digests_follow_the_recording() -> None:
    one, same, other = replay(row(CORRECT)), replay(row(CORRECT, at="2027-01-01T00:00:00Z")), replay(row(PARTIAL))
    assert one.request(item()).digest == same.request(item()).digest != other.request(item()).digest
    assert one.identity == same.identity != other.identity
    more = replay(row(CORRECT), row(CORRECT, item="golden/two"))
    assert more.request(item()).digest == one.request(item()).digest
    assert more.identity != one.identity
    assert one.request(item("x")).digest == one.request(item("y")).digest


async def test_rows_may_be_given() -> None:
    built: Any = grader({"kind": "replay", "ledger": "none.jsonl"}, ledger_rows=[row(PARTIAL)])
    assert (await played(built)).verdict is PARTIAL


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^runs/old\.jsonl:1: holds no recorded grade"),
        ("\n{", r"^runs/old\.jsonl:2: is no ledger row"),
        ('{"suite": "a"}', r"^runs/old\.jsonl:1: is no ledger row: grader: Field required"),
        ("[]", r"^runs/old\.jsonl:1: is no ledger row"),
    ],
)
async def test_a_broken_ledger_names_the_line(text: str, message: str) -> None:
    with pytest.raises(LocatedError, match=message):
        await replay(text=text).prepare()


async def test_a_missing_ledger() -> None:
    with pytest.raises(LocatedError, match=r"none\.jsonl: graders\.judge\.ledger: there is no such file at 0123abc"):
        await grader({"kind": "replay", "ledger": "none.jsonl"}).prepare()
