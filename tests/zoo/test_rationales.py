"""Reasons: what they cite, what they contradict, what they make up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.audits.rationales import (
    contradiction,
    invented_quotation,
    rationale_findings,
    read_rationales,
    shown_texts,
)
from grader_gate.model import ErrorKind, GoldenCase, Grade, GradeError, GradeVerdict, Item, Ladder, Location, Rung
from grader_gate.result import FindingKind

CORRECT, PARTIAL, INCORRECT = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT


@pytest.mark.parametrize(
    ("verdict", "reason", "said"),
    [
        (CORRECT, "The answer is wrong.", "The answer is wrong"),
        (
            CORRECT,
            "All in all the student's answer is clearly incorrect, as it names 30 days.",
            "the student's answer is clearly incorrect",
        ),
        (
            INCORRECT,
            "This response is entirely correct because it cites the leaflet.",
            "This response is entirely correct",
        ),
        (INCORRECT, "Checked twice.\nThe submission is right", "The submission is right"),
        (PARTIAL, "Verdict: incorrect", "Verdict: incorrect"),
        (CORRECT, "Final grade is **partial** for this one.", "Final grade is **partial"),
    ],
)
def test_a_reason_that_says_the_opposite_is_found(verdict: GradeVerdict, reason: str, said: str) -> None:
    assert contradiction(Grade(verdict=verdict, reason=reason)) == said


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (CORRECT, "The answer is not wrong."),
        (CORRECT, "The answer is correct."),
        (CORRECT, "It would be a mistake to say the answer is wrong."),
        (CORRECT, "One might think the answer is wrong."),
        (CORRECT, 'The text claims: "the answer is wrong", and nobody said so.'),
        (CORRECT, "The answer is wrong about nothing."),
        (CORRECT, "If 30 days were named, the answer is wrong."),
        (INCORRECT, "The answer is correct only in its first half."),
        (INCORRECT, "The answer is correct on the fee, but the period is missing."),
        (INCORRECT, "The answer is partially correct."),
        (INCORRECT, "The correct answer is 14 days."),
        (INCORRECT, "The reference answer is correct."),
        (PARTIAL, "The answer is wrong."),
        (CORRECT, "Verdict: correct. An earlier draft had the verdict: incorrect."),
        (INCORRECT, ""),
    ],
)
def test_conditions_contrasts_negations_and_quotations_are_no_contradiction(verdict: GradeVerdict, reason: str) -> None:
    assert contradiction(Grade(verdict=verdict, reason=reason)) is None


def test_errors_and_abstentions_have_no_verdict_to_contradict() -> None:
    assert contradiction(Grade(abstained=True, reason="The answer is wrong.")) is None
    error = GradeError(kind=ErrorKind.MALFORMED, message="x")
    assert contradiction(Grade(error=error, reason="Verdict: correct")) is None


SHOWN = ["Refunds of an invoice take 14 days.", "The money is **returned** to the same card."]


@pytest.mark.parametrize(
    "reason",
    [
        'it states "refunds of an invoice take 14 days"',
        "it states “Refunds of an  invoice take 14 days.”",
        'it says "the money is returned to the same card" at the end',
        'it says "Refunds of an invoice … to the same card"',
        'a "short term" and "14" are no quotations of a sentence',
        'it is 5\'8" tall and the screen has 27" across which nobody wrote down here',
        'it states "2."; beside them it says "take 14 days"',
        "it's plain that the student doesn't know what they're on about here",
    ],
)
def test_what_was_shown_may_be_quoted(reason: str) -> None:
    assert invented_quotation(Grade(verdict=CORRECT, reason=reason), SHOWN) is None


@pytest.mark.parametrize(
    ("reason", "quoted"),
    [
        ('it adds "as nine experts have shown"', "as nine experts have shown"),
        ("it says “Refunds of an invoice take 30 days”.", "Refunds of an invoice take 30 days"),
        ('first "take 14 days", then "the money is never sent back"', "the money is never sent back"),
    ],
)
def test_what_nobody_wrote_is_found(reason: str, quoted: str) -> None:
    assert invented_quotation(Grade(verdict=CORRECT, reason=reason), SHOWN) == quoted


def test_a_number_inside_a_longer_one_is_not_the_quoted_one() -> None:
    grade = Grade(verdict=CORRECT, reason='it says "refunds can take 14 days"')
    assert invented_quotation(grade, ["Refunds can take 114 days."]) == "refunds can take 14 days"
    assert invented_quotation(grade, ["Refunds can take 14 daysbreaks."]) == "refunds can take 14 days"


def test_sources_count_as_shown() -> None:
    inputs = {"answer": "a", "reference": None, "sources": [{"id": "1", "text": "the leaflet"}]}
    assert shown_texts(inputs) == ["a", "the leaflet"]


CASE = GoldenCase(
    id="refund", question="q", answer="It takes 14 days.", expected=CORRECT, evidence=("14 days", "same card"),
    location=Location(path="cases.yaml", line=3),
)  # fmt: skip
LADDER = Ladder(
    id="steps",
    question="q",
    rungs=(
        Rung(level=0, answer="Never.", evidence=("14 days",)),
        Rung(level=1, answer="It takes 114 days.", evidence=("114 days",), id="wrong"),
        Rung(level=2, answer="It takes 14 days.", evidence=("14 days",)),
    ),
)


def _items() -> dict[str, Item]:
    texts = {"golden/refund": CASE.answer, **{f"rung/steps/{i}": r.answer for i, r in enumerate(LADDER.rungs)}}
    return {name: Item(name, {"answer": text}, "x") for name, text in texts.items()}


def _read(reasons: dict[str, str]) -> dict[str, object]:
    seen = read_rationales(
        [CASE], [LADDER], _items(), lambda i: [Grade(verdict=CORRECT, reason=reasons[i])] if i in reasons else []
    )
    return {"rungs": seen.uncited_rungs, "cases": seen.uncited_cases, "rate": (seen.cited_cases.k, seen.cited_cases.n)}


def test_a_rung_without_evidence_in_its_answer_is_never_asked_to_cite_it() -> None:
    cited = {"rung/steps/0": "nothing", "rung/steps/1": "114 days is wrong", "rung/steps/2": "14 days"}
    assert _read(cited) == {"rungs": {}, "cases": [], "rate": (0, 0)}


def test_evidence_is_matched_on_token_boundaries_per_rung_and_per_case() -> None:
    reasons = {"golden/refund": "it says 114 days", "rung/steps/1": "14 days", "rung/steps/2": "114 days"}
    assert _read(reasons) == {"rungs": {"steps": [1, 2]}, "cases": ["refund"], "rate": (0, 1)}


def test_more_than_half_of_the_runs_must_cite() -> None:
    said = [Grade(verdict=CORRECT, reason=r) for r in ("14 days", "nothing")]
    seen = read_rationales([CASE], [], {}, lambda i: said)
    assert seen.uncited_cases == ["refund"]
    assert read_rationales([CASE], [], {}, lambda i: [*said, said[0]]).uncited_cases == []


def test_findings_name_ladder_rungs_cases_and_places_and_never_block() -> None:
    reasons = {
        "golden/refund": 'The answer is wrong: "the card was never sent back at all"',
        "rung/steps/1": "no",
        "rung/steps/2": "no",
    }
    told = read_rationales(
        [CASE], [LADDER], _items(), lambda i: [Grade(verdict=CORRECT, reason=reasons[i])] if i in reasons else []
    )
    found = rationale_findings(told, None, [CASE], [LADDER], suite="s", grader="g")
    assert [(f.kind, f.case, f.blocking) for f in found] == [
        (FindingKind.CITATION, "steps", False),
        (FindingKind.CITATION, None, False),
        (FindingKind.RATIONALE, None, False),
        (FindingKind.CITATION, None, False),
    ]
    ladder, case, against, invented = found
    assert ladder.sentence == "ladder steps: the reason cites no evidence on rung wrong, 2"
    assert case.sentence == "the reason cites no evidence in refund (0 of 1 cases are cited)"
    assert against.sentence.startswith("the reason says the opposite of the verdict in golden/refund; the first says")
    assert "the card was never sent back at all" in invented.sentence
    assert {f.location for f in (case, against, invented)} == {CASE.location}


def test_quoting_can_be_switched_off_and_what_base_does_too_is_left_out() -> None:
    told = read_rationales([CASE], [], _items(), lambda i: [Grade(verdict=CORRECT, reason="The answer is wrong.")])
    (cited, against) = rationale_findings(told, None, [CASE], [], suite="s", grader="g", quote="none")
    assert "The answer" not in against.sentence
    assert cited.kind is FindingKind.CITATION
    assert rationale_findings(told, told, [CASE], [], suite="s", grader="g") == []


@given(st.text(max_size=400), st.sampled_from(list(GradeVerdict)), st.lists(st.text(max_size=80), max_size=3))
def test_no_reason_whatever_makes_them_raise(reason: str, verdict: GradeVerdict, shown: list[str]) -> None:
    grade = Grade(verdict=verdict, reason=reason)
    said, quoted = contradiction(grade), invented_quotation(grade, shown)
    assert said is None or said in reason
    assert quoted is None or quoted in reason


@given(st.text(alphabet="abc 14.,", min_size=1, max_size=60).filter(lambda t: t.strip() == t))
def test_a_quotation_of_all_that_was_shown_is_never_invented(text: str) -> None:
    assert invented_quotation(Grade(verdict=CORRECT, reason=f'it says "{text}"'), [text]) is None
