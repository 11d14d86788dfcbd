"""The caps of a run. They refuse a call before it is made, not after."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader_gate.model import Usage

ROUNDING_USD = 1e-9
"""Slack for sums of binary fractions: three calls of $0.10 fit a cap of $0.30."""


@dataclass(slots=True)
class Reservation:
    """Room held for one call until it is settled or released.

    :ivar cost_usd: the most the call can cost, in US dollars.
    """

    cost_usd: float
    open: bool = True


class Budget:
    """What one run of the program may spend, over all its passes.

    A reservation holds the *worst* cost of a call. Where it does not fit, calls in flight may still turn out cheaper:
    :meth:`reserve` waits for them and refuses only when it cannot fit any more.

    :param max_calls: calls sent; None is no limit. What a grader sends again of its own accord (after a malformed
        reply, after a 429) is counted when the grade comes: only such calls of grades in flight can pass the cap.
    :param max_cost_usd: US dollars; None is no limit.
    :param max_seconds: seconds from the first reservation, after which no call starts; None is no limit.
    :param clock: monotonic seconds.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        max_seconds: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_calls, self.max_cost_usd, self.max_seconds = max_calls, max_cost_usd, max_seconds
        self.calls = 0
        self.cost_usd = 0.0
        self.exhausted: str | None = None
        self._clock = clock
        self._started: float | None = None
        self._held = 0
        self._held_usd = 0.0
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, cost_usd: float = 0.0) -> Reservation | None:
        """Hold room for one call, or None: the budget is exhausted, :attr:`exhausted` says which cap and how to go on.

        Once it has refused it refuses for good: what is left of a run must not depend on the order of its calls.

        :param cost_usd: the most the call can cost, in US dollars.
        """
        if self._started is None:
            self._started = self._clock()
        while self.exhausted is None:
            spent = self._what_is_spent(self._held, self._held_usd + cost_usd)
            if spent is None:
                self._held += 1
                self._held_usd += cost_usd
                return Reservation(cost_usd)
            if not self._held or self._what_is_spent(0, cost_usd) is not None:
                self._exhaust(spent)
                break
            await self._settlement()
        return None

    def _what_is_spent(self, held: int, held_usd: float) -> str | None:
        """The cap that one more call would pass, with so much still held."""
        assert self._started is not None
        if self.max_calls is not None and self.calls + held >= self.max_calls:
            return (
                f"the cap of {self.max_calls} calls is reached; raise `policy.budget.max_calls`, and --max-calls where "
                "it is given"
            )
        if self.max_cost_usd is not None and self.cost_usd + held_usd > self.max_cost_usd + ROUNDING_USD:
            return (
                f"one more call could pass the cap of ${self.max_cost_usd:g} (${self.cost_usd:.4f} booked); "
                "raise `budget.max_cost_usd`"
            )
        if self.max_seconds is not None and self._clock() - self._started >= self.max_seconds:
            return f"the {self.max_seconds:g} seconds of the run are over; raise `budget.max_seconds`"
        return None

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Book what a call really took; its worst cost where the grader does not say: a lost reply may be billed."""
        if reservation.open:
            self.calls += usage.calls
            if usage.cost_usd is not None:
                self.cost_usd += usage.cost_usd
            elif usage.calls:
                self.cost_usd += reservation.cost_usd
        self.release(reservation)

    def release(self, reservation: Reservation) -> None:
        """Give back what is held for a call; does nothing after :meth:`settle`."""
        if reservation.open:
            reservation.open = False
            self._held -= 1
            self._held_usd = self._held_usd - reservation.cost_usd if self._held else 0.0
            self._wake()

    def _exhaust(self, why: str) -> None:
        self.exhausted = why
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def _settlement(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future
