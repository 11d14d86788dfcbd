"""The ``http`` kind: a JSON endpoint below a provider's address."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

from grader_gate.config import HttpGrader as HttpConfig
from grader_gate.config import Provider
from grader_gate.errors import UsageError
from grader_gate.graders.attempts import twice
from grader_gate.graders.base import Call, Request
from grader_gate.graders.connection import Connection
from grader_gate.graders.inputs import VisibleInputs
from grader_gate.graders.judgement import unmeasured
from grader_gate.graders.values import ReturnedValues
from grader_gate.model import INPUT_NAMES, Grade, Item, Tree, Usage, digest


class BadPath(UsageError):
    """A path that could lead a key to another host or out of the provider's address."""


class HttpGrader:
    """One side's endpoint. It gets ``{"inputs": {…}, "arguments": {…}}`` and answers what a callable may return.

    :param provider: the trusted side's provider block; only ``path`` below it is the grading side's.
    :raises BadPath: see there.
    """

    kind = "http"
    repeatable = True
    model = None

    def __init__(self, name: str, config: HttpConfig, provider: Provider, tree: Tree, connection: Connection) -> None:
        self.name, self._config, self._provider, self._connection = name, config, provider, connection
        path = config.path
        if path and (not path.startswith("/") or any(bad in path for bad in ("//", "..", "?", "#", "\\", "@", "%"))):
            raise BadPath(
                f"graders.{name}.path: {path!r} must begin with `/` and hold no `..`, `//`, `?`, `#`, `@`, `%`; "
                "put a query in the provider's `query`"
            )
        if any(ord(char) <= 32 or ord(char) > 126 for char in path):
            raise BadPath(f"graders.{name}.path: {path!r} must be plain ASCII without spaces")
        for key in config.arguments:
            if key in INPUT_NAMES:
                raise BadPath(f"graders.{name}.arguments.{key}: is an input; give the argument another name")
        self._inputs = VisibleInputs(config.contract.inputs, tree, config.rubric)
        self._values = ReturnedValues(config.contract)

    @property
    def concurrency(self) -> int:
        """As the provider block says."""
        return self._provider.concurrency

    @property
    def judgement_digest(self) -> str:
        """See :class:`grader_gate.graders.base.Grader`."""
        return self._values.digest

    @cached_property
    def identity(self) -> str:
        """Digest of the address, the declared version, the arguments and the visible inputs' names."""
        return digest("http", self._fixed(), self._inputs.identity())

    def _fixed(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "endpoint": self._connection.identity(),
            "path": self._config.path,
            "arguments": self._config.arguments,
            "version": self._config.version,
        }

    def request(self, item: Item) -> Request:
        """See :class:`grader_gate.graders.base.Grader`."""
        inputs = self._inputs.of(item)
        characters = sum(len(str(value)) for value in inputs.values())
        return Request(payload={**self._fixed(), "inputs": inputs}, characters=characters)

    async def prepare(self) -> None:
        """See that the key is there.

        :raises grader_gate.graders.connection.MissingKey: it is not.
        """
        await self._connection.prepare()

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Ask the endpoint, and once more where the answer cannot be used."""
        started = time.perf_counter()
        body = {"inputs": request.payload["inputs"], "arguments": self._config.arguments}
        deterministic = self._config.contract.deterministic
        grade = await twice(lambda: self._once(body), lambda first: first.malformed and not deterministic)
        return grade.model_copy(update={"latency_s": round(time.perf_counter() - started, 4)})

    async def _once(self, body: dict[str, Any]) -> Grade:
        outcome = await self._connection.post(self._config.path, body)
        if outcome.failure is None:
            grade = self._values.grade(outcome.data)
        else:
            grade = unmeasured(outcome.failure, plain=outcome.plain)
        return grade.model_copy(update={"usage": Usage(calls=outcome.calls)})

    def judge(self, raw: str) -> Grade | None:
        """Read a stored answer again."""
        return self._values.judge(raw)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._connection.aclose()
