"""deepeval: datasets of goldens and test runs (JSON, JSON Lines, CSV), in snake or camel case.

deepeval has no field for a human verdict; by convention it is ``expected_verdict`` (or another of
:data:`~grader_gate.suite.importers.base.LABEL_KEYS`) in ``additional_metadata``. ``success`` is the metric's own say
and is not taken for a label.
"""

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

_CONTEXT_SEPARATOR = "|"
"""What deepeval joins the contexts of a CSV cell with by default."""


def read(data: bytes, name: str) -> Imported:
    """Import a deepeval file.

    :raises LocatedError: it cannot be parsed, or holds no list of rows.
    """
    return collect(rows_of(data, name, "testCases", "test_cases", "goldens"), _case)


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("turns") or row.get("scenario"):
        raise RowSkipped("a conversation of several turns has no single answer")
    metadata = {
        **mapping(row.get("metadata")),
        **mapping(row.get("additionalMetadata")),
        **mapping(row.get("additional_metadata")),
    }
    source = pick(row, ("source_file", "sourceFile"), "the source")
    return case(
        "deepeval",
        ident=metadata.pop("id", None) or row.get("id") or row.get("name"),
        question=row.get("input"),
        answer=pick(row, ("actual_output", "actualOutput"), "the answer"),
        verdict=label_in(metadata, row),
        reference=pick(row, ("expected_output", "expectedOutput"), "the reference"),
        sources=_contexts(row),
        tags=words(row.get("tags") or metadata.pop("tags", None)),
        source=source if isinstance(source, str) else None,
        metadata={**metadata, "comments": row.get("comments")},
    )


def _contexts(row: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for key in ("retrieval_context", "retrievalContext", "context"):
        value = row.get(key)
        texts = value.split(_CONTEXT_SEPARATOR) if isinstance(value, str) else value if isinstance(value, list) else []
        found += [text for text in texts if isinstance(text, str) and text not in found]
    return found
