"""What a suite can see: the flips that noise alone brings, and the smallest drop that is likely found."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from grader_gate.decision.evidence import Evidence
from grader_gate.decision.outcome import Settings

_NORMAL = NormalDist()


def noise_of(evidence: Evidence) -> float | None:
    """p(1 - p) of one claim, p its chance of an outcome other than its usual one; None with fewer than 2 runs.

    From the noise repeats where they are known, else the unbiased estimate from stored repeats: the share of pairs of
    runs that differ, halved. It is the chance that base's usual outcome is followed by a flip, to first order.
    """
    if evidence.noise_flip_rate is not None:
        return evidence.noise_flip_rate * (1 - evidence.noise_flip_rate)
    known = [d for d in evidence.stored if d is not None]
    if len(known) < 2:
        return None
    if known.count(known[0]) == len(known):
        return 0.0
    pairs = len(known) * (len(known) - 1)
    return sum(a != b for i, a in enumerate(known) for j, b in enumerate(known) if i != j) / pairs / 2


def expected_flips(noise: Sequence[float | None]) -> float | None:
    """Flips that noise alone brings in one screen, in expectation; claims without an estimate count as the mean."""
    known = [value for value in noise if value is not None]
    if not known:
        return None
    return sum(known) / len(known) * len(noise)


def detectable_drop(claims: int, flips: float, stored: int, settings: Settings, power: float = 0.8) -> float | None:
    """Smallest uniform drop (share of claims, 0 to 1) that the suite's screen and fresh passes find with this power.

    Normal approximation of the two exact tests: the standard error of a difference of failure counts is
    sqrt(discordant runs), where each drop of one claim adds one (Miettinen 1968, Biometrics 24:339, for paired counts).

    :param flips: expected noise flips of one pass, see :func:`expected_flips`.
    :param stored: base repeats a claim has in the store.
    :return: None where no drop short of everything would be found.
    """
    passes = settings.suite_passes

    def found(drop: float) -> float:
        shift = drop * claims
        return _power(shift, (flips + shift) * 1.0 + flips / stored, settings.screen_p_suite) * _power(
            shift * passes, (2 * flips + shift) * passes, settings.confirm_p
        )

    if claims == 0 or found(1.0) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if found(middle) < power else (low, middle)
    return high


def _power(shift: float, variance: float, alpha: float) -> float:
    return _NORMAL.cdf((shift - 0.5) / sqrt(variance) - _NORMAL.inv_cdf(1 - alpha)) if variance > 0 else 0.0
