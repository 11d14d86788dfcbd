"""From error rates to what a grader may decide: a role for the contract, and slices where it should differ. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, log1p
from typing import TYPE_CHECKING

from grader_gate.audits.calibration_records import (
    ErrorShare,
    Evidence,
    SliceCalibration,
    SuggestedSlice,
    Suggestion,
)
from grader_gate.decision.statistics import CONFIDENCE
from grader_gate.model import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRENGTH = (Role.GATE, Role.SCREEN, Role.ABSTAIN)


def suggested_role(accept: ErrorShare, reject: ErrorShare, unmeasured: int, acceptable: float) -> tuple[Role, str]:
    """The role that the evidence supports, and why in words.

    ``gate``: the upper bounds of both error rates are at most ``acceptable``, and every case was measured.
    ``abstain``: the lower bound of one exceeds it. ``screen``: anything else.
    """
    rates = (("false accepts", accept), ("false rejects", reject))
    above = [_words(name, rate) for name, rate in rates if rate.evidence is Evidence.ABOVE]
    if above:
        return Role.ABSTAIN, f"{' and '.join(above)}: proven above {_percent(acceptable)}"
    open_ = [_words(name, rate) for name, rate in rates if rate.evidence is Evidence.UNPROVEN]
    if open_:
        words = f"{' and '.join(open_)}: not proven to be at most {_percent(acceptable)}"
        return Role.SCREEN, words + _missing([rate for _, rate in rates], acceptable)
    both = " and ".join(_words(name, rate) for name, rate in rates)
    if unmeasured:
        return Role.SCREEN, f"{both}: within {_percent(acceptable)}, but {unmeasured} cases were not measured"
    return Role.GATE, f"{both}: within {_percent(acceptable)}"


def cases_needed(acceptable: float) -> int | None:
    """Cases without any error after which the upper 95 % bound of an error rate is at most ``acceptable``.

    From (1 - p)^n = 0.025, the exact bound at k = 0 (Clopper and Pearson 1934). None: no number is enough.
    """
    if acceptable <= 0:
        return None
    if acceptable >= 1:
        return 1
    return ceil(log((1 - CONFIDENCE) / 2) / log1p(-acceptable) - 1e-9)


def suggest(overall: SliceCalibration, slices: Sequence[SliceCalibration], acceptable: float) -> Suggestion:
    """Role and slices for the contract.

    A slice gets its own role where its evidence supports another one than that of all cases. One that is unproven only
    because it has too few cases inherits: every rare tag would otherwise be taken out of a gate that is proven as a
    whole, or lifted out of an ``abstain``. Errors seen more often than acceptable take it out of a gate all the same.
    The last matching slice wins, so the weakest roles come last.
    """
    own: list[SuggestedSlice] = []
    inherits: list[SuggestedSlice] = []
    for part in slices:
        if part.suggested is overall.suggested:
            continue
        few = part.suggested is Role.SCREEN and _too_few(part, overall.suggested, acceptable)
        into = inherits if few else own
        into.append(SuggestedSlice(tags=part.tags, role=part.suggested, why=part.why))
    own.sort(key=lambda part: (_STRENGTH.index(part.role), part.tags))
    inherits.sort(key=lambda part: part.tags)
    return Suggestion(role=overall.suggested, why=overall.why, slices=tuple(own), inherits=tuple(inherits))


def _too_few(part: SliceCalibration, around: Role, acceptable: float) -> bool:
    """Whether no result could have proven this slice and what was seen does not speak against its inheriting."""
    rates = (part.false_accept, part.false_reject)
    if around is Role.GATE and (part.unmeasured or any(_seen(rate) > acceptable for rate in rates)):
        return False
    least = cases_needed(acceptable)
    return least is None or any(rate.n + rate.unusable < least for rate in rates)


def _missing(rates: Sequence[ErrorShare], acceptable: float) -> str:
    """How many cases could prove it, where there are fewer."""
    least = cases_needed(acceptable)
    if least is None:
        return "; no number of cases can prove an error of 0"
    if all(rate.n + rate.unusable >= least for rate in rates):
        return ""
    return f"; it takes at least {least} cases that people call correct and {least} that they do not, without an error"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _seen(rate: ErrorShare) -> float:
    n = rate.n + rate.unusable
    return (rate.k + rate.unusable) / n if n else 0.0


def _words(name: str, rate: ErrorShare) -> str:
    return " ".join(_parts(name, rate))


def _parts(name: str, rate: ErrorShare) -> Iterator[str]:
    if rate.n == 0:
        yield f"{name} unknown (n = 0)"
    else:
        yield f"{name} {rate.k} of {rate.n} ({_percent(rate.low)} to {_percent(rate.high)})"
    if rate.unusable:
        yield f"beside {rate.unusable} unusable replies, which count as errors here"
