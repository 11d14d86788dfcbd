"""Pairs, environments and second families that a pull request weakens."""

from __future__ import annotations

import pytest

from grader_gate.changes.goalposts import goalposts, notices
from grader_gate.config import Config

FIXTURES = {"setup": ["a"], "reset": ["b"], "query": ["c"], "cleanup": ["d"], "dirty": ["e"]}


def config(*, fixtures=None, policy=None, **suite) -> Config:
    grader = {"kind": "command", "command": ["x"], **({"fixtures": fixtures} if fixtures else {})}
    other = {"kind": "command", "command": ["y"]}
    return Config.model_validate(
        {
            "graders": {"g": grader, "other": other},
            "suites": {"s": {"grader": "g", "cases": "c.yaml", **suite}},
            "policy": policy or {},
        }
    )


def told(base: Config, head: Config) -> list[str]:
    return [f"{g.what}: {g.detail}" for g in goalposts(base, head, {}, {})]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ({"per_case": 4}, {"per_case": 3}, ["fewer pairs: suites.s.pairs.per_case: 4 → 3"]),
        ({"per_case": 4}, {"per_case": 9}, []),
        ({"design": "adjacent"}, {"design": "sampled"}, ["other pairs: suites.s.pairs.design: adjacent → sampled"]),
    ],
)
def test_pairs(base, head, expected):
    assert told(config(pairs=base), config(pairs=head)) == expected


@pytest.mark.parametrize("key", ["reset", "cleanup", "dirty"])
def test_a_fixture_that_goes(key):
    less = {k: v for k, v in FIXTURES.items() if k != key}
    assert told(config(fixtures=FIXTURES), config(fixtures=less)) == [
        f"fixtures weakened: graders.g.fixtures: gone: {key}"
    ]
    assert told(config(fixtures=less), config(fixtures=FIXTURES)) == []


def test_a_shared_environment_and_none_at_all():
    assert told(config(fixtures=FIXTURES), config(fixtures={**FIXTURES, "fresh_dir": False})) == [
        "fixtures weakened: graders.g.fixtures: gone: fresh_dir"
    ]
    assert told(config(fixtures=FIXTURES), config()) == ["fixtures weakened: graders.g.fixtures: gone: all of them"]
    assert told(config(), config(fixtures=FIXTURES)) == []


def test_a_second_family_that_goes_is_noticed():
    said = [n.message for n in notices(config(second_family="other"), config())]
    assert said == ["suites.s.second_family: other → none"]
    said = [n.message for n in notices(config(policy={"second_family": "always"}), config())]
    assert said == ["policy.second_family: always → on_request; checks no longer ask the second families"]
    assert not notices(config(), config(second_family="other"))
