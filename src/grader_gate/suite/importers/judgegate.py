"""judgegate, drift-sentinel, evalgate: labelled judgements as JSON Lines.

``{id, input, output, human_label, judge_label}`` becomes a case. A comparison, ``{id, input, output_a, output_b,
human_label: a|b}``, becomes a ladder of two rungs, the preferred answer above; ties are skipped, for a ladder cannot
say them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader_gate.model import digest
from grader_gate.suite.importers.base import (
    LABEL_KEYS,
    Imported,
    RowSkipped,
    case,
    collect,
    label_in,
    mapping,
    pick,
    rows_of,
    text_of,
    words,
)

_USED = frozenset({"id", "input", "output", "output_a", "output_b", "tags", "metadata", "reference", "expected_output"})


def read(data: bytes, name: str) -> Imported:
    """Import a file of judgements.

    :raises LocatedError: it cannot be parsed, or holds no list of rows.
    """
    return collect(rows_of(data, name, "items", "data"), _entry)


def _entry(row: Mapping[str, Any]) -> dict[str, Any]:
    label = label_in(row)
    metadata = {**mapping(row.get("metadata")), **{key: row[key] for key in row if key not in _USED}}
    reference = pick(row, ("reference", "expected_output"), "the reference")
    if "output_a" in row or "output_b" in row:
        return _pair(row, label, reference, metadata)
    return case(
        "judgegate",
        ident=row.get("id"),
        question=row.get("input"),
        answer=row.get("output"),
        verdict=label,
        reference=reference,
        tags=words(row.get("tags")),
        metadata=metadata,
    )


def _pair(row: Mapping[str, Any], label: Any, reference: Any, metadata: Mapping[str, Any]) -> dict[str, Any]:
    question = text_of(row.get("input"), "the question")
    answers = {side: text_of(row.get(f"output_{side}"), f"output_{side}") for side in "ab"}
    if not question or not question.strip():
        raise RowSkipped("no question")
    if answers["a"] is None or answers["b"] is None:
        raise RowSkipped("a comparison needs `output_a` and `output_b`")
    better = str(label).strip().lower() if label is not None else ""
    if better not in answers:
        raise RowSkipped(f"the label {label!r} prefers neither a nor b" if label is not None else "no human label")
    worse = "b" if better == "a" else "a"
    if answers["a"] == answers["b"]:
        raise RowSkipped("both answers are the same text")
    name = row.get("id") if isinstance(row.get("id"), str | int) else None
    kept = {key: value for key, value in metadata.items() if value is not None and key not in LABEL_KEYS}
    ladder = {
        "id": str(name) if name is not None else f"judgegate-{digest('import', question, answers)[:12]}",
        "question": question,
        "reference": text_of(reference, "the reference"),
        "rungs": [{"level": 0, "answer": answers[worse]}, {"level": 1, "answer": answers[better]}],
        "tags": words(row.get("tags")),
        "metadata": kept,
    }
    return {key: value for key, value in ladder.items() if value not in (None, [], {})}
