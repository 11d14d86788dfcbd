"""What must never change a verdict, through the command line."""

from __future__ import annotations

import random

import pytest

from tests.flow.repository import CASES, CONFIG, LADDER, Repository, base_files, case_file

MANY = {
    **CASES,
    **{
        f"n{n}": (f"Number {n} is {('good', 'half', 'bad')[n % 3]}", ("correct", "partial", "incorrect")[n % 3])
        for n in range(9)
    },
}


def outcome(run) -> tuple:  # type: ignore[no-untyped-def,type-arg]
    """What a reader takes away: verdict and blocking findings."""
    return run.code, run.result["verdict"], sorted((f["kind"], f["case"]) for f in run.findings() if f["blocking"])


def compared(tmp_path, capsys, name, cases, rubric="lenient\n", tags=None):  # type: ignore[no-untyped-def]
    """Run the same rubric change over these case files."""
    repo = Repository(tmp_path / name, capsys)
    files = base_files()
    del files["cases/all.yaml"]
    files |= {f"cases/{k}.yaml": case_file(v, **(tags or {})) for k, v in cases.items()}
    repo.commit(files)
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"rubric.md": rubric})
    return repo.check(out=f"out-{name}")


def test_order_files_and_tag_names_do_not_matter(tmp_path, capsys) -> None:
    names = list(MANY)
    plain = outcome(compared(tmp_path, capsys, "plain", {"all": MANY}))
    random.Random(7).shuffle(names)
    shuffled = {name: MANY[name] for name in names}
    assert outcome(compared(tmp_path, capsys, "shuffled", {"all": shuffled})) == plain
    parts = {"a": dict(list(MANY.items())[:5]), "b": dict(list(MANY.items())[5:])}
    assert outcome(compared(tmp_path, capsys, "parts", parts)) == plain
    tags = dict.fromkeys(MANY, "another")
    assert outcome(compared(tmp_path, capsys, "tags", {"all": MANY}, tags=tags)) == plain
    assert plain[:2] == (1, "fail")


def test_an_added_case_that_is_right_never_turns_pass_into_fail(tmp_path, capsys) -> None:
    passing = {k: v for k, v in MANY.items() if "half" not in v[0]}
    assert outcome(compared(tmp_path, capsys, "few", {"all": passing}))[:2] == (0, "pass")
    more = {**passing, "more": ("One more is good", "correct")}
    assert outcome(compared(tmp_path, capsys, "more", {"all": more}))[:2] == (0, "pass")


def test_every_planned_item_is_accounted_for_exactly_once(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient\n"})
    run = repo.check()
    keys = [
        (r["suite"], r["grader"], r["item"], r["side"], r["purpose"], r["request_digest"], r["repeat"])
        for r in run.ledger()
    ]
    assert len(keys) == len(set(keys))
    screened = {r["item"] for r in run.ledger() if r["purpose"] == "screen" and r["side"] == "head"}
    assert screened == {f"golden/{name}" for name in CASES} | {f"rung/steps/{n}" for n in range(3)}
    assert run.suite["graded"] == {"k": 7, "n": 7, "planned": 7}


@pytest.mark.parametrize(("rubric", "expected"), [("strict again\n", 3), ("lenient\n", 3)])
def test_a_grade_that_cannot_be_measured_only_moves_towards_error(repo: Repository, rubric: str, expected: int) -> None:
    hangs = CONFIG.replace("    kind: python", "    kind: python\n    timeout_s: 0.5")
    judge = str(base_files()["code/judge.py"])
    stuck = judge.replace("    mode = rubric", '    while word == "half": pass\n    mode = rubric')
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": hangs, "ladders/all.yaml": LADDER})
    repo.git("switch", "-q", "-c", "stuck")
    repo.commit({"code/judge.py": stuck, "rubric.md": rubric})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (expected, "error")
    assert run.suite["graded"]["n"] < run.suite["graded"]["planned"]
