"""Drops: the exact tests over claims and clusters, the looks, what missing runs do."""

from dataclasses import replace

import pytest
from scipy import stats

from grader_gate.decision import drops
from grader_gate.decision.decide import Settings
from grader_gate.decision.drops import Alarm, State
from grader_gate.decision.screening import screen
from grader_gate.model import GateVerdict, Side

from .worlds import World, always, claim, steady

SETTINGS = Settings(confirm_p=0.01)  # the figures below are worked out for 1 %


def members(*evidence):
    return screen(evidence, SETTINGS)


def test_the_screen_counts_one_in_four_for_a_new_failure_against_three_stored_passes():
    failed = [claim(f"c{i}", screen=(2,)) for i in range(3)]
    assert drops.screen_p(members(*failed, *steady(5))) == pytest.approx(1 / 64)
    assert drops.screen_p(members(*steady(5))) == 1.0


def test_claims_that_share_runs_count_once():
    together = [claim(f"c{i}", screen=(2,), cluster="case") for i in range(3)]
    assert drops.screen_p(members(*together)) == pytest.approx(1 / 4)
    apart = [replace(e, cluster=f"case{i}") for i, e in enumerate(together)]
    assert drops.screen_p(members(*apart)) == pytest.approx(1 / 64)
    fresh = [replace(e, fresh_head=(2, 2), fresh_base=(0, 0)) for e in together]
    assert drops.fresh_p(members(*fresh), 0, 2)[1] == pytest.approx(1 / 4)
    fresh = [replace(e, cluster="") for e in fresh]
    assert drops.fresh_p(members(*fresh), 0, 2)[1] == pytest.approx(1 / 64)


def test_a_cluster_is_never_mixed_up_with_a_claim_of_its_name():
    pair = [claim("a", screen=(2,)), claim("b", screen=(2,), cluster="a")]
    assert drops.screen_p(members(*pair)) == pytest.approx(1 / 16)


def test_a_second_run_of_head_joins_the_screen():
    evidence = [claim(f"c{i}", screen=(2,), fresh_head=(2,)) for i in range(2)]
    # Each claim: 2 failures in 5 runs, both head's: one of ten ways.
    assert drops.screen_p(members(*evidence), again=0) == pytest.approx(1 / 100)
    one = [replace(e, fresh_head=(0,)) for e in evidence]
    assert drops.screen_p(members(*one), again=0) == pytest.approx(4 / 25)


def test_fresh_passes_are_mcnemars_test_over_claims_and_passes():
    evidence = [claim(f"w{i}", fresh_head=(2, 0), fresh_base=(0, 0)) for i in range(9)]
    evidence += [claim(f"b{i}", fresh_head=(0, 0), fresh_base=(0, 2)) for i in range(3)]
    expected = stats.binomtest(9, 12, alternative="greater").pvalue
    assert drops.fresh_p(members(*evidence), 0, 2) == (pytest.approx(expected), pytest.approx(expected))
    assert drops.fresh_p(members(*evidence), 1, 2)[1] == 1.0


def test_a_claim_that_failed_before_and_fails_worse_counts_as_well():
    worse = [claim(f"c{i}", stored=(1, 1, 1), screen=(2,)) for i in range(3)]
    assert drops.screen_p(members(*worse)) == pytest.approx(1 / 64)


def test_missing_runs_widen_p_both_ways():
    evidence = [claim(f"c{i}", fresh_head=(2,), fresh_base=(0,)) for i in range(6)]
    evidence += [claim("lost", fresh_head=(None,), fresh_base=(None,))]
    low, high = drops.fresh_p(members(*evidence), 0, 1)
    assert low == pytest.approx(2**-7)
    assert high == pytest.approx(stats.binom.sf(5, 7, 0.5))


def test_scopes_are_the_suite_and_every_set_of_claims_with_a_tag():
    evidence = members(claim("a", tags=("x", "y")), claim("b", tags=("y", "x", "z")), claim("c", tags=("z",)))
    found = [(tags, [m.evidence.claim for m in part]) for tags, part in drops.scopes(evidence)]
    assert found == [((), ["a", "b", "c"]), (("x", "y"), ["a", "b"]), (("z",), ["b", "c"])]


@pytest.mark.parametrize("passes", [1, 2, 3, 4, 6, 9])
def test_the_looks_share_out_the_error_and_no_more(passes):
    shares = drops.spend(passes, 0.01)
    assert len(shares) == passes
    assert sum(shares) == pytest.approx(0.01)
    assert min(shares) >= 0
    assert shares[-1] > 0


def looked(worse: int, better: int, passes: int, *, tag: str = "t", count: int = 20) -> Alarm:
    """An alarm after all its passes; in each of them so many claims were worse and better."""
    runs = {"worse": ((2,) * passes, (0,) * passes), "better": ((0,) * passes, (2,) * passes)}
    evidence = []
    for i in range(count):
        head, base = runs["worse"] if i < worse else runs["better"] if i < worse + better else ((0,) * passes,) * 2
        evidence.append(claim(f"{tag}{i}", fresh_head=head, fresh_base=base))
    return Alarm(tag, (tag,), members(*evidence), 0.01, passes)


def test_followed_alarms_are_blocked_or_cleared():
    clear, nothing = looked(4, 0, 6, tag="bad"), looked(2, 2, 6, tag="good")
    drops.follow([clear, nothing], SETTINGS)
    assert (clear.state, nothing.state) == (State.BLOCKED, State.CLEARED)
    assert len(nothing.p_looks) < 6, "a look that shows nothing ends it"


def test_holm_is_strict_with_the_first_tag_and_less_so_with_the_next():
    # One pass: p = 2 ** -7 = .0078. Alone it blocks at .01; of two tags it does not, unless the other one goes first.
    alone = looked(7, 0, 1)
    drops.follow([alone], SETTINGS)
    assert alone.state is State.BLOCKED
    first, second = looked(7, 0, 1, tag="a"), looked(7, 0, 1, tag="b")
    drops.follow([first, second], SETTINGS)
    assert {first.state, second.state} == {State.CLEARED}
    strong, weak = looked(12, 0, 1, tag="a"), looked(7, 0, 1, tag="b")
    drops.follow([strong, weak], SETTINGS)
    assert {strong.state, weak.state} == {State.BLOCKED}


def test_missing_passes_that_could_have_blocked_leave_it_undecided():
    alarm = looked(6, 0, 1)
    lost = members(claim("lost", fresh_head=(None,), fresh_base=(0,)))
    alarm.members += lost
    drops.follow([alarm], SETTINGS)
    assert alarm.state is State.UNDECIDED
    assert drops.describe(alarm).undecided


def test_a_second_look_that_was_not_measured_is_an_error():
    # 2 of 3 claims of a tag failed: p = 1/16, so head runs once more; that run is lost and could have raised the alarm.
    evidence = [*steady(40), *(claim(f"t{i}", screen=(2 * (i < 2),), tags=("t",)) for i in range(3))]
    flips = {("t0", 0), ("t1", 0)}
    world = World(lambda run: None if run[2] == "fresh" else 2 * ((run[0], 0) in flips and run[3] % 2))
    assert world.decide(evidence).verdict is GateVerdict.ERROR
    assert {run[2] for run in world.made if run[1] is Side.BASE} == {"confirm"}, "base is not run for a look at head"


def test_too_many_unmeasured_to_tell_a_drift_from_a_regression():
    evidence = [*steady(40), *(claim(f"f{i}", screen=(2,)) for i in range(4)), claim("lost", screen=(None,))]
    decision = always({f"f{i}": 2 for i in range(4)}).decide(evidence)
    assert decision.verdict is GateVerdict.FAIL, "even with the lost one, five flips take no fresh pass"
    evidence = [*steady(20), *(claim(f"f{i}", screen=(2,)) for i in range(5)), claim("lost", screen=(None,))]
    decision = always({f"f{i}": 2 for i in range(5)}).decide(evidence)
    assert decision.verdict is GateVerdict.ERROR
    assert decision.why[0].startswith("too many claims were not measured")
    assert decision.calls_needed == 1
