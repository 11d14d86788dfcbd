from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.changes.goalposts import goalposts
from grader_gate.changes.matching import compare_rungs, match_cases, match_ladders
from grader_gate.model import GoldenCase, Ladder, Location, Rubric, Suite
from tests.changes.example import BASE, SUITES, case, edited, found, ladder, rungs, with_suite

ONE, TWO = SUITES["main"].cases
STEPS, STAIRS = SUITES["main"].ladders


@pytest.mark.parametrize(
    ("cases", "what", "detail"),
    [
        ([ONE, TWO.model_copy(update={"expected": "incorrect"})], "case relabelled", "main: two: correct → incorrect"),
        ([ONE, TWO.model_copy(update={"tags": ("y", "z")})], "case re-tagged", "main: two: -x +z"),
        ([ONE], "case deleted", "main: two"),
        ([ONE, case("two", answer="other", expected="partial", tags=("x", "y"))], "case relabelled",
         "main: two: correct → partial"),
        ([ONE, TWO.model_copy(update={"id": "zwei", "expected": "partial"})], "case relabelled",
         "main: two (now zwei): correct → partial"),
        ([ONE.model_copy(update={"tolerance": 0.2}), TWO], "tolerance widened", "main: one: tolerance 0.1 → 0.2"),
        ([ONE, TWO.model_copy(update={"tolerance": 0.2})], "tolerance widened", "main: two: tolerance 0 → 0.2"),
        ([ONE.model_copy(update={"evidence": ()}), TWO], "evidence removed", "main: one: e"),
        ([ONE.model_copy(update={"facts": ()}), TWO], "facts removed", "main: one: f"),
        ([ONE.model_copy(update={"entities": ("m",)}), TWO], "entities removed", "main: one: n"),
    ],
)  # fmt: skip
def test_each_loosened_case_is_exactly_one_goalpost(cases: list[GoldenCase], what: str, detail: str) -> None:
    (only,) = found(suites=with_suite(cases=cases))
    assert (only.what, only.detail) == (what, detail)


@pytest.mark.parametrize(
    "cases",
    [
        [TWO, ONE],
        [ONE, TWO, case("three")],
        [ONE, TWO.model_copy(update={"id": "zwei"})],
        [ONE, TWO.model_copy(update={"tags": ("y", "x")})],
        [ONE, TWO.model_copy(update={"answer": "another answer"})],
        [ONE.model_copy(update={"tolerance": 0.05, "evidence": ("e", "more")}), TWO],
        [ONE, TWO.model_copy(update={"labels": {"ann": "incorrect"}, "metadata": {"a": 1}, "source": "s"})],
        [ONE, TWO.model_copy(update={"location": Location(path="elsewhere.yml", line=1)})],
    ],
)
def test_what_a_case_may_do(cases: list[GoldenCase]) -> None:
    assert found(suites=with_suite(cases=cases)) == []


def test_a_deleted_case_that_another_suite_holds_is_moved_out() -> None:
    moved = with_suite(cases=[ONE]) | {"other": Suite("other", [TWO.model_copy(update={"id": "renamed"})])}
    (only,) = found(suites=moved)
    assert (only.what, only.detail) == ("case moved out", "main: two: now only in other")
    assert only.location == Location(path="cases/two.yml")


def test_many_cases_share_a_row() -> None:
    many = [case(f"c{n:03}") for n in range(200)]
    made = goalposts(BASE, BASE, SUITES | {"format": Suite("format", many)}, SUITES | {"format": Suite("format")})
    assert [g.detail for g in made[:2]] == ["format: c000", "format: c001"]
    assert (len(made), made[-1].detail) == (11, "format: 190 more")


@pytest.mark.parametrize(
    ("ladders", "what", "detail"),
    [
        ([STEPS], "ladder deleted", "main: stairs"),
        ([ladder("steps", "bad", "good"), STAIRS], "rung dropped", "main: steps: 1 of 3 rungs"),
        ([ladder("steps", "fair", "bad", "good"), STAIRS], "levels reordered",
         "main: steps: level 0 no longer below 1"),
        ([edited(STEPS, level=lambda rung: min(rung.level, 1)), STAIRS],
         "levels reordered", "main: steps: level 1 no longer below 2"),
        ([STEPS, STAIRS.model_copy(update={"tags": ()})], "ladder re-tagged", "main: stairs: -x"),
        ([edited(STEPS, evidence=()), STAIRS], "evidence removed", "main: steps: e"),
    ],
)  # fmt: skip
def test_each_loosened_ladder_is_exactly_one_goalpost(ladders: list[Ladder], what: str, detail: str) -> None:
    (only,) = found(suites=with_suite(ladders=ladders))
    assert (only.what, only.detail) == (what, detail)


@pytest.mark.parametrize(
    "ladders",
    [
        [STAIRS, STEPS],
        [STEPS, STAIRS, ladder("new")],
        [ladder("steps", "bad", "so-so", "fair", "good"), STAIRS],
        [ladder("steps", "bad", "fair indeed", "good"), STAIRS],
        [STEPS.model_copy(update={"id": "schritte"}), STAIRS],
        [STEPS.model_copy(update={"question": "Q?"}), STAIRS],
        [edited(STEPS, level=lambda rung: rung.level * 10), STAIRS],
    ],
)  # fmt: skip
def test_what_a_ladder_may_do(ladders: list[Ladder]) -> None:
    assert found(suites=with_suite(ladders=ladders)) == []


def test_an_edited_rubric_file_edits_no_case() -> None:
    def with_rubric(**more: Any) -> GoldenCase:
        return case("a", rubric=Rubric(text="old", path="rubric.md")).model_copy(update=more)

    new = with_rubric(rubric=Rubric(text="new", path="rubric.md"))
    assert match_cases([with_rubric()], [new]).unchanged == ((with_rubric(), new),)
    renamed = new.model_copy(update={"id": "b"})
    assert match_cases([with_rubric()], [renamed]).renamed == ((with_rubric(), renamed),)
    inline = with_rubric(rubric=Rubric(text="new"))
    assert match_cases([with_rubric(rubric=Rubric(text="old"))], [inline]).edited != ()


def test_swapped_ids_are_renames() -> None:
    a, b = case("a"), case("b")
    swapped = [b.model_copy(update={"id": "a"}), a.model_copy(update={"id": "b"})]
    matches = match_cases([a, b], swapped)
    assert [(old.id, new.id) for old, new in matches.renamed] == [("a", "b"), ("b", "a")]
    assert matches.edited == matches.deleted == matches.added == ()


def test_a_twin_of_another_label_does_not_hide_a_deletion() -> None:
    right, wrong = case("a"), case("b", question="Q a", reference="R a", answer="A a", expected="incorrect")
    matches = match_cases([right, wrong], [wrong])
    assert matches.deleted == (right,)
    assert matches.unchanged == ((wrong, wrong),)
    moved = match_cases([right, wrong], [wrong.model_copy(update={"id": "c"})])
    assert moved.deleted == (right,)
    assert [(old.id, new.id) for old, new in moved.renamed] == [("b", "c")]
    assert moved.relabelled == ()


CASES = st.lists(
    st.builds(
        lambda name, answer, expected, tags: case(name, question="Q", reference=None, answer=answer,
                                                  expected=expected, tags=tuple(sorted(tags))),
        st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from(["correct", "incorrect"]),
        st.sets(st.sampled_from(["t", "u"])),
    ),
    unique_by=lambda one: one.id, max_size=4,
)  # fmt: skip


@given(CASES, CASES)
def test_every_case_is_accounted_for_once(base: list[GoldenCase], head: list[GoldenCase]) -> None:
    matches = match_cases(base, head)
    assert sorted([o.id for o, _ in matches.pairs] + [o.id for o in matches.deleted]) == sorted(o.id for o in base)
    assert sorted([n.id for _, n in matches.pairs] + [n.id for n in matches.added]) == sorted(n.id for n in head)
    for old, new in matches.unchanged:
        assert (old.id, old.content_digest, old.expected, set(old.tags)) == (
            new.id, new.content_digest, new.expected, set(new.tags),
        )  # fmt: skip
    for old, new in matches.edited:
        assert old.id == new.id
        assert old.content_digest != new.content_digest
    for old, new in matches.renamed:
        assert old.content_digest == new.content_digest
    left = {n.content_digest for n in matches.added}
    assert not {o.content_digest for o in matches.deleted} & left


@given(st.permutations(["a", "b", "c", "d"]), st.integers(0, 4))
def test_rungs_keep_their_order_or_it_is_told(order: list[str], keep: int) -> None:
    base, head = rungs("a", "b", "c", "d"), rungs(*order[:keep])
    lost, turned, pairs = compare_rungs(base, head)
    assert len(lost) == 4 - keep
    assert len(pairs) == keep
    assert bool(turned) == (sorted(order[:keep]) != order[:keep])


def test_ladders_are_matched_like_cases() -> None:
    matches = match_ladders([STEPS, STAIRS], [STAIRS.model_copy(update={"id": "b"}), STEPS])
    assert [(old.id, new.id) for old, new in matches.renamed] == [("stairs", "b")]
    assert matches.unchanged == ((STEPS, STEPS),)
