"""What must hold of every decision, whatever the evidence."""

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader_gate.decision.decide import Settings, decide
from grader_gate.decision.outcome import ClaimStatus
from grader_gate.model import GateVerdict, Side

from .worlds import World, claim, noisy, screened

CHANCE = st.sampled_from([0.0, 0.0, 0.0, 0.02, 0.2, 0.5, 0.8, 1.0])
TAGS = st.sets(st.sampled_from("abc"), max_size=2)


@st.composite
def worlds(draw, most=14):
    """A seed, chances of both sides, and evidence after the screen with tags, clusters and severities."""
    seed = draw(st.integers(0, 10**6))
    names = [f"c{i:02}" for i in range(draw(st.integers(1, most)))]
    alike = draw(st.booleans())
    base = {name: draw(CHANCE) for name in names}
    head = base if alike else {name: draw(CHANCE) for name in names}
    evidence = screened(seed, head, base)
    clustered = draw(st.booleans())
    for i, e in enumerate(evidence):
        e.tags = tuple(sorted(draw(TAGS)))
        e.cluster = f"k{i // 3}" if clustered else ""
        e.severity = float(draw(st.integers(1, 3)))
        e.gating = draw(st.sampled_from([True, True, True, False]))
    return seed, head, base, evidence


@given(worlds(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_the_claims_changes_nothing(world, shuffle):
    seed, head, base, evidence = world
    first = noisy(seed, head, base)
    one = first.decide(evidence)
    mixed = list(evidence)
    shuffle.shuffle(mixed)
    second = noisy(seed, head, base)
    assert second.decide(mixed) == one
    assert sorted(second.made) == sorted(first.made)


@given(worlds())
@settings(max_examples=60)
def test_renaming_tags_one_to_one_changes_no_verdict(world):
    seed, head, base, evidence = world
    one = noisy(seed, head, base).decide(evidence)
    names = {"a": "zebra", "b": "yak, or not", "c": "a"}
    renamed = [replace(e, tags=tuple(names[t] for t in e.tags)) for e in evidence]
    two = noisy(seed, head, base).decide(renamed)
    assert two.verdict is one.verdict
    assert two.claims == one.claims
    assert sorted(d.p_screen for d in two.drops) == sorted(d.p_screen for d in one.drops)


@given(worlds(), st.integers(1, 3), TAGS)
@settings(max_examples=100)
def test_a_correct_claim_more_never_turns_pass_into_fail(world, count, tags):
    seed, head, base, evidence = world
    one = noisy(seed, head, base)
    before = one.decide(evidence)
    assume(before.verdict is GateVerdict.PASS)
    # Crossing the tenth of flips changes which runs are asked for; that step is not what this is about.
    assume(not any(run[2] == "fresh" for run in one.made if run[1] is Side.BASE) or before.certainty.flips <= 5)
    more = [*evidence, *(claim(f"new{i}", tags=tuple(tags)) for i in range(count))]
    assert noisy(seed, head, base).decide(more).verdict is GateVerdict.PASS


@given(worlds(), st.data())
@settings(max_examples=150)
def test_a_run_that_is_not_measured_only_moves_towards_error(world, data):
    seed, head, base, evidence = world
    full = noisy(seed, head, base)
    before = full.decide(evidence)
    lost = data.draw(st.sampled_from([*full.made, *((e.claim, None, "given", 0) for e in evidence)]))
    if lost[2] == "given":
        side = data.draw(st.sampled_from(["screen", "stored"]))
        gap = [replace(e, **{side: (None, *getattr(e, side)[1:])}) if e.claim == lost[0] else e for e in evidence]
        after = noisy(seed, head, base).decide(gap)
    else:
        after = World(lambda run: None if run == lost else full.outcome(run)).decide(evidence)
    assert after.verdict in (before.verdict, GateVerdict.ERROR)


@given(worlds())
@settings(max_examples=60)
def test_every_requested_run_is_made_once_and_shows_in_the_tallies(world):
    seed, head, base, evidence = world
    run = noisy(seed, head, base)
    decision = run.decide(evidence)
    assert len(set(run.made)) == len(run.made)
    assert decision.certainty.reruns == len(run.made)
    for name, found in decision.claims.items():
        confirms = [r for r in run.made if r[0] == name and r[2] == "confirm"]
        if found.status in (ClaimStatus.CONFIRMED, ClaimStatus.DISMISSED, ClaimStatus.DRIFT):
            assert found.base_runs.n + found.head_runs.n == len(confirms)
    failing = [c for c in decision.claims.values() if c.status is ClaimStatus.CONFIRMED]
    blocked = [d for d in decision.drops if d.blocked]
    assert (decision.verdict is GateVerdict.FAIL) == bool(failing or blocked)


@given(worlds(), st.integers(0, 120))
@settings(max_examples=80)
def test_a_budget_never_makes_it_greener(world, budget):
    seed, head, base, evidence = world
    free = noisy(seed, head, base).decide(evidence)
    bound = noisy(seed, head, base).decide(evidence, budget=budget)
    assert bound.verdict in (free.verdict, GateVerdict.ERROR)
    if bound.verdict is GateVerdict.ERROR:
        assert bound.calls_needed > 0
        assert bound.why


@given(worlds())
@settings(max_examples=40)
def test_claims_that_do_not_gate_never_decide(world):
    seed, head, base, evidence = world
    shown = [replace(e, gating=False) for e in evidence]
    run = noisy(seed, head, base)
    assert run.decide(shown).verdict is GateVerdict.PASS
    assert run.made == []


@given(worlds())
@settings(max_examples=40)
def test_ten_looks_at_one_evidence_give_one_answer(world):
    _, _, _, evidence = world
    answers = [decide([replace(e) for e in evidence], Settings()) for _ in range(10)]
    assert all(answer == answers[0] for answer in answers)


@given(worlds(most=10))
@settings(max_examples=40)
def test_claims_that_always_end_alike_on_both_sides_pass(world):
    seed, head, _, evidence = world
    certain = {name: float(chance > 0.5) for name, chance in head.items()}
    same = screened(seed, certain, certain)
    for new, old in zip(same, evidence, strict=True):
        new.tags = old.tags
    assert noisy(seed, certain, certain).decide(same).verdict is GateVerdict.PASS
