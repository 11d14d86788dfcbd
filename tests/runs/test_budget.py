"""Caps refuse before a call is made."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader_gate.model import Usage
from grader_gate.runs.budget import Budget


async def test_calls_are_counted_when_reserved():
    budget = Budget(max_calls=2)
    one, two = await budget.reserve(), await budget.reserve()
    budget.settle(one, Usage())
    budget.settle(two, Usage())
    assert await budget.reserve() is None
    assert (budget.calls, budget.exhausted) == (
        2,
        "the cap of 2 calls is reached; raise `policy.budget.max_calls`, and --max-calls where it is given",
    )


async def test_no_calls_at_all_are_allowed_under_a_cap_of_nothing():
    assert await Budget(max_calls=0).reserve() is None


async def test_without_caps_nothing_is_refused():
    budget = Budget()
    for _ in range(1000):
        assert await budget.reserve(1e9) is not None


async def test_a_call_that_does_not_fit_waits_for_one_in_flight_and_is_made_if_that_was_cheap():
    budget = Budget(max_cost_usd=1.0)
    first = await budget.reserve(0.6)
    second = asyncio.create_task(budget.reserve(0.6))
    await asyncio.sleep(0)
    assert not second.done()
    budget.settle(first, Usage(cost_usd=0.1))
    assert (await second).cost_usd == 0.6
    assert budget.exhausted is None


async def test_a_call_that_does_not_fit_is_refused_once_nothing_in_flight_can_help():
    budget = Budget(max_cost_usd=1.0)
    first = await budget.reserve(0.6)
    second = asyncio.create_task(budget.reserve(0.6))
    await asyncio.sleep(0)
    budget.settle(first, Usage(cost_usd=0.5))
    assert await second is None
    assert "$0.5000 booked" in budget.exhausted
    assert await budget.reserve(0.0) is None  # Refused for good.


async def test_a_call_that_never_fits_is_refused_at_once():
    budget = Budget(max_cost_usd=1.0)
    await budget.reserve(0.1)
    assert await budget.reserve(2.0) is None
    assert "cap of $1" in budget.exhausted


async def test_what_was_held_is_given_back_once():
    budget = Budget(max_calls=1, max_cost_usd=1.0)
    held = await budget.reserve(1.0)
    budget.release(held)
    budget.release(held)
    again = await budget.reserve(1.0)
    budget.settle(again, Usage(cost_usd=0.2, calls=2))
    budget.settle(again, Usage(cost_usd=0.2, calls=2))
    assert (budget.calls, budget.cost_usd) == (2, 0.2)


async def test_a_call_that_does_not_say_its_cost_is_booked_at_its_worst():
    budget = Budget(max_cost_usd=1.0)
    budget.settle(await budget.reserve(0.4), Usage())
    assert budget.cost_usd == 0.4


async def test_a_grade_that_sent_nothing_books_nothing():
    budget = Budget(max_calls=1, max_cost_usd=1.0)
    budget.settle(await budget.reserve(0.4), Usage(calls=0))
    assert (budget.calls, budget.cost_usd) == (0, 0.0)


async def test_three_dimes_fit_thirty_cents():
    budget = Budget(max_cost_usd=0.3)
    for _ in range(3):
        budget.settle(await budget.reserve(0.1), Usage(cost_usd=0.1))
    assert await budget.reserve(0.1) is None


async def test_seconds_count_from_the_first_call():
    time = [100.0]
    budget = Budget(max_seconds=60, clock=lambda: time[0])
    time[0] = 1000.0
    assert await budget.reserve() is not None
    time[0] = 1059.9
    assert await budget.reserve() is not None
    time[0] = 1060.0
    assert await budget.reserve() is None
    assert budget.exhausted == "the 60 seconds of the run are over; raise `budget.max_seconds`"


@settings(deadline=None)
@given(
    cap=st.integers(0, 12),
    dollars=st.floats(0, 3),
    costs=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=25),
    workers=st.integers(1, 6),
)
def test_caps_hold_whatever_the_order(cap, dollars, costs, workers):
    async def scenario():
        budget = Budget(max_calls=cap, max_cost_usd=dollars)
        left = list(costs)
        made = 0

        async def work():
            nonlocal made
            while left:
                worst, share = left.pop()
                held = await budget.reserve(worst)
                if held is None:
                    return
                await asyncio.sleep(0)
                made += 1
                budget.settle(held, Usage(cost_usd=worst * share))

        await asyncio.gather(*(work() for _ in range(workers)))
        assert made == budget.calls <= cap
        assert budget.cost_usd <= dollars + 1e-6
        assert (budget.exhausted is None) == (made == len(costs))

    asyncio.run(scenario())


@pytest.mark.parametrize("loops", [2])
def test_one_budget_serves_several_event_loops(loops):
    budget = Budget(max_cost_usd=1.0)

    async def contend():
        first = await budget.reserve(0.2)
        waiting = asyncio.create_task(budget.reserve(0.9))
        await asyncio.sleep(0)
        budget.settle(first, Usage(cost_usd=0.01))
        held = await waiting
        budget.settle(held, Usage(cost_usd=0.01))
        return held is not None

    assert [asyncio.run(contend()) for _ in range(loops)] == [True, True]
