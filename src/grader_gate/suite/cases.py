"""From one mapping of a file to a golden case: spellings, short forms, verdicts and raters."""

from __future__ import annotations

from collections import Counter
from typing import Any

from grader_gate.documents import Key
from grader_gate.model import GoldenCase, GradeVerdict
from grader_gate.suite.entry import Entry, spellings, verdict_word
from grader_gate.suite.rubrics import rubric_of, sources_of

TEXT_SPELLINGS = {
    "question": ("input",),
    "reference": ("expected_output", "expectedOutput", "model_answer", "modelAnswer", "ideal"),
}
"""Fields of cases and ladders, with the names other tools give them."""

ANSWER_SPELLINGS = (
    "output", "actual_output", "actualOutput", "student_answer", "studentAnswer", "completion",
)  # fmt: skip

CASE_KEYS = spellings(
    {
        "id": (),
        **TEXT_SPELLINGS,
        "answer": ANSWER_SPELLINGS,
        "rubric": (),
        "expected": ("expected_verdict", "expected_label", "verdict", "human_verdict", "label"),
        "labels": (),
        "tags": (),
        "evidence": (),
        "facts": (),
        "entities": (),
        "sources": (),
        "split": (),
        "source": (),
        "tolerance": (),
        "metadata": (),
    }
)
"""Every key a case may have → the field it means."""

_NESTED = {"prompt": "question", "model_answer": "reference", "modelAnswer": "reference", "rubric": "rubric"}


def parse_case(entry: Entry) -> GoldenCase:
    """A golden case.

    :raises SuiteError: a field is missing, of the wrong form, contradicts another, or names an unreadable file.
    """
    name = entry.identifier()
    unfold_question(entry)
    answer = entry.text("answer")
    if answer is None:
        raise entry.error("missing: give the answer to be graded (it may be empty text)", "answer")
    labels = _labels(entry)
    tolerance = entry.number("tolerance")
    if tolerance is not None and tolerance < 0:
        raise entry.error("must not be negative", "tolerance")
    return GoldenCase(
        id=name,
        question=question_of(entry),
        reference=reference_of(entry),
        rubric=rubric_of(entry),
        answer=answer,
        expected=_expected(entry, labels),
        tags=tags_of(entry),
        labels=labels,
        evidence=entry.words("evidence"),
        facts=entry.words("facts"),
        entities=entry.words("entities"),
        sources=sources_of(entry),
        split=entry.word("split"),
        source=entry.word("source"),
        tolerance=tolerance,
        metadata=entry.metadata,
        location=entry.location,
    )


def unfold_question(entry: Entry) -> None:
    """Spread ``question: {prompt, model_answer, rubric}``, as rubric-bench writes it, over the entry's fields."""
    nested = entry.values.get("question")
    if not isinstance(nested, dict) or "file" in nested:
        return
    key = entry.spelled.get("question", "question")
    if "prompt" not in nested:
        raise entry.error("must be text, `{file: PATH}`, or `{prompt, model_answer, rubric}`", "question")
    del entry.values["question"]
    for inner, value in nested.items():
        field = _NESTED.get(inner)
        if field is None:
            raise entry.error(f"unknown key; known: {', '.join(_NESTED)}", "question", inner)
        if value is None:
            continue
        if field in entry.values and entry.values[field] != value:
            raise entry.error(
                f"disagrees with `{entry.spelled.get(field, field)}` of the same entry: keep one", "question", inner
            )
        entry.values[field] = value
    entry.spelled["question"] = key


def question_of(entry: Entry) -> str:
    """The question; must not be blank."""
    question = entry.text("question")
    if question is None or not question.strip():
        raise entry.error("missing: give the question the answer replies to", "question")
    return question


def reference_of(entry: Entry) -> str | None:
    """The reference; ``ideal`` may be a list of one. A blank one is none."""
    value = entry.values.get("reference")
    if isinstance(value, list):
        if len(value) != 1:
            raise entry.error("must be one text: put further right answers into cases of their own", "reference")
        return entry.as_text(value[0], "reference", 0)
    reference = entry.text("reference")
    return reference if reference is not None and reference.strip() else None


def tags_of(entry: Entry) -> tuple[str, ...]:
    """Tags in order, each once; none may be blank."""
    tags = entry.words("tags")
    if not all(tag.strip() for tag in tags):
        raise entry.error("a tag is blank: remove it", "tags")
    return tuple(dict.fromkeys(tags))


def _verdict(entry: Entry, value: Any, *keys: Key) -> GradeVerdict:
    word = verdict_word(value)
    if word is None:
        shown = str(value)[:60]
        raise entry.error(
            f"`{shown}` is no verdict: write correct, partial or incorrect (or pass, fail, true, false, 1, 0)", *keys
        )
    return GradeVerdict(word)


def _expected(entry: Entry, labels: dict[str, GradeVerdict | None]) -> GradeVerdict:
    value = entry.values.get("expected")
    if value is not None:
        return _verdict(entry, value, "expected")
    counts = Counter(label for label in labels.values() if label is not None)
    if not counts:
        raise entry.error("missing: say which verdict a trustworthy grader returns, or give `labels`", "expected")
    verdict, votes = counts.most_common(1)[0]
    if 2 * votes <= counts.total():
        split = ", ".join(f"{count} {label}" for label, count in counts.most_common())
        raise entry.error(f"missing, and the raters have no strict majority ({split}): decide it", "expected")
    return verdict


def _labels(entry: Entry) -> dict[str, GradeVerdict | None]:
    """Labels by rater: ``{RATER: VERDICT}``, a list of ``{rater, label}``, or a list of verdicts of raters 1, 2, …"""
    value = entry.values.get("labels")
    if value is None:
        return {}
    if isinstance(value, dict):
        return {r: None if v is None else _verdict(entry, v, "labels", r) for r, v in value.items()}
    found: dict[str, GradeVerdict | None] = {}
    for index, one in enumerate(value if isinstance(value, list) else [value]):
        rater, label = f"rater {index + 1}", one
        place: tuple[Key, ...] = ("labels", index)
        if isinstance(one, dict):
            for key in one:
                if key not in ("rater", "label", "verdict"):
                    raise entry.error("unknown key; a label has `rater` and `label`", *place, key)
            rater = entry.as_text(one.get("rater", rater), *place, "rater")
            label = one.get("label", one.get("verdict"))
        if rater in found:
            raise entry.error(f"the rater `{rater}` stands twice: give each rater one label", *place)
        found[rater] = None if label is None else _verdict(entry, label, *place)
    return found
