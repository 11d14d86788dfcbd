"""The ``command`` kind: a program that reads one JSON object and writes one JSON grade. No shell is involved."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from grader_gate.config import CommandGrader as CommandConfig
from grader_gate.errors import UsageError
from grader_gate.graders import processes
from grader_gate.graders.attempts import code_is_worth_another, twice
from grader_gate.graders.base import Call, Request
from grader_gate.graders.fixtures import MAX_EFFECTS, Fixtures, reported_effects
from grader_gate.graders.inputs import VisibleInputs
from grader_gate.graders.judgement import malformed, unmeasured
from grader_gate.graders.programs import MAX_OUTPUT_BYTES, TooMuchOutput, find_program, run_program
from grader_gate.graders.values import ReturnedValues
from grader_gate.model import Grade, Item, Tree, digest


class CommandProblem(UsageError):
    """A program that cannot be started."""


class CommandGrader:
    """One side's program.

    It gets ``{"inputs": {…}, "seed": n}`` on standard input and writes what a callable may return, as JSON (see
    :class:`grader_gate.graders.values.ReturnedValues`). Its working folder is the root of the grading side's files.
    With ``fixtures`` it runs in an environment of its own and may report ``effects``
    (see :mod:`grader_gate.graders.fixtures`).
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
        self._fixtures: Fixtures | None = None

    @property
    def concurrency(self) -> int:
        """Programs that run at once: one where all share an environment."""
        shared = self._config.fixtures is not None and not self._config.fixtures.fresh_dir
        return 1 if shared else self._config.workers

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
        fixtures = {} if config.fixtures is None else {"fixtures": config.fixtures.model_dump(mode="json")}
        return {
            **fixtures,
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
        environment = {"environment": "dirty"} if item.dirty else {}
        payload = {**self._fixed, **environment, "inputs": inputs}
        return Request(payload=payload, characters=sum(len(str(v)) for v in inputs.values()))

    async def prepare(self) -> None:
        """See that the program is there, and that its fixtures work.

        :raises CommandProblem: it is not, or is no program.
        :raises grader_gate.graders.fixtures.FixtureProblem: see there.
        :raises NoCodeHere: code may not run here.
        """
        self._program()
        if (fixtures := self._environment()) is not None:
            await fixtures.prepare()

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Run the program, and once more where that brought nothing usable.

        :raises CommandProblem: see :meth:`prepare`.
        """
        started = time.perf_counter()
        message = json.dumps({"inputs": request.payload["inputs"], "seed": call.seed}).encode()
        worth_another = code_is_worth_another(self._config.contract.deterministic)
        grade = await twice(lambda: self._somewhere(message, dirty=item.dirty), worth_another)
        return grade.model_copy(update={"latency_s": round(time.perf_counter() - started, 4)})

    async def _somewhere(self, message: bytes, *, dirty: bool) -> Grade:
        """Run it in its environment, where it has one."""
        if (fixtures := self._environment()) is not None:
            return await fixtures.around(lambda variables: self._once(message, variables), dirty=dirty)
        if dirty:
            return unmeasured(f"graders.{self.name}: has no `fixtures.dirty`, so a dirty environment cannot be tried")
        return (await self._once(message, {}))[0]

    def _environment(self) -> Fixtures | None:
        if self._config.fixtures is not None and self._fixtures is None:
            folder = processes.code_folder(self._code_dir, self.name)
            home = Path(self._scratch.path)
            env = processes.scrubbed(self._environ, self._config.env, self._scratch.path)
            self._fixtures = Fixtures(self.name, self._config.fixtures, folder, env, home, self._redactor)
        return self._fixtures

    def _program(self) -> tuple[str, Path, dict[str, str]]:
        folder = processes.code_folder(self._code_dir, self.name)
        env = processes.scrubbed(self._environ, self._config.env, self._scratch.path)
        wanted = self._config.command[0]
        found = find_program(wanted, folder, env["PATH"])
        if found is None:
            where = f"in {folder.name}" if "/" in wanted else "on PATH"
            raise CommandProblem(
                f"graders.{self.name}.command: there is no program {wanted!r} {where}; "
                "name an executable file, or the interpreter first"
            )
        return found, folder, env

    async def _once(self, message: bytes, variables: Mapping[str, str]) -> tuple[Grade, tuple[str, ...]]:
        """The grade of one run, and the effects the program reports."""
        program, folder, env = self._program()
        command = [program, *self._config.command[1:]]
        try:
            finished = await run_program(command, folder, {**env, **variables}, message, self._config.timeout_s)
        except TimeoutError:
            late = f"graders.{self.name}: no answer within {self._config.timeout_s:g} s; it was ended"
            return unmeasured(late), ()
        except OSError as error:
            raise CommandProblem(
                f"graders.{self.name}.command: {self._config.command[0]!r} cannot be started ({error.strerror}); "
                "does its first line name an interpreter?"
            ) from None
        except TooMuchOutput:
            return malformed(f"the program wrote more than {MAX_OUTPUT_BYTES:,} bytes"), ()
        if finished.code != 0:
            said = self._redactor.foreign(finished.said)
            return malformed(f"the program {replace(finished, said=said).how}"), ()
        output = finished.output
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            text = output.decode("utf-8", "replace")[:20_000]
            return malformed("the program's output is not one JSON value", text), ()
        effects = reported_effects(value) if self._config.fixtures is not None else ()
        if effects is None:
            return malformed(f"`effects` must be a list of at most {MAX_EFFECTS} texts"), ()
        return self._values.grade(value), effects

    def judge(self, raw: str) -> Grade | None:
        """Read a stored value again."""
        return self._values.judge(raw)

    async def aclose(self) -> None:
        """Remove the programs' home, and the environments in it."""
        self._fixtures = None
        self._scratch.remove()
