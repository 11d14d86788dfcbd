"""autoevals and Braintrust: data sets and experiment rows (JSON, JSON Lines).

A data set that tests a judge has ``{input: {input, output, expected}, expected: 0|1}``; the outer ``expected`` is the
verdict. A row of an experiment has ``{input, output, expected}``, where ``expected`` is the reference and the verdict a
label in the metadata. Scores are a judge's and are not taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader_gate.suite.importers.base import (
    ANSWER_KEYS,
    QUESTION_KEYS,
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
    """Import a data set or an experiment.

    :raises LocatedError: it cannot be parsed, or holds no list of rows.
    """
    return collect(rows_of(data, name, "data", "events", "rows"), _case)


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = mapping(row.get("metadata"))
    if row.get("error"):
        raise RowSkipped("the run had an error here")
    given = row.get("input")
    verdict = label_in(metadata)
    if isinstance(given, Mapping) and "output" in given:
        question, answer, reference = given.get("input"), given.get("output"), given.get("expected")
        verdict = row.get("expected") if verdict is None else verdict
    else:
        question = pick(given, QUESTION_KEYS, "the question") if isinstance(given, Mapping) else given
        output = row.get("output")
        answer = pick(output, ANSWER_KEYS, "the answer") if isinstance(output, Mapping) else output
        reference = row.get("expected")
    return case(
        "braintrust",
        ident=row.get("id"),
        question=question,
        answer=answer,
        verdict=verdict,
        reference=reference,
        tags=words(row.get("tags")),
        metadata=metadata,
    )
