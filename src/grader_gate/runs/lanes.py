"""Who is called next: one lane per grader, each with its own limit, taken in the order of the plan."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K")

ROUNDS_PER_START = 2
"""Rounds of the event loop a call gets to itself: one to begin it, one in which its client writes the request."""


class Turnstile:
    """Lets calls start one after the other, each with its request on the wire before the next one is begun.

    Without it replies that come together stay together: the loop first works on all of them and sends their
    successors last, so that each wave costs its whole computing time on top of the latency. Measured with a hundred
    calls of 200 ms in flight it takes the wall time from 1.24 to 1.09 of the ideal (``benchmarks/engine.py``).
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def turn(self) -> None:
        """Wait for one's turn; the next one comes by itself, :data:`ROUNDS_PER_START` rounds later."""
        await self._lock.acquire()
        self._pass_on(ROUNDS_PER_START)

    def _pass_on(self, rounds: int) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._pass_on, rounds - 1)
        else:
            self._lock.release()


class Lane(Generic[T]):
    """The calls that wait for one grader.

    :ivar limit: most calls in flight.
    """

    __slots__ = ("busy", "limit", "waiting")

    def __init__(self, limit: int) -> None:
        self.limit = max(1, limit)
        self.busy = 0
        self.waiting: deque[tuple[int, T]] = deque()


class Lanes(Generic[K, T]):
    """Hands out work in its order, passing over graders that are full, so that a slow one never holds up the rest.

    :param work: pairs of lane and job, in the order of the plan.
    :param limits: most calls in flight, by lane.
    """

    def __init__(self, work: Iterable[tuple[K, T]], limits: Mapping[K, int]) -> None:
        self._lanes: dict[K, Lane[T]] = {}
        self._idle: deque[asyncio.Future[None]] = deque()
        for index, (key, job) in enumerate(work):
            lane = self._lanes.get(key)
            if lane is None:
                lane = self._lanes[key] = Lane(limits[key])
            lane.waiting.append((index, job))

    def __len__(self) -> int:
        return sum(len(lane.waiting) for lane in self._lanes.values())

    async def take(self) -> tuple[Lane[T], T] | None:
        """The next job, once its grader has room; None when no job is left."""
        while True:
            free = [lane for lane in self._lanes.values() if lane.waiting and lane.busy < lane.limit]
            if free:
                lane = min(free, key=lambda lane: lane.waiting[0][0])
                lane.busy += 1
                return lane, lane.waiting.popleft()[1]
            if not len(self):
                return None
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._idle.append(future)
            await future

    def give_back(self, lane: Lane[T]) -> None:
        """A call of this lane has ended."""
        lane.busy -= 1
        self._wake()

    def drop(self) -> int:
        """Hand out nothing more; how many jobs that leaves undone."""
        left = len(self)
        for lane in self._lanes.values():
            lane.waiting.clear()
        self._wake()
        return left

    def _wake(self) -> None:
        while self._idle:
            future = self._idle.popleft()
            if not future.done():
                future.set_result(None)
