"""Changes that make a grader worse, or take it out of the measurement, and must not end green."""

from __future__ import annotations

import pytest

from tests.flow.repository import CASES, CONFIG, JUDGE, Repository, base_files, case_file

LENIENT = "lenient: look at the last word\n"


def start(repo: Repository, files: dict[str, str | bytes | None] | None = None, **changed: str) -> None:
    """Base on main, then a topic branch."""
    repo.commit({k: v for k, v in {**base_files(**changed), **(files or {})}.items() if v is not None}, "base")
    repo.git("switch", "-q", "-c", "topic")


def with_rubric(path: str) -> str:
    return case_file(CASES).replace(", tags:", f", rubric: {{file: {path}}}, tags:")


@pytest.mark.parametrize("keep_old", [False, True])
def test_a_weaker_rubric_file_under_a_new_name_is_a_regression(empty: Repository, keep_old: bool) -> None:
    start(empty, {"rubrics/a.md": "strict: x\n", "cases/all.yaml": with_rubric("../rubrics/a.md")})
    change: dict[str, str | bytes | None] = {"rubrics/b.md": LENIENT, "cases/all.yaml": with_rubric("../rubrics/b.md")}
    empty.commit(change if keep_old else {**change, "rubrics/a.md": None})
    run = empty.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]
    assert run.findings("new case") == []


def test_cases_that_lose_their_rubric_file_are_judged_by_the_weaker_one_of_the_grader(empty: Repository) -> None:
    start(empty, {"rubrics/a.md": "strict: x\n", "cases/all.yaml": with_rubric("../rubrics/a.md")})
    empty.commit({"rubrics/a.md": None, "rubric.md": LENIENT, "cases/all.yaml": case_file(CASES)})
    run = empty.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]


def test_a_rubric_file_that_is_only_renamed_changes_nothing(empty: Repository) -> None:
    start(empty, {"rubrics/a.md": "strict: x\n", "cases/all.yaml": with_rubric("../rubrics/a.md")})
    empty.commit(
        {"rubrics/a.md": None, "rubrics/b.md": "strict: x\n", "cases/all.yaml": with_rubric("../rubrics/b.md")}
    )
    run = empty.check()
    assert (run.code, run.result["verdict"], run.ledger()) == (0, "not applicable", [])


def test_a_decoy_that_says_it_was_the_grader_does_not_hide_a_weaker_role(repo: Repository) -> None:
    weaker = CONFIG.replace("contract: {", "contract: {role: screen, ")
    decoy = "  decoy: {kind: python, callable: 'judge:grade', path: code, formerly: judge}\nsuites:"
    repo.commit({".grader-gate.yml": weaker.replace("suites:", decoy)})
    run = repo.check()
    assert (run.code, run.goalposts()) == (1, ["role weakened"])


@pytest.mark.parametrize("role", ["screen", "abstain"])
def test_a_slice_gates_though_the_rest_of_the_contract_does_not(empty: Repository, role: str) -> None:
    sliced = f"answer], role: {role}, slices: [{{tags: [plain], role: gate}}]}}"
    start(empty, config=CONFIG.replace("answer]}", sliced))
    empty.commit({"rubric.md": LENIENT})
    run = empty.check()
    assert (run.code, run.suite["role"]) == (1, "gate")
    assert [(f["case"], f["blocking"]) for f in run.findings("regression")] == [("two", True)]


def test_cases_outside_the_gating_slice_still_only_report(empty: Repository) -> None:
    sliced = "answer], role: screen, slices: [{tags: [hard], role: gate}]}"
    start(empty, {"ladders/all.yaml": None}, config=CONFIG.replace("answer]}", sliced).replace(', ladders: "ladders/*.yaml"', ""),
          cases=case_file(CASES, one="hard"))  # fmt: skip
    empty.commit({"rubric.md": LENIENT})
    run = empty.check()
    assert (run.code, run.result["verdict"]) == (0, "pass")
    assert [(f["case"], f["blocking"]) for f in run.findings("regression")] == [("two", False)]


def test_a_grader_cannot_be_replaced_by_a_recording_of_itself(repo: Repository) -> None:
    recording = repo.gate("run", "HEAD").folder.joinpath("ledger.jsonl").read_text("utf-8")
    code = "    kind: python\n    callable: judge:grade\n    path: code\n    rubric: rubric.md\n"
    replay = CONFIG.replace(code, "    kind: replay\n    ledger: recorded.jsonl\n")
    repo.commit({"recorded.jsonl": recording, ".grader-gate.yml": replay, "rubric.md": LENIENT})
    run = repo.check(out="second")
    assert (run.code, run.goalposts()) == (1, ["grader replaced by a recording"])


CODE_WITH_MODE = JUDGE.replace('rubric.split()[0].rstrip(":") if rubric else "strict"', "MODE")
HERE = "import glob, os, pkgutil\nfrom pathlib import Path\nHERE = Path(__file__).parent\n"


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ('(HERE / "data" / "mode.txt").read_text()', "code/data/mode.txt"),
        ('(HERE.parent / "shared" / "mode.txt").read_text()', "shared/mode.txt"),
        ('(lambda n: open(HERE / f"data/{n}.txt").read())("mode")', "code/data/mode.txt"),
        ('open(glob.glob(os.path.dirname(__file__) + "/data/*")[0]).read()', "code/data/mode"),
        ('(HERE / "MODE").read_text()', "code/MODE"),
        ('next(p for p in HERE.iterdir() if p.suffix == ".cfg").read_text()', "code/any.cfg"),
        ('pkgutil.get_data("kept", "mode.txt").decode()', "code/kept/mode.txt"),
    ],
)
def test_data_that_code_reads_by_a_name_put_together_is_part_of_the_grader(
    empty: Repository, code: str, path: str
) -> None:
    files: dict[str, str | bytes | None] = {"code/kept/__init__.py": "", path: "strict"}
    start(empty, files, judge=f"{HERE}MODE = {code}.strip()\n{CODE_WITH_MODE}")
    empty.commit({path: "lenient"})
    run = empty.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]


def test_code_that_a_shell_script_calls_is_part_of_the_grader(empty: Repository) -> None:
    program = (
        "import json, sys\nfrom judge import grade\nd = json.load(sys.stdin)\n"
        "print(json.dumps(grade(**d['inputs'], seed=d['seed'])))\n"
    )
    start(
        empty,
        {"bin/run": "#!/bin/sh\nexec python3 code/run.py\n", "code/run.py": program},
        config=CONFIG.replace("kind: python\n    callable: judge:grade\n    path: code\n",
                              "kind: command\n    command: [sh, bin/run]\n"),
    )  # fmt: skip
    empty.commit({"code/judge.py": JUDGE.replace('"half": "partial"', '"half": "correct"')})
    run = empty.check()
    assert run.code == 1
    assert [f["case"] for f in run.findings("regression")] == ["two"]
