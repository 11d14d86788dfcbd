"""A pool of persistent worker processes for one callable."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader_gate.graders import processes

MAX_LINE = 16 * 2**20
"""Longest answer of a worker, bytes."""
MIN_START_S = 60.0
"""Seconds a worker may take to import the callable, at least."""
SCRIPT = Path(__file__).with_name("python_worker.py")


class WorkerLost(Exception):
    """A worker died or had to be ended.

    :ivar plain: which, in our own words; the message holds its last words as well, which may hold secrets.
    """

    def __init__(self, plain: str, said: str = "") -> None:
        super().__init__(plain + (f": {said}" if said else ""))
        self.plain = plain


class WorkerRefused(Exception):
    """A worker could not find the callable."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


@dataclass(slots=True)
class _Worker:
    process: asyncio.subprocess.Process
    stderr: processes.Tail


@dataclass(slots=True)
class Pool:
    """Up to ``size`` workers, each started when first needed and again after it was lost.

    :ivar folder: the workers' working folder.
    :ivar hello: what a worker is told first (path, module, function, arguments, names of inputs).
    :ivar timeout_s: seconds one call may take.
    """

    folder: Path
    hello: Mapping[str, Any]
    env: Mapping[str, str]
    size: int
    timeout_s: float
    _idle: list[_Worker] | None = None
    _turns: asyncio.Semaphore | None = None
    _loop: asyncio.AbstractEventLoop | None = None

    async def call(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Have one worker answer.

        :raises WorkerLost: it died, or did not answer in time and was ended with all it started.
        :raises WorkerRefused: the callable cannot be imported.
        """
        idle, turns = self._start()
        async with turns:
            worker = idle.pop() if idle else await self._launch()
            try:
                answer = await self._exchange(worker, message, self.timeout_s)
            except BaseException:
                # Cancelled or lost: what this worker says next would belong to another question.
                await self._drop(worker)
                raise
            idle.append(worker)
            return answer

    async def warm(self) -> None:
        """Start one worker.

        :raises WorkerRefused: the callable cannot be imported.
        :raises WorkerLost: it died on starting.
        """
        idle, turns = self._start()
        async with turns:
            if not idle:
                idle.append(await self._launch())

    async def close(self) -> None:
        """End all workers."""
        workers, self._idle = self._idle or [], None
        for worker in workers:
            await self._drop(worker)

    def _start(self) -> tuple[list[_Worker], asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        if self._loop is not loop or self._idle is None or self._turns is None:
            for worker in self._idle or []:
                processes.kill_group(worker.process)
            self._idle, self._turns, self._loop = [], asyncio.Semaphore(self.size), loop
        return self._idle, self._turns

    async def _launch(self) -> _Worker:
        process = await processes.start([sys.executable, "-I", "-B", str(SCRIPT)], self.folder, self.env, MAX_LINE)
        assert process.stderr is not None
        worker = _Worker(process, processes.Tail(process.stderr))
        try:
            answer = await self._exchange(worker, self.hello, max(MIN_START_S, self.timeout_s))
        except BaseException:
            await self._drop(worker)
            raise
        if "failed" in answer:
            await self._drop(worker)
            raise WorkerRefused(str(answer["failed"]), str(answer.get("where", "")))
        return worker

    async def _exchange(self, worker: _Worker, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        process = worker.process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
        except TimeoutError:
            raise WorkerLost(f"no answer within {seconds:g} s; the worker was ended") from None
        except (ConnectionError, ValueError) as error:
            raise WorkerLost(f"the worker died or said too much ({type(error).__name__})") from None
        if not line.endswith(b"\n"):
            code = await process.wait()
            said = await worker.stderr.last_line()
            raise WorkerLost(f"the worker died (exit {code})", said)
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _drop(self, worker: _Worker) -> None:
        await processes.end(worker.process)
        await worker.stderr.stop()
