"""What a run will take before it starts: calls exactly, tokens and dollars from low to high."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from grader_gate.config import Price, Provider
from grader_gate.graders.base import Grader, Request
from grader_gate.model import PlannedGrade
from grader_gate.result import Estimate
from grader_gate.runs.cache import Cache, Observed
from grader_gate.runs.engine import GraderKey
from grader_gate.runs.ledger import Ledger
from grader_gate.runs.reuse import stored

CHARS_PER_TOKEN = (3.0, 5.0)
"""Characters per token, few and many, where nothing was observed: English prose has about 4."""

OBSERVED_SPREAD = 0.1
"""How far the texts to come may differ from the observed ratio of characters to tokens, as a share."""

OUTPUT_LOW = 8
"""Output tokens of the shortest useful reply, ``{"verdict": "correct"}``."""

WORST_CHARS_PER_TOKEN = 1.0
"""For caps, not for estimates: prose in any common script stays above it."""

WORST_ATTEMPTS = 2
"""A malformed reply is asked for once more, so that a grade may cost two calls."""

OUTPUT_CAPS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""Parameters by which the wires cap output tokens."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a call of each grader may cost.

    :ivar graders: by side and name, as the engine has them.
    :ivar providers: the trusted provider block of each grader that has one; the others cost nothing.
    """

    graders: Mapping[GraderKey, Grader]
    providers: Mapping[GraderKey, Provider]

    def price(self, key: GraderKey) -> Price | None:
        """Dollars per million tokens; zero where no model is asked; None where the model has no price."""
        provider, model = self.providers.get(key), self.graders[key].model
        if provider is None or model is None:
            return Price(input_per_million=0, output_per_million=0)
        return provider.prices.get(model)

    def most_output(self, key: GraderKey, request: Request) -> int:
        """Most output tokens of one call: what the request caps, never more than the provider block allows."""
        provider = self.providers.get(key)
        if provider is None or self.graders[key].model is None:
            return 0
        caps = list(_caps(request.payload))
        return min([provider.max_output_tokens, *caps])

    def worst_cost(self, key: GraderKey, request: Request) -> float | None:
        """The most one grade can cost, in US dollars, for :class:`grader_gate.runs.budget.Budget`; None: no price."""
        price = self.price(key)
        if price is None:
            return None
        tokens = request.characters / WORST_CHARS_PER_TOKEN
        return WORST_ATTEMPTS * _dollars(price, tokens, self.most_output(key, request))


def estimate(
    planned: Iterable[PlannedGrade],
    tariff: Tariff,
    *,
    ledger: Ledger | None = None,
    cache: Cache | None = None,
    confirm_calls_high: int = 0,
) -> Estimate:
    """Calls that are left to make, with their tokens and price; each request is rendered and dropped.

    Tokens of the input come from its characters, by the ratio this model's stored calls had, else by
    :data:`CHARS_PER_TOKEN`. Retries after a malformed reply are not in it.

    :param confirm_calls_high: passed on.
    :returns: dollars are None as soon as one model that would be called has no price.
    :raises UsageError: a request cannot be rendered.
    """
    calls, seen = 0, set()
    low = high = 0.0
    usd_low: float | None = 0.0
    usd_high: float | None = 0.0
    observed: dict[str, Observed | None] = {}
    for one in planned:
        key = (one.side, one.grader)
        grader = tariff.graders[key]
        if one.key in seen or stored(one, grader, ledger, cache) is not None:
            continue
        seen.add(one.key)
        calls += 1
        if grader.model is None:
            continue
        if grader.model not in observed:
            observed[grader.model] = None if cache is None else cache.observed(grader.model)
        request = grader.request(one.item)
        few, many = _input_tokens(request.characters, observed[grader.model])
        short, long = _output_tokens(tariff.most_output(key, request), observed[grader.model])
        low, high = low + few + short, high + many + long
        price = tariff.price(key)
        usd_low = None if usd_low is None or price is None else usd_low + _dollars(price, few, short)
        usd_high = None if usd_high is None or price is None else usd_high + _dollars(price, many, long)
    return Estimate(
        calls=calls,
        confirm_calls_high=confirm_calls_high,
        tokens_low=round(low),
        tokens_high=round(high),
        usd_low=usd_low,
        usd_high=usd_high,
    )


def _dollars(price: Price, input_tokens: float, output_tokens: float) -> float:
    return (price.input_per_million * input_tokens + price.output_per_million * output_tokens) / 1_000_000


def _input_tokens(characters: int, seen: Observed | None) -> tuple[float, float]:
    if seen is None:
        return characters / CHARS_PER_TOKEN[1], characters / CHARS_PER_TOKEN[0]
    tokens = characters / seen.chars_per_token
    return tokens * (1 - OBSERVED_SPREAD), tokens * (1 + OBSERVED_SPREAD)


def _output_tokens(most: int, seen: Observed | None) -> tuple[int, int]:
    low, high = (OUTPUT_LOW, most) if seen is None else (seen.output_low, seen.output_high)
    return min(low, most), min(high, most)


def _caps(payload: Mapping[str, Any]) -> Iterable[int]:
    for holder in (payload, *(part for part in payload.values() if isinstance(part, Mapping))):
        for name in OUTPUT_CAPS:
            value = holder.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                yield value
