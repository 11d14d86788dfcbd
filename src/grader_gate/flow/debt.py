"""Debt that only a record tells of: claims that head breaks as the stored grades of base did, asked of base itself.

What base broke already is not blamed on a change. A record that says so is believed only where base, run now, says it
too: a record that was forged, or measured on another day, would let a worse grader pass. Where base upholds the claim
after all, its live grades take the record's place, and head's break is confirmed side by side like any other.
"""

from __future__ import annotations

from grader_gate.audits.claims import needed_items
from grader_gate.audits.gradebook import STORED, distances
from grader_gate.audits.rates import typical
from grader_gate.flow.compare import Comparison
from grader_gate.flow.session import Session, into
from grader_gate.model import Claim, Purpose, Side
from grader_gate.runs.plan import passes


async def verify_debt(comparison: Comparison, session: Session) -> None:
    """Grade once on base what the record and head both break, where that can be repeated and is within the budget."""
    if not comparison.base.grader.repeatable:
        return
    book, readings = comparison.book, comparison.readings
    live = set(comparison.live)
    stored: dict[str, int] = {}
    doubtful: list[Claim] = []
    for claim in comparison.affected.claims.values():
        before = typical(distances(claim, book, Side.BASE, STORED, readings.base))
        now = typical(distances(claim, book, Side.HEAD, Purpose.SCREEN, readings.head))
        if claim.gating and before and now and not live.issuperset(needed_items(claim)):
            stored[claim.id] = before
            doubtful.append(claim)
    if not doubtful:
        return
    items = [item for item in dict.fromkeys(i for c in doubtful for i in needed_items(c)) if item not in live]
    outcome = await session.grade(
        list(passes(comparison.base, items, Purpose.SCREEN, range(1))), f"{comparison.suite}: what base breaks, on base"
    )
    into(book, (row for row in outcome.rows.values() if not row.grade.unmeasured))  # else the record stands
    for claim in doubtful:
        again = typical(distances(claim, book, Side.BASE, Purpose.SCREEN, readings.base))
        if again is not None and again < stored[claim.id]:
            for item in needed_items(claim):
                if found := book.of(Side.BASE, Purpose.SCREEN, item):
                    book.replace(Side.BASE, STORED, item, found)
