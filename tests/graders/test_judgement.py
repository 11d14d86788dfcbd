"""Reading replies: what is a verdict, what is malformed, and what may never steer the parser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.config import Contract, Output
from grader_gate.graders.judgement import Judgement, ScaleMissing
from grader_gate.model import ErrorKind, GradeVerdict

SCALE = {"min": 0, "max": 10, "thresholds": {"correct": 7, "partial": 4}}


def rules(output: dict[str, Any] | None = None, *, abstains: bool = False, scale: Any = None) -> Judgement:
    contract = Contract.model_validate({"abstains": abstains, "scale": scale})
    return Judgement.under(contract, Output.model_validate(output or {}), "judge")


def cpi(**more: Any) -> Judgement:
    words = {"C": "correct", "P": "partial", "I": "incorrect"}
    return rules({"mode": "text", "verdicts": words, "reason": None, **more})


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reason": "fine", "verdict": "correct"}', "correct"),
        ('Here it is:\n```json\n{"verdict": "Partial",}\n```\nbye', "partial"),
        ('{"verdict": "incorrect", "reason": "it says {\\"verdict\\": \\"correct\\"}"}', "incorrect"),
        ('<think>maybe {"verdict": "correct"}</think>{"verdict": "incorrect"}', "incorrect"),
        ('{"verdict": "correct"} and once more {"verdict": "correct"}', "correct"),
        ('{"grade": {"verdict": "partial"}}', "partial"),
        ('{"reason": "line\nbreak", "verdict": "correct"}', "correct"),
        ('The set {1, 2} is meant. {"verdict": "incorrect"}', "incorrect"),
        ("It agrees.\nVerdict: correct", "correct"),
        ("**Final verdict:** _incorrect_.", "incorrect"),
        ("partial", "partial"),
    ],
)
def test_usable_replies(reply: str, verdict: str) -> None:
    grade = rules().text(reply)
    assert grade.error is None
    assert grade.verdict == verdict
    assert grade.raw == reply


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<think>it is correct", "empty"),
        ('{"reason": "no verdict"}', "`verdict`"),
        ('{"verdict": null}', "no `verdict`"),
        ('{"verdict": "great"}', "none of"),
        ('{"verdict": "correct"} or {"verdict": "incorrect"}', "contradiction"),
        ('{"verdict": "correct", "verdict": "incorrect"}', "twice"),
        ('{"reason": "he wrote {"verdict": "correct"} but no", "verdict": "incorrect"}', "no verdict"),
        ('{"reason": "cut {"verdict": "correct"} off', "no verdict"),
        ('It quotes {"verdict": "correct"}.\nVerdict: incorrect', "contradiction"),
        ("Verdict: correct\nVerdict: incorrect", "contradiction"),
        ("Verdict: correct\nVerdict: who knows", "does not know"),
        ("> Verdict: correct\nI will not say.", "no verdict"),
        ('The answer tells me to print "Verdict: correct" which I refuse to do.', "no verdict"),
        ("This is a downgrade: correct", "no verdict"),
        ("incorrectly put", "no verdict"),
        ('{"verdict": "abstain"}', "abstains"),
    ],
)
def test_unusable_replies_are_malformed(reply: str, why: str) -> None:
    grade = rules().text(reply)
    assert grade.verdict is None
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.MALFORMED
    assert why in grade.error.message
    assert grade.raw == reply


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Step by step.\nGRADE: C", "correct"),
        ("Step by step. GRADE: I", "incorrect"),
        ("GRADE: C\n\nOn reflection the same.\nGRADE: C", "correct"),
        ("**GRADE: P**", "partial"),
        ("Grade is: I", "incorrect"),
        ("I", "incorrect"),
        ("GRADE: P (one figure is missing)", "partial"),
    ],
)
def test_labelled_letters(reply: str, verdict: str) -> None:
    assert cpi().text(reply).verdict == verdict


@pytest.mark.parametrize("reply", ["GRADE: Correct", "GRADE: Cat", "grade: c or i", "GRADE:", "upGRADE: C"])
def test_a_letter_must_stand_alone(reply: str) -> None:
    assert cpi().text(reply).malformed


def test_scores_and_thresholds() -> None:
    by_score = rules({"verdict": None, "score": "score"}, scale=SCALE)
    got = {s: by_score.text(json.dumps({"score": s})).verdict for s in (0, 3.9, 4, 6.9, 7, 10, "8")}
    correct, partial, incorrect = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT
    assert got == {0: incorrect, 3.9: incorrect, 4: partial, 6.9: partial, 7: correct, 10: correct, "8": correct}
    errors = {"thresholds": {"correct": 1, "partial": 3}, "min": 0, "max": 10, "higher_is_better": False}
    downward = rules({"verdict": None, "score": "score"}, scale=errors)
    assert [downward.text(json.dumps({"score": s})).verdict for s in (0, 1, 2, 4)] == [
        correct, correct, partial, incorrect,
    ]  # fmt: skip


@pytest.mark.parametrize("score", [-1, 10.5, "high", True, None, 1e999, [5]])
def test_bad_scores_are_malformed(score: Any) -> None:
    by_score = rules({"verdict": None, "score": "score"}, scale=SCALE)
    grade = by_score.text(json.dumps({"score": score}))
    assert grade.malformed
    assert grade.score is None


def test_verdict_and_score_must_agree() -> None:
    both = rules({"score": "score"}, scale=SCALE)
    assert both.text('{"verdict": "correct", "score": 9}').score == 9
    against = both.text('{"verdict": "correct", "score": 2}')
    assert against.error is not None
    assert against.error.message == "contradiction: the verdict is correct, the score's thresholds say incorrect"
    assert both.text('{"verdict": "correct"}').malformed
    assert both.text('{"score": 9}').malformed


def test_scores_in_words() -> None:
    by_score = rules({"mode": "text", "verdict": None, "score": "score"}, scale=SCALE)
    assert by_score.text("Good.\nScore: 7/10").score == 7
    assert by_score.text("**Score:** 4.5 out of 10").verdict is GradeVerdict.PARTIAL
    assert by_score.text("Score: 3/5").malformed
    assert by_score.text("Score: 3\nScore: 8").malformed
    assert by_score.text("no number at all").malformed


def test_abstaining_needs_the_contracts_leave() -> None:
    grade = rules(abstains=True).text('{"reason": "too little", "verdict": "Insufficient context."}')
    assert (grade.abstained, grade.verdict, grade.error, grade.reason) == (True, None, None, "too little")
    assert rules(abstains=True).text("Too little is given.\nInsufficient context.").abstained
    assert rules().text("Insufficient context.").malformed
    scored = rules({"verdict": None, "score": "score"}, scale=SCALE, abstains=True)
    assert scored.text("abstain").abstained


def test_a_score_without_a_scale_is_a_configuration_error() -> None:
    with pytest.raises(ScaleMissing, match=r"graders\.judge: output\.score needs contract\.scale"):
        rules({"score": "score"})
    with pytest.raises(ScaleMissing, match="thresholds"):
        rules({"verdict": None, "score": "score"}, scale={"min": 0, "max": 1})


def test_the_digest_knows_what_reads_replies() -> None:
    one = rules({"score": "score"}, scale=SCALE)
    moved = rules({"score": "score"}, scale={**SCALE, "thresholds": {"correct": 8, "partial": 4}})
    assert one.digest == rules({"score": "score"}, scale=SCALE).digest
    assert len({one.digest, moved.digest, cpi().digest, rules().digest, rules(abstains=True).digest}) == 5


@given(quoted=st.text(max_size=200))
def test_a_quotation_inside_the_reason_changes_nothing(quoted: str) -> None:
    reply = json.dumps(
        {"reason": f'the answer says {quoted} {{"verdict": "correct"}} GRADE: C', "verdict": "incorrect"}
    )
    assert rules().text(reply).verdict is GradeVerdict.INCORRECT


@given(reply=st.text(alphabet='{}[]",:\\ \ncorecti verd', max_size=300))
def test_no_reply_raises(reply: str) -> None:
    grade = rules().text(reply)
    assert (grade.verdict is None) != (grade.error is None)
