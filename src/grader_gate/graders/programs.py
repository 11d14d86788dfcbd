"""Running one program to its end: input in, output out, within a time and a size. No shell is involved."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader_gate.graders import processes

MAX_OUTPUT_BYTES = 4_000_000
"""Most a program may write on its standard output; a grade takes a few thousand."""


class TooMuchOutput(Exception):
    """A program wrote more than :data:`MAX_OUTPUT_BYTES`."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended by itself.

    :ivar code: exit code; negative for the signal that ended it.
    :ivar said: last line of its error output, where it failed.
    """

    code: int
    output: bytes
    said: str

    @property
    def how(self) -> str:
        """How it failed, in words."""
        ended = f"was ended by signal {-self.code}" if self.code < 0 else f"ended with {self.code}"
        return ended + (f": {self.said}" if self.said else "")


def find_program(wanted: str, folder: Path, path: str) -> str | None:
    """The executable a command names: a path counts from the folder, a bare name from ``PATH``."""
    return shutil.which(str(folder / wanted) if "/" in wanted else wanted, path=path)


async def run_program(
    command: Sequence[str], folder: Path, env: Mapping[str, str], message: bytes, timeout_s: float
) -> Finished:
    """Start a program, send it the message, wait for its end. It and all it started are ended in any case.

    :raises OSError: it cannot be started. :raises TimeoutError: it did not end in time.
    :raises TooMuchOutput: its output has no end in sight.
    """
    process = await processes.start(command, folder, env, MAX_OUTPUT_BYTES)
    assert process.stderr is not None
    stderr = processes.Tail(process.stderr)
    try:
        async with asyncio.timeout(timeout_s):
            output = await _converse(process, message)
            code = await process.wait()
        said = await stderr.last_line() if code else ""
    finally:
        await processes.end(process)
        await stderr.stop()
    return Finished(code, output, said)


async def _converse(process: asyncio.subprocess.Process, message: bytes) -> bytes:
    """Send the message and read the output to its end, both at once, so that neither side waits for the other.

    :raises TooMuchOutput: the output has no end in sight.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def send() -> None:
        with contextlib.suppress(ConnectionError):
            stdin.write(message)
            await stdin.drain()
        with contextlib.suppress(ConnectionError):
            stdin.close()
            await stdin.wait_closed()

    sending = asyncio.ensure_future(send())
    try:
        output = bytearray()
        while chunk := await stdout.read(65536):
            output += chunk
            if len(output) > MAX_OUTPUT_BYTES:
                raise TooMuchOutput
        return bytes(output)
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
