"""Which pairs are made, in which order they are shown, and that nothing tells the answers apart."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.config import Pairs
from grader_gate.model import ClaimKind, GoldenCase, GradeVerdict, Ladder, Preference, Role, Rung, Suite
from grader_gate.suite.items import Examination, SideTexts, examine
from grader_gate.suite.mutators.registry import registry
from grader_gate.suite.pairs import better_is_first

SIDE = SideTexts(rubric=lambda rubric: rubric.render() if rubric else None)


def ladder(*answers: str, levels: list[float] | None = None) -> Ladder:
    levels = levels or [float(i) for i in range(len(answers))]
    return Ladder(
        id="l", question="Q?", rungs=tuple(Rung(level=v, answer=a) for v, a in zip(levels, answers, strict=True))
    )


def case(name: str, answer: str, expected: str, reference: str | None = None, question: str = "Q?") -> GoldenCase:
    return GoldenCase(id=name, question=question, answer=answer, expected=GradeVerdict(expected), reference=reference)


def exam(*, cases=(), ladders=(), mutators=(), role=Role.GATE, **pairs) -> Examination:
    suite = Suite("s", cases=cases, ladders=ladders)
    return examine(suite, mutators, 40, SIDE, lambda _: role, pairs=Pairs(**pairs))


def texts(made: Examination, claim: str) -> list[tuple[str, str]]:
    return [(made.items[i].inputs["answer_a"], made.items[i].inputs["answer_b"]) for i in made.claims[claim].items]


def test_adjacent_rungs_are_shown_in_both_orders():
    made = exam(ladders=[ladder("low", "mid", "high")])
    assert list(made.claims) == ["rungs/l/0<1", "rungs/l/1<2"]
    assert sorted(texts(made, "rungs/l/0<1")) == [("low", "mid"), ("mid", "low")]
    for claim in made.claims.values():
        low, high = ({"0<1": ("low", "mid"), "1<2": ("mid", "high")})[claim.id.rsplit("/")[-1]]
        for item, place in zip(claim.items, claim.better, strict=True):
            assert made.items[item].inputs[f"answer_{place.value}"] == high
            assert made.items[item].inputs[f"answer_{place.swapped.value}"] == low


def test_equal_levels_are_never_compared():
    made = exam(ladders=[ladder("low", "mid one", "mid two", "high", levels=[0, 1, 1, 2])])
    assert list(made.claims) == ["rungs/l/0<1", "rungs/l/0<2", "rungs/l/1<3", "rungs/l/2<3"]


def test_sampled_pairs_reach_over_levels_and_are_stable():
    answers = [f"answer {i}" for i in range(6)]
    few = exam(ladders=[ladder(*answers)], design="sampled", per_case=4)
    more = exam(ladders=[ladder(*answers)], design="sampled", per_case=9)
    assert len(few.claims) == 4
    assert set(few.claims) < set(more.claims)
    everything = exam(ladders=[ladder(*answers)], design="sampled", per_case=1000)
    assert len(everything.claims) == len(list(combinations(answers, 2)))


def test_golden_answers_to_one_question_are_paired_with_each_other_and_the_reference():
    cases = [
        case("right", "good", "correct"),
        case("partly", "half", "partial", reference="ideal"),
        case("wrong", "bad", "incorrect"),
        case("elsewhere", "other", "incorrect", question="Another?"),
    ]
    made = exam(cases=cases, per_case=100)
    assert set(made.claims) == {
        "pair/partly<right", "pair/wrong<right", "pair/wrong<partly", "pair/partly<reference", "pair/wrong<reference",
    }  # fmt: skip
    assert {c.kind for c in made.claims.values()} == {ClaimKind.GOLDEN}
    assert len(made.items) == 2 * len(made.claims)
    assert len(exam(cases=cases, per_case=2).claims) == 2


def test_a_text_is_never_paired_with_itself():
    cases = [case("a", "same", "correct"), case("b", "same", "incorrect"), case("c", "other", "partial")]
    made = exam(cases=cases, per_case=100)
    assert all(a != b for claim in made.claims for a, b in texts(made, claim))


def test_mutants_are_compared_with_what_they_were_made_from():
    reference = "The bridge is 300 metres long. It was built in 1932. It does not carry trains."
    cases = [case("one", "No idea.", "incorrect", reference=reference)]
    chosen = [m for m in registry().values() if m.default]
    made = exam(cases=cases, mutators=chosen)
    kinds = {kind: [c for c in made.claims.values() if c.kind is kind] for kind in ClaimKind}
    assert len(kinds[ClaimKind.MUTANT]) >= 5
    for claim in (*kinds[ClaimKind.MUTANT], *kinds[ClaimKind.CONTROL]):
        for item, place in zip(claim.items, claim.better, strict=True):
            assert made.items[item].inputs[f"answer_{place.value}"] == reference
            assert made.items[item].inputs[f"answer_{place.swapped.value}"] != reference
    for claim in kinds[ClaimKind.ATTACK]:
        assert len(claim.items) == 4
        for item, place in zip(claim.items, claim.better, strict=True):
            assert made.items[item].inputs[f"answer_{place.value}"] == reference
        bare = {
            made.items[i].inputs[f"answer_{p.swapped.value}"]
            for i, p in zip(claim.items[2:], claim.better[2:], strict=True)
        }
        assert bare == {"No idea."}
    assert kinds[ClaimKind.ATTACK]
    assert made.applicability["identity"].reasons == {"a text is not compared with itself": 1}


def test_an_attack_without_a_right_answer_is_not_applicable():
    chosen = [m for m in registry().values() if m.polarity.value == "attack" and m.default]
    made = exam(cases=[case("one", "No idea.", "incorrect")], mutators=chosen)
    assert not made.claims
    assert all(tally.applicable == 0 and sum(tally.reasons.values()) == 1 for tally in made.applicability.values())


@pytest.mark.parametrize(("role", "count", "gating"), [(Role.ABSTAIN, 0, None), (Role.SCREEN, 1, False)])
def test_roles_hold_for_pairs(role, count, gating):
    made = exam(ladders=[ladder("low", "high")], role=role)
    assert len(made.claims) == count
    assert all(claim.gating is gating for claim in made.claims.values())


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_the_order_knows_the_texts_and_not_which_is_better(x, y):
    if x == y:
        return
    shared = {"question": "Q?"}
    # Whichever of the two is called better, the same text stands first.
    assert better_is_first(x, y, shared) is not better_is_first(y, x, shared)


def test_the_first_place_is_given_to_either_about_equally_often():
    first = sum(better_is_first(f"better {i}", f"worse {i}", {"question": "Q?"}) for i in range(2000))
    assert 900 < first < 1100  # a fair coin leaves this range once in 130,000 draws; the texts are fixed


def test_nothing_but_the_texts_reaches_the_grader():
    made = exam(cases=[case("secret-right", "good", "correct"), case("secret-wrong", "bad", "incorrect")],
                ladders=[ladder("low", "high")])  # fmt: skip
    for item in made.items.values():
        assert set(item.inputs) == {"question", "reference", "rubric", "sources", "answer_a", "answer_b"}
        assert "secret" not in str(item.inputs)


def test_both_orders_hold_the_better_answer_in_another_place():
    made = exam(ladders=[ladder("low", "mid", "high")])
    for claim in made.claims.values():
        assert set(claim.better) == {Preference.A, Preference.B}
