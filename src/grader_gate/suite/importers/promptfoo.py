"""promptfoo: configurations and test files (YAML, JSON, JSON Lines, CSV) and result files (JSON).

The answer is ``providerOutput``, a variable such as ``answer`` or ``output``, or a result's ``response.output``. The
verdict is a label in ``metadata``, a person's rating in a result, or, in a suite that tests a judge's prompt, the
``equals`` assertion on the judge's word. A grade by a model is never taken for a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grader_gate.suite.entry import verdict_word
from grader_gate.suite.importers.base import (
    ANSWER_KEYS,
    LABEL_KEYS,
    QUESTION_KEYS,
    REFERENCE_KEYS,
    Imported,
    ImportFileError,
    RowSkipped,
    Skipped,
    case,
    collect,
    label_in,
    mapping,
    pick,
    read_csv,
    read_value,
    words,
)

_RUBRIC_TYPES = ("llm-rubric", "model-graded-closedqa", "g-eval")
_EXPECTED = re.compile(r"(?P<type>[a-z][a-z-]*)(?:\([^)]*\))?:(?P<value>.*)", re.DOTALL)


def read(data: bytes, name: str) -> Imported:
    """Import a promptfoo file.

    :raises LocatedError: it cannot be parsed, or holds no tests.
    """
    if name.lower().endswith(".csv"):
        return collect((_from_csv(row) for row in read_csv(data, name)), _case)
    value = read_value(data, name)
    if isinstance(value, list):
        return collect(value, _case)
    if not isinstance(value, dict):
        raise ImportFileError("must be a list of tests or a promptfoo configuration", path=name, line=1)
    results = value.get("results")
    if isinstance(results, dict):
        results = results.get("results")
    if isinstance(results, list):
        return collect(results, _result)
    tests = value.get("tests")
    if isinstance(tests, str):
        raise ImportFileError(f"the tests are in another file: import {tests!r} instead", path=name, key="tests")
    if not isinstance(tests, list):
        raise ImportFileError("neither `tests` nor `results` is there: is it a promptfoo file?", path=name, line=1)
    shared = mapping(value.get("defaultTest"))
    imported = collect(tests, lambda test: _case(_merged(shared, test)))
    if value.get("scenarios"):
        imported.skipped.append(Skipped(len(tests) + 1, "`scenarios` are not imported: write them out as tests"))
    return imported


def _merged(shared: Mapping[str, Any], test: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**shared, **test}
    for key in ("vars", "metadata"):
        merged[key] = {**mapping(shared.get(key)), **mapping(test.get(key))}
    merged["assert"] = [*_asserts(shared), *_asserts(test)]
    return merged


def _asserts(test: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = test.get("assert")
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []


def _case(test: Mapping[str, Any]) -> dict[str, Any]:
    variables, metadata = mapping(test.get("vars")), mapping(test.get("metadata"))
    output = test.get("providerOutput")
    answer = output if output is not None else pick(variables, ANSWER_KEYS, "the answer")
    verdict = label_in(metadata, variables)
    if verdict is None and output is None:
        verdict = _judged_word(test)
    return _build(test, variables, metadata, answer, verdict)


def _judged_word(test: Mapping[str, Any]) -> Any:
    """The verdict a judge under test must say: `equals` on a verdict word, where the answer is a variable."""
    said = {word for one in _asserts(test) if one.get("type") == "equals" and (word := verdict_word(one.get("value")))}
    if len(said) > 1:
        raise RowSkipped("its assertions name two verdicts")
    return said.pop() if said else None


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    test = mapping(row.get("testCase"))
    variables = {**mapping(test.get("vars")), **mapping(row.get("vars"))}
    metadata = {**mapping(test.get("metadata")), **mapping(row.get("metadata"))}
    if row.get("error") or row.get("failureReason") == 2:
        raise RowSkipped("the run had an error here")
    answer = mapping(row.get("response")).get("output")
    verdict = label_in(metadata, variables)
    if verdict is None:
        parts = mapping(row.get("gradingResult")).get("componentResults")
        for part in parts if isinstance(parts, list) else ():
            if mapping(mapping(part).get("assertion")).get("type") == "human":
                verdict = part.get("pass")
    return _build(test, variables, metadata, answer, verdict)


def _build(
    test: Mapping[str, Any], variables: Mapping[str, Any], metadata: dict[str, Any], answer: Any, verdict: Any
) -> dict[str, Any]:
    rubric = variables.get("rubric")
    if rubric is None:
        rubric = [
            one["value"]
            for one in _asserts(test)
            if one.get("type") in _RUBRIC_TYPES and isinstance(one.get("value"), str) and one["value"].strip()
        ]
    elif not isinstance(rubric, str) or not rubric.strip():
        raise RowSkipped("the variable `rubric` is no text")
    used = {*QUESTION_KEYS, *ANSWER_KEYS, *REFERENCE_KEYS, *LABEL_KEYS, "rubric"}
    others = {key: value for key, value in variables.items() if key not in used}
    split = metadata.pop("split", None)
    return case(
        "promptfoo",
        ident=pick(metadata, ("testCaseId", "id"), "the id"),
        question=pick(variables, QUESTION_KEYS, "the question"),
        answer=answer,
        verdict=verdict,
        reference=pick(variables, REFERENCE_KEYS, "the reference"),
        rubric=rubric,
        tags=words(metadata.pop("tags", None)),
        split=split if isinstance(split, str) else None,
        metadata={**metadata, "description": test.get("description"), "vars": others or None},
    )


def _from_csv(row: Mapping[str, str]) -> dict[str, Any]:
    """A row as the test it stands for: columns are variables, those with two underscores in front are not."""
    test: dict[str, Any] = {"vars": {}, "metadata": {}, "assert": []}
    for column, value in row.items():
        if not column.startswith("__"):
            test["vars"][column] = value
        elif column.startswith("__metadata:"):
            key = column.removeprefix("__metadata:")
            test["metadata"][key.removesuffix("[]")] = words(value) if key.endswith("[]") else value
        elif column == "__description":
            test["description"] = value
        elif column == "__providerOutput":
            test["providerOutput"] = value
        elif re.fullmatch(r"__expected\d*", column):
            match = _EXPECTED.fullmatch(value)
            kind, said = (match["type"], match["value"].strip()) if match else ("equals", value)
            test["assert"].append({"type": "llm-rubric" if kind == "grade" else kind, "value": said})
    return test
