"""The screen: what base promises of a claim, and whether head's first run breaks it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grader_gate.decision.evidence import MALFORMED, Distance, Evidence
from grader_gate.decision.outcome import Settings


@dataclass(slots=True)
class Screened:
    """One claim after the screen.

    :ivar reference: distance of base's majority, the promise head is held to; None where it is not known.
    :ivar head: distance of head's screen; None where it is not known.
    :ivar counts: whether it can fail the suite: gating and not gray.
    """

    evidence: Evidence
    reference: int | None
    head: int | None
    counts: bool

    @property
    def flipped(self) -> bool:
        """Whether head is farther off than base's majority."""
        return self.reference is not None and self.head is not None and self.head > self.reference

    @property
    def decided(self) -> bool:
        """Whether both sides are known."""
        return self.reference is not None and self.head is not None


def is_gray(evidence: Evidence, settings: Settings) -> bool:
    """Whether the claim is known to be too unstable to gate (known from 10 or more noise repeats)."""
    return evidence.noise_flip_rate is not None and evidence.noise_flip_rate >= settings.gray_rate


def screen(evidence: Iterable[Evidence], settings: Settings) -> list[Screened]:
    """All claims, the severest first, then by name: the order never depends on the order given."""
    ordered = sorted(evidence, key=lambda e: (-e.severity, e.claim))
    return [
        Screened(
            e,
            lower_median(e.stored) if len(e.stored) >= settings.min_stored else None,
            upper_median(e.screen),
            e.gating and not is_gray(e, settings),
        )
        for e in ordered
    ]


def lower_median(distances: tuple[Distance, ...]) -> int | None:
    """Base's majority: the median; of two middle distances the better one.

    A tie so raises an alarm rather than hides one. It costs re-runs but never blocks by itself: to block, base must
    keep the better distance in fresh runs. None where there is no run, or where one that was not measured could change
    the median.
    """
    return _median(distances, upper=False)


def upper_median(distances: tuple[Distance, ...]) -> int | None:
    """Head's screen: the median of its runs; of two middle distances the worse one, for the reason given above."""
    return _median(distances, upper=True)


@lru_cache(maxsize=65536)
def _median(distances: tuple[Distance, ...], *, upper: bool) -> int | None:
    count = len(distances)
    if count == 1:
        return distances[0]
    if not count:
        return None
    middle = count // 2 if upper else (count - 1) // 2
    if None not in distances:
        return sorted(d for d in distances if d is not None)[middle]
    best = sorted(0 if d is None else d for d in distances)[middle]
    worst = sorted(MALFORMED if d is None else d for d in distances)[middle]
    return best if best == worst else None


def broken_promises(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """Claims of a grader called deterministic where equal runs of one side differ, by name."""
    return tuple(
        sorted(
            e.claim
            for e in evidence
            if e.deterministic
            and (_differ(e.stored, e.confirm_base, e.fresh_base) or _differ(e.screen, e.confirm_head, e.fresh_head))
        )
    )


def _differ(*runs: Sequence[Distance]) -> bool:
    return len({d for part in runs for d in part if d is not None}) > 1
