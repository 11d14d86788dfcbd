"""The ``chat`` kind: a prompt, a rubric and a pinned model, asked over one of the wires."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grader_gate.config import ChatGrader as ChatConfig
from grader_gate.config import OutputMode, Provider
from grader_gate.errors import UsageError
from grader_gate.graders.attempts import twice
from grader_gate.graders.base import Call, Request
from grader_gate.graders.connection import Connection, Outcome
from grader_gate.graders.inputs import VisibleInputs
from grader_gate.graders.judgement import Judgement, malformed, unmeasured
from grader_gate.graders.pairwise import as_preference, reply_output
from grader_gate.graders.prompt_files import PromptFileProblem, read_prompt
from grader_gate.graders.reply_schema import reply_schema
from grader_gate.graders.wires.base import Answer, Ask, Wire, WireError
from grader_gate.model import Grade, Item, Tree, Usage, digest

if TYPE_CHECKING:
    from grader_gate.graders.templates import Prompt

CAPS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
RESERVED = frozenset(
    (
        "model", "messages", "stream", "stream_options", "n", "system", "tools", "tool_choice", "functions",
        "function_call", "response_format", "output_config",
    )
)  # fmt: skip
"""Parameters the grader sets itself, or that would change what a call is."""
MODES = (OutputMode.JSON_SCHEMA, OutputMode.TOOL, OutputMode.JSON_OBJECT, OutputMode.TEXT)
REFUSED_WORDS = {
    OutputMode.JSON_SCHEMA: ("response_format", "json_schema", "structured output", "schema", "tool"),
    OutputMode.TOOL: ("tool", "function"),
    OutputMode.JSON_OBJECT: ("response_format", "json_object", "json"),
}
"""Words by which a 400 blames the form of output asked for."""
FILTER_WORDS = ("content_filter", "content management policy", "content_policy", "responsibleaipolicy")
PROBLEM = "\x1e"
"""First character of a stored raw reply that the server itself marked as unusable, followed by why and a line end."""
PROBLEMS = {
    "truncated": "the reply was cut off at the token cap; raise `max_tokens` or ask for a shorter reason",
    "filtered": "the provider's content filter stopped the reply",
    "refused": "the model refused to grade",
}


class NotAllowed(UsageError):
    """A model, parameter or token cap outside what the base branch's provider block allows."""


class ChatGrader:
    """One side's chat grader, ready to grade.

    :param name: the grader's name in the configuration.
    :param provider: the trusted side's provider block.
    :param tree: the grading side's files.
    :raises NotAllowed: see :class:`NotAllowed`.
    """

    kind = "chat"
    repeatable = True

    def __init__(
        self, name: str, config: ChatConfig, provider: Provider, tree: Tree, wire: Wire, connection: Connection
    ) -> None:
        self.name, self._config, self._provider, self._tree = name, config, provider, tree
        self._wire, self._connection = wire, connection
        self._parameters, self._cap, self._dialect = _checked(name, config, provider)
        output = reply_output(config.contract, config.output, name)
        self._judgement = Judgement.under(config.contract, output, name)
        self._schema = reply_schema(output, config.contract)
        self._inputs = VisibleInputs(config.contract.inputs, tree, config.rubric)
        self._mode = config.output.mode

    @property
    def model(self) -> str:
        """The model asked."""
        return self._config.model

    @property
    def concurrency(self) -> int:
        """As the provider block says."""
        return self._provider.concurrency

    @property
    def judgement_digest(self) -> str:
        """See :class:`grader_gate.graders.base.Grader`."""
        return self._judgement.digest

    @cached_property
    def identity(self) -> str:
        """Digest of prompt sources, variables, model, parameters, host, output form and visible inputs."""
        sources = read_prompt(self._config.prompt, self._tree, self.name)
        texts = [[s.role, s.text, s.path] for s in sources]
        from grader_gate.graders.includes import included_texts

        included = included_texts(sources, self._tree)
        return digest("chat", self._fixed(), texts, included, self._config.variables, self._inputs.identity())

    @cached_property
    def prompt(self) -> Prompt:
        """The compiled and checked prompt.

        :raises grader_gate.graders.templates.TemplateProblem: see there.
        """
        from grader_gate.graders.templates import Prompt

        sources = read_prompt(self._config.prompt, self._tree, self.name)
        if self._provider.wire == "anthropic" and all(source.role in ("system", "developer") for source in sources):
            raise PromptFileProblem(
                "the anthropic wire needs a `user` message; put the answer in one", **sources[0].at(None)
            )
        return Prompt(sources, self._tree, self._config.contract.inputs, self._config.variables)

    @property
    def warnings(self) -> list[str]:
        """What is odd about the prompt but no error."""
        return [f"graders.{self.name}: {warning}" for warning in self.prompt.warnings]

    async def prepare(self) -> None:
        """Find what would fail every call, before the first.

        :raises UsageError: a broken prompt, a missing key.
        """
        _ = self.prompt
        await self._connection.prepare()

    def request(self, item: Item) -> Request:
        """See :class:`grader_gate.graders.base.Grader`."""
        messages = self.prompt.render(self._inputs.of(item), item.id)
        return Request(
            payload={**self._fixed(), "messages": messages}, characters=sum(len(m["content"]) for m in messages)
        )

    def _fixed(self) -> dict[str, Any]:
        """What every request has in common; plain JSON."""
        return {
            "kind": self.kind,
            "endpoint": self._connection.identity(),
            "model": self._config.model,
            "parameters": self._parameters,
            "max_output_tokens": self._cap,
            "mode": self._config.output.mode.value,
            "schema": self._schema,
            "served_model": self._config.contract.served_model,
            "version": self._config.version,
        }

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Ask, and ask once more where the reply cannot be used."""
        started = time.perf_counter()
        messages = request.payload["messages"]
        grade = await twice(lambda: self._ask(messages), lambda first: first.malformed)
        return grade.model_copy(update={"latency_s": round(time.perf_counter() - started, 4)})

    def judge(self, raw: str) -> Grade | None:
        """Read a stored raw reply again."""
        if raw.startswith(PROBLEM):
            problem, _, _ = raw[1:].partition("\n")
            return malformed(PROBLEMS.get(problem, "the reply was unusable"), raw)
        return self._said(raw)

    def _said(self, text: str) -> Grade:
        grade = self._judgement.text(text)
        return as_preference(grade) if self._config.contract.compares else grade

    async def aclose(self) -> None:
        """Close the connection."""
        await self._connection.aclose()

    # ---- one question

    async def _ask(self, messages: Sequence[Mapping[str, str]]) -> Grade:
        calls = 0
        while True:
            ask = Ask(
                messages, self._config.model, self._parameters, self._cap, self._mode, self._schema, self._dialect
            )
            outcome = await self._connection.post(self._wire.path(), self._wire.body(ask))
            calls += outcome.calls
            if not (outcome.refusal and self._adapt(ask, outcome.refusal)):
                break
        grade = self._read(outcome)
        return grade.model_copy(update={"usage": grade.usage.model_copy(update={"calls": calls})})

    def _adapt(self, ask: Ask, refusal: str) -> bool:
        """Whether another form of the same question is worth trying; remembered for all later calls."""
        if ask.mode is not self._mode or ask.dialect != self._dialect:
            return True  # another call has learnt meanwhile
        if any(word in refusal for word in FILTER_WORDS):
            return False
        if (dialect := self._wire.adapt(ask, refusal)) is not None:
            self._dialect = dialect
            return True
        if any(word in refusal for word in REFUSED_WORDS.get(ask.mode, ())):
            self._mode = MODES[MODES.index(ask.mode) + 1]
            return True
        return False

    def _read(self, outcome: Outcome) -> Grade:
        if outcome.failure is not None:
            if any(word in outcome.refusal for word in FILTER_WORDS):
                return malformed(PROBLEMS["filtered"], f"{PROBLEM}filtered\n")
            return unmeasured(outcome.failure, plain=outcome.plain)
        try:
            answer = self._wire.read(outcome.data)
        except WireError as error:
            where = f"{self._connection.name} ({self._connection.host})"
            return unmeasured(f"{where}: {error}; does it speak the `{self._provider.wire}` wire?")
        if answer.problem is not None:
            raw = f"{PROBLEM}{answer.problem}\n{answer.text}"
            grade = malformed(PROBLEMS[answer.problem], raw)
        else:
            grade = self._said(answer.text)
        pinned = self._config.contract.served_model
        if pinned is not None and answer.model != pinned:
            served = self._connection.redactor.foreign(answer.model or "unnamed")
            why = f"served model {served}, pinned {pinned}; pin another with `served_model`, or ask for the pinned one"
            self._connection.stop(why)
            grade = unmeasured(why)
        return grade.model_copy(update={"usage": self._usage(answer), "served_model": answer.model})

    def _usage(self, answer: Answer) -> Usage:
        price = self._provider.prices.get(self._config.model)
        cost = None
        if price is not None:
            spent = answer.input_tokens * price.input_per_million + answer.output_tokens * price.output_per_million
            cost = spent / 1_000_000
        return Usage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens, cost_usd=cost)


def _checked(name: str, config: ChatConfig, provider: Provider) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Parameters to send, the token cap and the dialect to begin with.

    :raises NotAllowed: something is outside the provider block's allow-lists, or reserved.
    """
    where, block = f"graders.{name}", f"providers.{config.provider}"
    if provider.models and config.model not in provider.models:
        raise NotAllowed(
            f"{where}.model: {config.model!r} is not allowed by {block}.models of the base branch "
            f"({', '.join(provider.models)}); have a maintainer add it there first"
        )
    cap, dialect = provider.max_output_tokens, {}
    if provider.base_url.startswith("https://api.openai.com"):
        dialect["cap"] = "max_completion_tokens"
    parameters: dict[str, Any] = {}
    for key, value in config.parameters.items():
        at = f"{where}.parameters.{key}"
        if key in RESERVED:
            raise NotAllowed(f"{at}: is set by the program itself; remove it")
        if key in CAPS:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise NotAllowed(f"{at}: must be a whole number of tokens, 1 or more")
            if value > provider.max_output_tokens:
                raise NotAllowed(
                    f"{at}: {value} is over {block}.max_output_tokens of the base branch ({provider.max_output_tokens})"
                )
            cap = value
            if key != "max_output_tokens":
                dialect = {"cap": key, "settled": "by the configuration"}
            continue
        if provider.parameters and key not in provider.parameters:
            raise NotAllowed(
                f"{at}: is not allowed by {block}.parameters of the base branch ({', '.join(provider.parameters)})"
            )
        parameters[key] = value
    return parameters, cap, dialect
