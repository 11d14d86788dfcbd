"""The ``checks`` kind: deterministic checks of the answer; the worst failed one decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

from grader_gate.config import Check
from grader_gate.config import ChecksGrader as ChecksConfig
from grader_gate.graders.base import Call, Request
from grader_gate.graders.checking import numbers, structure, words
from grader_gate.graders.checking.base import Ask, Building, CheckProblem, CheckTimeout
from grader_gate.graders.inputs import VisibleInputs, read_text
from grader_gate.graders.judgement import malformed
from grader_gate.model import CheckOutcome, Grade, GradeVerdict, Item, Tree, Usage, digest

CHECKS_VERSION = 1
"""Part of the digest: raised when a check would say something else of the same answer."""

TYPES: dict[str, tuple[Callable[[Building], Ask], frozenset[str]]] = {
    "json": (structure.json_parses, frozenset()),
    "json_schema": (structure.json_schema, frozenset(("schema_",))),
    "length": (structure.length, frozenset(("min", "max", "unit"))),
    "contains": (words.contains, frozenset(("values", "expect", "ignore_case"))),
    "identifiers": (words.identifiers, frozenset(("values", "expect", "ignore_case"))),
    "names": (words.names, frozenset(("values", "expect", "ignore_case"))),
    "regex": (words.pattern, frozenset(("pattern", "absent", "ignore_case"))),
    "citations": (words.citations, frozenset(("pattern", "ignore_case", "min", "max"))),
    "numbers": (numbers.numbers, frozenset(("values", "expect", "tolerance", "absolute", "unit"))),
}
"""Type → how it is built, and which keys it reads."""
COMMON = frozenset(("name", "type", "on_fail"))
USES_REFERENCE = frozenset(("contains", "identifiers", "names", "numbers"))


class ChecksGrader:
    """Checks of one side.

    :raises CheckProblem: on first use: a check lacks a key, has one that does nothing, or holds a bad pattern, schema
        or unit.
    """

    kind = "checks"
    repeatable = True
    model = None
    concurrency = 1

    def __init__(self, name: str, config: ChecksConfig, tree: Tree) -> None:
        self.name, self._config, self._tree = name, config, tree
        self._inputs = VisibleInputs(config.contract.inputs, tree, config.rubric)
        seen: set[str] = set()
        for number, check in enumerate(config.checks):
            label = check_label(check, number)
            if label in seen:
                raise CheckProblem(f"two checks are named {label!r}; give each its `name`", key=self._key(number))
            seen.add(label)

    @property
    def judgement_digest(self) -> str:
        """Checks have no raw reply that could be judged again."""
        return digest("checks", CHECKS_VERSION)

    @cached_property
    def identity(self) -> str:
        """Digest of the checks, their schema files and the visible inputs."""
        return digest("checks", self._fixed, self._inputs.identity())

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        schemas = sorted({c.schema_ for c in self._config.checks if isinstance(c.schema_, str)})
        return {
            "kind": self.kind,
            "checks": [check.model_dump(mode="json") for check in self._config.checks],
            "schemas": [[path, read_text(self._tree, path)] for path in schemas],
            "checks_version": CHECKS_VERSION,
            "version": self._config.version,
        }

    @cached_property
    def _built(self) -> list[tuple[str, Check, Ask]]:
        built = []
        for number, check in enumerate(self._config.checks):
            make, keys = TYPES[check.type]
            key = self._key(number)
            if idle := sorted(check.model_fields_set - keys - COMMON):
                reads = ", ".join(sorted(keys)).replace("schema_", "schema") or "no further key"
                idle_name = idle[0].rstrip("_")
                raise CheckProblem(f"`{idle_name}` does nothing for `type: {check.type}` (it reads {reads})", key=key)
            ask = make(Building(check, key, self._tree, self._inputs.names))
            built.append((check_label(check, number), check, ask))
        return built

    def _key(self, number: int) -> str:
        return f"graders.{self.name}.checks.{number}"

    async def prepare(self) -> None:
        """Build all checks.

        :raises CheckProblem: see the class.
        """
        _ = self._built

    def request(self, item: Item) -> Request:
        """See :class:`grader_gate.graders.base.Grader`.

        :raises CheckProblem: a check compares with the reference and the item has none.
        """
        inputs = self._inputs.of(item)
        if inputs.get("reference") is None:
            for number, check in enumerate(self._config.checks):
                if compares(check):
                    message = f"`{check.type}` compares with the reference, which {item.id} does not have; add one"
                    raise CheckProblem(message, key=self._key(number))
        return Request(payload={**self._fixed, "inputs": inputs}, characters=0)

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Run every check; never stops at the first that fails, for each one's kill rate counts.

        :raises CheckProblem: see :meth:`request`.
        """
        started = time.perf_counter()
        inputs = request.payload["inputs"]
        outcomes: list[CheckOutcome] = []
        verdict = GradeVerdict.CORRECT
        free = Usage(calls=0)
        for label, check, ask in self._built:
            try:
                passed, detail = ask(inputs)
            except CheckTimeout as error:
                return malformed(f"check {label!r}: {error}").model_copy(update={"usage": free})
            outcomes.append(CheckOutcome(name=label, passed=passed, detail=detail))
            if not passed:
                verdict = min(verdict, check.on_fail, key=lambda v: v.rank)
        failed = [f"{outcome.name}: {outcome.detail}" for outcome in outcomes if not outcome.passed]
        return Grade(
            verdict=verdict,
            reason="; ".join(failed) or "all checks passed",
            checks=tuple(outcomes),
            usage=free,
            latency_s=round(time.perf_counter() - started, 4),
        )

    def judge(self, raw: str) -> Grade | None:
        """None: no raw replies are kept."""
        return None

    async def aclose(self) -> None:
        """Nothing is open."""


def check_label(check: Check, number: int) -> str:
    """What a check is called in outcomes: its name, else its type and its place, counted from 1."""
    return check.name or f"{check.type}-{number + 1}"


def compares(check: Check) -> bool:
    """Whether a check holds the answer against the item's reference."""
    if check.type not in USES_REFERENCE:
        return False
    return check.expect == "reference" or (not check.values and check.expect is None) or (
        check.type == "numbers" and not check.values
    )  # fmt: skip
