"""From a suite and its mutators to what is graded (items) and what is promised (claims). Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from grader_gate.model import (
    Claim,
    ClaimKind,
    GoldenCase,
    GradedFacts,
    GradeVerdict,
    Item,
    Ladder,
    Preference,
    Role,
    Rubric,
    SourceText,
    Suite,
    digest,
)

if TYPE_CHECKING:
    from grader_gate.config import Pairs
    from grader_gate.suite.mutators.api import MutationContext, Mutator

IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class SideTexts:
    """What differs between the sides when the same suite is graded.

    :ivar rubric: the rubric text of a case as this side has it (files are read from this side's tree).
    :ivar context: facts of this side's grader, for attacks that quote its prompt.
    """

    rubric: Callable[[Rubric | None], str | None]
    context: MutationContext | None = None


@dataclass(slots=True)
class Applicability:
    """How many texts a mutator could work on, and why not on the others."""

    texts: int = 0
    applicable: int = 0
    chosen: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Examination:
    """All that one suite asks of one grader on one side."""

    items: dict[str, Item] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    facts: dict[str, GradedFacts] = field(default_factory=dict)
    applicability: dict[str, Applicability] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    """Mutant item id → the text it was made from."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text to mutate: a reference, or an answer that must be accepted (or, for attacks, rejected)."""

    case: GoldenCase
    text: str
    inputs: dict[str, Any]

    @property
    def order(self) -> str:
        """Position in the stable choice: depends on the text alone, so added cases do not reshuffle the others."""
        return hashlib.sha256(self.case.content_digest.encode() + self.text.encode("utf-8", "replace")).hexdigest()


def examine(
    suite: Suite,
    mutators: Sequence[Mutator],
    per_mutator: int,
    side: SideTexts,
    role_for: Callable[[tuple[str, ...]], Role],
    prefix: str = "",
    pairs: Pairs | None = None,
) -> Examination:
    """Build the items and claims of a suite.

    Slices whose role is ``abstain`` are left out; ``screen`` slices make claims that do not gate. The same text is
    graded once however many claims need it. Mutants are made from each distinct reference (else from an answer
    expected ``correct``); attacks from answers expected ``incorrect``.

    :param per_mutator: most mutants of one mutator, chosen by hash of the text so that the set is stable.
    :param prefix: put before the ids of golden cases and rungs, to keep apart texts that share an id.
    :param pairs: for a grader that compares: which pairs it is shown, see :mod:`grader_gate.suite.pairs`.
    """
    if pairs is not None:
        from grader_gate.suite.pairs import examine_pairs

        return examine_pairs(suite, mutators, per_mutator, side, role_for, pairs, prefix)
    made = Examination()
    known: dict[str, str] = {}
    for case in suite.cases:
        role = role_for(case.tags)
        if role is Role.ABSTAIN:
            continue
        item = add_item(made, known, f"{prefix}golden/{case.id}", case.id, _inputs(case, side), case, reuse=False)
        made.facts[item] = GradedFacts(expected=case.expected, tags=case.tags)
        made.claims[item] = Claim(
            id=item,
            kind=ClaimKind.GOLDEN,
            case_id=case.id,
            items=(item,),
            tags=case.tags,
            expected=case.expected,
            gating=role is Role.GATE,
            location=case.location,
        )
    for ladder in suite.ladders:
        if (role := role_for(ladder.tags)) is not Role.ABSTAIN:
            _add_ladder(made, known, ladder, side, role, prefix)
    if mutators and suite.cases:
        _add_mutants(made, known, suite, mutators, per_mutator, side, role_for)
    return made


def adjacent_pairs(levels: Sequence[float]) -> list[tuple[int, int]]:
    """Index pairs (lower, higher) of rungs on adjacent distinct levels; rungs of one level are never compared.

    :param levels: levels in ascending order.
    """
    distinct = sorted(set(levels))
    above = dict(pairwise(distinct))
    return [(i, j) for i, low in enumerate(levels) for j, high in enumerate(levels) if above.get(low) == high]


def _add_ladder(
    made: Examination, known: dict[str, str], ladder: Ladder, side: SideTexts, role: Role, prefix: str
) -> None:
    ids = []
    for index, rung in enumerate(ladder.rungs):
        inputs = shared_inputs(
            ladder.question, ladder.reference, side.rubric(ladder.rubric), rung.answer, ladder.sources
        )
        item = f"{prefix}rung/{ladder.id}/{index}"
        ids.append(add_item(made, known, item, ladder.id, inputs, ladder, reuse=False))
        made.facts[item] = GradedFacts(level=rung.level, tags=ladder.tags)
    for low, high in adjacent_pairs([rung.level for rung in ladder.rungs]):
        claim = f"{prefix}rungs/{ladder.id}/{low}<{high}"
        made.claims[claim] = Claim(
            id=claim,
            kind=ClaimKind.RUNGS,
            case_id=ladder.id,
            items=(ids[low], ids[high]),
            tags=ladder.tags,
            gating=role is Role.GATE,
            location=ladder.location,
        )


def _add_mutants(
    made: Examination,
    known: dict[str, str],
    suite: Suite,
    mutators: Sequence[Mutator],
    per_mutator: int,
    side: SideTexts,
    role_for: Callable[[tuple[str, ...]], Role],
) -> None:
    from grader_gate.suite.mutators.api import Polarity

    identity_of: dict[str, str] = {}

    def identity(text: Text) -> str:
        """The item that grades the unchanged text; kills count only where it passes."""
        key = f"{text.case.id}"
        if key not in identity_of:
            item = add_item(made, known, f"mutant/{key}/{IDENTITY}", text.case.id, text.inputs, text.case, reuse=True)
            identity_of[key] = item
        return identity_of[key]

    for mutator, text, name, mutated in chosen_mutants(made, suite, mutators, per_mutator, side, role_for):
        items: tuple[str, ...]
        expected: GradeVerdict | None
        if mutator.name == IDENTITY:
            items, kind, expected = (identity(text),), ClaimKind.CONTROL, GradeVerdict.CORRECT
        else:
            inputs = {**text.inputs, "answer": mutated}
            item = add_item(made, known, name, text.case.id, inputs, text.case, reuse=False)
            made.before[item] = text.text
            if mutator.polarity is Polarity.ATTACK:
                items, kind, expected = (item, f"golden/{text.case.id}"), ClaimKind.ATTACK, None
            elif mutator.polarity is Polarity.BENIGN:
                items, kind, expected = (item, identity(text)), ClaimKind.CONTROL, None
            else:
                items, kind, expected = (item, identity(text)), ClaimKind.MUTANT, mutator.best
        gating = role_for(text.case.tags) is Role.GATE
        made.claims[name] = mutant_claim(name, kind, items, mutator, text, expected=expected, gating=gating)


def mutant_claim(
    name: str,
    kind: ClaimKind,
    items: tuple[str, ...],
    mutator: Mutator,
    text: Text,
    *,
    gating: bool,
    expected: GradeVerdict | None = None,
    better: tuple[Preference, ...] = (),
) -> Claim:
    """The claim about one mutant of a text."""
    return Claim(
        id=name,
        kind=kind,
        case_id=text.case.id,
        items=items,
        tags=text.case.tags,
        expected=expected,
        mutator=mutator.name,
        property=mutator.property,
        gating=gating,
        location=text.case.location,
        better=better,
    )


def chosen_mutants(
    made: Examination,
    suite: Suite,
    mutators: Sequence[Mutator],
    per_mutator: int,
    side: SideTexts,
    role_for: Callable[[tuple[str, ...]], Role],
    skip: Callable[[Mutator, Text], str | None] = lambda mutator, text: None,
) -> Iterator[tuple[Mutator, Text, str, str]]:
    """Mutator, text, claim id and mutated text of every mutant within the budget; counts applicability in ``made``.

    :param skip: says why a text cannot be used with a mutator here, or None.
    """
    from grader_gate.suite.mutators.api import MutationContext, NotApplicable, Polarity
    from grader_gate.suite.mutators.apply import mutate

    context = replace(side.context or MutationContext(), others=tuple(sorted(suite.cases, key=lambda c: c.id)))
    right, wrong = _texts(suite.cases, side, role_for)
    for mutator in sorted(mutators, key=lambda m: m.name):
        tally = made.applicability.setdefault(mutator.name, Applicability())
        for text in wrong if mutator.polarity is Polarity.ATTACK else right:
            if tally.chosen >= per_mutator:
                break
            tally.texts += 1
            reason = skip(mutator, text)
            outcome = mutate(mutator, text.text, text.case, context) if reason is None else NotApplicable(reason)
            if isinstance(outcome, NotApplicable):
                tally.reasons[outcome.reason] += 1
                continue
            tally.applicable += 1
            for mutant in outcome[: per_mutator - tally.chosen]:
                tally.chosen += 1
                name = f"mutant/{text.case.id}/{mutator.name}" + (f"/{mutant.variant}" if mutant.variant else "")
                yield mutator, text, name, mutant.text


def _texts(
    cases: Iterable[GoldenCase], side: SideTexts, role_for: Callable[[tuple[str, ...]], Role]
) -> tuple[list[Text], list[Text]]:
    right: dict[str, Text] = {}
    wrong: list[Text] = []
    for case in sorted(cases, key=lambda c: c.id):
        if role_for(case.tags) is Role.ABSTAIN:
            continue
        inputs = _inputs(case, side)
        text = case.reference or (case.answer if case.expected is GradeVerdict.CORRECT else None)
        if text is not None:
            key = digest("text", case.question, text, case.rubric and case.rubric.render())
            right.setdefault(key, Text(case, text, {**inputs, "answer": text}))
        if case.expected is GradeVerdict.INCORRECT:
            wrong.append(Text(case, case.answer, inputs))
    return sorted(right.values(), key=lambda t: t.order), sorted(wrong, key=lambda t: t.order)


def _inputs(case: GoldenCase, side: SideTexts) -> dict[str, Any]:
    return shared_inputs(case.question, case.reference, side.rubric(case.rubric), case.answer, case.sources)


def shared_inputs(
    question: str, reference: str | None, rubric: str | None, answer: str, sources: Sequence[SourceText]
) -> dict[str, Any]:
    """The inputs of an item whose one answer is judged, by name."""
    return {
        "question": question,
        "reference": reference,
        "rubric": rubric,
        "answer": answer,
        "sources": [s.model_dump() for s in sources],
    }


def add_item(
    made: Examination,
    known: dict[str, str],
    item_id: str,
    case_id: str,
    inputs: dict[str, Any],
    origin: GoldenCase | Ladder,
    *,
    reuse: bool,
) -> str:
    """Add an item and return its id; with ``reuse``, an item of the same texts serves instead."""
    key = digest("item", inputs)
    if reuse and key in known:
        return known[key]
    known.setdefault(key, item_id)
    made.items[item_id] = Item(
        id=item_id,
        inputs=inputs,
        case_id=case_id,
        rubric_path=origin.rubric.path if origin.rubric else None,
        location=origin.location,
    )
    return item_id
