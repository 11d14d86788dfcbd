"""ragas: evaluation rows (``user_input``, ``response``, ``reference``) and judge alignment files (``question``,
``grading_notes``, ``response``, ``target``: pass or fail), as CSV, JSON or JSON Lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader_gate.suite.importers.base import Imported, RowSkipped, case, collect, label_in, pick, rows_of, words

_USED = frozenset(
    {
        "id",
        "user_input",
        "question",
        "response",
        "reference",
        "retrieved_contexts",
        "grading_notes",
        "target",
        "rubrics",
        "tags",
    }
)


def read(data: bytes, name: str) -> Imported:
    """Import a data set or an alignment file.

    :raises LocatedError: it cannot be parsed, or holds no list of rows.
    """
    return collect(rows_of(data, name, "samples", "data"), _case)


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    label = label_in(row)
    contexts = row.get("retrieved_contexts")
    if isinstance(row.get("user_input"), list) and len(row["user_input"]) > 1:
        raise RowSkipped("a conversation of several turns has no single answer")
    return case(
        "ragas",
        ident=row.get("id"),
        question=pick(row, ("user_input", "question"), "the question"),
        answer=row.get("response"),
        verdict=row.get("target") if label is None else label,
        reference=row.get("reference"),
        rubric=_rubric(row),
        sources=[text for text in contexts if isinstance(text, str)] if isinstance(contexts, list) else [],
        tags=words(row.get("tags")),
        metadata={key: value for key, value in row.items() if key not in _USED},
    )


def _rubric(row: Mapping[str, Any]) -> str | None:
    notes, scores = row.get("grading_notes"), row.get("rubrics")
    if isinstance(notes, str) and notes.strip():
        return notes
    if isinstance(scores, Mapping) and scores:
        return "\n".join(f"{name}: {text}" for name, text in sorted(scores.items()))
    return None
