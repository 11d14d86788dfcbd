"""Which deterministic check kills what, which decorates, and which would have killed a survivor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from grader_gate.audits.checkmatrix import (
    CANDIDATES,
    Kill,
    check_findings,
    marked,
    related,
    snippet,
    suggested_checks,
    with_suggestions,
)
from grader_gate.config import Check
from grader_gate.flow.examining import check_runner
from grader_gate.result import CheckRow, Finding, FindingKind, FindingStatus
from tests.flow.repository import CONFIG, Repository
from tests.zoo.kennel import Kennel

KINDS = {"figures": "numbers", "short": "length", "shape": "regex"}


class NoFiles:
    """A tree without files: suggested checks read none."""

    label = "none"

    def read(self, path: str) -> bytes:
        raise AssertionError(path)

    def exists(self, path: str) -> bool:
        return False

    def glob(self, pattern: str) -> list[str]:
        return []


passes = check_runner(NoFiles())


@pytest.mark.parametrize(
    ("kind", "property_", "answer"),
    [("numbers", "numeric", True), ("numbers", "negation", False), ("length", "numeric", False),
     ("regex", "negation", True), (None, "negation", True), ("citations", "citations", True)],
)  # fmt: skip
def test_what_a_check_looks_at(kind: str | None, property_: str, answer: bool) -> None:
    assert related(kind, property_) is answer


def test_a_kill_by_checks_of_something_else_alone_is_lucky() -> None:
    assert Kill("c", "negate", "negation", ("figures", "short")).lucky(KINDS)
    assert not Kill("c", "negate", "negation", ("figures", "shape")).lucky(KINDS)
    assert not Kill("c", "negate", "negation", ()).lucky(KINDS)
    assert not Kill("c", "corrupt_number", "numeric", ("short", "figures")).lucky(KINDS)


def test_decoration_and_lucky_kills_are_marked_and_named() -> None:
    rows = [
        CheckRow(check="figures", killed=3, mutants=9),
        CheckRow(check="short", killed=0, mutants=9),
        CheckRow(check="new", killed=0),
    ]
    found = [
        Kill("mutant/a/negate", "negate", "negation", ("figures",)),
        Kill("mutant/b/negate", "negate", "negation", ("figures",)),
        Kill("mutant/a/corrupt_number", "corrupt_number", "numeric", ("figures",)),
    ]
    table = marked(rows, found, KINDS)
    assert [(r.check, r.unrelated, r.decoration) for r in table] == [
        ("figures", 2, False),
        ("short", 0, True),
        ("new", 0, False),
    ]
    findings = check_findings(table, found, KINDS, suite="s", grader="g")
    assert [(f.kind, f.blocking) for f in findings] == [(FindingKind.CHECKS, False)] * 2
    assert findings[0].sentence == "check short is decoration: it rejects none of 9 degraded texts"
    assert findings[1].sentence == (
        "negate: 2 of the texts are rejected only by figures, which does not look at negation"
    )


def _inputs(answer: str, **more: Any) -> dict[str, Any]:
    return {
        "question": "q",
        "reference": "It takes 14 days [1].",
        "answer": answer,
        "sources": [{"id": "1", "text": "t"}],
        **more,
    }


@pytest.mark.parametrize(
    ("property_", "right", "broken", "line"),
    [
        ("numeric", _inputs("It takes 14 days [1]."), _inputs("It takes 17 days [1]."), "- {type: numbers, expect: reference}"),
        ("citations", _inputs("It takes 14 days [1]."), _inputs("It takes 14 days."), "- {type: citations}"),
        ("citations", _inputs("It takes 14 days [1]."), _inputs("It takes 14 days [2]."), "- {type: citations}"),
        (
            "relevance",
            _inputs("Set max_tokens.", reference="Set max_tokens."),
            _inputs("Set the limit.", reference="Set max_tokens."),
            "- {type: identifiers, expect: reference}",
        ),
        (
            "roles",
            _inputs("The desk asks Ada.", reference="The desk asks Ada."),
            _inputs("The desk asks Bob.", reference="The desk asks Ada."),
            "- {type: names, expect: reference}",
        ),
    ],
)  # fmt: skip
def test_the_check_of_what_broke_is_suggested(
    property_: str, right: Mapping[str, Any], broken: Mapping[str, Any], line: str
) -> None:
    found = suggested_checks(property_, right, broken, passes)
    assert [snippet(check) for check in found[:1]] == [line]
    check = Check.model_validate(yaml.safe_load(line)[0])
    assert (passes(check, right), passes(check, broken)) == (True, False)


def test_facts_and_length_are_suggested_where_they_tell_the_texts_apart() -> None:
    right, broken = (
        _inputs("Pay at the desk. Keep the slip you get there.", reference="x"),
        _inputs("Keep it.", reference="x"),
    )
    found = suggested_checks("completeness", right, broken, passes, facts=["the desk", "elsewhere"])
    assert [snippet(c) for c in found] == [
        '- {type: contains, values: ["the desk"]}',
        "- {type: length, unit: words, min: 6}",
    ]


def test_a_line_too_long_to_paste_from_a_report_is_not_suggested() -> None:
    long = "the desk at the far end of the hall on the second floor " * 3
    right, broken = (
        _inputs(f"Pay at {long} and wait there."),
        _inputs("Pay at some desk and wait a while there, or go."),
    )
    assert suggested_checks("direction", right, broken, passes, facts=[long]) == []


QUOTED = """
version: 1
graders:
  judge: {kind: python, callable: judge:grade, path: code}
suites:
  main: {grader: judge, cases: "cases/*.yaml", mutators: [drop_fact]}
"""


@pytest.mark.parametrize(("quote", "shown"), [("short", True), ("none", False)])
def test_a_report_that_quotes_nothing_shows_no_fact_in_a_suggestion(quote: str, shown: bool, repo: Repository) -> None:
    case = (
        'cases:\n  - {id: a, question: Where?, reference: "Pay at the desk. Keep the slip.", '
        'answer: "Pay at the desk.", expected: correct, facts: ["the desk"]}\n'
    )
    repo.write(
        {
            ".grader-gate.yml": QUOTED + f"report: {{quote: {quote}}}\n",
            "cases/all.yaml": case,
            "code/judge.py": "def grade(answer):\n    return 'correct'\n",
            "ladders/all.yaml": None,
        }
    )
    (survivor,) = repo.gate("audit").findings("survivor")
    assert ('values: ["the desk"]' in survivor["suggestion"]) is shown


def test_nothing_is_suggested_that_the_right_text_fails_or_the_broken_one_passes() -> None:
    same = _inputs("It takes 14 days [1].")
    assert suggested_checks("numeric", same, same, passes) == []
    assert suggested_checks("numeric", _inputs("It takes two weeks."), _inputs("It takes three weeks."), passes) == []
    assert suggested_checks("negation", _inputs("It is 14."), _inputs("It is not 14."), passes) == []


def test_a_check_that_cannot_be_asked_says_nothing() -> None:
    numbers, citations = CANDIDATES[0], CANDIDATES[1]
    assert passes(numbers, _inputs("14", reference=None)) is None
    assert passes(numbers, _inputs("14", reference="No figure.")) is None
    assert passes(citations, _inputs("14", sources=[])) is None


def _survivor() -> Finding:
    return Finding(
        kind=FindingKind.SURVIVOR,
        status=FindingStatus.CONFIRMED,
        blocking=True,
        sentence="s",
        claim="m",
        suggestion="old",
        suite="s",
        grader="g",
    )


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], "passes the original and rejects this text."),
        (["It takes 14 days.", "14 days", "In 14 days", "fourteen"], "it also rejects 1 of 4 right answers."),
        (["fourteen", "two weeks"], "old"),
    ],
)
def test_what_a_suggestion_costs_is_said_and_a_dear_one_is_kept_back(others: list[str], words: str) -> None:
    right = [_inputs(text, reference="It takes 14 days.") for text in others]
    (found,) = with_suggestions([_survivor()], lambda _: [CANDIDATES[0]], right, passes)
    assert (found.suggestion or "").endswith(words)


def test_only_survivors_get_one() -> None:
    other = _survivor().model_copy(update={"kind": FindingKind.CONTROL})
    assert with_suggestions([other], lambda _: [CANDIDATES[0]], [], passes) == [other]


# ---------------------------------------------------------------- through the command line

CHECKS = """
version: 1
graders:
  figures:
    kind: checks
    contract: {inputs: [answer, reference]}
    checks:
      - {type: numbers, expect: reference}
      - {type: length, unit: words, max: 500}
      - {type: regex, name: stop, pattern: "[.]$"}
suites:
  main: {grader: figures, cases: "cases/*.yaml", mutators: [corrupt_number, negate, keyword_salad]}
"""
CASES = "cases:\n" + "".join(
    f'  - {{id: c{n}, question: Q{n}?, reference: "The loan of a book takes {n + 20} days and it is free of charge.", '
    f'answer: "The loan of a book takes {n + 20} days and it is free of charge.", expected: correct}}\n'
    for n in range(4)
)


def test_the_matrix_of_a_grader_of_checks(repo: Repository) -> None:
    repo.write({".grader-gate.yml": CHECKS, "cases/all.yaml": CASES})
    run = repo.gate("audit")
    rows = {row["check"]: row for row in run.suite["checks"]}
    assert list(rows) == ["numbers-1", "length-2", "stop"]
    assert rows["numbers-1"]["by_mutator"]["corrupt_number"] == 4
    assert "negate" not in rows["numbers-1"]["by_mutator"]
    assert (rows["length-2"]["decoration"], rows["numbers-1"]["decoration"]) == (True, False)
    assert rows["stop"]["by_mutator"] == {"keyword_salad": 4}
    (decoration,) = run.findings("deterministic check")
    assert "check length-2 is decoration: it rejects none of 12 degraded texts" in decoration["sentence"]
    negated = [f for f in run.findings("survivor") if f["mutator"] == "negate"]
    assert len(negated) == 4
    assert not any("deterministic check" in f["suggestion"] for f in negated)


def test_a_survivor_in_a_pull_request_comes_with_its_check(kennel: Kennel) -> None:
    seen = kennel.check(kennel.base("healthy:strict"), "blind:number_blind")
    found = [f for f in seen.findings if f["kind"] == "survivor" and f["mutator"] == "corrupt_number"]
    assert found
    assert any("`- {type: numbers, expect: reference}`" in f["suggestion"] for f in found)


def test_a_configuration_takes_the_snippet_as_it_is(repo: Repository) -> None:
    line = snippet(Check(type="contains", values=("14 days", 'a "b"')))
    config = CONFIG.replace("graders:\n", f"graders:\n  extra:\n    kind: checks\n    checks:\n      {line}\n")
    repo.write({".grader-gate.yml": config})
    assert repo.gate("lint").code == 0
