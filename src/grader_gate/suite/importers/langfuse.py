"""Langfuse: data set items and traces (JSON, JSON Lines).

The verdict is a score with source ``ANNOTATION``, or a label in the metadata. Several annotations under one name are
the labels of several raters. Scores with source ``EVAL`` or ``API`` are a judge's and are not taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader_gate.suite.entry import verdict_word
from grader_gate.suite.importers.base import (
    ANSWER_KEYS,
    QUESTION_KEYS,
    REFERENCE_KEYS,
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


def read(data: bytes, name: str) -> Imported:
    """Import an export.

    :raises LocatedError: it cannot be parsed, or holds no list of rows.
    """
    return collect(rows_of(data, name, "data", "items"), _case)


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("status") == "ARCHIVED":
        raise RowSkipped("the item is archived")
    metadata = mapping(row.get("metadata"))
    labels = _annotations(row)
    verdict = label_in(metadata)
    if verdict is None and len(labels) == 1:
        verdict = next(iter(labels.values()))
    return case(
        "langfuse",
        ident=row.get("id"),
        question=_inner(row.get("input"), QUESTION_KEYS, "the question"),
        answer=_inner(row.get("output"), ANSWER_KEYS, "the answer"),
        verdict=verdict,
        labels=labels if len(labels) > 1 else None,
        reference=_inner(row.get("expectedOutput"), (*REFERENCE_KEYS, *ANSWER_KEYS), "the reference"),
        tags=words(row.get("tags") or metadata.pop("tags", None)),
        source=row.get("datasetName") if isinstance(row.get("datasetName"), str) else None,
        metadata=metadata,
    )


def _inner(value: Any, keys: tuple[str, ...], what: str) -> Any:
    """The text in a structured input: its messages, or the one usual key it has."""
    if isinstance(value, Mapping):
        if isinstance(value.get("messages"), list):
            return value["messages"]
        found = pick(value, keys, what)
        return value if found is None else found
    return value


def _annotations(row: Mapping[str, Any]) -> dict[str, str]:
    """Verdicts of people by rater."""
    scores = row.get("scores")
    scores = scores if isinstance(scores, list) else []
    people = [score for score in scores if isinstance(score, Mapping) and score.get("source") == "ANNOTATION"]
    names = sorted({str(score.get("name")) for score in people})
    if len(names) > 1:
        raise RowSkipped(f"people annotated {', '.join(names)}: which one is the verdict cannot be told")
    labels: dict[str, str] = {}
    for number, score in enumerate(people, 1):
        value = score.get("stringValue")
        word = verdict_word(score.get("value") if value is None else value)
        if word is None:
            raise RowSkipped(f"the annotation {score.get('stringValue') or score.get('value')!r} is no verdict")
        rater = str(score.get("authorUserId") or f"rater {number}")
        if labels.setdefault(rater, word) != word:
            raise RowSkipped(f"the rater {rater} gave two verdicts")
    return labels
