"""What all importers share: reading rows, finding texts and labels, and saying why a row was left out.

An importer never guesses. A row without an answer or without a human verdict is listed as skipped, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader_gate.documents import decode, read_document
from grader_gate.errors import LocatedError
from grader_gate.model import canonical_json, digest
from grader_gate.suite.entry import verdict_word

LABEL_KEYS = ("expected_verdict", "expected_label", "human_verdict", "human_label", "label")
"""Keys that hold a human verdict by convention, in every tool's free metadata."""

QUESTION_KEYS = ("question", "input", "query", "user_input", "prompt")
ANSWER_KEYS = ("answer", "output", "response", "completion", "student_answer", "studentAnswer", "actual_output")
REFERENCE_KEYS = ("reference", "reference_answer", "model_answer", "expected_output", "ideal")


class ImportFileError(LocatedError):
    """A file that is not of the format it was said to be."""


class RowSkipped(Exception):
    """This row cannot become a case; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that was left out.

    :ivar row: its number in the file, from 1.
    """

    row: int
    reason: str


@dataclass(slots=True)
class Imported:
    """What a file held: cases and ladders in our form, and the rows left out."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ladders: list[dict[str, Any]] = field(default_factory=list)


def collect(rows: Iterable[Any], convert: Callable[[Any], dict[str, Any]]) -> Imported:
    """Convert each row; an entry with ``rungs`` is a ladder. An id that came before is skipped."""
    imported = Imported()
    seen: dict[tuple[bool, str], int] = {}
    for number, row in enumerate(rows, 1):
        try:
            if not isinstance(row, Mapping):
                raise RowSkipped("the row is no mapping of keys to values")
            entry = convert(row)
            is_ladder = "rungs" in entry
            first = seen.setdefault((is_ladder, entry["id"]), number)
            if first != number:
                raise RowSkipped(f"the id {entry['id']!r} stands in row {first} already")
        except RowSkipped as reason:
            imported.skipped.append(Skipped(number, str(reason)))
        else:
            (imported.ladders if is_ladder else imported.cases).append(entry)
    return imported


def to_jsonl(entries: Iterable[Mapping[str, Any]]) -> str:
    """Cases or ladders as a JSON Lines file that the loader reads."""
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


# ---------------------------------------------------------------- reading


def read_value(data: bytes, name: str) -> Any:
    """The plain value of a YAML, JSON, JSON Lines or CSV file.

    :raises LocatedError: it cannot be parsed.
    """
    return read_csv(data, name) if name.lower().endswith(".csv") else read_document(data, name).value


def read_csv(data: bytes, name: str) -> list[dict[str, str]]:
    """Rows of a CSV file with a header.

    :raises ImportFileError: no header, a column named twice, or a row with more cells than columns.
    """
    import csv
    import io

    reader = csv.DictReader(io.StringIO(decode(data, name), newline=""), strict=True)
    rows: list[dict[str, str]] = []
    try:
        columns = reader.fieldnames
        if not columns:
            raise ImportFileError("the file is empty: a header line with column names is needed", path=name, line=1)
        if len(set(columns)) != len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            raise ImportFileError("the column stands twice: rename one", path=name, line=1, key=twice)
        for row in reader:
            if None in row:
                message = "the row has more cells than the header: quote cells that hold commas"
                raise ImportFileError(message, path=name, line=reader.line_num)
            rows.append({key: value for key, value in row.items() if value is not None and value != ""})
    except csv.Error as error:
        raise ImportFileError(f"not valid CSV: {error}", path=name, line=reader.line_num) from None
    return rows


def rows_of(data: bytes, name: str, *containers: str) -> list[Any]:
    """The rows of a file: its top-level list, or the first list under one of the keys ``containers``.

    :raises ImportFileError: neither is there.
    """
    value = read_value(data, name)
    if isinstance(value, dict):
        for key in containers:
            if isinstance(value.get(key), list):
                return list(value[key])
    if not isinstance(value, list):
        expected = " or ".join(["a list", *(f"a mapping with the list `{key}`" for key in containers)])
        raise ImportFileError(f"must be {expected}: is it another tool's file?", path=name, line=1)
    return value


# ---------------------------------------------------------------- parts of a row


def mapping(value: Any) -> dict[str, Any]:
    """A mapping as it is, or from JSON text as CSV exports hold it; empty for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return dict(value) if isinstance(value, Mapping) else {}


def text_of(value: Any, what: str) -> str | None:
    """A text, a number as text, or chat messages as text; None where absent.

    One message gives its content; several give ``role: content`` paragraphs. A mapping that holds one of the usual
    keys for what is sought gives that.

    :raises RowSkipped: pictures, tools or other structures, which have no single text.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return canonical_json(value)
    if isinstance(value, list) and value and all(isinstance(part, Mapping) and "content" in part for part in value):
        texts = [(str(part.get("role", "user")), _content(part["content"], what)) for part in value]
        return texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)
    if isinstance(value, Mapping) and "content" in value:
        return _content(value["content"], what)
    raise RowSkipped(f"{what} is no single text")


def _content(value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(p, Mapping) and isinstance(p.get("text"), str) for p in value):
        return "".join(part["text"] for part in value)
    raise RowSkipped(f"{what} holds something that is no text")


def pick(values: Mapping[str, Any], keys: Sequence[str], what: str) -> Any:
    """The value of the one key of ``keys`` that is there; None where none is.

    :raises RowSkipped: several are there and differ.
    """
    found = {key: values[key] for key in keys if values.get(key) is not None}
    first = next(iter(found.values()), None)
    if any(value != first for value in found.values()):
        raise RowSkipped(f"{what} could be any of {', '.join(f'`{key}`' for key in found)}")
    return first


def label_in(*places: Mapping[str, Any]) -> Any:
    """The human verdict in free metadata, under one of :data:`LABEL_KEYS`.

    :raises RowSkipped: two of them disagree.
    """
    found = [(key, place[key]) for place in places for key in LABEL_KEYS if place.get(key) is not None]
    words = {verdict_word(value) or str(value) for _, value in found}
    if len(words) > 1:
        raise RowSkipped(f"the labels {', '.join(f'`{key}`' for key, _ in found)} disagree")
    return found[0][1] if found else None


def words(value: Any) -> list[str]:
    """A list of texts, or a text with commas, as tags come; blanks and structures are dropped."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    parts = value if isinstance(value, list) else []
    return [text for part in parts if isinstance(part, str | int) and (text := str(part).strip())]


def case(
    tool: str,
    *,
    ident: Any = None,
    question: Any = None,
    answer: Any = None,
    verdict: Any = None,
    labels: Mapping[str, str] | None = None,
    reference: Any = None,
    metadata: Mapping[str, Any] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """A case in our form, empty fields left out.

    :param ident: the id. Without one the case gets one from its content, ``TOOL-…``, which stays as
        long as the content does.

    :raises RowSkipped: no question, no answer, or no verdict that is one of ours.
    """
    asked = text_of(question, "the question")
    if asked is None or not asked.strip():
        raise RowSkipped("no question")
    answered = text_of(answer, "the answer")
    if answered is None:
        raise RowSkipped("no answer to grade")
    expected = None if verdict is None else verdict_word(verdict)
    if verdict is not None and expected is None:
        raise RowSkipped(f"the label {str(verdict)[:60]!r} is no verdict: correct, partial, incorrect, pass or fail")
    if expected is None and not labels:
        raise RowSkipped(f"no human verdict (in `{'`, `'.join(LABEL_KEYS)}`)")
    right = text_of(reference, "the reference")
    name = str(ident).strip() if isinstance(ident, str | int) and not isinstance(ident, bool) else ""
    if not name or not name.isprintable() or len(name) > 200:
        name = f"{tool}-{digest('import', asked, right, answered)[:12]}"
    kept = {key: value for key, value in (metadata or {}).items() if value is not None and key not in LABEL_KEYS}
    fields = {
        "id": name,
        "question": asked,
        "reference": right if right and right.strip() else None,
        **others,
        "answer": answered,
        "expected": expected,
        "labels": dict(labels) if labels else None,
        "metadata": kept,
    }
    return {key: value for key, value in fields.items() if value is not None and value not in ([], {}, ())}
