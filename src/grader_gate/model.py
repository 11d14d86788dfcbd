"""The nouns of the program: verdicts, grades, cases, ladders, items and claims.

One word for one thing, here and in everything people read. Nothing in this module does input or output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

DIGEST_SCHEMA = 1
"""Version of the digest recipe; part of every digest, so that a new recipe never meets an old record."""


class Frozen(BaseModel):
    """An immutable record read from or written to a file; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GradeVerdict(StrEnum):
    """What a grader says of an answer."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"

    @property
    def rank(self) -> int:
        """0 for ``incorrect``, 1 for ``partial``, 2 for ``correct``."""
        return _RANKS[self]


_RANKS = {GradeVerdict.INCORRECT: 0, GradeVerdict.PARTIAL: 1, GradeVerdict.CORRECT: 2}


class Preference(StrEnum):
    """What a grader that compares says of two answers: the better one, or that neither is."""

    A = "a"
    B = "b"
    TIE = "tie"

    @property
    def swapped(self) -> Preference:
        """The same say where the two answers have changed places."""
        return _SWAPPED[self]


_SWAPPED = {Preference.A: Preference.B, Preference.B: Preference.A, Preference.TIE: Preference.TIE}


class GateVerdict(StrEnum):
    """What the gate says of a pull request or of one suite."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    NOT_APPLICABLE = "not applicable"


class Side(StrEnum):
    """Which commit's grader produced a grade."""

    BASE = "base"
    HEAD = "head"


class Purpose(StrEnum):
    """Why a grade was asked for. Only ``screen`` grades may come from a cache shared between runs."""

    SCREEN = "screen"
    CONFIRM = "confirm"
    FRESH = "fresh"
    NOISE = "noise"
    FREEZE = "freeze"


class Role(StrEnum):
    """What a grader may do on a slice: block, only report, or nothing at all."""

    GATE = "gate"
    SCREEN = "screen"
    ABSTAIN = "abstain"


class ErrorKind(StrEnum):
    """Why a grade carries no verdict.

    ``unmeasured``: transport, quota or timeout after retries; the claim is undecided.
    ``malformed``: the grader answered, twice, and neither reply could be used; the claim is broken, never a kill.
    """

    UNMEASURED = "unmeasured"
    MALFORMED = "malformed"


class GradeError(Frozen):
    """Why there is no verdict, and what to do."""

    kind: ErrorKind
    message: str
    plain: str | None = Field(
        default=None, description="The message without foreign words, where it has some: for `report.quote: none`"
    )


class Usage(Frozen):
    """What one grade consumed. Tokens are the provider's own count; cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    calls: int = 1


class CheckOutcome(Frozen):
    """One deterministic check's say on one answer."""

    name: str
    passed: bool
    detail: str = ""


class Environment(Frozen):
    """What the fixtures of a grader that executes saw around one call; digests of the query's output.

    ``planned`` are effects the grader reports that the environment does not show, ``committed`` those that it shows.
    """

    pristine: str = Field(description="State every call must start from")
    before: str = Field(description="State after setup and reset of this call")
    after: str = Field(description="State after the grader ended")
    planned: tuple[str, ...] = ()
    committed: tuple[str, ...] = ()
    unreported: tuple[str, ...] = Field(default=(), description="Changes the grader did not report")
    dirtied: bool = Field(default=False, description="Whether the environment was dirtied on purpose")
    cleaned: bool = Field(default=False, description="Whether the clean-up was verified")


class Grade(Frozen):
    """The outcome of one graded call. Exactly one of ``error``, ``abstained`` or a verdict holds; a grader that
    compares has a ``preference`` for a verdict."""

    verdict: GradeVerdict | None = None
    preference: Preference | None = None
    score: float | None = None
    reason: str = ""
    abstained: bool = False
    error: GradeError | None = None
    raw: str | None = None
    earlier_raw: str | None = Field(default=None, description="The first reply, where both were unusable")
    citations: tuple[str, ...] = ()
    checks: tuple[CheckOutcome, ...] = ()
    usage: Usage = Usage()
    latency_s: float = 0.0
    served_model: str | None = None
    environment: Environment | None = None

    @property
    def unmeasured(self) -> bool:
        """True where nothing was learnt about the claim."""
        return self.error is not None and self.error.kind is ErrorKind.UNMEASURED

    @property
    def malformed(self) -> bool:
        """True where the grader answered twice without a usable verdict."""
        return self.error is not None and self.error.kind is ErrorKind.MALFORMED


class Criterion(Frozen):
    """One line of a rubric, with its weight relative to the others."""

    criterion: str
    weight: float = Field(default=1.0, gt=0)


class Rubric(Frozen):
    """The rubric of a case. ``path`` is set where the text came from a file, which belongs to the grader's side."""

    text: str = ""
    criteria: tuple[Criterion, ...] = ()
    path: str | None = None

    def render(self) -> str:
        """The rubric as a grader sees it: its text, then one line per weighted criterion."""
        lines = [f"- {c.criterion}" + ("" if c.weight == 1 else f" (weight {c.weight:g})") for c in self.criteria]
        return "\n".join(([self.text] if self.text else []) + lines)


class SourceText(Frozen):
    """A document an answer may cite."""

    id: str
    text: str


class Location(Frozen):
    """A place in a file of the repository; lines count from 1."""

    path: str
    line: int | None = None


class GoldenCase(Frozen):
    """A question, a reference and one answer, with the verdict a trustworthy grader must return."""

    id: str
    question: str
    reference: str | None = None
    rubric: Rubric | None = None
    answer: str
    expected: GradeVerdict
    tags: tuple[str, ...] = ()
    labels: dict[str, GradeVerdict | None] = Field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sources: tuple[SourceText, ...] = ()
    split: str | None = None
    source: str | None = None
    tolerance: float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    location: Location | None = None

    @cached_property
    def content_digest(self) -> str:
        """Content address of what is graded; a renamed case keeps it. Labels, tags and ids are not in it."""
        return digest(
            "case",
            self.question,
            self.reference,
            self.rubric and self.rubric.render(),
            self.answer,
            [(s.id, s.text) for s in self.sources],
        )


class Rung(Frozen):
    """One answer on a ladder. Equal levels are never compared."""

    level: float
    answer: str
    id: str | None = None
    defect: str | None = None
    evidence: tuple[str, ...] = ()


class Ladder(Frozen):
    """Ordered answers to one case, each one nameable defect better than the one below; lowest level first."""

    id: str
    question: str
    reference: str | None = None
    rubric: Rubric | None = None
    rungs: tuple[Rung, ...]
    tags: tuple[str, ...] = ()
    sources: tuple[SourceText, ...] = ()
    source: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    location: Location | None = None

    @cached_property
    def content_digest(self) -> str:
        """Content address of all that is graded and of the order that is claimed."""
        return digest(
            "ladder",
            self.question,
            self.reference,
            self.rubric and self.rubric.render(),
            [(r.level, r.answer) for r in self.rungs],
            [(s.id, s.text) for s in self.sources],
        )


PAIR_INPUTS = ("answer_a", "answer_b")
"""What a grader that compares is shown instead of the ``answer``."""

INPUT_NAMES = ("question", "reference", "rubric", "answer", "sources", *PAIR_INPUTS)
"""Every input a contract may make visible. Expected verdicts, labels, tags and identities are not among them."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to be graded.

    :ivar id: readable and unique in its suite: ``golden/CASE``, ``mutant/CASE/MUTATOR[/N]``, ``rung/LADDER/N``; of a
        pair the id of its claim and which order it is, ``…/1`` or ``…/2``.
    :ivar inputs: values of :data:`INPUT_NAMES`; plain JSON values. A grader is shown only what its contract names.
    :ivar rubric_path: file the rubric was read from, if any: it is read anew on the side that grades.
    :ivar dirty: graded in an environment that was dirtied on purpose (graders with ``fixtures``).
    """

    id: str
    inputs: Mapping[str, Any]
    case_id: str
    rubric_path: str | None = None
    location: Location | None = None
    dirty: bool = False


class ClaimKind(StrEnum):
    """What sort of promise a claim is; all sorts go through one decision."""

    GOLDEN = "golden"
    MUTANT = "mutant"
    CONTROL = "control"
    ATTACK = "attack"
    RUNGS = "rungs"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a run upholds or breaks.

    :ivar items: ids of the items it needs. golden: (item,). mutant: (mutant,). control: (changed, identity), for
        ``identity`` itself (item,). attack: (attacked, bare). rungs: (lower, higher). Of a grader that compares:
        (one order, the other), for attacks (attacked in both orders, bare in both orders).
    :ivar expected: the verdict a golden case must get; for a mutant the best verdict a fair grader may still give.
    :ivar mutator: name of the mutator that made the text, for mutants, controls and attacks.
    :ivar gating: False where the slice's role is ``screen`` or the case is on the gray list.
    :ivar better: for a grader that compares, where in each item the better (for controls the unchanged) answer stands.
    """

    id: str
    kind: ClaimKind
    case_id: str
    items: tuple[str, ...]
    tags: tuple[str, ...] = ()
    expected: GradeVerdict | None = None
    mutator: str | None = None
    property: str | None = None
    gating: bool = True
    location: Location | None = None
    better: tuple[Preference, ...] = ()


class GradedFacts(Frozen):
    """What a ledger must say of an item to be compared without its suite; never shown to a grader."""

    expected: GradeVerdict | None = None
    level: float | None = Field(default=None, description="Level of a rung on its ladder")
    better: Preference | None = Field(default=None, description="Where the better answer of a pair stands")
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedGrade:
    """One call to be made: the key of its row in the ledger.

    :ivar facts: copied into the row; the grader never sees them, it is given ``item`` alone.
    """

    suite: str
    grader: str
    item: Item
    side: Side
    purpose: Purpose
    request_digest: str
    judgement_digest: str
    repeat: int = 0
    facts: GradedFacts | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str, str, int]:
        """What makes a ledger row unique."""
        return (
            self.suite,
            self.grader,
            self.item.id,
            self.side,
            self.purpose,
            self.request_digest,
            self.repeat,
        )


class LedgerRow(Frozen):
    """One line of ``ledger.jsonl``: a planned grade and what came of it."""

    suite: str
    grader: str
    item: str
    side: Side
    purpose: Purpose
    request_digest: str
    judgement_digest: str
    repeat: int
    grade: Grade
    at: str = Field(description="UTC time the grade came, ISO 8601")
    reused: str | None = Field(default=None, description="`cache` or `baseline` where no call was made")
    facts: GradedFacts | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str, str, int]:
        """See :attr:`PlannedGrade.key`."""
        return (self.suite, self.grader, self.item, self.side, self.purpose, self.request_digest, self.repeat)


class Tree(Protocol):
    """The files of one commit, or of the working tree. Paths are relative to the root, with ``/``."""

    @property
    def label(self) -> str:
        """What people call this tree: a short SHA or ``WORKTREE``."""
        ...

    def read(self, path: str) -> bytes:
        """The bytes of a regular file.

        :raises UsageError: no such file, outside the repository, a symlink, a submodule or an LFS pointer.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether :meth:`read` would find a regular file."""
        ...

    def glob(self, pattern: str) -> list[str]:
        """Sorted paths of regular files; ``**`` spans folders."""
        ...


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(kind: str, *parts: Any) -> str:
    """Content address (hex SHA-256) of plain JSON values under :data:`DIGEST_SCHEMA`."""
    return hashlib.sha256(canonical_json([DIGEST_SCHEMA, kind, *parts]).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Suite:
    """What is graded under one name, as one tree holds it."""

    name: str
    cases: Sequence[GoldenCase] = ()
    ladders: Sequence[Ladder] = ()
    files: Sequence[str] = field(default_factory=tuple)
