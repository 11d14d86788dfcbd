"""How often a grader declines to judge, and what a person should look at instead. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader_gate.model import Grade, Item
from grader_gate.result import Rate, ReviewItem

MADE = ("mutant/", "dirty/")
"""Begin the ids of items that nobody has to review: they were made from others."""


@dataclass(frozen=True, slots=True)
class Abstentions:
    """Abstentions of one side.

    :ivar rate: items it declined to judge in most of their measured runs, of the items measured.
    :ivar review: those of them that people wrote, in the order of the suite.
    """

    rate: Rate
    review: tuple[ReviewItem, ...]


def abstentions(items: Mapping[str, Item], runs: Callable[[str], Sequence[Grade]], quote: str) -> Abstentions:
    """Count the abstentions; half of an item's runs or fewer do not count. A reply that was unusable is none.

    :param runs: all grades of an item on the side in question.
    :param quote: how much of the reasons may be carried: ``none``, ``short`` or ``full``.
    """
    measured, review, count = 0, [], 0
    for name, item in items.items():
        grades = [grade for grade in runs(name) if not grade.unmeasured]
        if not grades:
            continue
        measured += 1
        declined = [grade for grade in grades if grade.abstained]
        if len(declined) * 2 <= len(grades):
            continue
        count += 1
        if not name.removeprefix("new/").startswith(MADE):
            reason = {"none": "", "full": declined[0].reason}.get(quote, declined[0].reason[:600])
            review.append(ReviewItem(item=name, case=item.case_id, reason=reason, location=item.location))
    return Abstentions(Rate(k=count, n=measured, planned=len(items)), tuple(review))
