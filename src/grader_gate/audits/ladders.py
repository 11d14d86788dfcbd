"""What the ladders of a suite show on one side: order, spread, steadiness, cited evidence. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from grader_gate.audits.citations import cites, relevant
from grader_gate.audits.claims import Reading
from grader_gate.model import Grade, Ladder
from grader_gate.result import Rate


@dataclass(frozen=True, slots=True)
class LadderView:
    """One ladder on one side.

    :ivar levels: typical level (0 to 1) of each rung, None where it was not measured or gave no verdict.
    :ivar spread: level of the top rungs over the bottom ones, None where either is missing.
    :ivar unstable: whether repeats of a rung disagree in verdict.
    :ivar cited: rungs whose reason cites their evidence, of those whose answer holds some.
    """

    ladder: Ladder
    levels: tuple[float | None, ...]
    spread: float | None
    unstable: bool
    cited: Rate


def view(ladder: Ladder, runs: Callable[[str], Sequence[Grade]], reading: Reading) -> LadderView:
    """Look at one ladder.

    :param runs: all grades of an item on the side in question.
    """
    grades = [list(runs(f"rung/{ladder.id}/{index}")) for index in range(len(ladder.rungs))]
    levels = tuple(_typical([reading.level(g) for g in found]) for found in grades)
    return LadderView(
        ladder=ladder,
        levels=levels,
        spread=_spread(ladder, levels),
        unstable=any(len({(g.verdict, g.abstained) for g in found if g.error is None}) > 1 for found in grades),
        cited=_cited(ladder, grades),
    )


def _typical(levels: Sequence[float | None]) -> float | None:
    known = [level for level in levels if level is not None]
    return median(known) if known else None


def _spread(ladder: Ladder, levels: Sequence[float | None]) -> float | None:
    order = [rung.level for rung in ladder.rungs]
    top = [v for v, at in zip(levels, order, strict=True) if at == max(order) and v is not None]
    bottom = [v for v, at in zip(levels, order, strict=True) if at == min(order) and v is not None]
    return None if not top or not bottom else median(top) - median(bottom)


def _cited(ladder: Ladder, grades: Sequence[Sequence[Grade]]) -> Rate:
    k = n = planned = 0
    for rung, found in zip(ladder.rungs, grades, strict=True):
        evidence = relevant(rung.evidence, rung.answer)
        if not evidence:
            continue
        planned += 1
        usable = [grade for grade in found if grade.error is None]
        if usable:
            n += 1
            k += sum(cites(grade, evidence) for grade in usable) * 2 > len(usable)
    return Rate(k=k, n=n, planned=planned)


def total(rates: Sequence[Rate]) -> Rate:
    """The sum of counts."""
    return Rate(k=sum(r.k for r in rates), n=sum(r.n for r in rates), planned=sum(r.planned for r in rates))


def flat(views: Sequence[LadderView], min_spread: float) -> dict[str, LadderView]:
    """Ladders whose top stands less than ``min_spread`` of the scale above their bottom, by id."""
    return {v.ladder.id: v for v in views if v.spread is not None and v.spread < min_spread}


def coverage(ladders: Sequence[Ladder], questions: Mapping[str, object] | set[str]) -> Rate:
    """Golden questions that have a ladder, of all golden questions."""
    asked = set(questions)
    return Rate(k=len(asked & {ladder.question for ladder in ladders}), n=len(asked), planned=len(asked))
