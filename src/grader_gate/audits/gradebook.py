"""All grades of one suite, by side, purpose, item and repeat; the evidence of its claims read from them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader_gate.audits.claims import Reading, distance, needed_items
from grader_gate.decision.evidence import Distance, Evidence
from grader_gate.model import Claim, ClaimKind, Grade, Purpose, Side

STORED = "stored"
"""Pseudo-purpose of grades that come from the frozen baseline (or from a live pass of base where there is none)."""

SEVERITY = {
    ClaimKind.GOLDEN: 5.0,
    ClaimKind.ATTACK: 4.0,
    ClaimKind.MUTANT: 3.0,
    ClaimKind.CONTROL: 2.0,
    ClaimKind.RUNGS: 1.0,
}
"""Which flips are confirmed first: a broken golden case says most, and most plainly."""


@dataclass(slots=True)
class Gradebook:
    """Grades of one suite. Rows may come in any order; a missing repeat is simply not there."""

    _grades: dict[tuple[str, str], dict[str, dict[int, Grade]]] = field(default_factory=dict)

    def put(self, side: Side, purpose: str, item: str, repeat: int, grade: Grade) -> None:
        """Record one grade; a later one for the same place replaces it."""
        self._grades.setdefault((side, purpose), {}).setdefault(item, {})[repeat] = grade

    def replace(self, side: Side, purpose: str, item: str, grades: Mapping[int, Grade]) -> None:
        """Put these repeats in the place of all that an item has."""
        self._grades.setdefault((side, purpose), {})[item] = dict(grades)

    def of(self, side: Side, purpose: str, item: str) -> dict[int, Grade]:
        """Grades of an item by repeat index."""
        return self._grades.get((side, purpose), {}).get(item, {})

    def runs(self, side: Side, purpose: str, items: Sequence[str]) -> list[dict[str, Grade]]:
        """Run 0, 1, …: for each repeat index that any item has, the grades of that repeat."""
        by_item = {item: self.of(side, purpose, item) for item in items}
        count = 1 + max((max(found, default=-1) for found in by_item.values()), default=-1)
        return [{i: found[r] for i, found in by_item.items() if r in found} for r in range(count)]

    def grades(self, side: Side) -> Iterable[Grade]:
        """All grades made for a side, in no order."""
        for (where, _), items in self._grades.items():
            if where == side:
                for found in items.values():
                    yield from found.values()


@dataclass(frozen=True, slots=True)
class ReadingPair:
    """How each side's grades are read: the scale may differ between them."""

    base: Reading
    head: Reading

    def of(self, side: Side) -> Reading:
        """The reading of one side."""
        return self.base if side is Side.BASE else self.head


def distances(claim: Claim, book: Gradebook, side: Side, purpose: str, reading: Reading) -> tuple[Distance, ...]:
    """Distance of each run of a claim on a side for a purpose; see :func:`grader_gate.audits.claims.distance`.

    Only repeats that all of its items have are runs: an item that another claim shares may have been re-run for that
    one alone.
    """
    items = needed_items(claim)
    runs = (run for run in book.runs(side, purpose, items) if len(run) == len(set(items)))
    return tuple(distance(claim, grades, reading) for grades in runs)


def evidence(
    claim: Claim,
    book: Gradebook,
    readings: ReadingPair,
    *,
    deterministic: bool = False,
    repeatable: bool = True,
    noise_flip_rate: float | None = None,
) -> Evidence:
    """What the decision knows of one claim.

    ``cluster`` is the question's case, so that claims about one text are not taken for independent.
    """
    return Evidence(
        claim=claim.id,
        kind=claim.kind,
        stored=distances(claim, book, Side.BASE, STORED, readings.base),
        screen=distances(claim, book, Side.HEAD, Purpose.SCREEN, readings.head),
        confirm_head=distances(claim, book, Side.HEAD, Purpose.CONFIRM, readings.head),
        confirm_base=distances(claim, book, Side.BASE, Purpose.CONFIRM, readings.base),
        fresh_head=distances(claim, book, Side.HEAD, Purpose.FRESH, readings.head),
        fresh_base=distances(claim, book, Side.BASE, Purpose.FRESH, readings.base),
        tags=claim.tags,
        cluster=claim.case_id,
        severity=SEVERITY[claim.kind],
        gating=claim.gating,
        deterministic=deterministic,
        repeatable=repeatable,
        noise_flip_rate=noise_flip_rate,
        # Pairs share no item; other claims of two items mostly share one of them.
        calls=len(claim.items) if claim.better else 1,
    )


def flip_rate(claim: Claim, noise: Mapping[str, Sequence[Grade]], reading: Reading) -> tuple[float, int] | None:
    """Share of runs that differ from the most frequent outcome (upheld or not), and how many runs there were.

    :param noise: repeats of each of the claim's items on one side.
    :returns: None where nothing was measured.
    """
    items = needed_items(claim)
    count = min((len(noise.get(item, ())) for item in items), default=0)
    found = [distance(claim, {i: noise[i][r] for i in items}, reading) for r in range(count)]
    measured = [d > 0 for d in found if d is not None]
    if not measured:
        return None
    broken = sum(measured)
    return min(broken, len(measured) - broken) / len(measured), len(measured)


def not_gating(claim: Claim) -> Claim:
    """The same claim, reported only."""
    return replace(claim, gating=False)
