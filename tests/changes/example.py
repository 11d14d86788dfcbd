"""A strict configuration and its suites, for the tests of goalposts to loosen."""

from __future__ import annotations

import copy
from typing import Any

from grader_gate.changes.goalposts import goalposts
from grader_gate.config import Config
from grader_gate.model import GoldenCase, Ladder, Location, Rung, Suite
from grader_gate.result import Goalpost

CONFIG: dict[str, Any] = {
    "providers": {"p": {"base_url": "https://models.example/v1", "models": ["m-1"]}},
    "graders": {
        "judge": {
            "kind": "chat", "provider": "p", "model": "m-1", "prompt": "judge.j2",
            "contract": {"slices": [{"tags": ["beta"], "role": "screen"}], "served_model": "m-1"},
        },
        "format": {"kind": "checks", "checks": [{"type": "json"}], "contract": {"deterministic": True}},
        "hint": {"kind": "checks", "checks": [{"type": "json"}], "contract": {"role": "screen", "inputs": ["answer"]}},
    },
    "suites": {
        "main": {
            "grader": "judge", "cases": "cases/*.yml", "ladders": "ladders/*.yml",
            "mutators": {"use": "default", "include": ["extra"], "exclude": ["noisy"], "per_mutator": 20,
                         "modules": ["mine:swap"]},
            "repeats": {"screen": 2, "live": 3, "freeze": 5},
        },
        "format": {"grader": "format", "cases": "format/*.yml"},
        "hint": {"grader": "hint", "cases": "hint/*.yml"},
    },
    "policy": {
        "flat_ladders": "block", "new_cases": "must_pass", "head_code": "never",
        "kill_rate": {"default": 0.8, "negate": 0.9}, "max_inversion_rate": 0.1, "min_cited_ratio": 0.5,
        "waivers": [{"text": "a" * 16, "reason": "equivalent", "expires": "2027-01-01"}],
        "budget": {"max_calls": 100, "max_cost_usd": 5},
        "freeze": {"users": ["ann"], "teams": ["leads"], "permission": "admin"},
    },
    "baseline": {"store": "files", "path": "frozen"},
}  # fmt: skip


def case(name: str, **more: Any) -> GoldenCase:
    fields = {"question": f"Q {name}", "reference": f"R {name}", "answer": f"A {name}", "expected": "correct"} | more
    return GoldenCase(id=name, location=Location(path=f"cases/{name}.yml", line=7), **fields)


def edited(one: Ladder, **change: Any) -> Ladder:
    """The ladder with fields of all its rungs replaced; a callable gets the rung."""
    made = (rung.model_copy(update={k: v(rung) if callable(v) else v for k, v in change.items()}) for rung in one.rungs)
    return one.model_copy(update={"rungs": tuple(made)})


def rungs(*answers: str) -> tuple[Rung, ...]:
    return tuple(Rung(level=level, answer=answer, evidence=("e",)) for level, answer in enumerate(answers))


def ladder(name: str, *answers: str, **more: Any) -> Ladder:
    return Ladder(id=name, question=f"Q {name}", rungs=rungs(*(answers or ("bad", "fair", "good"))), **more)


SUITES = {
    "main": Suite("main", [case("one", tags=("beta",), evidence=("e",), facts=("f",), entities=("n",), tolerance=0.1),
                           case("two", tags=("x", "y"))], [ladder("steps"), ladder("stairs", "a", "b", tags=("x",))]),
    "format": Suite("format", [case("json")]),
    "hint": Suite("hint", [case("soft")]),
}  # fmt: skip


def changed(path: str, value: Any) -> Config:
    """The configuration with one dotted key set, or removed where the value is ``...``."""
    data = copy.deepcopy(CONFIG)
    *way, last = path.split(".")
    part = data
    for key in way:
        part = part.setdefault(key, {})
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return Config.model_validate(data)


BASE = Config.model_validate(CONFIG)


def found(head: Config | None = BASE, suites: dict[str, Suite] = SUITES, **more: Any) -> list[Goalpost]:
    return goalposts(BASE, head, SUITES, suites, **more)


def with_suite(**parts: Any) -> dict[str, Suite]:
    main = SUITES["main"]
    return SUITES | {"main": Suite("main", parts.get("cases", main.cases), parts.get("ladders", main.ladders))}
