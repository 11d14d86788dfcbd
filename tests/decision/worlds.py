"""Worlds whose runs are fixed in advance, and the loop that fulfils requests: shared by the tests of the decision."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from grader_gate.decision.decide import Decision, Requests, Settings, decide
from grader_gate.decision.evidence import Distance, Evidence
from grader_gate.model import ClaimKind, Side

Run = tuple[str, Side, str, int]
ROUNDS = 400
"""No decision of these tests may take more rounds."""


def claim(name: str, *, stored=(0, 0, 0), screen=(0,), **more) -> Evidence:
    """A golden claim that base upholds three times, and head once."""
    return Evidence(**{"claim": name, "kind": ClaimKind.GOLDEN, "stored": stored, "screen": screen, **more})


def steady(count: int, **more) -> list[Evidence]:
    """Claims that never fail."""
    return [claim(f"ok{i}", **more) for i in range(count)]


@dataclass
class World:
    """Every run there could be. ``outcome`` is asked once for each run and must always answer alike."""

    outcome: Callable[[Run], Distance]
    made: list[Run] = field(default_factory=list)

    def decide(self, evidence, settings: Settings | None = None, *, budget: int | None = None) -> Decision:
        """Fulfil all requests until there is a decision, checking each request on the way."""
        settings = settings or Settings()
        evidence = [replace(e) for e in evidence]
        by_name = {e.claim: e for e in evidence}
        for _ in range(ROUNDS):
            answer = decide(evidence, settings, calls_left=None if budget is None else budget)
            if isinstance(answer, Decision):
                assert set(answer.claims) == set(by_name), "every claim is accounted for once"
                return answer
            assert isinstance(answer, Requests)
            assert answer.runs
            assert answer.why
            assert len({(r.claim, r.side, r.purpose) for r in answer.runs}) == len(answer.runs), "asked twice"
            for request in answer.runs:
                e = by_name[request.claim]
                name = {
                    ("screen", Side.HEAD): "screen",
                    ("screen", Side.BASE): "stored",
                    ("confirm", Side.HEAD): "confirm_head",
                    ("confirm", Side.BASE): "confirm_base",
                    ("fresh", Side.HEAD): "fresh_head",
                    ("fresh", Side.BASE): "fresh_base",
                }[request.purpose, request.side]
                have = getattr(e, name)
                assert request.upto > len(have), "asked for what is there"
                runs = [(e.claim, request.side, request.purpose, i) for i in range(len(have), request.upto)]
                self.made += runs
                setattr(e, name, have + tuple(self.outcome(run) for run in runs))
                if budget is not None:
                    budget -= len(runs) * e.calls
                    assert budget >= 0, "asked for more than the calls left"
        raise AssertionError("no decision")


def always(head: dict[str, Distance], base: dict[str, Distance] | None = None) -> World:
    """Runs that always come out alike: 0 where nothing is named."""
    return World(lambda run: (head if run[1] is Side.HEAD else base or {}).get(run[0], 0))


def noisy(seed: int, head: dict[str, float], base: dict[str, float], distance: int = 2) -> World:
    """Runs that fail with these chances; each run is drawn on its own, whatever else is run."""

    def outcome(run: Run) -> Distance:
        chance = (head if run[1] is Side.HEAD else base).get(run[0], 0.0)
        return distance * (random.Random(f"{seed}/{run}").random() < chance)

    return World(outcome)


def screened(seed: int, head: dict[str, float], base: dict[str, float], stored: int = 3, **more) -> list[Evidence]:
    """Evidence after the screen of such a world."""
    rng = random.Random(seed)
    return [
        claim(
            name,
            stored=tuple(2 * (rng.random() < base[name]) for _ in range(stored)),
            screen=(2 * (rng.random() < head[name]),),
            **more,
        )
        for name in head
    ]
