"""The engine: planned grades in, rows of the ledger out, as they come.

What the ledger or the cache already holds is taken first and costs nothing. The rest is called concurrently, within
the limits of the run, of each grader and of the budget.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from grader_gate.errors import GateError, UsageError
from grader_gate.graders.base import Call, Grader, Request
from grader_gate.model import ErrorKind, Grade, GradeError, LedgerRow, PlannedGrade, Purpose, Side, digest
from grader_gate.runs.budget import Budget
from grader_gate.runs.cache import Cache
from grader_gate.runs.interrupts import signals_set
from grader_gate.runs.lanes import Lanes, Turnstile
from grader_gate.runs.ledger import Key, Ledger
from grader_gate.runs.progress import Progress
from grader_gate.runs.reuse import judged_anew as judged_anew
from grader_gate.runs.reuse import stored

GRACE_S = 5.0
"""Seconds that calls in flight get to end after an interrupt: they are paid for. GitHub's runner sends SIGINT, SIGTERM
7.5 s later and kills 2.5 s after that (docs.github.com, "Workflow cancellation reference")."""

BREATHE_EVERY = 100
"""Rows taken without a call between two chances for signals to be seen."""

GraderKey = tuple[Side, str]
"""A grader of a run: its side and its name there."""


class RunInterruptedError(GateError):
    """The run was stopped from outside; the grades that came are in the ledger."""


class PlanDriftError(GateError):
    """A grader would send something else than what was planned."""


class UnknownGraderError(GateError):
    """The plan names a grader that was not built."""


class UnpricedModelError(UsageError):
    """A cost cap is set and a model that would be called has no price."""


@dataclass(slots=True)
class RunOutcome:
    """What a pass over a plan brought.

    :ivar rows: the row of each planned grade that has one, by its key.
    :ivar made: grades called now. :ivar cached: taken from the cache. :ivar resumed: found in the ledger.
    :ivar not_made: planned grades without a row, because the budget refused them.
    :ivar seconds: wall time of the calls.
    """

    rows: dict[Key, LedgerRow] = field(default_factory=dict)
    made: int = 0
    cached: int = 0
    resumed: int = 0
    not_made: int = 0
    seconds: float = 0.0


def utc_now() -> datetime:
    """The time that rows carry."""
    return datetime.now(UTC)


def seed_of(planned: PlannedGrade) -> int:
    """The seed of a call, 32 bits: differs between repeats and purposes, equal on both sides for equal requests."""
    return int(digest("seed", planned.request_digest, planned.purpose, planned.repeat)[:8], 16)


async def run(
    planned: Sequence[PlannedGrade],
    graders: Mapping[GraderKey, Grader],
    *,
    ledger: Ledger,
    cache: Cache | None = None,
    budget: Budget | None = None,
    concurrency: int = 32,
    progress: Progress | None = None,
    now: Callable[[], datetime] = utc_now,
    clock: Callable[[], float] = time.monotonic,
    worst_cost: Callable[[GraderKey, Request], float | None] | None = None,
    grace_s: float = GRACE_S,
) -> RunOutcome:
    """Get every planned grade, from the ledger, the cache or a call, in the order of the plan.

    A grade that comes is in the ledger before the next call starts. An exception that escapes a grader is an
    ``unmeasured`` grade naming it. Requests are rendered when their call starts, so that memory does not grow with
    the plan.

    :param graders: by side and name; they are not closed here.
    :param concurrency: most calls in flight over all graders; each grader's own limit holds besides.
    :param worst_cost: the most one call can cost, in US dollars, for the budget's cost cap; see
        :meth:`grader_gate.runs.estimate.Tariff.worst_cost`.
    :param grace_s: seconds for calls in flight to end after an interrupt or an error.
    :raises RunInterruptedError: SIGINT or SIGTERM came.
    :raises UnpricedModelError: the budget caps the cost and ``worst_cost`` knows none for a grader.
    :raises UsageError: a request cannot be rendered, or a grader cannot be used as configured.
    :raises LedgerWriteError: a grade could not be written.
    """
    missing = sorted({(p.side, p.grader) for p in planned} - set(graders))
    if missing:
        raise UnknownGraderError(
            f"the plan names grader {missing[0][1]!r} of the {missing[0][0]} side, which was not built"
        )
    return await _Run(
        graders=graders,
        ledger=ledger,
        cache=cache,
        budget=budget or Budget(),
        progress=progress,
        now=now,
        clock=clock,
        worst_cost=worst_cost,
    ).go(planned, max(1, concurrency), grace_s)


@dataclass(slots=True)
class _Run:
    graders: Mapping[GraderKey, Grader]
    ledger: Ledger
    cache: Cache | None
    budget: Budget
    progress: Progress | None
    now: Callable[[], datetime]
    clock: Callable[[], float]
    worst_cost: Callable[[GraderKey, Request], float | None] | None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    outcome: RunOutcome = field(default_factory=RunOutcome)

    async def go(self, planned: Sequence[PlannedGrade], concurrency: int, grace_s: float) -> RunOutcome:
        total = len({p.key for p in planned})
        if self.progress is not None:
            self.progress.start(total)
        try:
            with signals_set(self.stop) as caught:
                left = await self._take_what_is_there(planned)
                started = self.clock()
                if left and not self.stop.is_set():
                    await self._prepare(left)
                    await self._call(left, concurrency, grace_s)
                self.outcome.seconds = self.clock() - started
                if caught:
                    raise RunInterruptedError(
                        f"stopped by {caught[0]} with {len(self.outcome.rows)} of {total} grades; they are kept in "
                        f"{self.ledger.path}: run the same command again to go on"
                    )
        finally:
            self.ledger.sync()
            if self.progress is not None:
                self.progress.finish()
        self.outcome.not_made = total - len(self.outcome.rows)
        return self.outcome

    async def _take_what_is_there(self, planned: Sequence[PlannedGrade]) -> list[PlannedGrade]:
        left: dict[Key, PlannedGrade] = {}
        for index, one in enumerate(planned):
            if one.key in left or one.key in self.outcome.rows:
                continue
            if not self._reuse(one):
                left[one.key] = one
            if index % BREATHE_EVERY == BREATHE_EVERY - 1:
                await asyncio.sleep(0)
                if self.stop.is_set():
                    break
        return list(left.values())

    def _reuse(self, planned: PlannedGrade) -> bool:
        found = stored(planned, self._grader(planned), self.ledger, self.cache)
        if found is None:
            return False
        if found.row is None:
            row = self.ledger.append(self._row(planned, found.grade, reused="cache"))
            self.outcome.cached += 1
        else:
            now = {"grade": found.grade, "judgement_digest": planned.judgement_digest, "facts": planned.facts}
            row = found.row.model_copy(update=now)
            if row != found.row:
                row = self.ledger.append(row)
            self.outcome.resumed += 1
        self._count(row, reused=True)
        return True

    async def _call(self, left: list[PlannedGrade], concurrency: int, grace_s: float) -> None:
        limits = {key: grader.concurrency for key, grader in self.graders.items()}
        lanes = Lanes((((p.side, p.grader), p) for p in left), limits)
        turnstile = Turnstile()
        workers: list[asyncio.Task[Any]] = [
            asyncio.create_task(self._work(lanes, turnstile)) for _ in range(min(concurrency, len(left)))
        ]
        gc.freeze()  # Modules and plan outlive the calls: not walking them again saves a tenth of the computing time.
        stopping: asyncio.Task[Any] = asyncio.create_task(self.stop.wait())
        try:
            pending = set(workers)
            while pending and not self.stop.is_set():
                await asyncio.wait({*pending, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if any(task.done() and not task.cancelled() and task.exception() for task in pending):
                    self.stop.set()
                pending = {task for task in pending if not task.done()}
            if pending:
                lanes.drop()
                await asyncio.wait(pending, timeout=grace_s)
        finally:
            gc.unfreeze()
            stopping.cancel()
            for task in workers:
                task.cancel()
            results = await asyncio.gather(*workers, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, asyncio.CancelledError):
                raise result

    async def _work(self, lanes: Lanes[GraderKey, PlannedGrade], turnstile: Turnstile) -> None:
        while (job := await lanes.take()) is not None:
            lane, planned = job
            try:
                await turnstile.turn()
                if not await self._one(planned):
                    lanes.drop()
            finally:
                lanes.give_back(lane)

    async def _one(self, planned: PlannedGrade) -> bool:
        """Make one call; False where the budget refuses it."""
        grader = self._grader(planned)
        request = grader.request(planned.item)
        if request.digest != planned.request_digest:
            raise PlanDriftError(
                f"{planned.item.id}: grader {planned.grader!r} would send something else than was planned; "
                "a file was changed while the run went on: run again"
            )
        reservation = await self.budget.reserve(self._worst_cost(planned, request))
        if reservation is None:
            return False
        try:
            if self.stop.is_set():  # The wait for the budget may have outlasted the run.
                return False
            grade = await self._grade(grader, planned, request)
            self.budget.settle(reservation, grade.usage)
        finally:
            self.budget.release(reservation)
        row = self.ledger.append(self._row(planned, grade))
        if self.cache is not None and planned.purpose is Purpose.SCREEN:
            self.cache.put(row, model=grader.model, characters=request.characters)
        self.outcome.made += 1
        self._count(row, reused=False)
        return True

    async def _grade(self, grader: Grader, planned: PlannedGrade, request: Request) -> Grade:
        try:
            return await grader.grade(planned.item, request, Call(seed=seed_of(planned), repeat=planned.repeat))
        except UsageError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                raise  # It is this run that ends, not the grader that cancelled something of its own.
            # A grader that raises is broken; its grade must not be lost, nor the run.
            plain = f"grader {planned.grader!r} failed instead of answering: {type(error).__name__}"
            message = f"{plain}: {error}".rstrip(": ")
            return Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message=message, plain=plain))

    async def _prepare(self, left: Sequence[PlannedGrade]) -> None:
        """Find what would fail every call before the first call of any grader: a prompt, a key, a price."""
        for one in {(p.side, p.grader): p for p in reversed(left)}.values():
            grader = self._grader(one)
            prepare = getattr(grader, "prepare", None)  # Kinds with nothing to prepare have none.
            if prepare is not None:
                await prepare()
            self._worst_cost(one, grader.request(one.item))

    def _worst_cost(self, planned: PlannedGrade, request: Request) -> float:
        worst = None if self.worst_cost is None else self.worst_cost((planned.side, planned.grader), request)
        if worst is None and self.budget.max_cost_usd is not None:
            raise UnpricedModelError(
                f"grader {planned.grader!r}: model {self._grader(planned).model!r} has no price, so the cap of "
                f"${self.budget.max_cost_usd:g} cannot be kept; add it to `prices` of its provider"
            )
        return worst or 0.0

    def _grader(self, planned: PlannedGrade) -> Grader:
        return self.graders[planned.side, planned.grader]

    def _row(self, planned: PlannedGrade, grade: Grade, *, reused: str | None = None) -> LedgerRow:
        return LedgerRow(
            suite=planned.suite,
            grader=planned.grader,
            item=planned.item.id,
            side=planned.side,
            purpose=planned.purpose,
            request_digest=planned.request_digest,
            judgement_digest=planned.judgement_digest,
            repeat=planned.repeat,
            grade=grade,
            at=self.now().astimezone(UTC).isoformat(timespec="milliseconds"),
            reused=reused,
            facts=planned.facts,
        )

    def _count(self, row: LedgerRow, *, reused: bool) -> None:
        self.outcome.rows[row.key] = row
        if self.progress is not None:
            self.progress.advance(reused=reused, failed=row.grade.error is not None)
