"""openai/evals: samples (JSON Lines) with ``input``, ``ideal``, ``completion`` and, for meta-evaluation, ``choice``.

Rows of the hosted API, ``{item: {…}, sample: {…}}``, are read alike. ``choice`` counts where it is a verdict word, Y or
N; a letter of a model-graded specification means nothing without it, so such a row is skipped.
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
    text_of,
    words,
)

_CHOICES = {"y": "correct", "yes": "correct", "n": "incorrect", "no": "incorrect"}
_USED = frozenset({"id", "input", "ideal", "completion", "choice", "tags", "output", "output_text"})


def read(data: bytes, name: str) -> Imported:
    """Import a file of samples.

    :raises LocatedError: it cannot be parsed, or holds no list of rows.
    """
    return collect(rows_of(data, name, "data", "samples"), _case)


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    item = {**row, **mapping(row.get("item"))}
    sample = mapping(item.pop("sample", None))
    item.pop("item", None)
    verdict = label_in(item)
    if verdict is None and (choice := item.get("choice")) is not None:
        verdict = _CHOICES.get(str(choice).strip().lower(), choice)
    return case(
        "openai-evals",
        ident=item.get("id"),
        question=item.get("input"),
        answer=_one(pick({**item, **sample}, ("completion", "output_text", "output"), "the answer"), "the answer"),
        verdict=verdict,
        reference=_one(item.get("ideal"), "`ideal`"),
        tags=words(item.get("tags")),
        metadata={key: value for key, value in item.items() if key not in _USED},
    )


def _one(value: Any, what: str) -> str | None:
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        if len(value) > 1:
            raise RowSkipped(f"{what} holds {len(value)} texts: which one counts cannot be told")
        return str(value[0])
    return text_of(value, what)
