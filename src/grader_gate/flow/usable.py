"""Whether the replies of a comparison say anything: graders that both answer nothing usable cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable

from grader_gate.audits.gradebook import STORED
from grader_gate.flow.compare import Comparison
from grader_gate.model import Grade, Purpose, Side
from grader_gate.runs.plan import needed

MOST_UNUSABLE = 0.5
"""Share of items without a usable reply on either side from which a suite is not decided.

A few such items are standing debt of the grader (a filter that refuses one answer); where most are, nothing is left to
be made worse, and every change would pass."""


def unusable(comparison: Comparison) -> list[str]:
    """Why the suite cannot be decided, where most replies of both sides were unusable; empty where it can."""
    items = needed(claim for claim in comparison.affected.claims.values() if claim.gating)
    seen = {item: [_newest(comparison, side, item) for side in Side] for item in items}
    measured = [sides for sides in seen.values() if all(sides)]
    mute = sum(all(grade.malformed for grades in sides for grade in grades) for sides in measured)
    if not mute or mute < MOST_UNUSABLE * len(measured):
        return []
    said = (
        f"{mute} of {len(measured)} items got no usable reply on either side, so that nothing can be compared; "
        "see the replies in the ledger, and mend the prompt, the output form or the provider"
    )
    return [said]


def mute_alone(grades: Iterable[Iterable[Grade]]) -> list[str]:
    """The same for one revision alone.

    :param grades: the grades of each item.
    """
    measured = [found for one in grades if (found := [grade for grade in one if not grade.unmeasured])]
    mute = sum(all(grade.malformed for grade in one) for one in measured)
    if not mute or mute < MOST_UNUSABLE * len(measured):
        return []
    return [f"{mute} of {len(measured)} items got no usable reply; see the replies in the ledger"]


def _newest(comparison: Comparison, side: Side, item: str) -> list[Grade]:
    """Measured grades of the last purpose that has any: what was graded side by side counts before what is stored."""
    for purpose in (Purpose.CONFIRM, Purpose.FRESH, Purpose.SCREEN, STORED):
        grades = [g for g in comparison.book.of(side, purpose, item).values() if not g.unmeasured]
        if grades:
            return grades
    return []
