"""Applying a mutator safely, and choosing as many mutants as the budget allows."""

from __future__ import annotations

import hashlib
import heapq
import unicodedata
from collections.abc import Mapping, Sequence

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import IDENTITY, Mutant, MutationContext, Mutator, NotApplicable, Polarity
from grader_gate.suite.mutators.text import fold


def mutate(
    mutator: Mutator, text: str, case: GoldenCase, context: MutationContext
) -> tuple[Mutant, ...] | NotApplicable:
    """The mutants of one text, without those that change nothing.

    A degraded text or an attack changes nothing where it equals the text after whitespace is folded; a control where
    it equals it byte for byte. A text in NFC gives mutants in NFC, but for ``unicode_form``. An exception inside the
    mutator (a third party's, say) is a reason why it does not apply.
    """
    try:
        made = mutator.function(text, case, context)
        if isinstance(made, NotApplicable):
            return made
        mutants = [Mutant(_normal(mutator, m.text, text), m.variant) for m in made]
    except Exception as error:
        return NotApplicable(f"{mutator.name} failed: {type(error).__name__}: {fold(str(error))[:200]}")
    kept: dict[str, Mutant] = {}
    for mutant in mutants:
        if mutator.name == IDENTITY or not _same(mutator.polarity, mutant.text, text):
            kept.setdefault(mutant.text, mutant)
    return tuple(kept.values()) if kept else NotApplicable("the result equals the text", noop=True)


def _same(polarity: Polarity, mutant: str, text: str) -> bool:
    return mutant == text if polarity is Polarity.BENIGN else fold(mutant) == fold(text)


def _normal(mutator: Mutator, mutant: str, text: str) -> str:
    if mutator.name == "unicode_form" or not unicodedata.is_normalized("NFC", text):
        return mutant
    return unicodedata.normalize("NFC", mutant)


def select(
    mutants_by_case: Mapping[str, Sequence[Mutant]], limit: int, mutator: str = ""
) -> dict[str, tuple[Mutant, ...]]:
    """At most ``limit`` mutants of one mutator, by SHA-256 of (mutator, case id, variant).

    The order depends on nothing else, so a case that is added displaces at most its own number of mutants. Cases
    without a chosen mutant are left out; the others keep the order of the mapping.

    :param mutants_by_case: case id to the mutants one mutator made of it.
    :param mutator: the mutator's name, so that different mutators choose different cases.
    """
    ranked = (
        (_rank(mutator, case, mutant.variant), case, index)
        for case, made in mutants_by_case.items()
        for index, mutant in enumerate(made)
    )
    chosen = {(case, index) for _, case, index in heapq.nsmallest(max(limit, 0), ranked)}
    kept = {
        case: tuple(m for index, m in enumerate(made) if (case, index) in chosen)
        for case, made in mutants_by_case.items()
    }
    return {case: made for case, made in kept.items() if made}


def _rank(mutator: str, case: str, variant: str) -> str:
    return hashlib.sha256(f"{mutator}\0{case}\0{variant}".encode("utf-8", "surrogatepass")).hexdigest()
