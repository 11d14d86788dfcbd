"""The models of ``.grader-gate.yml``. Reading and locating errors is the work of :mod:`grader_gate.documents`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from grader_gate.contract import Contract as Contract
from grader_gate.contract import Scale as Scale
from grader_gate.contract import Slice as Slice
from grader_gate.contract import Thresholds as Thresholds
from grader_gate.model import Frozen, GradeVerdict, Preference

DEFAULT_PATH = ".grader-gate.yml"
ENV_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"

Name = Annotated[str, Field(pattern=NAME)]
Share = Annotated[float, Field(ge=0, le=1)]


class Mode(StrEnum):
    """``report`` posts everything and never blocks; ``block`` is the gate."""

    REPORT = "report"
    BLOCK = "block"


# ---------------------------------------------------------------- graders


class Message(Frozen):
    """One message of a chat prompt; its text is a Jinja template, inline or in a file."""

    role: Literal["system", "user", "assistant", "developer"] = "user"
    text: str | None = None
    file: str | None = None

    @model_validator(mode="after")
    def _one_text(self) -> Message:
        if (self.text is None) == (self.file is None):
            raise ValueError("give `text` or `file`, one of the two")
        return self


class OutputMode(StrEnum):
    """How structured output is asked for, strictest first."""

    JSON_SCHEMA = "json_schema"
    TOOL = "tool"
    JSON_OBJECT = "json_object"
    TEXT = "text"


class Output(Frozen):
    """Which fields of the reply mean what, and which words mean which verdict."""

    mode: OutputMode = OutputMode.JSON_SCHEMA
    verdict: str | None = "verdict"
    score: str | None = None
    reason: str | None = "reason"
    citations: str | None = None
    verdicts: dict[str, GradeVerdict] = Field(
        default_factory=lambda: {v.value: v for v in GradeVerdict},
        description="The grader's own words for verdicts, compared without case",
    )
    abstain_words: tuple[str, ...] = ("insufficient context", "cannot judge", "abstain")
    preferences: dict[str, Preference] = Field(
        default_factory=lambda: {p.value: p for p in Preference},
        description="The words of a grader that compares, e.g. `Output (a): a`; in place of `verdicts`",
    )

    @model_validator(mode="after")
    def _something_to_read(self) -> Output:
        if self.verdict is None and self.score is None:
            raise ValueError("name the field that holds the `verdict` or the `score`")
        return self


class GraderBase(Frozen):
    """What every grader kind has."""

    contract: Contract = Contract()
    formerly: str | None = Field(default=None, description="The name this grader had on the base branch")
    rubric: str | None = Field(default=None, description="File whose text is the rubric of cases without their own")
    version: str | None = Field(default=None, description="Part of the digest: change it to have all regraded")


class ChatGrader(GraderBase):
    """A prompt, a rubric and a pinned model."""

    kind: Literal["chat"]
    provider: Name
    model: str
    prompt: str | tuple[Message, ...] = Field(description="A template file (one user message), or messages")
    variables: dict[str, str | int | float | bool] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict, description="temperature, max_tokens, seed, …")
    output: Output = Output()


class PythonGrader(GraderBase):
    """A callable ``module:function``, sync or async, run in a worker process with a timeout that ends it."""

    kind: Literal["python"]
    callable: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
    path: str = Field(default=".", description="Folder put first on the import path, relative to the repository")
    arguments: dict[str, Any] = Field(default_factory=dict)
    sources: tuple[str, ...] = Field(default=(), description="Globs of files it depends on beside its imports")
    lock: str | None = Field(default=None, description="Lock file of its dependencies; part of the digest")
    env: tuple[Annotated[str, Field(pattern=ENV_NAME)], ...] = Field(default=(), description="Variables it may see")
    timeout_s: float = Field(default=30, gt=0, le=3600)
    workers: int = Field(default=2, ge=1, le=64)


class Fixtures(Frozen):
    """The environment of a program that executes answers: made, reset, queried and cleaned up around every call.

    Each is one command (a program and its arguments, no shell), run in the grader's folder with the variable
    ``FIXTURE_DIR``; one that fails makes the grade unmeasured.
    """

    setup: tuple[str, ...] = Field(default=(), description="Makes the environment, before each call")
    reset: tuple[str, ...] = Field(default=(), description="Brings it to the state every call starts from")
    query: tuple[str, ...] = Field(
        min_length=1, description="Prints the state that counts, one fact a line; the same state, the same text"
    )
    cleanup: tuple[str, ...] = Field(default=(), description="Removes the environment; verified by another query")
    dirty: tuple[str, ...] = Field(
        default=(), description="Leaves what an earlier run would have left: a wrong answer must still not pass"
    )
    fresh_dir: bool = Field(default=True, description="A new empty `FIXTURE_DIR` per call; else one for all, in turn")
    timeout_s: float = Field(default=30, gt=0, le=3600, description="Of each of these commands")


class CommandGrader(GraderBase):
    """A program: one JSON object of visible inputs on standard input, one JSON grade on standard output."""

    kind: Literal["command"]
    command: tuple[str, ...] = Field(min_length=1)
    fixtures: Fixtures | None = Field(default=None, description="For programs that execute the answer")
    sources: tuple[str, ...] = ()
    lock: str | None = None
    env: tuple[Annotated[str, Field(pattern=ENV_NAME)], ...] = ()
    timeout_s: float = Field(default=30, gt=0, le=3600)
    workers: int = Field(default=2, ge=1, le=64)


class HttpGrader(GraderBase):
    """A JSON endpoint below a provider's ``base_url``; must declare a ``version``, for its code cannot be seen."""

    kind: Literal["http"]
    provider: Name
    path: str = ""
    version: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)


class Check(Frozen):
    """One deterministic check of an answer. Which other keys count depends on ``type``; see the reference."""

    name: str | None = None
    type: Literal["json", "json_schema", "contains", "identifiers", "numbers", "names", "regex", "citations", "length"]
    on_fail: GradeVerdict = GradeVerdict.INCORRECT
    values: tuple[str, ...] = Field(default=(), description="contains, identifiers, names: what to look for")
    expect: Literal["all", "any", "none", "reference"] | None = None
    schema_: dict[str, Any] | str | None = Field(
        default=None, alias="schema", description="json_schema: inline or file"
    )
    pattern: str | None = Field(default=None, description="regex: must match (or with `absent`, must not)")
    absent: bool = False
    ignore_case: bool = False
    tolerance: float = Field(default=0.0, ge=0, description="numbers: relative tolerance")
    absolute: float = Field(default=0.0, ge=0, description="numbers: absolute tolerance, in the reference's unit")
    unit: str | None = Field(default=None, description="numbers: unit the answer must use, or one convertible to it")
    min: int | None = None
    max: int | None = None


class ChecksGrader(GraderBase):
    """Deterministic checks; the worst failed one decides."""

    kind: Literal["checks"]
    checks: tuple[Check, ...] = Field(min_length=1)


class ReplayGrader(GraderBase):
    """Recorded grades. They cannot be repeated, so confirmation is not possible and the report says so."""

    kind: Literal["replay"]
    ledger: str = Field(description="Ledger file (JSON Lines)")


class PluginGrader(GraderBase):
    """A kind that an installed package brings, under the entry point group ``grader_gate.graders``."""

    kind: Literal["plugin"]
    plugin: str = Field(min_length=1, description="Name of the entry point")
    version: str = Field(min_length=1, description="Part of the digest: its code cannot be seen")
    options: dict[str, Any] = Field(default_factory=dict, description="Handed to the plug-in as it is")


GraderConfig = Annotated[
    ChatGrader | PythonGrader | CommandGrader | HttpGrader | ChecksGrader | ReplayGrader | PluginGrader,
    Field(discriminator="kind"),
]


# ---------------------------------------------------------------- providers


class Price(Frozen):
    """US dollars per million tokens."""

    input_per_million: float = Field(ge=0)
    output_per_million: float = Field(ge=0)


class Provider(Frozen):
    """A host that answers. Always taken from the base branch, so that a pull request cannot point keys elsewhere."""

    wire: Literal["openai", "anthropic", "json"] = "openai"
    base_url: str = Field(pattern=r"^https?://")
    key_env: str | None = Field(default=None, pattern=ENV_NAME, description="Variable that holds the key")
    key_header: str | None = Field(default=None, description="Header for the key, e.g. `api-key` on Azure")
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict, description="e.g. `api-version` on Azure")
    api_version: str | None = Field(default=None, description="`anthropic-version` header")
    models: tuple[str, ...] = Field(default=(), description="Models a pull request may name; empty allows all")
    parameters: tuple[str, ...] = Field(default=(), description="Parameters a pull request may set; empty allows all")
    prices: dict[str, Price] = Field(default_factory=dict)
    max_output_tokens: int = Field(default=2048, ge=1)
    concurrency: int = Field(default=16, ge=1, le=1000)
    timeout_s: float = Field(default=60, gt=0, le=3600)
    max_retries: int = Field(default=4, ge=0, le=20)
    max_retry_wait_s: float = Field(default=60, ge=0)


# ---------------------------------------------------------------- suites, policy


class Repeats(Frozen):
    """How often an item is graded: in a run, when base is measured live, and when a baseline is frozen."""

    screen: int = Field(default=1, ge=1, le=25)
    live: int = Field(default=1, ge=1, le=25)
    freeze: int = Field(default=3, ge=1, le=100)


class Mutators(Frozen):
    """Which mutators run and on how many texts each, chosen by hash so that the set is stable."""

    use: Literal["default", "all", "none"] = "default"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_mutator: int = Field(default=40, ge=1, le=10_000)
    modules: tuple[str, ...] = Field(default=(), description="Project-local mutators, `module:function`")


class Pairs(Frozen):
    """Which pairs a grader that compares is shown; each is graded in both orders, two calls.

    ``adjacent``: on a ladder, all rungs of adjacent levels. ``sampled``: of each ladder ``per_case`` pairs of any two
    levels. Of golden answers to one question, the reference among them, ``per_case`` pairs are sampled either way.
    """

    design: Literal["adjacent", "sampled"] = "adjacent"
    per_case: int = Field(default=4, ge=1, le=1000, description="Most sampled pairs of one question or ladder")


class SuiteConfig(Frozen):
    """What is graded by which grader."""

    grader: Name
    cases: tuple[str, ...] = ()
    ladders: tuple[str, ...] = ()
    mutators: Mutators = Mutators()
    repeats: Repeats = Repeats()
    pairs: Pairs = Pairs()
    second_family: Name | None = Field(default=None, description="A second grader to compare sensitivity with")
    generator_family: str | None = Field(
        default=None, description="Model family that wrote the answers, where the cases' metadata does not say"
    )

    @field_validator("cases", "ladders", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("mutators", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"use": value}
        return {"use": "none", "include": value} if isinstance(value, list) else value


class Waiver(Frozen):
    """A survivor a maintainer calls equivalent, by the hash of its text; lapses on expiry or with the reference."""

    text: str = Field(pattern=r"^[0-9a-f]{12,64}$")
    reason: str = Field(min_length=3)
    expires: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")


class Budget(Frozen):
    """Caps per run. They stop before a call is made, not after."""

    max_calls: int = Field(default=5000, ge=0)
    max_cost_usd: float | None = Field(default=None, ge=0)
    max_seconds: float | None = Field(default=None, gt=0)


class FreezeBy(Frozen):
    """Who may freeze with the label."""

    users: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    permission: Literal["write", "admin"] = "write"
    not_author: bool = True
    label: str = "freeze-baseline"


class Policy(Frozen):
    """What blocks. Always the base branch's; a pull request's own is only shown."""

    regressions: Literal["block", "warn"] = "block"
    survivors: Literal["block", "warn"] = "block"
    kill_rate: dict[str, Share] = Field(
        default_factory=dict,
        description="Floors by mutator, by property (over all its mutators) or by check; `default` holds for the rest",
    )
    max_inversion_rate: Share | None = 0.0
    min_cited_ratio: Share | None = None
    flat_ladders: Literal["block", "warn"] = "warn"
    min_spread: Share = 0.3
    controls: Literal["block", "warn"] = "block"
    new_cases: Literal["warn", "must_pass"] = "warn"
    second_family: Literal["on_request", "always"] = Field(
        default="on_request", description="Whether `check` grades with the suites' second family as well"
    )
    head_code: Literal["run", "never"] = "run"
    acceptable_error: Share = Field(default=0.1, description="Calibration: highest tolerable error rate")
    waivers: tuple[Waiver, ...] = ()
    budget: Budget = Budget()
    freeze: FreezeBy = FreezeBy()


class Baseline(Frozen):
    """Where frozen grades are kept."""

    store: Literal["files", "branch"] = "files"
    path: str = ".grader-gate/baseline"
    branch: str = "grader-gate-data"


class Report(Frozen):
    """How much of references, answers and reasons may appear in comments, artifacts and stores."""

    quote: Literal["none", "short", "full"] = "short"


class Config(Frozen):
    """``.grader-gate.yml``."""

    version: Literal[1] = 1
    mode: Mode = Mode.BLOCK
    providers: dict[Name, Provider] = Field(default_factory=dict)
    graders: dict[Name, GraderConfig] = Field(min_length=1)
    suites: dict[Name, SuiteConfig] = Field(min_length=1)
    policy: Policy = Policy()
    baseline: Baseline = Baseline()
    report: Report = Report()
    concurrency: int = Field(default=32, ge=1, le=1000)

    @model_validator(mode="after")
    def _names_resolve(self) -> Config:
        from difflib import get_close_matches

        def known(kind: str, name: str, among: list[str]) -> None:
            if name not in among:
                near = get_close_matches(name, among, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(among)) or 'none'}"
                raise ValueError(f"{kind} {name!r} is not defined; {hint}")

        for suite_name, suite in self.suites.items():
            known(f"suites.{suite_name}: grader", suite.grader, list(self.graders))
            if suite.second_family is not None:
                known(f"suites.{suite_name}: grader", suite.second_family, list(self.graders))
            if not suite.cases and not suite.ladders:
                raise ValueError(f"suites.{suite_name}: name `cases` or `ladders` to grade")
            first, second = self.graders[suite.grader], self.graders[suite.second_family or suite.grader]
            if first.contract.compares != second.contract.compares:
                raise ValueError(
                    f"suites.{suite_name}.second_family: one of {suite.grader!r} and {suite.second_family!r} compares "
                    "two answers and the other does not; both must be asked the same"
                )
        for grader_name, grader in self.graders.items():
            if isinstance(grader, ChecksGrader) and grader.contract.compares:
                raise ValueError(f"graders.{grader_name}: checks look at one answer; they cannot have `compares: true`")
            if isinstance(grader, ChatGrader | HttpGrader):
                known(f"graders.{grader_name}: provider", grader.provider, list(self.providers))
        return self
