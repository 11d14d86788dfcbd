from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.changes.goalposts import goalposts, notices
from grader_gate.config import Config, Contract
from grader_gate.model import Location, Suite
from tests.changes.example import BASE, CONFIG, SUITES, changed, found


def test_the_same_twice_is_none() -> None:
    assert found() == []


WAIVER = {"text": "a" * 16, "reason": "equivalent", "expires": "2027-01-01"}
ROLE_GATE = [{"tags": ["beta"], "role": "screen"}]

LOOSENINGS: list[tuple[str, Any, str, str]] = [
    ("mode", "report", "gate switched to report", "block → report"),
    ("policy.regressions", "warn", "regressions no longer block", "block → warn"),
    ("policy.survivors", "warn", "survivors no longer block", "block → warn"),
    ("policy.flat_ladders", "warn", "flat ladders no longer block", "block → warn"),
    ("policy.controls", "warn", "controls no longer block", "block → warn"),
    ("policy.new_cases", "warn", "new cases need not pass", "must_pass → warn"),
    ("policy.head_code", "run", "head's code is run", "never → run"),
    ("policy.kill_rate.negate", 0.85, "floor lowered", "policy.kill_rate.negate: 0.9 → 0.85"),
    ("policy.kill_rate.negate", ..., "floor lowered", "policy.kill_rate.negate: 0.9 → 0.8"),
    ("policy.kill_rate.default", 0.7, "floor lowered", "policy.kill_rate.default: 0.8 → 0.7"),
    ("policy.kill_rate.default", ..., "floor removed", "policy.kill_rate.default: 0.8 → none"),
    ("policy.kill_rate.swap", 0.5, "floor lowered", "policy.kill_rate.swap: 0.8 → 0.5"),
    ("policy.max_inversion_rate", 0.2, "inversion limit raised", "0.1 → 0.2"),
    ("policy.max_inversion_rate", None, "inversion limit raised", "0.1 → none"),
    ("policy.min_cited_ratio", 0.4, "citation floor lowered", "0.5 → 0.4"),
    ("policy.min_cited_ratio", None, "citation floor lowered", "0.5 → none"),
    ("policy.min_spread", 0.2, "spread floor lowered", "0.3 → 0.2"),
    ("policy.acceptable_error", 0.2, "acceptable error raised", "0.1 → 0.2"),
    ("policy.waivers", [WAIVER, WAIVER | {"text": "b" * 16}], "waiver added", "bbbbbbbbbbbb until 2027-01-01: equiv"),
    ("policy.waivers", [WAIVER | {"expires": "2028-01-01"}], "waiver extended", "2027-01-01 → 2028-01-01"),
    ("policy.waivers", [WAIVER | {"text": "a" * 12}], "waiver added", "aaaaaaaaaaaa"),
    ("policy.freeze.users", ["ann", "bob"], "more may freeze", "added bob"),
    ("policy.freeze.teams", ["leads", "all"], "more may freeze", "added all"),
    ("policy.freeze", {"permission": "admin"}, "more may freeze", "list of people is gone"),
    ("policy.freeze.permission", "write", "more may freeze", "admin → write"),
    ("policy.freeze.not_author", False, "authors may freeze", "true → false"),
    ("baseline.path", "elsewhere", "baseline moved", "frozen → elsewhere"),
    ("baseline.store", "branch", "baseline moved", "files → branch"),
    ("suites.main.repeats.screen", 1, "repeats lowered", "screen: 2 → 1"),
    ("suites.main.repeats.live", 1, "repeats lowered", "live: 3 → 1"),
    ("suites.main.repeats.freeze", 3, "repeats lowered", "freeze: 5 → 3"),
    ("suites.main.mutators.per_mutator", 10, "fewer mutants", "20 → 10"),
    ("suites.main.mutators.use", "none", "mutators removed", "use: default → none"),
    ("suites.main.mutators.include", [], "mutators removed", "no longer included extra"),
    ("suites.main.mutators.exclude", ["noisy", "negate"], "mutators removed", "excluded negate"),
    ("suites.main.mutators.exclude", ["noisy", "extra"], "mutators removed", "excluded extra"),
    ("suites.main.mutators.modules", [], "mutators removed", "mine:swap"),
    ("suites.format", ..., "suite removed", "suites.format"),
    ("suites.format.grader", "judge", "gating grader gone", "graders.format: it no longer grades format"),
    ("graders.judge.contract.role", "screen", "role weakened", "gate → screen"),
    ("graders.judge.contract.slices", [{"tags": ["beta"], "role": "abstain"}], "role weakened",
     "graders.judge: screen → abstain on cases tagged beta"),
    ("graders.judge.contract.slices", [*ROLE_GATE, {"tags": ["y", "x"], "role": "screen"}], "role weakened",
     "gate → screen on cases tagged x, y"),
    ("graders.hint.contract.role", "abstain", "role weakened", "graders.hint: screen → abstain"),
    ("graders.format.contract.deterministic", False, "promise of determinism changed", "true → false"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "what", "detail"), LOOSENINGS)
def test_each_loosening_is_exactly_one_goalpost(path: str, value: Any, what: str, detail: str) -> None:
    (only,) = found(changed(path, value), config_path="gate.yml")
    assert only.what == what
    assert detail in only.detail
    assert only.location == Location(path="gate.yml")
    assert not only.accepted


BOTH_WAYS = ("baseline moved", "promise of determinism changed", "gating grader gone")
ONE_WAY = [row for row in LOOSENINGS if row[2] not in BOTH_WAYS and row[0] != "policy.freeze"]


@pytest.mark.parametrize(("path", "value", "what", "detail"), ONE_WAY)
def test_the_way_back_is_none(path: str, value: Any, what: str, detail: str) -> None:
    """Tightening: the loosened side is base, ours is head."""
    assert goalposts(changed(path, value), BASE, SUITES, SUITES) == []


@given(
    st.lists(st.sampled_from([row for row in ONE_WAY if row[1] is not ...]), unique_by=lambda row: row[0], max_size=5)
)
def test_several_loosenings_are_several_goalposts(rows: list[tuple[str, Any, str, str]]) -> None:
    paths = [row[0] for row in rows]
    if any(a != b and b.startswith(a + ".") for a in paths for b in paths):
        return  # one key holds the other
    if {"suites.main.mutators.include", "suites.main.mutators.exclude"} <= set(paths):
        return
    data = copy.deepcopy(CONFIG)
    for path, value, *_ in rows:
        *way, last = path.split(".")
        part = data
        for key in way:
            part = part.setdefault(key, {})
        part[last] = value
    whats = sorted(goalpost.what for goalpost in found(Config.model_validate(data)))
    expected = sorted(row[2] for row in rows)
    if {"suites.main.mutators.use", "suites.main.mutators.include"} & set(paths):
        assert set(whats) == set(expected)  # one row names all mutators that are lost
    else:
        assert len(whats) >= len(set(expected))
        assert set(whats) == set(expected)


def test_the_line_of_the_key_is_asked_for() -> None:
    asked: list[tuple[str | int, ...]] = []

    def line_of(keys: tuple[str | int, ...]) -> int:
        asked.append(keys)
        return 42

    (only,) = found(changed("policy.kill_rate.negate", 0.1), line_of=line_of)
    assert only.location == Location(path=".grader-gate.yml", line=42)
    assert asked == [("policy", "kill_rate", "negate")]


def test_a_deleted_configuration() -> None:
    (only,) = found(None, {}, config_path="gate.yml")
    assert (only.what, only.detail) == ("configuration removed", "gate.yml")


def test_with_the_catalogue_the_mutators_themselves_are_compared() -> None:
    def catalogue(settings: Any) -> set[str]:
        names = {"none": set(), "default": {"negate", "swap"}, "all": {"negate", "swap", "extra"}}[settings.use]
        return (names | set(settings.include)) - set(settings.exclude)

    same = changed("suites.main.mutators.exclude", ["noisy", "never-ran"])
    assert found(same, catalogue=catalogue) == []
    (only,) = found(changed("suites.main.mutators.exclude", ["negate", "extra"]), catalogue=catalogue)
    assert only.detail == "suites.main.mutators: extra, negate"


def test_a_renamed_grader_says_so() -> None:
    def renamed(**more: Any) -> Config:
        data = copy.deepcopy(CONFIG)
        data["graders"]["critic"] = data["graders"].pop("judge") | more
        data["suites"]["main"]["grader"] = "critic"
        return Config.model_validate(data)

    assert found(renamed(formerly="judge")) == []
    (gone,) = found(renamed())
    assert (gone.what, gone.detail) == (
        "gating grader gone",
        "graders.judge: it no longer grades main; critic does, without `formerly: judge`",
    )
    (weaker,) = found(renamed(formerly="judge", contract={"role": "screen"}))
    assert (weaker.what, weaker.detail) == ("role weakened", "graders.critic: gate → screen")


def test_what_a_screening_suite_measures_is_no_goalpost() -> None:
    assert found(suites=SUITES | {"hint": Suite("hint")}) == []
    assert found(changed("suites.hint", ...)) == []
    assert found(changed("suites.hint.repeats", {"freeze": 1})) == []


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc"), min_size=1), st.sampled_from(["gate", "screen", "abstain"])),
                max_size=3),
       st.lists(st.tuples(st.sets(st.sampled_from("abc"), min_size=1), st.sampled_from(["gate", "screen", "abstain"])),
                max_size=3))  # fmt: skip
def test_a_role_is_weakened_exactly_where_some_case_could_feel_it(old: list[Any], new: list[Any]) -> None:
    before, after = (
        Contract(slices=[{"tags": sorted(tags), "role": role} for tags, role in part])  # type: ignore[arg-type]
        for part in (old, new)
    )
    rank = {"abstain": 0, "screen": 1, "gate": 2}
    every = [[t for i, t in enumerate("abc") if bits >> i & 1] for bits in range(8)]
    felt = any(rank[after.role_for(tags)] < rank[before.role_for(tags)] for tags in every)
    left, right = copy.deepcopy(CONFIG), copy.deepcopy(CONFIG)
    for data, contract in ((left, before), (right, after)):
        data["graders"]["judge"]["contract"] = contract.model_dump(mode="json")
    made = goalposts(Config.model_validate(left), Config.model_validate(right), {}, {})
    assert [goalpost.what for goalpost in made] == (["role weakened"] if felt else [])


# ---------------------------------------------------------------- notices


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("policy.budget.max_calls", 200, "policy.budget.max_calls: 100 → 200"),
        ("policy.budget.max_cost_usd", None, "policy.budget.max_cost_usd: 5 → no cap"),
        ("providers.p.models", ["m-1", "m-2"], "providers.p is changed; it takes effect once merged"),
        ("providers.q", {"base_url": "https://other.example"}, "providers.q is added; it takes effect once merged"),
        ("graders.hint.contract.inputs", ["question", "answer"],
         "graders.hint.contract.inputs: answer → question, answer; what it was validated for may no longer hold"),
        ("graders.judge.contract.abstains", True,
         "graders.judge.contract.abstains: the grader may now decline to judge"),
        ("graders.judge.contract.served_model", None, "graders.judge.contract.served_model is no longer pinned"),
    ],
)  # fmt: skip
def test_notices_are_no_goalposts(path: str, value: Any, message: str) -> None:
    head = changed(path, value)
    assert [notice.message for notice in notices(BASE, head)] == [message]
    assert found(head) == []


@pytest.mark.parametrize(
    ("path", "value"), [("policy.budget.max_calls", 1), ("concurrency", 3), ("policy.min_spread", 0.5)]
)
def test_tightening_is_not_even_a_notice(path: str, value: Any) -> None:
    head = changed(path, value)
    assert notices(BASE, head) == []
    assert found(head) == []


def test_thresholds_and_prompts_are_changes_of_the_grader() -> None:
    scale = {"thresholds": {"correct": 0.7}}
    for path, value in (("graders.judge.contract.scale", scale), ("graders.judge.prompt", "other.j2"),
                        ("graders.judge.model", "m-2")):  # fmt: skip
        assert found(changed(path, value)) == []
