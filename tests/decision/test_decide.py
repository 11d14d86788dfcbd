"""What the decision says in each situation."""

import pytest

from grader_gate.decision.decide import Decision, Requests, Settings, decide
from grader_gate.decision.evidence import MALFORMED, RunRequest
from grader_gate.decision.outcome import ClaimStatus
from grader_gate.model import ClaimKind, GateVerdict, Side

from .worlds import World, always, claim, noisy, screened, steady


def test_nothing_changed_passes_without_a_call():
    world = always({})
    decision = world.decide(steady(30))
    assert decision.verdict is GateVerdict.PASS
    assert world.made == []
    assert decision.why == []
    assert decision.certainty.flips == 0
    assert decision.certainty.expected_flips == 0
    assert {c.status for c in decision.claims.values()} == {ClaimStatus.UPHELD}


def test_one_broken_claim_fails_with_a_sentence_people_understand():
    world = always({"broken": 2})
    decision = world.decide([*steady(30), claim("broken", screen=(2,))])
    assert decision.verdict is GateVerdict.FAIL
    assert decision.why == ["1 confirmed regression"]
    found = decision.claims["broken"]
    assert found.status is ClaimStatus.CONFIRMED
    assert found.sentence == "passes 4 of 4 times on base, 0 of 4 on this pull request"
    assert (found.base_runs.k, found.base_runs.n, found.head_runs.k, found.head_runs.n) == (4, 4, 0, 4)
    assert decision.certainty.reruns == 8
    assert 0 < decision.certainty.false_block_bound <= 0.01


def test_sides_are_asked_for_in_turn_and_only_what_can_decide():
    answer = decide([*steady(30), claim("broken", screen=(2,))], Settings())
    assert isinstance(answer, Requests)
    assert answer.runs == (
        RunRequest("broken", Side.HEAD, "confirm", 1),
        RunRequest("broken", Side.BASE, "confirm", 1),
    )
    assert answer.why == "1 flip to confirm"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (ClaimKind.MUTANT, "is caught 4 of 4 times on base, 0 of 4 on this pull request"),
        (ClaimKind.CONTROL, "holds 4 of 4 times on base, 0 of 4 on this pull request"),
        (ClaimKind.ATTACK, "is resisted 4 of 4 times on base, 0 of 4 on this pull request"),
        (ClaimKind.RUNGS, "is in order 4 of 4 times on base, 0 of 4 on this pull request"),
    ],
)
def test_every_kind_has_its_words(kind, sentence):
    decision = always({"x": 1}).decide([*steady(30), claim("x", screen=(1,), kind=kind)])
    assert decision.claims["x"].sentence == sentence


def test_noise_is_dismissed_with_both_rates():
    decision = World(lambda run: 2 * (run[3] % 2)).decide([*steady(30), claim("coin", screen=(2,))])
    assert decision.verdict is GateVerdict.PASS
    found = decision.claims["coin"]
    assert found.status is ClaimStatus.DISMISSED
    assert found.sentence.startswith("noise: passes ")
    assert found.base_runs == found.head_runs


def test_where_base_fails_too_it_is_drift_and_nobodys_fault():
    decision = always({"moved": 2}, {"moved": 2}).decide([*steady(30), claim("moved", screen=(2,))])
    assert decision.verdict is GateVerdict.PASS
    found = decision.claims["moved"]
    assert found.status is ClaimStatus.DRIFT
    assert found.sentence.startswith("base itself moved: passes 0 of ")
    assert found.sentence.endswith("; 3 of 3 when it was frozen")


def test_a_claim_that_failed_before_can_get_worse():
    before = claim("worse", stored=(1, 1, 1), screen=(2,))
    decision = always({"worse": 2}, {"worse": 1}).decide([*steady(30), before])
    assert decision.verdict is GateVerdict.FAIL
    assert (
        decision.claims["worse"].sentence == "is no worse than frozen 4 of 4 times on base, 0 of 4 on this pull request"
    )


def test_a_claim_that_failed_before_and_fails_alike_is_upheld_and_a_better_one_improved():
    decision = always({}).decide([claim("same", stored=(2, 2, 2), screen=(2,)), claim("better", stored=(2, 2, 2))])
    assert decision.verdict is GateVerdict.PASS
    assert decision.claims["same"].status is ClaimStatus.UPHELD
    assert decision.claims["better"].status is ClaimStatus.IMPROVED


def test_a_malformed_reply_is_a_flip_like_any_other():
    decision = always({"x": MALFORMED}, {"x": 2}).decide(
        [*steady(30), claim("x", stored=(2, 2, 2), screen=(MALFORMED,))]
    )
    assert decision.verdict is GateVerdict.FAIL


def test_five_confirmed_end_it_severest_first_and_the_rest_is_listed():
    broken = {f"b{i}": 2 for i in range(40)}
    evidence = [*steady(400), *(claim(name, screen=(2,), severity=float(name[1:])) for name in broken)]
    world = always(broken)
    decision = world.decide(evidence)
    assert decision.verdict is GateVerdict.FAIL
    confirmed = [name for name, c in decision.claims.items() if c.status is ClaimStatus.CONFIRMED]
    assert confirmed == ["b39", "b38", "b37", "b36", "b35"]
    rest = [c for c in decision.claims.values() if c.status is ClaimStatus.NOT_RERUN]
    assert len(rest) == 35
    assert rest[0].sentence.startswith("not re-run to the end, 5 others are confirmed: ")
    assert {run[0] for run in world.made} == set(confirmed)
    assert decision.calls_needed == 0


def test_more_than_a_tenth_flipped_takes_a_fresh_pass_of_both_sides():
    moved = {f"m{i}": 2 for i in range(20)}
    evidence = [*steady(80), *(claim(name, screen=(2,)) for name in moved)]
    world = always(moved, moved)
    decision = world.decide(evidence)
    assert decision.verdict is GateVerdict.PASS, "base moved as far as head"
    assert world.made.count(("ok0", Side.BASE, "fresh", 0)) == 1
    assert len(world.made) == 200, "one pass of both sides and nothing else"
    # The same with a break in head alone is blocked after that pass.
    decision = always(moved | {"ok0": 2}, moved).decide([*evidence[1:], claim("ok0", screen=(2,))])
    assert decision.verdict is GateVerdict.FAIL
    assert [n for n, c in decision.claims.items() if c.status is ClaimStatus.CONFIRMED] == ["ok0"]


def test_flips_that_the_stored_repeats_foresee_take_no_fresh_pass():
    restless = [
        claim(f"r{i}", stored=((0, 2, 0), (0, 0, 2), (2, 0, 0))[i % 3], screen=(2 * (i % 4 == 0),)) for i in range(60)
    ]
    answer = decide(restless, Settings())
    assert isinstance(answer, Requests)
    assert {r.purpose for r in answer.runs} == {"confirm"}


def test_a_deterministic_grader_takes_one_call_a_side():
    world = always({"x": 2})
    decision = world.decide([claim("x", screen=(2,), stored=(0,), deterministic=True)])
    assert decision.verdict is GateVerdict.FAIL
    assert world.made == [("x", Side.HEAD, "confirm", 0), ("x", Side.BASE, "confirm", 0)]
    assert decision.claims["x"].sentence == "passes 1 of 1 times on base, 0 of 1 on this pull request"
    assert decision.broken_promises == ()
    assert decision.certainty.false_block_bound is None, "it rests on the contract's word"


def test_a_broken_promise_is_told_and_the_coin_rule_takes_over():
    flaky = World(lambda run: 2 * (run[3] % 2) if run[0] == "flaky" else 2 * (run[0] == "x" and run[1] is Side.HEAD))
    evidence = [
        *(claim(f"d{i}", stored=(0,), deterministic=True) for i in range(20)),
        claim("flaky", screen=(2,), stored=(0,), deterministic=True),
        claim("x", screen=(2,), stored=(0,), deterministic=True),
    ]
    decision = flaky.decide(evidence)
    assert decision.broken_promises == ("flaky",)
    assert decision.claims["flaky"].status is ClaimStatus.DISMISSED
    assert decision.claims["x"].status is ClaimStatus.CONFIRMED
    assert decision.claims["x"].head_runs.n > 1, "one call is no longer enough"
    assert decision.certainty.false_block_bound is not None


def test_stored_repeats_that_differ_break_the_promise_too():
    decision = always({}).decide([claim("x", stored=(0, 2, 0), deterministic=True)])
    assert decision.broken_promises == ("x",)


def test_gray_and_reported_claims_never_fail():
    evidence = [
        *steady(30),
        claim("gray", screen=(2,), noise_flip_rate=0.4),
        claim("shown", screen=(2,), gating=False),
    ]
    world = always({"gray": 2, "shown": 2})
    decision = world.decide(evidence)
    assert decision.verdict is GateVerdict.PASS
    assert world.made == []
    assert decision.claims["gray"].status is ClaimStatus.GRAY
    assert decision.claims["shown"].status is ClaimStatus.UNCONFIRMED
    assert decision.claims["shown"].sentence.startswith("reported only, not re-run: ")
    decision = always({"gray": 2}).decide([*steady(30), claim("gray", screen=(2,), noise_flip_rate=0.39)])
    assert decision.verdict is GateVerdict.FAIL


def test_stored_repeats_that_disagree_are_the_gray_list():
    decision = always({}).decide([*steady(3), claim("b", stored=(0, 2, 0)), claim("a", stored=(2, 0, 2), screen=(2,))])
    assert decision.certainty.gray == ("a", "b")
    assert decision.certainty.expected_flips == pytest.approx(2 / 3)


def test_not_measured_is_never_green():
    decision = always({}).decide([*steady(30), claim("lost", screen=(None,))])
    assert decision.verdict is GateVerdict.ERROR
    assert decision.claims["lost"].status is ClaimStatus.UNDECIDED
    assert decision.why == ["1 claim not measured on both sides", "not decided: needs up to 1 more calls"]
    assert decision.calls_needed == 1
    broken = always({"x": 2}).decide([*steady(30), claim("lost", screen=(None,)), claim("x", screen=(2,))])
    assert broken.verdict is GateVerdict.FAIL, "a confirmed fail beats an error"
    shown = always({}).decide([*steady(3), claim("lost", screen=(None,), gating=False)])
    assert shown.verdict is GateVerdict.PASS


def test_nothing_at_all_is_an_error():
    decision = always({}).decide([])
    assert (decision.verdict, decision.why) == (GateVerdict.ERROR, ["there is no claim to decide on"])
    decision = always({}).decide([claim("lost", screen=(None,), gating=False)])
    assert decision.why == ["nothing was measured on both sides"]
    assert decision.verdict is GateVerdict.ERROR


def test_two_claims_of_one_name_are_refused():
    with pytest.raises(ValueError, match="same name"):
        decide([claim("x"), claim("x")], Settings())


def test_a_side_without_a_run_is_asked_for_its_first():
    world = always({"x": 2})
    decision = world.decide([claim("x", stored=(), screen=()), *steady(5, stored=())], Settings(min_stored=2))
    assert decision.verdict is GateVerdict.FAIL
    assert ("ok0", Side.BASE, "screen", 1) in world.made
    assert ("ok0", Side.HEAD, "screen", 0) not in world.made
    lost = World(lambda run: None).decide([claim("x", stored=()), *steady(5)])
    assert lost.verdict is GateVerdict.ERROR


def test_an_unmeasured_rerun_leaves_the_claim_undecided_only_where_it_matters():
    one_gap = World(lambda run: None if run[3] == 1 else 2 * (run[1] is Side.HEAD) * (run[0] == "x"))
    assert one_gap.decide([*steady(30), claim("x", screen=(2,))]).verdict is GateVerdict.FAIL
    nothing = World(lambda run: None)
    decision = nothing.decide([*steady(30), claim("x", screen=(2,))])
    assert decision.verdict is GateVerdict.ERROR
    assert decision.why == ["1 flip not decided: re-runs were not measured"]


def test_a_budget_that_ends_before_the_decision_is_an_error_that_names_its_price():
    evidence = [*steady(30), claim("x", screen=(2,))]
    decision = always({"x": 2}).decide(evidence, budget=5)
    assert decision.verdict is GateVerdict.ERROR
    assert decision.claims["x"].status is ClaimStatus.UNDECIDED
    assert decision.calls_needed > 0
    assert decision.why == [
        "1 flip not re-run to the end: no calls left",
        f"not decided: needs up to {decision.calls_needed} more calls",
    ]
    enough = always({"x": 2}).decide(evidence, budget=8)
    assert enough.verdict is GateVerdict.FAIL
    priced = [*steady(30), claim("x", screen=(2,), calls=2)]
    assert always({"x": 2}).decide(priced, budget=8).verdict is GateVerdict.ERROR
    assert always({"x": 2}).decide(priced, budget=16).verdict is GateVerdict.FAIL
    moved = [*steady(30), *(claim(f"m{i}", screen=(2,)) for i in range(9))]
    too_dear = always({}).decide(moved, budget=20)
    assert too_dear.verdict is GateVerdict.ERROR
    assert too_dear.calls_needed == 78


def test_a_small_budget_goes_to_the_severest_flips():
    evidence = [*steady(60), claim("mild", screen=(2,), severity=1), claim("grave", screen=(2,), severity=3)]
    world = always({"mild": 2, "grave": 2})
    decision = world.decide(evidence, budget=10)
    assert {run[0] for run in world.made} == {"grave"}
    assert decision.verdict is GateVerdict.FAIL


# ---------------------------------------------------------------- drops


def test_a_uniform_drop_is_confirmed_by_fresh_passes():
    names = [f"c{i:03}" for i in range(400)]
    base = dict.fromkeys(names, 0.01)
    head = dict.fromkeys(names, 0.10)
    decision = noisy(7, head, base).decide(screened(7, head, base))
    assert decision.verdict is GateVerdict.FAIL
    [drop] = [d for d in decision.drops if d.blocked]
    assert drop.scope == "suite"
    assert drop.p_confirm <= 0.01
    assert drop.base_rate > 0.97 > 0.93 > drop.head_rate
    assert drop.worse > drop.better
    assert decision.why[0].startswith("the suite dropped (confirmed by fresh passes): 9")


def test_a_soft_drop_of_one_tag_is_found_and_named():
    names = [f"c{i:02}" for i in range(60)]
    base = dict.fromkeys(names, 0.0)
    head = base | dict.fromkeys(names[:8], 0.5)
    seeds = range(12)
    blamed = 0
    for seed in seeds:
        evidence = screened(seed, head, base)
        for i, e in enumerate(evidence):
            e.tags = ("soft",) if i < 8 else ("fine", "other")
        decision = noisy(seed, head, base).decide(evidence)
        tags = {d.scope for d in decision.drops if d.blocked and d.tags}
        assert tags <= {"soft"}
        blamed += decision.verdict is GateVerdict.FAIL
    assert blamed >= 10


def test_stored_noise_that_fresh_passes_do_not_show_blocks_nothing():
    # Base was frozen on a good day: head looks worse, and so does base when it runs beside it.
    names = [f"c{i:03}" for i in range(300)]
    now = dict.fromkeys(names, 0.08)
    evidence = screened(3, now, dict.fromkeys(names, 0.0), tags=("t",))
    decision = noisy(3, now, now).decide(evidence)
    assert decision.verdict is GateVerdict.PASS
    assert [d.blocked for d in decision.drops] == [False] * len(decision.drops)
    assert decision.drops, "it was looked into"


def test_a_budget_too_small_for_fresh_passes_leaves_the_drop_undecided():
    names = [f"c{i:03}" for i in range(400)]
    base = dict.fromkeys(names, 0.01)
    head = dict.fromkeys(names, 0.10)
    flips = sum(bool(e.screen[0]) for e in screened(7, head, base))
    decision = noisy(7, head, base).decide(screened(7, head, base), budget=flips * 48)
    assert decision.verdict is GateVerdict.FAIL or decision.calls_needed >= 400


# ---------------------------------------------------------------- no repeats, no base


def recorded(worse: int, better: int, same: int, tag: str = "t"):
    pairs = [(0, 1)] * worse + [(1, 0)] * better + [(0, 0)] * same
    return [
        claim(f"{tag}{i}", stored=(b,), screen=(h,), repeatable=False, tags=(tag,)) for i, (b, h) in enumerate(pairs)
    ]


def test_recordings_are_decided_by_the_exact_paired_test_alone():
    world = always({})
    decision = world.decide([*recorded(2, 1, 90, "natural"), *recorded(31, 4, 285, "adversarial")])
    assert world.made == []
    assert decision.verdict is GateVerdict.FAIL
    assert {d.scope for d in decision.drops if d.blocked} == {"suite", "adversarial"}
    assert decision.certainty.confirmable is False
    assert decision.certainty.false_block_bound is None
    assert "unconfirmed: it cannot be repeated" in decision.why[0]
    assert decision.claims["natural0"].status is ClaimStatus.UNCONFIRMED
    assert decision.claims["natural0"].sentence.startswith("cannot be repeated: ")


@pytest.mark.parametrize(
    ("worse", "better", "verdict"),
    [(2, 1, GateVerdict.PASS), (4, 0, GateVerdict.PASS), (6, 0, GateVerdict.ERROR), (10, 0, GateVerdict.FAIL)],
)
def test_recordings_pass_fail_or_stay_undecided_by_p(worse, better, verdict):
    decision = always({}).decide(recorded(worse, better, 80))
    assert decision.verdict is verdict
    assert decision.calls_needed == 0


def test_without_a_base_only_five_of_five_against_five_of_five_speak():
    settings = Settings(base_obtainable=False)
    world = always({"x": 2})
    evidence = [*steady(20, stored=(0,) * 5), claim("x", stored=(0,) * 5, screen=(2,))]
    decision = world.decide(evidence, settings)
    assert decision.verdict is GateVerdict.FAIL
    assert world.made == [("x", Side.HEAD, "confirm", i) for i in range(5)]
    assert decision.claims["x"].sentence == (
        "passes 5 of 5 times on base, 0 of 5 on this pull request (base as it was frozen; it could not be run)"
    )
    assert decision.certainty.confirmable is False
    once = World(lambda run: 2 * (run[3] != 3))
    assert once.decide(evidence, settings).verdict is GateVerdict.PASS
    assert len(once.made) == 4, "the first pass ends it"
    few = [*steady(20), claim("x", stored=(0,) * 4, screen=(2,))]
    decision = always({"x": 2}).decide(few, settings)
    assert decision.verdict is GateVerdict.ERROR
    assert decision.why == ["1 flip not decided: base cannot be run and too little is stored"]
    none = always({}).decide([claim("x", stored=())], settings)
    assert none.verdict is GateVerdict.ERROR


def test_the_answer_is_a_decision_or_requests_and_never_depends_on_the_call():
    evidence = [*steady(30), claim("x", screen=(2,), confirm_head=(2, 2), confirm_base=(0, 0))]
    answers = [decide(evidence, Settings()) for _ in range(10)]
    assert all(answer == answers[0] for answer in answers)
    assert not isinstance(answers[0], Decision)
