"""Which rubric file head uses for a case of base: a rubric in a file belongs to the grader, whatever its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from grader_gate.model import GoldenCase, Ladder, Suite

T = TypeVar("T", GoldenCase, Ladder)


def with_rubrics_of(base: Suite, head: Suite | None, default: str | None) -> Suite:
    """Base's suite, its rubric files named as head names them: a case is the same one where head only points it at
    another file, so that a weaker rubric under a new name is measured like an edit of the old one.

    Texts stay base's; only paths change, and the grading side reads them anew. A case that head moves to a rubric
    written in the case itself is an edited case, and keeps its path.

    :param head: the suite of head, None where it is gone.
    :param default: the rubric file of head's grader, for cases that lost their own.
    """
    if head is None or not any(one.rubric is not None and one.rubric.path is not None for one in _all(base)):
        return base
    cases = _retargeted(base.cases, {one.id: one for one in head.cases}, default)
    ladders = _retargeted(base.ladders, {one.id: one for one in head.ladders}, default)
    return Suite(name=base.name, cases=cases, ladders=ladders, files=base.files)


def _all(suite: Suite) -> list[GoldenCase | Ladder]:
    return [*suite.cases, *suite.ladders]


def _retargeted(base: Sequence[T], head: Mapping[str, T], default: str | None) -> list[T]:
    made = []
    for one in base:
        path = None if one.rubric is None else one.rubric.path
        other = head.get(one.id)
        if path is not None and other is not None and _texts(one) == _texts(other):
            now = default if other.rubric is None else other.rubric.path
            if now is not None and now != path and one.rubric is not None:
                one = one.model_copy(update={"rubric": one.rubric.model_copy(update={"path": now})})
        made.append(one)
    return made


def _texts(one: GoldenCase | Ladder) -> tuple[object, ...]:
    """What is graded, without the rubric."""
    answers = one.answer if isinstance(one, GoldenCase) else tuple((r.level, r.answer) for r in one.rungs)
    return one.question, one.reference, answers, tuple((s.id, s.text) for s in one.sources)
