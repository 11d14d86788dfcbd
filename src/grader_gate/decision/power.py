"""What a suite can see: the flips that noise alone brings, and the smallest drop that is likely found."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from grader_gate.decision.drops import spend
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

    Normal approximation with the exact tests' own means and variances. A drop adds one failure for each claim it hits.
    Screen, h runs of head against B stored: T minus its expectation has mean h * B / (h + B) times the drop; the fair
    draw gives it the variance h * B / (h + B) times the noise, plus h * B / (h + B)^2 for each added failure. Fresh
    passes: the paired difference (Miettinen 1968, Biometrics 24:339) at the limit of the last look. Simulated, the
    rule finds a drop of this size in 70 to 90 % (docs/decision.md).

    :param flips: expected noise flips of one pass, see :func:`expected_flips`.
    :param stored: base repeats a claim has in the store.
    :return: None where no drop short of everything would be found.
    """
    passes = settings.suite_passes
    limit = spend(passes, settings.confirm_p)[-1]

    def screened(shift: float, heads: int, alpha: float) -> float:
        both = heads + stored
        scale = heads * stored / both
        null = scale * flips + shift * heads * scale / both
        spread = scale * flips + scale * scale * shift / heads
        return _power(scale * shift, null, spread, alpha)

    def found(drop: float) -> float:
        shift = drop * claims
        alarm = min(screened(shift, 1, settings.again_p_suite), screened(shift, 2, settings.screen_p_suite))
        pairs = passes * (2 * flips + shift)
        return alarm * _power(passes * shift, pairs, pairs, limit)

    if claims == 0 or stored == 0 or found(1.0) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if found(middle) < power else (low, middle)
    return high


def _power(shift: float, null: float, spread: float, alpha: float) -> float:
    """P(a normal count with this mean and variance ``spread`` exceeds the level-alpha limit under ``null``)."""
    if spread <= 0:
        return 0.0
    return _NORMAL.cdf((shift - 0.5 - _NORMAL.inv_cdf(1 - alpha) * sqrt(null)) / sqrt(spread))
