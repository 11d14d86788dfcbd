from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.changes.goalposts import goalposts, notices
from grader_gate.changes.matching import compare_rungs, match_cases, match_ladders
from grader_gate.config import Config, Contract
from grader_gate.model import GoldenCase, Ladder, Location, Rubric, Rung, Suite
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


# ---------------------------------------------------------------- cases and ladders

ONE, TWO = SUITES["main"].cases
STEPS, STAIRS = SUITES["main"].ladders


@pytest.mark.parametrize(
    ("cases", "what", "detail"),
    [
        ([ONE, TWO.model_copy(update={"expected": "incorrect"})], "case relabelled", "main: two: correct → incorrect"),
        ([ONE, TWO.model_copy(update={"tags": ("y", "z")})], "case re-tagged", "main: two: -x +z"),
        ([ONE], "case deleted", "main: two"),
        ([ONE, case("two", answer="other", expected="partial", tags=("x", "y"))], "case relabelled",
         "main: two: correct → partial"),
        ([ONE, TWO.model_copy(update={"id": "zwei", "expected": "partial"})], "case relabelled",
         "main: two (now zwei): correct → partial"),
        ([ONE.model_copy(update={"tolerance": 0.2}), TWO], "tolerance widened", "main: one: tolerance 0.1 → 0.2"),
        ([ONE, TWO.model_copy(update={"tolerance": 0.2})], "tolerance widened", "main: two: tolerance 0 → 0.2"),
        ([ONE.model_copy(update={"evidence": ()}), TWO], "evidence removed", "main: one: e"),
        ([ONE.model_copy(update={"facts": ()}), TWO], "facts removed", "main: one: f"),
        ([ONE.model_copy(update={"entities": ("m",)}), TWO], "entities removed", "main: one: n"),
    ],
)  # fmt: skip
def test_each_loosened_case_is_exactly_one_goalpost(cases: list[GoldenCase], what: str, detail: str) -> None:
    (only,) = found(suites=with_suite(cases=cases))
    assert (only.what, only.detail) == (what, detail)


@pytest.mark.parametrize(
    "cases",
    [
        [TWO, ONE],
        [ONE, TWO, case("three")],
        [ONE, TWO.model_copy(update={"id": "zwei"})],
        [ONE, TWO.model_copy(update={"tags": ("y", "x")})],
        [ONE, TWO.model_copy(update={"answer": "another answer"})],
        [ONE.model_copy(update={"tolerance": 0.05, "evidence": ("e", "more")}), TWO],
        [ONE, TWO.model_copy(update={"labels": {"ann": "incorrect"}, "metadata": {"a": 1}, "source": "s"})],
        [ONE, TWO.model_copy(update={"location": Location(path="elsewhere.yml", line=1)})],
    ],
)
def test_what_a_case_may_do(cases: list[GoldenCase]) -> None:
    assert found(suites=with_suite(cases=cases)) == []


def test_a_deleted_case_that_another_suite_holds_is_moved_out() -> None:
    moved = with_suite(cases=[ONE]) | {"other": Suite("other", [TWO.model_copy(update={"id": "renamed"})])}
    (only,) = found(suites=moved)
    assert (only.what, only.detail) == ("case moved out", "main: two: now only in other")
    assert only.location == Location(path="cases/two.yml")


def test_many_cases_share_a_row() -> None:
    many = [case(f"c{n:03}") for n in range(200)]
    made = goalposts(BASE, BASE, SUITES | {"format": Suite("format", many)}, SUITES | {"format": Suite("format")})
    assert [g.detail for g in made[:2]] == ["format: c000", "format: c001"]
    assert (len(made), made[-1].detail) == (11, "format: 190 more")


@pytest.mark.parametrize(
    ("ladders", "what", "detail"),
    [
        ([STEPS], "ladder deleted", "main: stairs"),
        ([ladder("steps", "bad", "good"), STAIRS], "rung dropped", "main: steps: 1 of 3 rungs"),
        ([ladder("steps", "fair", "bad", "good"), STAIRS], "levels reordered",
         "main: steps: level 0 no longer below 1"),
        ([edited(STEPS, level=lambda rung: min(rung.level, 1)), STAIRS],
         "levels reordered", "main: steps: level 1 no longer below 2"),
        ([STEPS, STAIRS.model_copy(update={"tags": ()})], "ladder re-tagged", "main: stairs: -x"),
        ([edited(STEPS, evidence=()), STAIRS], "evidence removed", "main: steps: e"),
    ],
)  # fmt: skip
def test_each_loosened_ladder_is_exactly_one_goalpost(ladders: list[Ladder], what: str, detail: str) -> None:
    (only,) = found(suites=with_suite(ladders=ladders))
    assert (only.what, only.detail) == (what, detail)


@pytest.mark.parametrize(
    "ladders",
    [
        [STAIRS, STEPS],
        [STEPS, STAIRS, ladder("new")],
        [ladder("steps", "bad", "so-so", "fair", "good"), STAIRS],
        [ladder("steps", "bad", "fair indeed", "good"), STAIRS],
        [STEPS.model_copy(update={"id": "schritte"}), STAIRS],
        [STEPS.model_copy(update={"question": "Q?"}), STAIRS],
        [edited(STEPS, level=lambda rung: rung.level * 10), STAIRS],
    ],
)  # fmt: skip
def test_what_a_ladder_may_do(ladders: list[Ladder]) -> None:
    assert found(suites=with_suite(ladders=ladders)) == []


def test_an_edited_rubric_file_edits_no_case() -> None:
    def with_rubric(**more: Any) -> GoldenCase:
        return case("a", rubric=Rubric(text="old", path="rubric.md")).model_copy(update=more)

    new = with_rubric(rubric=Rubric(text="new", path="rubric.md"))
    assert match_cases([with_rubric()], [new]).unchanged == ((with_rubric(), new),)
    renamed = new.model_copy(update={"id": "b"})
    assert match_cases([with_rubric()], [renamed]).renamed == ((with_rubric(), renamed),)
    inline = with_rubric(rubric=Rubric(text="new"))
    assert match_cases([with_rubric(rubric=Rubric(text="old"))], [inline]).edited != ()


def test_swapped_ids_are_renames() -> None:
    a, b = case("a"), case("b")
    swapped = [b.model_copy(update={"id": "a"}), a.model_copy(update={"id": "b"})]
    matches = match_cases([a, b], swapped)
    assert [(old.id, new.id) for old, new in matches.renamed] == [("a", "b"), ("b", "a")]
    assert matches.edited == matches.deleted == matches.added == ()


def test_a_twin_of_another_label_does_not_hide_a_deletion() -> None:
    right, wrong = case("a"), case("b", question="Q a", reference="R a", answer="A a", expected="incorrect")
    matches = match_cases([right, wrong], [wrong])
    assert matches.deleted == (right,)
    assert matches.unchanged == ((wrong, wrong),)
    moved = match_cases([right, wrong], [wrong.model_copy(update={"id": "c"})])
    assert moved.deleted == (right,)
    assert [(old.id, new.id) for old, new in moved.renamed] == [("b", "c")]
    assert moved.relabelled == ()


CASES = st.lists(
    st.builds(
        lambda name, answer, expected, tags: case(name, question="Q", reference=None, answer=answer,
                                                  expected=expected, tags=tuple(sorted(tags))),
        st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from(["correct", "incorrect"]),
        st.sets(st.sampled_from(["t", "u"])),
    ),
    unique_by=lambda one: one.id, max_size=4,
)  # fmt: skip


@given(CASES, CASES)
def test_every_case_is_accounted_for_once(base: list[GoldenCase], head: list[GoldenCase]) -> None:
    matches = match_cases(base, head)
    assert sorted([o.id for o, _ in matches.pairs] + [o.id for o in matches.deleted]) == sorted(o.id for o in base)
    assert sorted([n.id for _, n in matches.pairs] + [n.id for n in matches.added]) == sorted(n.id for n in head)
    for old, new in matches.unchanged:
        assert (old.id, old.content_digest, old.expected, set(old.tags)) == (
            new.id, new.content_digest, new.expected, set(new.tags),
        )  # fmt: skip
    for old, new in matches.edited:
        assert old.id == new.id
        assert old.content_digest != new.content_digest
    for old, new in matches.renamed:
        assert old.content_digest == new.content_digest
    left = {n.content_digest for n in matches.added}
    assert not {o.content_digest for o in matches.deleted} & left


@given(st.permutations(["a", "b", "c", "d"]), st.integers(0, 4))
def test_rungs_keep_their_order_or_it_is_told(order: list[str], keep: int) -> None:
    base, head = rungs("a", "b", "c", "d"), rungs(*order[:keep])
    lost, turned, pairs = compare_rungs(base, head)
    assert len(lost) == 4 - keep
    assert len(pairs) == keep
    assert bool(turned) == (sorted(order[:keep]) != order[:keep])


def test_ladders_are_matched_like_cases() -> None:
    matches = match_ladders([STEPS, STAIRS], [STAIRS.model_copy(update={"id": "b"}), STEPS])
    assert [(old.id, new.id) for old, new in matches.renamed] == [("stairs", "b")]
    assert matches.unchanged == ((STEPS, STEPS),)


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
