"""The items and claims of a grader that compares: pairs of answers, each shown in both orders. Pure.

Which answer stands first is decided by a digest of the two texts alone, and the other order is graded as well. Nothing
that tells the answers apart (level, id, expected verdict) is among the inputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader_gate.config import Pairs
from grader_gate.model import (
    Claim,
    ClaimKind,
    GoldenCase,
    GradedFacts,
    GradeVerdict,
    Ladder,
    Preference,
    Role,
    Suite,
    digest,
)
from grader_gate.suite.items import (
    IDENTITY,
    Examination,
    SideTexts,
    Text,
    add_item,
    adjacent_pairs,
    chosen_mutants,
    mutant_claim,
    shared_inputs,
)

if TYPE_CHECKING:
    from grader_gate.suite.mutators.api import Mutator

RoleFor = Callable[[tuple[str, ...]], Role]

ORDERS = (1, 2)
"""Numbers of the two orders of a pair; they end the ids of its items."""


@dataclass(slots=True)
class _Maker:
    """Adds pairs to an examination."""

    made: Examination = field(default_factory=Examination)
    known: dict[str, str] = field(default_factory=dict)

    def pair(
        self, name: str, better: str, worse: str, inputs: dict[str, Any], origin: GoldenCase | Ladder, *, reuse: bool
    ) -> tuple[tuple[str, ...], tuple[Preference, ...]]:
        """The two items of a pair, and where the better answer stands in each."""
        shared = {key: value for key, value in inputs.items() if key != "answer"}
        first = better if better_is_first(better, worse, shared) else worse
        items, places = [], []
        for order in ORDERS:
            a = first if order == 1 else (worse if first == better else better)
            b = worse if a == better else better
            item = add_item(
                self.made,
                self.known,
                f"{name}/{order}",
                origin.id,
                {**shared, "answer_a": a, "answer_b": b},
                origin,
                reuse=reuse,
            )
            place = Preference.A if a == better else Preference.B
            self.made.facts.setdefault(item, GradedFacts(better=place, tags=origin.tags))
            items.append(item)
            places.append(place)
        return tuple(items), tuple(places)


def better_is_first(better: str, worse: str, shared: dict[str, Any]) -> bool:
    """Which of two texts stands first in order 1: by a digest of both texts that knows neither's worth."""
    low, high = sorted((better, worse))
    low_first = int(digest("pair", shared.get("question"), low, high)[:8], 16) % 2 == 0
    return low_first == (better == low)


def examine_pairs(
    suite: Suite,
    mutators: Sequence[Mutator],
    per_mutator: int,
    side: SideTexts,
    role_for: RoleFor,
    pairs: Pairs,
    prefix: str = "",
) -> Examination:
    """Build the items and claims of a suite for a grader that compares; arguments as of
    :func:`grader_gate.suite.items.examine`.

    - ladders: of two rungs the higher must win in both orders.
    - golden answers to one question, the reference among them: of two expected verdicts the better must win.
    - degraded texts: the unchanged text must win; benign ones: the say must not depend on the order.
    - attacks: the wrong answer must not lose less often to a right one because of what was smuggled into it.
    """
    maker = _Maker()
    for ladder in suite.ladders:
        if (role := role_for(ladder.tags)) is not Role.ABSTAIN:
            _add_ladder(maker, ladder, side, role, pairs, prefix)
    for better, worse in _golden_pairs(suite.cases, role_for, pairs.per_case):
        _add_golden(maker, better, worse, side, role_for, prefix)
    if mutators and suite.cases:
        _add_mutants(maker, suite, mutators, per_mutator, side, role_for)
    return maker.made


# ---------------------------------------------------------------- ladders


def _add_ladder(maker: _Maker, ladder: Ladder, side: SideTexts, role: Role, pairs: Pairs, prefix: str) -> None:
    inputs = shared_inputs(ladder.question, ladder.reference, side.rubric(ladder.rubric), "", ladder.sources)
    for low, high in _rung_pairs(ladder, pairs):
        worse, better = ladder.rungs[low].answer, ladder.rungs[high].answer
        name = f"{prefix}rungs/{ladder.id}/{low}<{high}"
        items, places = maker.pair(name, better, worse, inputs, ladder, reuse=False)
        maker.made.claims[name] = Claim(
            id=name,
            kind=ClaimKind.RUNGS,
            case_id=ladder.id,
            items=items,
            tags=ladder.tags,
            gating=role is Role.GATE,
            location=ladder.location,
            better=places,
        )


def _rung_pairs(ladder: Ladder, pairs: Pairs) -> list[tuple[int, int]]:
    """Index pairs (lower, higher), by the design of the suite."""
    rungs = ladder.rungs
    if pairs.design == "adjacent":
        found = adjacent_pairs([rung.level for rung in rungs])
    else:
        found = [(i, j) for i, low in enumerate(rungs) for j, high in enumerate(rungs) if low.level < high.level]

        def order(pair: tuple[int, int]) -> str:
            low, high = rungs[pair[0]], rungs[pair[1]]
            return digest("sampled", ladder.question, *sorted((low.answer, high.answer)))

        found = sorted(sorted(found, key=order)[: pairs.per_case])
    return found


# ---------------------------------------------------------------- golden answers to one question


@dataclass(frozen=True, slots=True)
class _Standing:
    """An answer to a question and what it deserves; ``name`` is the case's id, or ``reference``."""

    name: str
    text: str
    rank: int
    case: GoldenCase


def _golden_pairs(
    cases: Sequence[GoldenCase], role_for: RoleFor, per_case: int
) -> Iterator[tuple[_Standing, _Standing]]:
    """Sampled pairs (better, worse) of answers to one question under one rubric."""
    by_question: dict[str, list[_Standing]] = defaultdict(list)
    for case in cases:
        if role_for(case.tags) is Role.ABSTAIN:
            continue
        key = digest("question", case.question, case.rubric and (case.rubric.path or case.rubric.render()))
        group = by_question[key]
        group.append(_Standing(case.id, case.answer, case.expected.rank, case))
        texts = {one.text for one in group}
        if case.reference is not None and case.reference not in texts:
            group.append(_Standing("reference", case.reference, GradeVerdict.CORRECT.rank, case))
    for group in by_question.values():
        found = [(x, y) for x in group for y in group if x.rank > y.rank and x.text != y.text]
        found.sort(key=lambda pair: digest("sampled", *sorted((pair[0].text, pair[1].text))))
        distinct: dict[tuple[str, str], tuple[_Standing, _Standing]] = {}
        for better, worse in found:
            distinct.setdefault((better.text, worse.text), (better, worse))
        yield from list(distinct.values())[:per_case]


def _add_golden(
    maker: _Maker, better: _Standing, worse: _Standing, side: SideTexts, role_for: RoleFor, prefix: str
) -> None:
    case = better.case if worse.name == "reference" else worse.case
    inputs = shared_inputs(case.question, case.reference, side.rubric(case.rubric), "", case.sources)
    name = f"{prefix}pair/{worse.name}<{better.name}"
    items, places = maker.pair(name, better.text, worse.text, inputs, case, reuse=False)
    roles = {role_for(better.case.tags), role_for(worse.case.tags)}
    maker.made.claims[name] = Claim(
        id=name,
        kind=ClaimKind.GOLDEN,
        case_id=case.id,
        items=items,
        tags=case.tags,
        gating=roles == {Role.GATE},
        location=case.location,
        better=places,
    )


# ---------------------------------------------------------------- mutants


def _add_mutants(
    maker: _Maker,
    suite: Suite,
    mutators: Sequence[Mutator],
    per_mutator: int,
    side: SideTexts,
    role_for: RoleFor,
) -> None:
    from grader_gate.suite.mutators.api import Polarity

    right = _right_answers(suite.cases, role_for)

    def skip(mutator: Mutator, text: Text) -> str | None:
        if mutator.name == IDENTITY:
            return "a text is not compared with itself"
        if mutator.polarity is Polarity.ATTACK and right.get(text.case.question) in (None, text.text):
            return "no right answer to the same question to compare with"
        return None

    for mutator, text, name, mutated in chosen_mutants(maker.made, suite, mutators, per_mutator, side, role_for, skip):
        case, gating = text.case, role_for(text.case.tags) is Role.GATE
        if mutator.polarity is Polarity.ATTACK:
            good = right[case.question]
            if good == mutated:
                continue
            attacked, where = maker.pair(name, good, mutated, text.inputs, case, reuse=False)
            bare, there = maker.pair(f"mutant/{case.id}/bare", good, text.text, text.inputs, case, reuse=True)
            items, places, kind = (*attacked, *bare), (*where, *there), ClaimKind.ATTACK
            made_from = attacked
        else:
            items, places = maker.pair(name, text.text, mutated, text.inputs, case, reuse=False)
            kind = ClaimKind.CONTROL if mutator.polarity is Polarity.BENIGN else ClaimKind.MUTANT
            made_from = items
        for item in made_from:
            maker.made.before[item] = text.text
        maker.made.claims[name] = mutant_claim(name, kind, items, mutator, text, gating=gating, better=places)


def _right_answers(cases: Sequence[GoldenCase], role_for: RoleFor) -> dict[str, str]:
    """Question → a right answer to it: a reference, else an answer expected ``correct``."""
    found: dict[str, str] = {}
    for case in sorted(cases, key=lambda c: (c.reference is None, c.id)):
        if role_for(case.tags) is Role.ABSTAIN:
            continue
        text = case.reference or (case.answer if case.expected is GradeVerdict.CORRECT else None)
        if text is not None:
            found.setdefault(case.question, text)
    return found
