"""What is doubtful about golden cases and ladders."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.audits.hygiene import (
    Remark,
    balance,
    changed_sentences,
    copied_references,
    duplicates,
    label_conflicts,
    ladder_steps,
    near_duplicates,
    needed_cases,
    shown_error,
    small_tags,
)
from grader_gate.model import GoldenCase, GradeVerdict, Ladder, Rung
from tests.flow.repository import Repository, base_files

CORRECT, PARTIAL, INCORRECT = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT


def case(name: str, answer: str = "It takes 14 days.", expected: GradeVerdict = CORRECT, **more: Any) -> GoldenCase:
    return GoldenCase(id=name, question=more.pop("question", "How long?"), answer=answer, expected=expected, **more)


def kinds(found: list[Remark]) -> list[str]:
    return [remark.kind for remark in found]


def lines(text: str) -> list[str]:
    return [part.strip() for part in text.split(".") if part.strip()]


def test_equal_texts_are_duplicates_whatever_their_case_and_layout() -> None:
    (found,) = duplicates([case("a"), case("b", "it  takes 14 DAYS."), case("c", "It takes 15 days.")])
    assert (found.kind, found.message) == ("duplicate", "a stands again as b: it counts 2 times; keep one")


def test_equal_texts_with_different_verdicts_contradict_one_another() -> None:
    (found,) = duplicates([case("a"), case("b", expected=INCORRECT)])
    assert found.kind == "contradictory verdicts"
    assert "a correct, b incorrect" in found.message


def test_another_question_or_reference_makes_another_case() -> None:
    assert duplicates([case("a"), case("b", question="How far?"), case("c", reference="14 days")]) == []


LONG = "Refunds of an invoice take 14 days, and the money is returned to the same card as soon as it is there"


def test_nearly_equal_answers_are_named_once() -> None:
    found = near_duplicates([case("a", LONG + "."), case("b", LONG + "!"), case("c", LONG + ", sir.")])
    assert kinds(found) == ["near-duplicate", "near-duplicate"]
    assert found[0].message.startswith("b is 99 % the same as a") or found[0].message.startswith(
        "a is 99 % the same as b"
    )


@pytest.mark.parametrize(
    "other",
    [
        case("b", LONG.replace("14", "15")),  # a minimal pair by figure
        case("b", LONG + "!", expected=INCORRECT),  # a minimal pair by verdict
        case("b", LONG + "!", question="Something else?"),
        case("b", "Two weeks."),
    ],
)
def test_minimal_pairs_and_other_answers_are_none(other: GoldenCase) -> None:
    assert near_duplicates([case("a", LONG), other]) == []


def test_raters_that_disagree_and_verdicts_against_most_raters() -> None:
    found = label_conflicts(
        [
            case("settled", labels={"ann": CORRECT, "bob": CORRECT, "cy": None}),
            case("split", labels={"ann": CORRECT, "bob": PARTIAL}),
            case("against", labels={"ann": PARTIAL, "bob": PARTIAL, "cy": CORRECT}),
            case("unlabelled"),
        ]
    )
    assert [r.message.partition(":")[0] for r in found] == ["split", "against"]
    assert found[0].message.startswith("split: the raters disagree (1 correct, 1 partial)")
    assert found[1].message.startswith("against: expected correct, but the raters say 2 partial, 1 correct")


def test_an_answer_that_is_the_reference_must_be_correct() -> None:
    same = "It takes 14 days."
    assert kinds(copied_references([case("a", reference=same), case("b", reference=same, expected=PARTIAL)])) == [
        "contradictory verdicts"
    ]


def test_how_many_cases_show_an_error_rate() -> None:
    # The rule of three: 29 cases for 10 %, 59 for 5 %, 299 for 1 %, all at 95 % (exact binomial).
    assert [needed_cases(e) for e in (0.1, 0.05, 0.01)] == [29, 59, 299]
    assert shown_error(29) == pytest.approx(0.0981, abs=1e-4)
    assert shown_error(1) == pytest.approx(0.95)


@given(st.floats(min_value=0.001, max_value=0.9))
def test_the_needed_number_is_the_smallest_that_shows_it(error: float) -> None:
    n = needed_cases(error)
    assert shown_error(n) <= error + 1e-12
    assert n == 1 or shown_error(n - 1) > error - 1e-12


def test_small_tags_are_one_remark_with_the_number_that_would_do() -> None:
    tagged = [case(f"c{n}", tags=("big", *(("small",) if n < 3 else ()))) for n in range(29)]
    (found,) = small_tags(tagged, 0.1)
    assert "takes 29 that all pass: small (3)" in found.message
    assert "with 3, an error rate of 63% can still hide" in found.message
    assert "big" not in found.message


def test_one_sided_sets_and_sets_without_hard_cases_are_named() -> None:
    good = [case(f"c{n}") for n in range(10)]
    assert kinds(balance(good)) == ["few adversarial cases", "one-sided verdicts"]
    mixed = [*good[:5], *(case(f"w{n}", expected=INCORRECT, tags=("Adversarial",)) for n in range(5))]
    assert balance(mixed) == []
    assert kinds(balance([case(f"w{n}", expected=INCORRECT, tags=("hard",)) for n in range(4)])) == [
        "one-sided verdicts"
    ]
    assert balance([]) == []


def ladder(*rungs: tuple[str, str | None]) -> Ladder:
    return Ladder(
        id="l", question="q", rungs=tuple(Rung(level=n, answer=a, defect=d) for n, (a, d) in enumerate(rungs))
    )


def test_rungs_one_sentence_apart_are_fine() -> None:
    assert ladder_steps(ladder(("A", "says nothing"), ("B. C", "D missing"), ("B. C. D", None)), lines) == []


def test_rungs_two_sentences_apart_and_defects_of_two_parts_are_questioned() -> None:
    found = ladder_steps(ladder(("B", None), ("B. C. D", "E missing and F wrong"), ("B. C. D. E. F", None)), lines)
    assert [(r.kind, "2 sentences differ" in r.message) for r in found] == [
        ("more than one defect", True),
        ("more than one defect", False),
    ]
    assert "“E missing and F wrong” names more than one defect" in found[1].message


def test_a_ladder_of_two_levels_is_short() -> None:
    assert kinds(ladder_steps(ladder(("A", None), ("A. B", None)), lines)) == ["short ladder"]


def test_changed_sentences() -> None:
    assert changed_sentences(["a", "b"], ["A", "c"]) == 1
    assert changed_sentences(["a"], ["b"]) is None
    assert changed_sentences(["a", "a"], ["a"]) == 1


# ---------------------------------------------------------------- through the command line

CHECKS = """
version: 1
graders:
  figures:
    kind: checks
    contract: {inputs: [answer, reference, sources]}
    checks:
      - {type: numbers, expect: reference}
      - {type: citations, name: cites}
suites:
  main: {grader: figures, cases: "cases/*.yaml", mutators: [corrupt_number, drop_last_sentence]}
"""
CASES = """
cases:
  - {id: good, question: Q1, reference: "It takes 14 days [1]. It is free.", answer: "14 days [1]", expected: correct,
     tags: [hard], sources: [{id: "1", text: t}]}
  - {id: uncited, question: Q2, reference: "It takes 3 days.", answer: "3 days", expected: correct, sources: [{id: "1", text: t}]}
  - {id: bare, question: Q3, reference: "Yes.", answer: "No.", expected: incorrect}
  - {id: partly, question: Q4, answer: "Perhaps.", expected: partial}
"""


def test_lint_names_shaky_references_and_cases_without_mutators(repo: Repository) -> None:
    repo.write({".grader-gate.yml": CHECKS, "cases/all.yaml": CASES})
    run = repo.gate("lint")
    said = run.out.splitlines()
    assert run.code == 0
    assert (
        "cases/all.yaml:5: shaky reference: uncited: its reference fails cites (has 0 citations, fewer than 1)" in said
    )
    assert not [line for line in said if "shaky reference: good" in line]
    assert any("bare: its reference fails numbers-1 (finds no number in the reference" in line for line in said)
    bare = next(line for line in said if "no mutator applies: bare" in line)
    assert bare.startswith("cases/all.yaml:6: ")
    assert "no reference, and the answer is only partly right" in next(s for s in said if "applies: partly" in s)
    assert not [line for line in said if "applies: good" in line or "applies: uncited" in line]
    assert repo.gate("lint", "--strict").code == 1


def test_lint_reads_any_revision_and_says_where_there_is_nothing(repo: Repository) -> None:
    twice = "cases:\n" + "".join(
        f'  - {{id: {n}, question: Q?, answer: "It is good", expected: correct}}\n' for n in ("a", "b")
    )
    repo.commit({"cases/all.yaml": twice})
    repo.write(base_files())
    assert "duplicate: a stands again as b" in repo.gate("lint", "HEAD").out
    assert "duplicate" not in repo.gate("lint", "main").out
    assert repo.gate("lint", "--suite", "nosuch").code == 2
