"""The short forms of a rubric and of sources, which cases and ladders share."""

from __future__ import annotations

from typing import Any

from grader_gate.documents import Key
from grader_gate.model import Criterion, Rubric, SourceText
from grader_gate.suite.entry import Entry


def rubric_of(entry: Entry) -> Rubric | None:
    """The rubric of an entry: a text, ``{file: PATH}``, a list of criteria, or ``{text, criteria}``.

    ``path`` is set where the text came from a file.

    :raises SuiteError: none of these forms, or an empty rubric.
    """
    value = entry.values.get("rubric")
    if value is None:
        return None
    if isinstance(value, list):
        return Rubric(criteria=_criteria(entry, value, "rubric"))
    if isinstance(value, dict) and "file" not in value:
        for key in value:
            if key not in ("text", "criteria"):
                raise entry.error("unknown key; a rubric has `text` and `criteria`, or `file`", "rubric", key)
        text = value.get("text")
        criteria = value.get("criteria")
        rubric = Rubric(
            text="" if text is None else entry.as_text(text, "rubric", "text"),
            criteria=() if criteria is None else _criteria(entry, criteria, "rubric", "criteria"),
        )
        if not rubric.criteria and not rubric.text.strip():
            raise entry.error("is empty: give `text`, `criteria` or `file`", "rubric")
        return rubric
    text, path = entry.as_text_or_file(value, "rubric")
    if not text.strip():
        raise entry.error("is empty" if path is None else f"{path} is empty", "rubric")
    return Rubric(text=text, path=path)


def _criteria(entry: Entry, value: Any, *keys: Key) -> tuple[Criterion, ...]:
    if not isinstance(value, list) or not value:
        raise entry.error("must be a list of criteria, each text or `{criterion, weight}`", *keys)
    return tuple(_criterion(entry, one, *keys, index) for index, one in enumerate(value))


def _criterion(entry: Entry, value: Any, *keys: Key) -> Criterion:
    if not isinstance(value, dict):
        text, weight = entry.as_text(value, *keys), None
    else:
        for key in value:
            if key not in ("criterion", "weight"):
                raise entry.error("unknown key; a criterion has `criterion` and `weight`", *keys, key)
        if value.get("criterion") is None:
            raise entry.error("missing: say what the criterion asks", *keys, "criterion")
        text = entry.as_text(value["criterion"], *keys, "criterion")
        weight = value.get("weight")
        if weight is not None and (isinstance(weight, bool) or not isinstance(weight, int | float) or weight <= 0):
            raise entry.error("must be a number above 0", *keys, "weight")
    if not text.strip():
        raise entry.error("is empty", *keys)
    return Criterion(criterion=text, weight=1.0 if weight is None else float(weight))


def sources_of(entry: Entry) -> tuple[SourceText, ...]:
    """Documents an answer may cite: ``{ID: TEXT}``, a list of ``{id, text}``, or a list of texts numbered from 1.

    A text may be ``{file: PATH}``; in the list form ``file`` may stand in the place of ``text``.

    :raises SuiteError: none of these forms, or an id that stands twice.
    """
    value = entry.values.get("sources")
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple(
            SourceText(id=name, text=entry.as_text_or_file(text, "sources", name)[0]) for name, text in value.items()
        )
    if not isinstance(value, list):
        raise entry.error("must be a mapping of ids to texts, or a list", "sources")
    found: dict[str, SourceText] = {}
    for index, one in enumerate(value):
        source = _source(entry, one, index)
        if source.id in found:
            raise entry.error(f"the id `{source.id}` stands twice: give each source its own", "sources", index)
        found[source.id] = source
    return tuple(found.values())


def _source(entry: Entry, value: Any, index: int) -> SourceText:
    place: tuple[Key, ...] = ("sources", index)
    if not isinstance(value, dict):
        return SourceText(id=str(index + 1), text=entry.as_text(value, *place))
    for key in value:
        if key not in ("id", "text", "file"):
            raise entry.error("unknown key; a source has `id` and `text` or `file`", *place, key)
    if value.get("id") is None:
        raise entry.error("missing: give each source an `id`", *place, "id")
    name = entry.as_text(value["id"], *place, "id")
    if (value.get("text") is None) == (value.get("file") is None):
        raise entry.error("give `text` or `file`, one of the two", *place)
    if value.get("text") is not None:
        return SourceText(id=name, text=entry.as_text_or_file(value["text"], *place, "text")[0])
    return SourceText(id=name, text=entry.as_text_or_file({"file": value["file"]}, *place)[0])
