"""rubric-bench: sets ``{name, version, cases: [{id, question: {prompt, model_answer, rubric}, answer, expected}]}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader_gate.suite.importers.base import (
    Imported,
    RowSkipped,
    case,
    collect,
    label_in,
    mapping,
    pick,
    rows_of,
    words,
)

_REFERENCE = ("model_answer", "modelAnswer", "reference")


def read(data: bytes, name: str) -> Imported:
    """Import a set.

    :raises LocatedError: it cannot be parsed, or holds no list of cases.
    """
    return collect(rows_of(data, name, "cases"), _case)


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    question = row.get("question")
    parts = {**row, **question} if isinstance(question, Mapping) else {**row, "prompt": question}
    expected = pick(row, ("expected", "verdict"), "the verdict")
    return case(
        "rubric-bench",
        ident=row.get("id"),
        question=parts.get("prompt"),
        answer=pick(row, ("answer", "studentAnswer", "student_answer"), "the answer"),
        verdict=label_in(row) if expected is None else expected,
        reference=pick(parts, _REFERENCE, "the reference"),
        rubric=_rubric(parts.get("rubric")),
        tags=words(row.get("tags")),
        metadata=mapping(row.get("metadata")),
    )


def _rubric(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str | Mapping) for one in value):
        return [one if isinstance(one, str) else _criterion(one) for one in value]
    raise RowSkipped("the rubric is neither text nor a list of criteria")


def _criterion(value: Mapping[str, Any]) -> dict[str, Any]:
    text, weight = value.get("criterion"), value.get("weight", 1)
    if not isinstance(text, str) or isinstance(weight, bool) or not isinstance(weight, int | float) or weight <= 0:
        raise RowSkipped("a criterion needs a text and a weight above 0")
    return {"criterion": text, "weight": weight}
