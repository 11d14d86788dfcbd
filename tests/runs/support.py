"""Plans and graders for the tests of the runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from grader_gate.graders.base import Call, Request
from grader_gate.model import Grade, GradeVerdict, Item, PlannedGrade, Purpose, Side, Usage

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Answer = Callable[[Item, Call], Grade]


def correct(item: Item, call: Call) -> Grade:
    """A verdict that tells its item."""
    return Grade(
        verdict=GradeVerdict.CORRECT,
        reason=item.id,
        raw='{"v": "correct"}',
        usage=Usage(input_tokens=10, output_tokens=4),
    )


class PlainGrader:
    """A grader that answers from a function and keeps what it was asked.

    :ivar gate: awaited before each answer, so that a test decides when a call ends.
    """

    kind = "chat"
    repeatable = True
    identity = "plain"
    judgement_digest = "judge-1"

    def __init__(
        self,
        answer: Answer = correct,
        *,
        concurrency: int = 16,
        gate: Callable[[Item], Awaitable[None]] | None = None,
        model: str | None = "m-1",
        salt: str = "",
        judge: Callable[[str], Grade | None] = lambda raw: None,
    ) -> None:
        self.answer, self.concurrency, self.gate, self.model, self.salt = answer, concurrency, gate, model, salt
        self.judge = judge
        self.calls: list[tuple[str, int]] = []
        self.rendered = 0
        self.in_flight = self.most_in_flight = 0

    def request(self, item: Item) -> Request:
        self.rendered += 1
        return request_of(item, self.salt)

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        self.calls.append((item.id, call.seed))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await (self.gate(item) if self.gate else asyncio.sleep(0))
            return self.answer(item, call)
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None:
        return None


def request_of(item: Item, salt: str = "") -> Request:
    payload: dict[str, Any] = {"answer": item.inputs["answer"], "salt": salt}
    return Request(payload, characters=40)


def item(name: str, answer: str | None = None) -> Item:
    return Item(id=f"golden/{name}", inputs={"answer": name if answer is None else answer}, case_id=name)


def plan(
    name: str,
    *,
    side: Side = Side.HEAD,
    purpose: Purpose = Purpose.SCREEN,
    repeat: int = 0,
    grader: str = "g",
    salt: str = "",
    judgement: str = "judge-1",
) -> PlannedGrade:
    thing = item(name)
    return PlannedGrade(
        suite="s",
        grader=grader,
        item=thing,
        side=side,
        purpose=purpose,
        request_digest=request_of(thing, salt).digest,
        judgement_digest=judgement,
        repeat=repeat,
    )
