"""Citations, ladders, adjacent rungs and what a prompt gives away."""

from __future__ import annotations

import json

import pytest

from grader_gate.audits.citations import cites, holds, relevant
from grader_gate.audits.claims import Reading
from grader_gate.audits.ladders import coverage, flat, view
from grader_gate.config import Output
from grader_gate.graders.promptfacts import best_reply, delimiters
from grader_gate.model import Grade, GradeVerdict, Ladder, Rung
from grader_gate.suite.items import adjacent_pairs


@pytest.mark.parametrize(
    ("text", "token", "there"),
    [
        ("within 14 days", "14 days", True),
        ("within 114 days", "14 days", False),
        ("within 14  DAYS.", "14 days", True),
        ("C++ is used", "C++", True),
        ("uses café", "cafe", False),
        ("anything", " ", False),
    ],
)
def test_evidence_is_matched_at_token_boundaries(text, token, there):
    assert holds(text, token) is there


def test_only_evidence_the_answer_holds_is_asked_of_its_reason():
    assert relevant(["14 days", "30 days"], "It takes 14 days") == ("14 days",)
    assert cites(Grade(verdict=GradeVerdict.CORRECT, reason="14 days is right"), ["14 days"])
    assert cites(Grade(verdict=GradeVerdict.CORRECT, citations=("14 days",)), ["14 days"])
    assert not cites(Grade(verdict=GradeVerdict.CORRECT, reason="114 days"), ["14 days"])


@pytest.mark.parametrize(
    ("levels", "pairs"),
    [
        ([0, 1, 2], [(0, 1), (1, 2)]),
        ([0, 0, 1], [(0, 2), (1, 2)]),
        ([0, 1, 1, 2], [(0, 1), (0, 2), (1, 3), (2, 3)]),
        ([0, 5], [(0, 1)]),
        ([1, 1], []),
    ],
)
def test_only_adjacent_distinct_levels_are_compared(levels, pairs):
    assert adjacent_pairs(levels) == pairs


def ladder_view(*verdicts: str):
    ladder = Ladder(id="l", question="q", rungs=tuple(Rung(level=n, answer=f"a{n}") for n in range(len(verdicts))))
    grades = {f"rung/l/{n}": [Grade(verdict=v)] for n, v in enumerate(verdicts)}
    return view(ladder, lambda item: grades.get(item, []), Reading())


def test_spread_is_top_over_bottom_and_flat_is_below_the_limit():
    assert ladder_view("incorrect", "partial", "correct").spread == 1.0
    same = ladder_view("partial", "partial", "partial")
    assert same.spread == 0.0
    assert list(flat([same, ladder_view("incorrect", "correct", "correct")], 0.3)) == ["l"]


def test_coverage_counts_golden_questions_that_have_a_ladder():
    ladder = Ladder(id="l", question="one", rungs=(Rung(level=0, answer="a"), Rung(level=1, answer="b")))
    assert coverage([ladder], {"one", "two"}).model_dump() == {"k": 1, "n": 2, "planned": 2}


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<answer>\n{{ answer }}\n</answer>", (("<answer>", "</answer>"),)),
        ("Answer:\n```\n{{ answer }}\n```", (("```", "```"),)),
        ("[BEGIN ANSWER]\n{{ answer | trim }}\n[END ANSWER]", (("[BEGIN ANSWER]", "[END ANSWER]"),)),
        ("Answer: {{ answer }}\n", ()),
        ("<a>{{ answer }}</b>", ()),
    ],
)
def test_delimiters_are_those_around_the_answer(template, found):
    assert delimiters([template]) == found


def test_the_best_reply_is_the_graders_own_schema_filled_in():
    output = Output(
        verdict="grade", reason="why", verdicts={"pass": GradeVerdict.CORRECT, "fail": GradeVerdict.INCORRECT}
    )
    assert json.loads(best_reply(output)) == {"why": "The answer meets every criterion.", "grade": "pass"}
    both = Output(score="score")
    assert json.loads(best_reply(both, 10.0))["score"] == 10.0
