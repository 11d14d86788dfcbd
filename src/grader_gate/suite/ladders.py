"""From one mapping of a file to a ladder: rungs in order, each level and answer as it was claimed."""

from __future__ import annotations

from typing import Any

from grader_gate.model import Ladder, Rung
from grader_gate.suite.cases import (
    ANSWER_SPELLINGS,
    TEXT_SPELLINGS,
    question_of,
    reference_of,
    tags_of,
    unfold_question,
)
from grader_gate.suite.entry import Entry, spellings
from grader_gate.suite.rubrics import rubric_of, sources_of

LADDER_KEYS = spellings(
    {
        "id": (),
        **TEXT_SPELLINGS,
        "rubric": (),
        "rungs": (),
        "tags": (),
        "sources": (),
        "source": (),
        "metadata": (),
    }
)
"""Every key a ladder may have → the field it means."""

RUNG_KEYS = spellings({"level": (), "answer": ANSWER_SPELLINGS, "id": (), "defect": (), "evidence": (), "metadata": ()})
"""Every key a rung may have → the field it means."""


def parse_ladder(entry: Entry) -> Ladder:
    """A ladder, its rungs sorted lowest first; rungs without levels get their order in the file.

    What a rung says beside its fields is kept in the ladder's metadata under ``rungs``, in the order of the rungs.

    :raises SuiteError: fewer than two rungs or distinct levels, levels for some rungs only, one answer on two levels,
        or a field that is missing or of the wrong form.
    """
    name = entry.identifier()
    unfold_question(entry)
    rungs, extras = _rungs(entry)
    metadata = entry.metadata
    if any(extras):
        metadata = {**metadata, "rungs": extras}
    return Ladder(
        id=name,
        question=question_of(entry),
        reference=reference_of(entry),
        rubric=rubric_of(entry),
        rungs=rungs,
        tags=tags_of(entry),
        sources=sources_of(entry),
        source=entry.word("source"),
        metadata=metadata,
        location=entry.location,
    )


def _rungs(entry: Entry) -> tuple[tuple[Rung, ...], list[dict[str, Any]]]:
    value = entry.values.get("rungs")
    if not isinstance(value, list):
        raise entry.error("must be a list of rungs, the worst answer first", "rungs")
    if len(value) < 2:
        raise entry.error("a ladder needs two rungs at least, better three: add a better or a worse answer", "rungs")
    key = entry.spelled.get("rungs", "rungs")
    places = [
        Entry(entry.document, (*entry.keys, key, index), one if isinstance(one, dict) else {"answer": one},
              RUNG_KEYS, entry.files)
        for index, one in enumerate(value)
    ]  # fmt: skip
    given = [place.number("level") for place in places]
    if None in given and any(level is not None for level in given):
        raise places[given.index(None)].error("missing: give each rung a level, or none of them", "level")
    rungs = [
        (_rung(place, float(index) if level is None else level), place)
        for index, (place, level) in enumerate(zip(places, given, strict=True))
    ]
    if len({rung.level for rung, _ in rungs}) < 2:
        raise entry.error("all rungs have one level: at least two levels must differ", "rungs")
    rungs.sort(key=lambda pair: pair[0].level)
    answers: dict[str, tuple[Rung, Entry]] = {}
    ids: set[str] = set()
    for rung, place in rungs:
        other = answers.setdefault(rung.answer, (rung, place))
        if other[0].level != rung.level:
            raise place.error(
                f"the same answer stands on level {other[0].level:g} (line {other[1].location.line}): "
                "one text cannot be better than itself",
                "answer",
            )
        if rung.id is not None:
            if rung.id in ids:
                raise place.error(f"the id `{rung.id}` stands twice on this ladder: give each rung its own", "id")
            ids.add(rung.id)
    return tuple(rung for rung, _ in rungs), [place.metadata for _, place in rungs]


def _rung(entry: Entry, level: float) -> Rung:
    answer = entry.text("answer")
    if answer is None:
        raise entry.error("missing: give the answer of this rung", "answer")
    return Rung(
        level=level,
        answer=answer,
        id=entry.identifier() if "id" in entry.values else None,
        defect=entry.word("defect"),
        evidence=entry.words("evidence"),
    )
