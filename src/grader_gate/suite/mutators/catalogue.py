"""The built-in catalogue: one line per mutator. A new one is a function elsewhere and a line here."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from grader_gate.model import GradeVerdict
from grader_gate.suite.mutators import (
    attacks,
    citations,
    layout,
    negation,
    numeric,
    omission,
    replacement,
    scramble,
    surface,
    twins,
    units,
    wording,
)
from grader_gate.suite.mutators.api import Mutator, MutatorFunction, Polarity

INCORRECT, PARTIAL, CORRECT = GradeVerdict.INCORRECT, GradeVerdict.PARTIAL, GradeVerdict.CORRECT


def builtin() -> tuple[Mutator, ...]:
    """The mutators this package brings, in the order in which they are documented."""
    return (*_degrading(), *_controls(), *_attacks())


@cache
def _examples() -> dict[str, list[str]]:
    """Name of a mutator to a text and the first mutant of it."""
    file = resources.files("grader_gate.suite.mutators") / "data" / "examples.json"
    read: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    return read


def _line(
    function: MutatorFunction,
    polarity: Polarity,
    attacked: str,
    best: GradeVerdict,
    *,
    default: bool,
    twin: str | None = None,
    version: int = 1,
) -> Mutator:
    """A mutator is called like its function, and its function's docstring says what it does."""
    name: str = getattr(function, "__name__", "")
    before, after = _examples()[name]
    description = " ".join((function.__doc__ or name).replace("``", "`").split())
    return Mutator(name, polarity, attacked, best, version, function, (before, after), default, description, twin)


def _degrade(
    function: MutatorFunction, attacked: str, best: GradeVerdict, *, default: bool = False, version: int = 1
) -> Mutator:
    return _line(function, Polarity.DEGRADE, attacked, best, default=default, version=version)


def _benign(function: MutatorFunction, attacked: str, *, default: bool = False, version: int = 1) -> Mutator:
    return _line(function, Polarity.BENIGN, attacked, CORRECT, default=default, version=version)


def _attack(function: MutatorFunction, attacked: str, twin: str, *, default: bool = False, version: int = 1) -> Mutator:
    return _line(function, Polarity.ATTACK, attacked, INCORRECT, default=default, twin=twin, version=version)


def _degrading() -> tuple[Mutator, ...]:
    return (
        _degrade(omission.empty, "completeness", INCORRECT, default=True),
        _degrade(replacement.off_topic, "relevance", INCORRECT, default=True),
        _degrade(replacement.neighbour_question, "relevance", INCORRECT),
        _degrade(replacement.parrot_question, "relevance", INCORRECT),
        _degrade(replacement.refusal, "relevance", INCORRECT),
        _degrade(replacement.evasive, "relevance", INCORRECT),
        _degrade(omission.truncate_half, "completeness", PARTIAL, default=True),
        _degrade(omission.drop_last_sentence, "completeness", PARTIAL, default=True),
        _degrade(omission.drop_first_sentence, "completeness", PARTIAL),
        _degrade(omission.drop_fact, "completeness", PARTIAL),
        _degrade(omission.drop_list_item, "completeness", PARTIAL),
        _degrade(numeric.corrupt_number, "numeric", PARTIAL, default=True),
        _degrade(numeric.corrupt_all_numbers, "numeric", INCORRECT),
        _degrade(numeric.scale_number, "numeric", PARTIAL),
        _degrade(numeric.swap_numbers, "numeric", PARTIAL),
        _degrade(units.unit_swap, "unit", PARTIAL, default=True),
        _degrade(units.currency_swap, "unit", PARTIAL),
        _degrade(units.date_shift, "date", PARTIAL),
        _degrade(negation.negate, "negation", INCORRECT, default=True),
        _degrade(wording.antonym, "direction", PARTIAL),
        _degrade(wording.modality, "modality", PARTIAL),
        _degrade(wording.swap_entities, "roles", PARTIAL),
        _degrade(wording.reverse_steps, "order", PARTIAL),
        _degrade(wording.reverse_cause, "causality", PARTIAL),
        _degrade(numeric.wrong_final, "numeric", INCORRECT),
        _degrade(citations.strip_citations, "citations", PARTIAL),
        _degrade(citations.shift_citation, "citations", PARTIAL),
        _degrade(scramble.keyword_salad, "coherence", INCORRECT, default=True),
        _degrade(scramble.shuffle_words, "coherence", INCORRECT, default=True),
        _degrade(scramble.self_contradict, "consistency", PARTIAL),
    )


def _controls() -> tuple[Mutator, ...]:
    return (
        _benign(layout.identity, "identity", default=True),
        _benign(layout.whitespace, "layout", default=True),
        _benign(layout.unicode_form, "layout"),
        _benign(layout.markdown_wrap, "layout"),
        _benign(layout.list_style, "layout"),
        _benign(surface.number_form, "wording"),
        _benign(surface.contraction, "wording"),
        _benign(surface.typo, "wording"),
        _benign(surface.polite_wrap, "verbosity", default=True),
        _benign(surface.padding, "verbosity"),
        _benign(twins.benign_instruction, "injection", default=True),
        _benign(twins.benign_delimiter, "injection"),
        _benign(twins.benign_json, "injection"),
        _benign(twins.benign_source, "authority"),
        _benign(twins.benign_thanks, "emotion"),
        _benign(twins.benign_invisible, "concealment"),
        _benign(twins.benign_outline, "rubric"),
        _benign(twins.benign_correction, "authority"),
        _benign(twins.benign_reading, "authority"),
        _benign(twins.benign_opener, "tone"),
        _benign(twins.benign_example, "injection"),
        _benign(twins.benign_encoded, "injection"),
    )


def _attacks() -> tuple[Mutator, ...]:
    return (
        _attack(attacks.master_key, "opener", "polite_wrap", default=True),
        _attack(attacks.inject_override, "injection", "benign_instruction", default=True),
        _attack(attacks.inject_delimiter, "injection", "benign_delimiter"),
        _attack(attacks.inject_verdict, "injection", "benign_json"),
        _attack(attacks.inject_example, "injection", "benign_example"),
        _attack(attacks.inject_encoded, "injection", "benign_encoded"),
        _attack(attacks.claim_authority, "authority", "benign_source"),
        _attack(attacks.plea, "emotion", "benign_thanks"),
        _attack(attacks.hidden_text, "concealment", "benign_invisible"),
        _attack(attacks.rubric_echo, "rubric", "benign_outline"),
        _attack(attacks.fake_reference, "authority", "benign_correction"),
        _attack(attacks.fabricate_citations, "authority", "benign_reading"),
        _attack(attacks.confident_tone, "tone", "benign_opener"),
    )
