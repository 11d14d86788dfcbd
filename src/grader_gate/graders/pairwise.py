"""Graders that compare: from what they say to ``a``, ``b`` or ``tie``. Pure.

The say is read by the same rules as a verdict (see :mod:`grader_gate.graders.judgement`), so that contradictions,
abstentions and unknown words are found alike. For that, the words of the three preferences stand in for verdicts while
a reply is read, and the verdict found is turned into the preference it stands for.
"""

from __future__ import annotations

from grader_gate.config import Contract, Output
from grader_gate.errors import UsageError
from grader_gate.model import Grade, GradeVerdict, Preference

STANDS_FOR = {
    GradeVerdict.CORRECT: Preference.A,
    GradeVerdict.INCORRECT: Preference.B,
    GradeVerdict.PARTIAL: Preference.TIE,
}
"""Which preference a verdict stands for while a reply is read."""

_READ_AS = {preference: verdict for verdict, preference in STANDS_FOR.items()}


class NoPreferenceWord(UsageError):
    """The words of a comparing grader do not let it choose."""


def comparing_output(output: Output, grader: str) -> Output:
    """The reply of a comparing grader, its words for preferences in the place of those for verdicts.

    :raises NoPreferenceWord: a score is read, or there is no word for ``a`` or for ``b``.
    """
    if output.verdict is None or output.score is not None:
        raise NoPreferenceWord(
            f"graders.{grader}.output: a grader that compares answers with a `verdict` and no `score`; mend `output`"
        )
    missing = [p.value for p in (Preference.A, Preference.B) if p not in output.preferences.values()]
    if missing:
        raise NoPreferenceWord(
            f"graders.{grader}.output.preferences: no word means `{missing[0]}`; a grader must be able to choose either"
        )
    return output.model_copy(update={"verdicts": {w: _READ_AS[p] for w, p in output.preferences.items()}})


def reply_output(contract: Contract, output: Output, grader: str) -> Output:
    """How a grader's reply is read: as given, or for one that compares by :func:`comparing_output`.

    :raises NoPreferenceWord: see there.
    """
    return comparing_output(output, grader) if contract.compares else output


def as_preference(grade: Grade) -> Grade:
    """The grade with its verdict turned into the preference it stands for; errors and abstentions stay as they are."""
    if grade.verdict is None:
        return grade
    return grade.model_copy(update={"verdict": None, "score": None, "preference": STANDS_FOR[grade.verdict]})
