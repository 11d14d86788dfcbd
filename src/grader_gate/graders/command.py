"""The ``command`` kind: a program that reads one JSON object and writes one JSON grade. No shell is involved."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from grader_gate.config import CommandGrader as CommandConfig
from grader_gate.errors import UsageError
from grader_gate.graders import processes
from grader_gate.graders.attempts import code_is_worth_another, twice
from grader_gate.graders.base import Call, Request
from grader_gate.graders.inputs import VisibleInputs
from grader_gate.graders.judgement import malformed, unmeasured
from grader_gate.graders.values import ReturnedValues
from grader_gate.model import Grade, Item, Tree, digest

MAX_OUTPUT_BYTES = 4_000_000
"""Most a program may write on its standard output; a grade takes a few thousand."""


class CommandProblem(UsageError):
    """A program that cannot be started."""


class TooMuchOutput(Exception):
    """A program wrote more than :data:`MAX_OUTPUT_BYTES`."""


class CommandGrader:
    """One side's program.

    It gets ``{"inputs": {…}, "seed": n}`` on standard input and writes what a callable may return, as JSON (see
    :class:`grader_gate.graders.values.ReturnedValues`). Its working folder is the root of the grading side's files.
    """

    kind = "command"
    repeatable = True
    model = None

    def __init__(
        self,
        name: str,
        config: CommandConfig,
        tree: Tree,
        code_dir: Path | None,
        environ: Mapping[str, str],
        source_digest: str | None,
    ) -> None:
        self.name, self._config, self._tree = name, config, tree
        self._code_dir, self._environ, self._given_source = code_dir, environ, source_digest
        self._inputs = VisibleInputs(config.contract.inputs, tree, config.rubric)
        self._values = ReturnedValues(config.contract)
        self._redactor = processes.redactor(environ, config.env)
        self._scratch = processes.Scratch()

    @property
    def concurrency(self) -> int:
        """Programs that run at once."""
        return self._config.workers

    @property
    def judgement_digest(self) -> str:
        """See :class:`grader_gate.graders.base.Grader`."""
        return self._values.digest

    @cached_property
    def identity(self) -> str:
        """Digest of the command, its sources and the visible inputs' names."""
        return digest("command", self._fixed, self._inputs.identity())

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        config = self._config
        named = [part.removeprefix("./") for part in config.command if self._tree.exists(part.removeprefix("./"))]
        return {
            "kind": self.kind,
            "command": list(config.command),
            "env": sorted(config.env),
            "source": [
                processes.source_identity(
                    self._tree, [*config.sources, *([config.lock] if config.lock else [])], self._given_source
                ),
                [[path, digest("file", self._tree.read(path).hex())] for path in named],
            ],
            "version": config.version,
        }

    def request(self, item: Item) -> Request:
        """See :class:`grader_gate.graders.base.Grader`."""
        inputs = self._inputs.of(item)
        return Request(payload={**self._fixed, "inputs": inputs}, characters=sum(len(str(v)) for v in inputs.values()))

    async def prepare(self) -> None:
        """See that the program is there.

        :raises CommandProblem: it is not, or is no program.
        :raises NoCodeHere: code may not run here.
        """
        self._program()

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Run the program, and once more where that brought nothing usable.

        :raises CommandProblem: see :meth:`prepare`.
        """
        started = time.perf_counter()
        message = json.dumps({"inputs": request.payload["inputs"], "seed": call.seed}).encode()
        worth_another = code_is_worth_another(self._config.contract.deterministic)
        grade = await twice(lambda: self._once(message), worth_another)
        return grade.model_copy(update={"latency_s": round(time.perf_counter() - started, 4)})

    def _program(self) -> tuple[str, Path, dict[str, str]]:
        folder = processes.code_folder(self._code_dir, self.name)
        env = processes.scrubbed(self._environ, self._config.env, self._scratch.path)
        wanted = self._config.command[0]
        found = shutil.which(str(folder / wanted) if "/" in wanted else wanted, path=env["PATH"])
        if found is None:
            where = f"in {folder.name}" if "/" in wanted else "on PATH"
            raise CommandProblem(
                f"graders.{self.name}.command: there is no program {wanted!r} {where}; "
                "name an executable file, or the interpreter first"
            )
        return found, folder, env

    async def _once(self, message: bytes) -> Grade:
        program, folder, env = self._program()
        try:
            process = await processes.start([program, *self._config.command[1:]], folder, env, MAX_OUTPUT_BYTES)
        except OSError as error:
            raise CommandProblem(
                f"graders.{self.name}.command: {self._config.command[0]!r} cannot be started ({error.strerror}); "
                "does its first line name an interpreter?"
            ) from None
        assert process.stderr is not None
        stderr = processes.Tail(process.stderr)
        try:
            async with asyncio.timeout(self._config.timeout_s):
                output = await _converse(process, message)
                code = await process.wait()
            said = await stderr.last_line() if code else ""
        except TimeoutError:
            return unmeasured(f"graders.{self.name}: no answer within {self._config.timeout_s:g} s; it was ended")
        except TooMuchOutput:
            return malformed(f"the program wrote more than {MAX_OUTPUT_BYTES:,} bytes")
        finally:
            await processes.end(process)
            await stderr.stop()
        if code != 0:
            said = self._redactor.foreign(said)
            how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
            return malformed(f"the program {how}" + (f": {said}" if said else ""), plain=f"the program {how}")
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            return malformed("the program's output is not one JSON value", output.decode("utf-8", "replace")[:20_000])
        return self._values.grade(value)

    def judge(self, raw: str) -> Grade | None:
        """Read a stored value again."""
        return self._values.judge(raw)

    async def aclose(self) -> None:
        """Remove the programs' home."""
        self._scratch.remove()


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
