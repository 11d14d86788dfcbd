"""inspect_ai: data sets (CSV, JSON, JSON Lines) and logs (``.json``, ``.eval``).

The answer is a log's output, or ``answer``, ``output`` or ``completion`` in a sample's metadata. The verdict is a label
in the metadata, or a score whose scorer is named for a person (``human``, ``human_grader``). Scores of models are not
taken.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from grader_gate.documents import MAX_BYTES, read_document
from grader_gate.suite.importers.base import (
    ANSWER_KEYS,
    Imported,
    ImportFileError,
    RowSkipped,
    case,
    collect,
    label_in,
    mapping,
    pick,
    rows_of,
    words,
)

MAX_UNPACKED = 10 * MAX_BYTES
"""Most bytes all samples of an ``.eval`` log may unpack to."""

_GRADES = {"C": "correct", "P": "partial", "I": "incorrect"}
"""inspect_ai's words for grades; ``N``, no answer, is none."""


def read(data: bytes, name: str) -> Imported:
    """Import a data set or a log.

    :raises LocatedError: it cannot be parsed or unpacked, or holds no samples.
    """
    rows = _unpack(data, name) if name.lower().endswith(".eval") else rows_of(data, name, "samples")
    return collect(rows, _case)


def _unpack(data: bytes, name: str) -> list[Any]:
    rows: list[Any] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [m for m in archive.infolist() if m.filename.startswith("samples/") and not m.is_dir()]
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise ImportFileError(f"unpacks to more than {MAX_UNPACKED // 1_000_000} MB: split it", path=name)
            # zipfile never reads more than the size a member declares.
            members.sort(key=lambda member: member.filename)
            rows = [read_document(archive.read(one), f"{name}/{one.filename}").value for one in members]
    except NotImplementedError:
        hint = "`inspect log convert --to json` writes one that is"
        raise ImportFileError(f"its compression is not supported here: {hint}", path=name) from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError) as error:
        raise ImportFileError(f"not a readable log: {error}", path=name) from None
    if not rows:
        raise ImportFileError("the log holds no samples", path=name)
    return rows


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = mapping(row.get("metadata"))
    if row.get("error"):
        raise RowSkipped("the run had an error here")
    if (epoch := row.get("epoch", 1)) != 1:
        raise RowSkipped(f"epoch {epoch} repeats a sample")
    verdict = label_in(metadata, row)
    output = _output(row)
    answer = pick(metadata, ANSWER_KEYS, "the answer") if output is None else output
    target = row.get("target")
    return case(
        "inspect",
        ident=row.get("id"),
        question=row.get("input"),
        answer=answer,
        verdict=_human(row) if verdict is None else verdict,
        reference=target[0] if isinstance(target, list) and len(target) == 1 else target or None,
        tags=words(metadata.pop("tags", None)),
        metadata={key: value for key, value in metadata.items() if output is not None or key not in ANSWER_KEYS},
    )


def _output(row: Mapping[str, Any]) -> Any:
    output = mapping(row.get("output"))
    choices = output.get("choices")
    if isinstance(choices, list) and choices:
        return mapping(mapping(choices[0]).get("message")).get("content")
    return output.get("completion")


def _human(row: Mapping[str, Any]) -> Any:
    found = {
        _GRADES.get(str(value), value)
        for name, score in mapping(row.get("scores")).items()
        if "human" in name.lower() and isinstance(value := mapping(score).get("value"), str | int | float)
    }
    if len(found) > 1:
        raise RowSkipped("the scores of people disagree")
    return found.pop() if found else None
