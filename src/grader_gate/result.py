"""What a run reports: the one object every renderer and GitHub sink reads. Schema of ``result.json``.

Pure data. Every string marked *foreign* comes from a pull request, a case, a model or a provider and must go through
the escaper of the sink that shows it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from grader_gate.model import ClaimKind, Frozen, GateVerdict, Location, Role

RESULT_SCHEMA = 1
"""Version of ``result.json``; grows when a reader of the old form would be misled."""


class Revision(Frozen):
    """A commit as it was resolved, once, at the start of the run."""

    sha: str = Field(description="Full commit SHA, or WORKTREE")
    name: str = Field(description="What the user or the event called it (foreign)")


class FindingKind(StrEnum):
    """What was found; each has its own section in the comment."""

    REGRESSION = "regression"
    WRONG = "wrong verdict"
    IMPROVEMENT = "improvement"
    SURVIVOR = "survivor"
    KILL_RATE = "kill rate"
    CONTROL = "control"
    ATTACK = "attack"
    INVERSION = "inversion"
    INVERSION_RATE = "inversion rate"
    FLAT = "flat ladder"
    CITATION = "citation"
    RATIONALE = "reason contradicts verdict"
    CHECKS = "deterministic check"
    DROP = "drop"
    NEW_CASE = "new case"
    DRIFT = "provider drift"
    UNSTABLE = "unstable"
    BROKEN_PROMISE = "broken promise"
    POSITION = "position bias"
    MONOCULTURE = "monoculture"
    DISAGREEMENT = "second family disagrees"
    UNMEASURED = "unmeasured"
    STANDING = "standing debt"


class FindingStatus(StrEnum):
    """How sure it is.

    ``confirmed`` by fresh runs of both sides; ``absolute``: measured on this side alone against the policy;
    ``unconfirmed``: cannot be repeated (replay) or no base; ``dismissed``: noise, with both rates;
    ``not re-run``: five confirmed ended the run or the budget did; ``undecided``: needs more calls.
    """

    CONFIRMED = "confirmed"
    ABSOLUTE = "absolute"
    UNCONFIRMED = "unconfirmed"
    DISMISSED = "dismissed"
    NOT_RERUN = "not re-run"
    UNDECIDED = "undecided"


class Tally(Frozen):
    """``k`` of ``n`` runs upheld the claim."""

    k: int
    n: int


class Finding(Frozen):
    """One row of the table of findings."""

    kind: FindingKind
    status: FindingStatus
    blocking: bool = Field(description="Whether it makes the suite fail")
    sentence: str = Field(description="What a teammate understands (names in it are foreign)")
    suite: str
    grader: str
    claim: str | None = None
    claim_kind: ClaimKind | None = None
    case: str | None = Field(default=None, description="Case or ladder id (foreign)")
    tags: tuple[str, ...] = ()
    mutator: str | None = None
    expected: str | None = None
    base: str | None = Field(default=None, description="What the base side says, e.g. `correct` or `0.94`")
    head: str | None = None
    direction: Literal["stricter", "more lenient"] | None = None
    base_runs: Tally | None = None
    head_runs: Tally | None = None
    reason: str | None = Field(
        default=None, description="The grader's reason on head, as `report.quote` allows (foreign)"
    )
    before: str | None = Field(default=None, description="Survivors: the text before the mutation (foreign)")
    after: str | None = Field(default=None, description="Survivors: the text that was passed (foreign)")
    text_digest: str | None = Field(default=None, description="Survivors: what a waiver names")
    suggestion: str | None = Field(default=None, description="What to do next")
    location: Location | None = None
    severity: float = Field(default=0, description="Larger is worse; findings are ordered by it")


class Goalpost(Frozen):
    """A change of what is measured. Fails until the freeze label accepts it."""

    what: str = Field(description="e.g. `floor lowered`")
    detail: str = Field(description="From what to what (foreign)")
    location: Location | None = None
    accepted: bool = False


class Change(Frozen):
    """Why something is affected: one changed file or key."""

    what: str = Field(description="`prompt`, `rubric`, `model`, `parameters`, `source`, `case`, `ladder`, …")
    detail: str = Field(default="", description="foreign")
    location: Location | None = None
    lines: tuple[int, ...] = Field(default=(), description="Changed lines on the head side")


class Rate(Frozen):
    """A count over the measured, beside what was planned. ``k`` of ``n``; ``planned`` >= ``n``."""

    k: int
    n: int
    planned: int

    @property
    def value(self) -> float | None:
        """``k / n``, or None where nothing was measured."""
        return self.k / self.n if self.n else None


class Standing(StrEnum):
    """A floor and its evidence: the lower 95 % Wilson bound reaches it, the count does, or it does not."""

    ABOVE = "above"
    UNPROVEN = "unproven"
    BELOW = "below"
    UNENFORCEABLE = "not enforceable"
    NO_FLOOR = "no floor"


class MutatorRow(Frozen):
    """Kill rate of one mutator (or, for controls and attacks, how often nothing changed)."""

    mutator: str
    polarity: Literal["degrade", "benign", "attack"]
    property: str | None = None
    base: Rate | None = None
    head: Rate | None = None
    interval: tuple[float, float] | None = Field(default=None, description="Wilson 95 % of head")
    floor: float | None = None
    standing: Standing = Standing.NO_FLOOR
    applicable: int = 0
    cases: int = 0
    malformed: int = 0
    waived: int = 0


class CheckRow(Frozen):
    """How many mutants one deterministic check kills, by mutator."""

    check: str
    killed: int
    mutants: int = Field(default=0, description="Degraded texts it was asked about")
    unrelated: int = Field(default=0, description="Killed by this check alone, though it looks at something else")
    decoration: bool = Field(default=False, description="It was asked about mutants and kills none")
    base: Rate | None = None
    by_mutator: dict[str, int] = Field(default_factory=dict)


class AuditRow(Frozen):
    """One line of the comment's table: golden, mutants, controls, attacks or ladders, base against head."""

    audit: Literal["golden", "mutants", "controls", "attacks", "ladders"]
    base: Rate | None = None
    head: Rate | None = None
    regressions: int = 0
    improvements: int = 0
    note: str | None = None


class LadderStats(Frozen):
    """What the ladders show of one grader."""

    ladders: int = 0
    pairs: Rate | None = Field(default=None, description="Adjacent distinct levels in order")
    inversions: int = 0
    flat: int = 0
    unstable: int = 0
    cited: Rate | None = Field(default=None, description="Rungs whose evidence the reason cites")
    coverage: Rate | None = Field(default=None, description="Golden questions that have a ladder")
    consistency: Rate | None = Field(
        default=None, description="Graders that compare: pairs told alike in both orders, on head"
    )
    consistency_base: Rate | None = Field(default=None, description="The same on base")
    consistency_interval: tuple[float, float] | None = Field(default=None, description="Wilson 95 % of head")


class Certainty(Frozen):
    """How sure the verdict is."""

    false_block_bound: float | None = Field(default=None, description="Upper bound of the chance of blocking noise")
    detectable_drop: float | None = Field(default=None, description="Smallest uniform drop seen at 80 % power (share)")
    gray: tuple[str, ...] = Field(default=(), description="Claims whose stored repeats disagree")
    expected_flips: float | None = Field(default=None, description="Flips expected from noise alone in one screen")
    flips: int = 0
    reruns: int = Field(default=0, description="Calls spent on confirmation")
    confirmable: bool = Field(default=True, description="False where grades cannot be repeated")


class ReviewItem(Frozen):
    """Something a person should look at: the grader declined to judge it."""

    item: str
    case: str = Field(description="Case or ladder id (foreign)")
    reason: str = Field(default="", description="As `report.quote` allows (foreign)")
    location: Location | None = None


class FamilyRow(Frozen):
    """One mutator under both graders: of the degraded texts both measured, those each did not accept."""

    mutator: str
    first: Rate
    second: Rate
    both_missed: int = Field(default=0, description="Texts both accepted")


class Disagreement(Frozen):
    """One item on which the two graders differ."""

    item: str
    case: str = Field(description="foreign")
    expected: str | None = None
    first: str
    second: str
    location: Location | None = None


class SecondFamily(Frozen):
    """The same items under a second grader, at head."""

    grader: str
    first_family: str | None = None
    family: str | None = None
    agreement: Rate = Field(description="Items both graders measured and say the same of")
    first_right: Rate | None = Field(
        default=None, description="Golden claims the first upholds, of those both measured"
    )
    second_right: Rate | None = None
    mutators: tuple[FamilyRow, ...] = ()
    disagreements: tuple[Disagreement, ...] = Field(default=(), description="At most 50, golden cases first")
    disagreed: int = Field(default=0, description="How many there are in all")


class SuiteResult(Frozen):
    """One suite under one grader."""

    name: str
    grader: str
    kind: str = Field(description="Grader kind")
    role: Role = Role.GATE
    verdict: GateVerdict
    why: tuple[str, ...] = Field(default=(), description="The reasons for the verdict, in words")
    changes: tuple[Change, ...] = ()
    affected: int = Field(default=0, description="Items whose digest differs")
    items: int = Field(default=0, description="Items of the suite")
    graded: Rate | None = Field(default=None, description="Grades that came, of grades planned, this run")
    audits: tuple[AuditRow, ...] = ()
    mutators: tuple[MutatorRow, ...] = ()
    checks: tuple[CheckRow, ...] = ()
    ladders: LadderStats = LadderStats()
    cited: Rate | None = Field(default=None, description="Golden cases whose reason cites their evidence")
    findings: tuple[Finding, ...] = ()
    certainty: Certainty = Certainty()
    baseline: str | None = Field(default=None, description="Which baseline was used, in words")
    served_models: tuple[str, ...] = ()
    abstained: Rate | None = Field(default=None, description="Items the grader declined to judge, of head's measured")
    abstained_base: Rate | None = None
    review: tuple[ReviewItem, ...] = Field(default=(), description="What it declined, for a person to judge")
    second_family: SecondFamily | None = None
    contract_false_accept: str | None = None
    contract_false_reject: str | None = None


class Cost(Frozen):
    """Calls and tokens, spent or to come; dollars where every model has a price."""

    calls: int = 0
    cached: int = 0
    from_baseline: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0


class Estimate(Frozen):
    """What a run will take before it starts; tokens low and high."""

    calls: int
    confirm_calls_high: int = Field(default=0, description="Most confirmation calls that could follow")
    tokens_low: int = 0
    tokens_high: int = 0
    usd_low: float | None = None
    usd_high: float | None = None


class Notice(Frozen):
    """Something the reader should know that is no finding."""

    level: Literal["info", "warning", "error"] = "info"
    message: str


class Result(Frozen):
    """``result.json``: everything a run found, without a secret in it."""

    schema_version: int = RESULT_SCHEMA
    tool_version: str
    verdict: GateVerdict
    mode: Literal["block", "report"] = "block"
    headline: str = Field(description="The verdict in words, one line")
    exit_code: int
    base: Revision
    head: Revision
    key: str = Field(default="", description="Tells apart comments of several configurations or matrix legs")
    config_path: str = ".grader-gate.yml"
    policy_digest: str = ""
    pair: str = Field(default="", description="Content address of what is compared; evidence belongs to it")
    evidence: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Marks of confirmed findings by pair, for later runs of this pull request"
    )
    suites: tuple[SuiteResult, ...] = ()
    goalposts: tuple[Goalpost, ...] = ()
    notices: tuple[Notice, ...] = ()
    next_steps: tuple[str, ...] = ()
    estimate: Estimate | None = None
    cost: Cost = Cost()
    quote: Literal["none", "short", "full"] = "short"
    started_at: str = ""
    report_url: str | None = None

    def count(self, *kinds: FindingKind) -> int:
        """How many blocking findings of these kinds there are."""
        return sum(f.blocking and f.kind in kinds for s in self.suites for f in s.findings)
