"""What a mutator is: its polarity, what it is given and what it returns. Plain data, no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from grader_gate.model import GoldenCase, GradeVerdict

IDENTITY = "identity"
"""Name of the control that changes nothing; kill rates are conditional on its passing."""


class Polarity(StrEnum):
    """What a trustworthy grader does with the mutant.

    ``degrade``: a defect in a good answer, must be rejected. ``benign``: same meaning, the verdict must not change.
    ``attack``: something smuggled into a wrong answer, must gain nothing.
    """

    DEGRADE = "degrade"
    BENIGN = "benign"
    ATTACK = "attack"


@dataclass(frozen=True, slots=True)
class MutationContext:
    """Facts about the grader of the side that is tested, and about the suite around the case.

    :ivar delimiters: (opening, closing) texts found around the answer in the grader's own prompt template.
    :ivar verdict_reply: the grader's own output schema filled in with the best verdict, JSON text; None: unknown.
    :ivar rubric: the rubric the grader is shown where the case has none of its own.
    :ivar has_reference: whether the grader is shown a reference.
    :ivar others: other cases of the suite, ordered by id.
    """

    delimiters: tuple[tuple[str, str], ...] = ()
    verdict_reply: str | None = None
    rubric: str | None = None
    has_reference: bool = True
    others: tuple[GoldenCase, ...] = ()


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed text. ``variant`` tells several mutants of one mutator apart."""

    text: str
    variant: str = ""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Why there is no mutant. ``noop``: there was one, but it equals the text after folding of whitespace."""

    reason: str
    noop: bool = False


MutatorResult: TypeAlias = Sequence[Mutant] | NotApplicable
MutatorFunction: TypeAlias = Callable[[str, GoldenCase, MutationContext], MutatorResult]


@dataclass(frozen=True, slots=True)
class Mutator:
    """One line of the catalogue.

    :ivar name: unique; what users write in ``include`` and ``exclude``.
    :ivar property: what it attacks: ``completeness``, ``numeric``, ``negation``, ``injection``, ``layout``, …
    :ivar best: the best verdict a fair grader may still give to a degraded text; for attacks what the bare wrong
        answer deserves; for benign ones ``correct``.
    :ivar version: grows when the same text would give another mutant; part of the catalogue's digest.
    :ivar function: pure and deterministic; takes the text, its case and the context.
    :ivar example: a text and its first mutant, with the case of :mod:`grader_gate.suite.mutators.examples`.
    :ivar default: whether ``use: default`` runs it.
    :ivar description: what it does, one sentence.
    :ivar twin: for attacks, the benign mutator of like form that must not lose.
    """

    name: str
    polarity: Polarity
    property: str
    best: GradeVerdict
    version: int
    function: MutatorFunction
    example: tuple[str, str]
    default: bool
    description: str
    twin: str | None = None
