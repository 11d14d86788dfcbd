"""The ``python`` kind: a callable of the repository, run in worker processes."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from grader_gate.config import PythonGrader as PythonConfig
from grader_gate.errors import LocatedError
from grader_gate.graders import processes
from grader_gate.graders.attempts import code_is_worth_another, twice
from grader_gate.graders.base import Call, Request
from grader_gate.graders.inputs import VisibleInputs
from grader_gate.graders.judgement import malformed, unmeasured
from grader_gate.graders.values import ReturnedValues
from grader_gate.graders.workers import Pool, WorkerLost, WorkerRefused
from grader_gate.model import INPUT_NAMES, Grade, Item, Tree, digest


class CallableProblem(LocatedError):
    """A callable that cannot be imported, found or called with what it would get."""


class PythonGrader:
    """One side's callable.

    :param code_dir: the grading side's files on disk.
    :param source_digest: content address of the callable's source closure; without it all Python files below ``path``
        and all ``sources`` count.
    """

    kind = "python"
    repeatable = True
    model = None

    def __init__(
        self,
        name: str,
        config: PythonConfig,
        tree: Tree,
        code_dir: Path | None,
        environ: Mapping[str, str],
        source_digest: str | None,
    ) -> None:
        self.name, self._config, self._tree = name, config, tree
        self._code_dir, self._environ, self._given_source = code_dir, environ, source_digest
        for key in config.arguments:
            if key in INPUT_NAMES:
                raise CallableProblem(
                    "is an input; give the argument another name", key=f"graders.{name}.arguments.{key}"
                )
        self._inputs = VisibleInputs(config.contract.inputs, tree, config.rubric)
        self._values = ReturnedValues(config.contract)
        self._redactor = processes.redactor(environ, config.env)
        self._scratch = processes.Scratch()
        self._pool: Pool | None = None
        self._problem: CallableProblem | None = None

    @property
    def concurrency(self) -> int:
        """As many calls as there are workers."""
        return self._config.workers

    @property
    def judgement_digest(self) -> str:
        """See :class:`grader_gate.graders.base.Grader`."""
        return self._values.digest

    @cached_property
    def identity(self) -> str:
        """Digest of the source closure, the arguments and the visible inputs' names."""
        return digest("python", self._fixed, self._inputs.identity())

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        config = self._config
        folder = "" if config.path in (".", "") else config.path.strip("/") + "/"
        patterns = [f"{folder}**/*.py", *config.sources, *([config.lock] if config.lock else [])]
        return {
            "kind": self.kind,
            "callable": config.callable,
            "path": config.path,
            "arguments": config.arguments,
            "env": sorted(config.env),
            "source": processes.source_identity(self._tree, patterns, self._given_source),
            "version": config.version,
        }

    def request(self, item: Item) -> Request:
        """See :class:`grader_gate.graders.base.Grader`."""
        inputs = self._inputs.of(item)
        return Request(payload={**self._fixed, "inputs": inputs}, characters=sum(len(str(v)) for v in inputs.values()))

    async def prepare(self) -> None:
        """Import the callable in a worker.

        :raises CallableProblem: it cannot be imported, is missing, or wants what it will not get.
        :raises NoCodeHere: code may not run here.
        """
        try:
            await self._workers().warm()
        except WorkerRefused as error:
            raise self._refused(error) from None
        except WorkerLost as error:
            raise self._refused(WorkerRefused(f"the worker ended while importing: {error}", "")) from None

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Call, and call once more where that brought nothing usable.

        :raises CallableProblem: see :meth:`prepare`.
        """
        if self._problem is not None:
            raise self._problem
        started = time.perf_counter()
        message = {"inputs": request.payload["inputs"], "seed": call.seed}
        grade = await twice(lambda: self._once(message), code_is_worth_another(self._config.contract.deterministic))
        return grade.model_copy(update={"latency_s": round(time.perf_counter() - started, 4)})

    async def _once(self, message: Mapping[str, Any]) -> Grade:
        try:
            answer = await self._workers().call(message)
        except WorkerRefused as error:
            raise self._refused(error) from None
        except WorkerLost as error:
            where = f"graders.{self.name}: "
            return unmeasured(where + self._redactor.foreign(str(error)), plain=where + error.plain)
        if "error" in answer:
            where = f" at {answer['where']}" if answer.get("where") else ""
            plain = f"the callable raised{where}"
            return malformed(f"{plain}: {self._redactor.foreign(str(answer['error']))}", plain=plain)
        return self._values.grade(answer.get("value"))

    def judge(self, raw: str) -> Grade | None:
        """Read a stored value again."""
        return self._values.judge(raw)

    async def aclose(self) -> None:
        """End the workers."""
        if self._pool is not None:
            await self._pool.close()
            self._pool = None
        self._scratch.remove()

    def _workers(self) -> Pool:
        if self._pool is None:
            root = processes.code_folder(self._code_dir, self.name)
            folder = processes.code_folder(self._code_dir, self.name, self._config.path)
            module, _, function = self._config.callable.partition(":")
            hello = {
                "path": str(folder),
                "module": module,
                "function": function,
                "arguments": self._config.arguments,
                "inputs": list(self._config.contract.inputs),
            }
            env = processes.scrubbed(self._environ, self._config.env, self._scratch.path)
            self._pool = Pool(root, hello, env, self._config.workers, self._config.timeout_s)
        return self._pool

    def _refused(self, error: WorkerRefused) -> CallableProblem:
        path, _, line = error.where.partition(":")
        self._problem = CallableProblem(
            f"{self._config.callable} cannot be used: {self._redactor.foreign(str(error))}",
            path=posixpath.normpath(posixpath.join(self._config.path, path)) if path else None,
            line=int(line) if line.isdigit() else None,
            key=f"graders.{self.name}.callable",
        )
        return self._problem
