"""What a planned grade need not be called for: the ledger has it, or the cache, or an old reply can be judged anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grader_gate.graders.base import Grader
from grader_gate.model import Grade, LedgerRow, PlannedGrade, Purpose
from grader_gate.runs.cache import Cache
from grader_gate.runs.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Stored:
    """A grade that costs nothing.

    :ivar row: the ledger's row as it stands, where it came from there.
    """

    grade: Grade
    source: Literal["ledger", "cache"]
    row: LedgerRow | None = None


def stored(planned: PlannedGrade, grader: Grader, ledger: Ledger | None, cache: Cache | None) -> Stored | None:
    """The grade of a planned call under its present judgement, without a call; None where only a call can tell.

    Confirmations, fresh passes, noise and freezing never read the cache: they must be new.
    """
    row = None if ledger is None else ledger.get(planned)
    if row is not None:
        grade = _under(planned, row.grade, row.judgement_digest, grader)
        if grade is not None:
            return Stored(grade, "ledger", row)
    if cache is not None and planned.purpose is Purpose.SCREEN:
        found = cache.get(planned.request_digest, planned.judgement_digest, planned.repeat)
        if found is not None:
            grade = _under(planned, found.grade, found.judgement_digest, grader)
            if grade is not None:
                return Stored(grade, "cache")
    return None


def _under(planned: PlannedGrade, grade: Grade, judgement_digest: str, grader: Grader) -> Grade | None:
    return grade if judgement_digest == planned.judgement_digest else judged_anew(grade, grader)


def judged_anew(old: Grade, grader: Grader) -> Grade | None:
    """A stored grade under the grader's present judgement, without a call.

    :returns: the new verdict with the old call's usage and latency; None where only a new call can tell: no raw reply
        is kept, or it is of no use to the new parser, which a live call would answer by asking once more.
    """
    judged = None if old.raw is None else grader.judge(old.raw)
    if judged is None or judged.error is not None:
        return None
    kept = {"raw": old.raw, "usage": old.usage, "latency_s": old.latency_s, "served_model": old.served_model}
    return judged.model_copy(update=kept)
