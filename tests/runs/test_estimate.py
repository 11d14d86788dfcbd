"""What is said before a run is spent."""

import pytest

from grader_gate.config import Price, Provider
from grader_gate.graders.base import Request
from grader_gate.model import Grade, GradeVerdict, Purpose, Side, Usage
from grader_gate.result import Estimate
from grader_gate.runs.budget import Budget
from grader_gate.runs.cache import Cache
from grader_gate.runs.engine import UnpricedModelError, run
from grader_gate.runs.estimate import Tariff, estimate
from grader_gate.runs.ledger import Ledger
from tests.runs.support import PlainGrader, plan

HEAD, BASE = (Side.HEAD, "g"), (Side.BASE, "g")
PRICE = Price(input_per_million=1_000_000, output_per_million=10_000_000)  # $1 and $10 a token: easy sums.


def tariff(grader=None, prices=None, most=100):
    grader = grader or PlainGrader()
    provider = Provider(
        base_url="https://models.example", prices={"m-1": PRICE} if prices is None else prices, max_output_tokens=most
    )
    return Tariff({HEAD: grader, BASE: grader}, {HEAD: provider, BASE: provider})


def test_without_knowledge_tokens_come_from_characters():
    # Two calls of 40 characters: 8 to 13.3 tokens in, 8 to 100 out, each.
    found = estimate([plan("a"), plan("b"), plan("a")], tariff(), confirm_calls_high=7)
    assert (found.calls, found.confirm_calls_high) == (2, 7)
    assert (found.tokens_low, found.tokens_high) == (32, 227)
    assert (found.usd_low, found.usd_high) == (pytest.approx(2 * (8 + 80)), pytest.approx(2 * (40 / 3 + 1000)))


async def test_what_was_observed_narrows_the_range_and_what_is_stored_is_not_counted(tmp_path):
    def answer(item, call):
        return Grade(verdict=GradeVerdict.CORRECT, usage=Usage(input_tokens=20, output_tokens=30))

    grader = PlainGrader(answer)
    cache = Cache(tmp_path / "c.sqlite", readable=("base",), writes="base")
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        await run([plan("a"), plan("b", purpose=Purpose.CONFIRM)], {HEAD: grader}, ledger=ledger, cache=cache)
        plans = [plan("a"), plan("b", purpose=Purpose.CONFIRM), plan("c")]
        known = estimate(plans, tariff(grader), ledger=ledger, cache=cache)
        cached = estimate(plans, tariff(grader), cache=cache)
    cache.close()
    # 40 characters at 2 a token: 20 tokens, give or take a tenth; 30 out, as seen.
    assert (known.calls, known.tokens_low, known.tokens_high) == (1, 48, 52)
    assert (known.usd_low, known.usd_high) == (pytest.approx(318), pytest.approx(322))
    assert cached.calls == 2


def test_a_model_without_a_price_makes_the_dollars_unknown():
    found = estimate([plan("a")], tariff(prices={}))
    assert (found.calls, found.usd_low, found.usd_high) == (1, None, None)
    assert found.tokens_high > 0


def test_a_grader_without_a_model_costs_calls_only():
    grader = PlainGrader(model=None)
    found = estimate([plan("a")], Tariff({HEAD: grader}, {}))
    assert found == Estimate(calls=1, usd_low=0, usd_high=0)
    assert Tariff({HEAD: grader}, {}).worst_cost(HEAD, Request({}, 1000)) == 0


def test_nothing_planned_costs_nothing():
    assert estimate([], tariff()) == Estimate(calls=0, usd_low=0, usd_high=0)


@pytest.mark.parametrize(
    ("payload", "most"),
    [
        ({}, 100),
        ({"max_tokens": 20}, 20),
        ({"parameters": {"max_completion_tokens": 30}}, 30),
        ({"max_tokens": 5000}, 100),
        ({"max_tokens": True}, 100),
        ({"parameters": {"max_tokens": "many"}}, 100),
    ],
)
def test_the_worst_case_is_two_full_replies_to_a_token_a_character(payload, most):
    request = Request(payload, characters=50)
    assert tariff().most_output(HEAD, request) == most
    assert tariff().worst_cost(HEAD, request) == pytest.approx(2 * (50 + 10 * most))


async def test_a_cost_cap_without_a_price_is_refused_before_any_call(tmp_path):
    grader = PlainGrader()
    terms = tariff(grader, prices={})
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        with pytest.raises(
            UnpricedModelError, match=r"'g': model 'm-1' has no price, so the cap of \$5 cannot be kept"
        ):
            await run(
                [plan("a")],
                {HEAD: grader},
                ledger=ledger,
                budget=Budget(max_cost_usd=5),
                worst_cost=terms.worst_cost,
            )
        assert grader.calls == []
        outcome = await run([plan("a")], {HEAD: grader}, ledger=ledger, worst_cost=terms.worst_cost)
        assert outcome.made == 1  # Without a cap no price is needed.
