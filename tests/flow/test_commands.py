"""Every other command, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader_gate.cli import main
from tests.flow.repository import CASES, CONFIG, LADDER, Repository, base_files, case_file

REFERENCES = """
cases:
""" + "".join(
    f'  - {{id: c{n}, question: "How many of {n}?", reference: "There are {n + 20} boxes on shelf {n + 3}, and it is good", '
    f'answer: "It is good", expected: correct}}\n'
    for n in range(12)
)


def test_dry_run_says_what_is_affected_and_why_and_calls_nothing(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient\n"})
    run = repo.check("--dry-run")
    assert run.code == 0
    assert "suite main: 7 of 7 items affected" in run.out
    assert "because of rubric rubric.md:1" in run.out
    assert "14 calls" in run.out  # seven on head, and seven on base, for no record covers them
    assert not run.folder.exists()


def test_freeze_covers_base_so_that_only_head_is_called(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    frozen = repo.gate("freeze", "HEAD", "--by", "ada", out="frozen")
    assert (frozen.code, len(frozen.ledger())) == (0, 21)
    (record,) = (repo.root / ".grader-gate" / "baseline").glob("*.jsonl")
    head = json.loads(record.read_text("utf-8").splitlines()[0])
    assert (head["by"], head["commit"], head["kind"]) == ("ada", repo.git("rev-parse", "HEAD"), "freeze")
    repo.commit(message="freeze")
    repo.git("switch", "-q", "-c", "lenient")
    repo.commit({"rubric.md": "lenient\n"})
    run = repo.check()
    screens = [row for row in run.ledger() if row["purpose"] == "screen"]
    assert {row["side"] for row in screens} == {"head"}
    assert run.result["cost"]["from_baseline"] == 7
    assert "by ada" in run.suite["baseline"]
    assert run.code == 1


def test_freezing_again_measures_nothing_and_writes_no_record(repo: Repository) -> None:
    repo.gate("freeze", "HEAD", out="one")
    repo.commit(message="freeze")
    again = repo.gate("freeze", "HEAD", out="two")
    assert (again.code, again.ledger()) == (0, [])
    assert "7 were covered already" in again.out


def test_a_partial_run_is_never_frozen_and_goes_on_where_it_stopped(repo: Repository) -> None:
    cut = repo.gate("freeze", "HEAD", "--max-calls", "5", out="frozen")
    assert cut.code == 3
    assert "nothing frozen: 16 of 21 grades are missing" in cut.err
    assert not (repo.root / ".grader-gate").exists()
    rest = repo.gate("freeze", "HEAD", out="frozen")
    assert rest.code == 0
    assert "frozen 7 items with 16 calls" in rest.out


def test_an_edited_record_is_a_goalpost(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.gate("freeze", "HEAD")
    repo.commit(message="freeze")
    repo.git("switch", "-q", "-c", "cheat")
    (record,) = (repo.root / ".grader-gate" / "baseline").glob("*.jsonl")
    text = record.read_text("utf-8").replace('"verdict":"partial"', '"verdict":"correct"')
    repo.commit({str(record.relative_to(repo.root)): text})
    run = repo.check()
    assert (run.code, run.goalposts()) == (1, ["baseline record edited"])


def test_noise_is_measured_and_unstable_claims_do_not_gate(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({"rubric.md": "coin\n"})
    noise = repo.gate("noise", "HEAD", "--repeats", "12", out="noise")
    assert noise.code == 0
    assert "unstable: golden/two" in noise.out
    repo.commit(message="noise")
    repo.git("switch", "-q", "-c", "worse")
    repo.commit({"rubric.md": "lenient\n"})
    run = repo.check()
    gray = [f for f in run.findings("regression") if f["case"] == "two"]
    assert all(not f["blocking"] for f in gray)


def test_run_grades_one_revision_and_compares_nothing(repo: Repository) -> None:
    repo.write({"cases/all.yaml": case_file({**CASES, "five": ("It is bad", "correct")})})
    run = repo.gate("run")
    assert (run.code, run.result["verdict"]) == (0, "pass")
    (wrong,) = run.findings("wrong verdict")
    assert (wrong["case"], wrong["expected"], wrong["head"]) == ("five", "correct", "incorrect")
    golden = next(row for row in run.suite["audits"] if row["audit"] == "golden")
    assert (golden["head"], golden["base"]) == ({"k": 4, "n": 5, "planned": 5}, None)


def test_audit_gives_kill_rates_survivors_and_the_identity_control(repo: Repository) -> None:
    blind = "def grade(answer):\n    return 'correct' if 'good' in answer else 'incorrect'\n"
    config = CONFIG.replace(", mutators: none", ", mutators: [corrupt_number, truncate_half, empty]") + (
        "policy: {kill_rate: {corrupt_number: 0.9}}\n"
    )
    repo.write({".grader-gate.yml": config, "cases/all.yaml": REFERENCES, "code/judge.py": blind})
    run = repo.gate("audit")
    assert run.code == 1
    rows = {row["mutator"]: row for row in run.suite["mutators"]}
    assert rows["corrupt_number"]["head"] == {"k": 0, "n": 12, "planned": 12}
    assert rows["corrupt_number"]["standing"] == "below"
    assert rows["truncate_half"]["head"] == {"k": 12, "n": 12, "planned": 12}
    assert rows["identity"]["head"] == {"k": 12, "n": 12, "planned": 12}
    survivors = run.findings("survivor")
    assert len(survivors) == 12
    assert survivors[0]["before"] != survivors[0]["after"]


def test_ladder_with_a_configuration_fails_on_an_inversion(repo: Repository) -> None:
    repo.write({"ladders/all.yaml": LADDER.replace('"so good"', '"very bad"')})
    run = repo.gate("ladder")
    assert run.code == 1
    assert run.suite["ladders"]["inversions"] == 1


def test_ladder_on_a_bare_file_and_a_bare_callable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare.py").write_text("def longer(answer):\n    return float(len(answer))\n", "utf-8")
    (tmp_path / "steps.yaml").write_text(
        "ladders:\n  - {id: a, question: q, rungs: [{answer: xxxx}, {answer: xx}, {answer: xxxxxx}]}\n", "utf-8"
    )
    command = ["ladder", "steps.yaml", "--grade", "bare:longer", "--repeats", "3", "--out", "ledger.json", "--quiet"]
    assert main(command) == 1
    assert "1 of 2 adjacent rungs are out of order" in capsys.readouterr().out
    rows = [json.loads(line) for line in (tmp_path / "ledger.json").read_text("utf-8").splitlines()]
    assert [row["grade"]["score"] for row in rows if row["item"] == "rung/a/0"] == [4.0] * 3
    (tmp_path / "steps.yaml").write_text(
        "ladders:\n  - {id: a, question: q, rungs: [{answer: x}, {answer: xx}, {answer: xxxxxx}]}\n", "utf-8"
    )
    assert main(command) == 0


def test_diff_of_two_revisions_and_of_two_ledgers(repo: Repository) -> None:
    many = {f"n{n:02}": ("It is half", "partial") for n in range(14)}
    repo.git("switch", "-q", "main")
    repo.commit({"cases/all.yaml": case_file({**CASES, **many})})
    repo.git("switch", "-q", "-c", "lenient")
    repo.commit({"rubric.md": "lenient\n"})
    assert repo.gate("diff", "main", "HEAD").code == 1
    one = repo.gate("run", "main", out="one").folder / "ledger.jsonl"
    two = repo.gate("run", "HEAD", out="two").folder / "ledger.jsonl"
    same = repo.gate("diff", str(one), str(one))
    assert same.code == 0
    worse = repo.gate("diff", str(one), str(two))
    assert worse.code == 1
    assert "15 worse, 0 better" in worse.out


def test_init_looks_and_writes_a_configuration_that_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = Repository(tmp_path / "fresh", capsys)
    repo.commit({"app/judge.py": "def grade(answer):\n    return 'correct'\n", "golden/cases.yaml": case_file(CASES)})
    made = repo.gate("init")
    assert made.code == 0
    assert "judge:grade in app" in made.out
    assert "golden/cases.yaml" in made.out
    run = repo.gate("run")
    assert run.code == 0
    assert (repo.root / ".github/workflows/grader-gate.yml").exists()
    again = repo.gate("init")
    assert again.code == 2
    assert "exists already" in again.err


def test_init_in_an_empty_repository_is_valid_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = Repository(tmp_path / "fresh", capsys)
    repo.commit({"README.md": "x"})
    assert repo.gate("init").code == 0
    plan = repo.gate("plan")
    assert plan.code == 0, plan.err
    assert "one pass" in plan.out


def test_plan_shows_both_sizes(repo: Repository) -> None:
    repo.write({".grader-gate.yml": CONFIG.replace(", mutators: none", ""), "cases/all.yaml": REFERENCES})
    run = repo.gate("plan")
    assert run.code == 0
    header = next(line for line in run.out.splitlines() if "full catalogue" in line)
    row = next(line for line in run.out.splitlines() if line.startswith("main"))
    assert "calls a pass" in header
    default, full = (int(word) for word in row.split()[-2:])
    assert 12 < default < full
    assert f"main: one pass: {default} calls" in run.out
    assert f"main: full catalogue: {full} calls" in run.out


def test_schema_names_every_format(repo: Repository) -> None:
    listed = repo.gate("schema").out.split()
    assert {"config", "cases", "ladders", "ledger", "result"} <= set(listed)
    for name in listed:
        assert json.loads(main_output(repo, name))["$schema"].startswith("https://json-schema.org/")
    assert repo.gate("schema", "nonsense").code == 2


def main_output(repo: Repository, name: str) -> str:
    return repo.gate("schema", name).out


def test_an_unknown_suite_and_revision_are_named(repo: Repository) -> None:
    run = repo.check("--suite", "mian")
    assert run.code == 2
    assert "did you mean 'main'?" in run.err
    gone = repo.check(base="nowhere")
    assert gone.code == 2
    assert "nowhere" in gone.err
    assert len(gone.err.strip().splitlines()) == 1


def test_max_calls_stops_before_and_is_not_green(repo: Repository) -> None:
    repo.commit({"rubric.md": "strict again\n"})
    run = repo.check("--max-calls", "3", "--no-cache")
    assert (run.code, run.result["verdict"]) == (3, "error")
    assert len(run.ledger()) == 3
    assert "cap of 3 calls" in json.dumps(run.result)
    rest = repo.check("--no-cache")
    assert (rest.code, rest.result["cost"]["calls"]) == (0, 11)


def test_a_second_run_of_the_same_commits_pays_nothing_and_says_the_same(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient\n"})
    first, second = repo.check(), repo.check()
    assert (first.code, second.code) == (1, 1)
    assert second.result["cost"]["calls"] == 0
    assert first.suite["findings"] == second.suite["findings"]


def test_screens_come_from_the_cache_of_an_earlier_run_but_confirmations_never(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient\n"})
    first = repo.check(out="one")
    second = repo.check(out="two")
    made = [row for row in second.ledger() if row.get("reused") is None]
    assert {row["purpose"] for row in made} == {"confirm"}
    assert len(made) == sum(row["purpose"] == "confirm" for row in first.ledger())


BAD = {
    "broken yaml": ({".grader-gate.yml": "version: 1\ngraders: [\n"}, ".grader-gate.yml:"),
    "unknown key": ({".grader-gate.yml": CONFIG + "polcy: {}\n"}, "policy"),
    "duplicate id": ({"cases/b.yaml": case_file({"one": ("It is good", "correct")})}, "one"),
    "missing rubric": ({"cases/b.yaml": "cases: [{id: x, question: q, answer: a, expected: correct, rubric: {file: no.md}}]"}, "no.md"),
    "outside": ({"cases/b.yaml": "cases: [{id: x, question: q, answer: a, expected: correct, rubric: {file: ../../../etc/passwd}}]"}, "outside"),
    "two verdicts": ({"cases/b.yaml": "cases: [{id: x, question: q, answer: a, expected: correct, verdict: incorrect}]"}, "cases/b.yaml:1"),
    "empty suite": ({"cases/all.yaml": "cases: []\n", "ladders/all.yaml": "ladders: []\n"}, "main"),
    "one rung": ({"ladders/all.yaml": "ladders: [{id: l, question: q, rungs: [{answer: a}]}]"}, "ladders/all.yaml:1"),
    "misspelt mutator": ({".grader-gate.yml": CONFIG.replace("mutators: none", "mutators: [trunkate_half]")}, "truncate_half"),
    "large file": ({"cases/big.yaml": "# " + "x" * 50_000_000 + "\n"}, "cases/big.yaml"),
    "alias bomb": ({"cases/b.yaml": "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)) + "cases: []\n"}, "cases/b.yaml"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line_and_exit_code_2(repo: Repository, name: str) -> None:
    files, said = BAD[name]
    repo.commit(dict(files))
    run = repo.check()
    assert run.code == 2, (run.out, run.err)
    assert said in run.err
    assert len(run.err.strip().splitlines()) == 1
    assert "Traceback" not in run.err


def test_a_case_file_behind_a_symlink_is_refused(repo: Repository) -> None:
    (repo.root / "cases" / "link.yaml").symlink_to("/etc/hostname")
    run = repo.gate("run")
    assert run.code == 2
    assert "cases/link.yaml" in run.err


def test_mutators_of_a_floor_that_nothing_exercises_are_an_error(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": CONFIG + "policy: {kill_rate: {unit_swap: 0.9}}\n"})
    repo.git("switch", "-q", "-c", "floor")
    repo.commit({"rubric.md": "strict again\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (3, "error")
    assert "policy.kill_rate.unit_swap" in json.dumps(run.result)


def test_a_waived_survivor_does_not_block_and_a_lapsed_waiver_does(repo: Repository) -> None:
    config = CONFIG.replace("mutators: none", "mutators: [truncate_half]")
    careful = "def grade(answer):\n    return 'correct' if 'good' in answer else 'incorrect'\n"
    repo.git("switch", "-q", "main")
    repo.commit({".grader-gate.yml": config, "cases/all.yaml": REFERENCES, "code/judge.py": careful})
    repo.git("switch", "-q", "-c", "blind")
    blind = "def grade(answer):\n    return 'correct' if 'boxes' in answer or 'good' in answer else 'incorrect'\n"
    repo.commit({"code/judge.py": blind})
    run = repo.check()
    assert run.code == 1
    digests = {f["text_digest"] for f in run.findings("survivor")}
    assert len(digests) == 12

    def waive(expires: str) -> str:
        rows = "".join(f"    - {{text: {d}, reason: says enough, expires: {expires}}}\n" for d in sorted(digests))
        return config + "policy:\n  waivers:\n" + rows.replace(f"expires: {expires}", f'expires: "{expires}"')

    for expires, code in (("2999-01-01", 0), ("2020-01-01", 1)):
        repo.git("switch", "-q", "main")
        repo.commit({".grader-gate.yml": waive(expires)})
        repo.git("switch", "-q", "-C", "blind")
        repo.commit({"code/judge.py": blind})
        assert repo.check(out=expires).code == code, expires


def test_base_files_helper_is_complete() -> None:
    assert set(base_files()) == {".grader-gate.yml", "code/judge.py", "rubric.md", "cases/all.yaml", "ladders/all.yaml"}


def test_import_turns_another_tools_rows_into_cases_and_says_what_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": "a", "input": "Q?", "output": "A", "human_label": "pass", "judge_label": "fail"},
        {"id": "b", "input": "Q?", "output": "A"},
    ]
    source, target = tmp_path / "rows.jsonl", tmp_path / "cases.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert main(["import", "judgegate", str(source), "--out", str(target)]) == 0
    (case,) = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert (case["id"], case["answer"], case["expected"]) == ("a", "A", "correct")
    assert "1 cases, 0 ladders, 1 skipped" in capsys.readouterr().err
    assert main(["import", "promptfo", str(source)]) == 2


def test_mutators_lists_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutators"]) == 0
    listed = capsys.readouterr().out
    assert "truncate_half" in listed
    assert listed.count("\n") > 50


def test_results_and_cache_stay_out_of_the_working_tree(repo: Repository) -> None:
    repo.commit({"rubric.md": "strict again\n"})
    assert main(["check", "--base", "main", "--head", "HEAD", "-C", str(repo.root), "--quiet"]) == 0
    assert (repo.root / ".grader-gate-out" / "result.json").exists()
    assert repo.git("status", "--porcelain") == ""


def test_ladder_new_makes_a_ladder_that_loads_and_climbs(repo: Repository, tmp_path: Path) -> None:
    repo.write({"cases/refs.yaml": REFERENCES})
    out = repo.root / "ladders" / "new.yaml"
    assert main(["ladder", "new", "c3", "-C", str(repo.root), "--out", str(out)]) == 0
    run = repo.gate("ladder")
    assert run.suite["ladders"]["ladders"] == 2
    text = out.read_text("utf-8")
    assert text.index("evasive") < text.index("corrupt_number") < text.index("truncate_half")
    assert main(["ladder", "new", "c3", "-C", str(repo.root), "--out", str(out)]) == 2
    near = repo.gate("ladder", "new", "c33")
    assert (near.code, "did you mean" in near.err) == (2, True)


def test_an_interrupted_freeze_goes_on_whatever_ran_in_between(repo: Repository) -> None:
    cut = repo.gate("freeze", "HEAD", "--max-calls", "15", "--no-cache", out="one")
    assert cut.code == 3
    assert "this takes 21 calls and the cap is 15" in cut.err
    assert repo.gate("run", "--no-cache", out="one").code == 0
    rest = repo.gate("freeze", "HEAD", "--no-cache", out="one")
    assert (rest.code, "frozen 7 items with 6 calls" in rest.out) == (0, True)


def test_init_imports_a_package_as_a_package_and_names_the_lock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = Repository(tmp_path / "fresh", capsys)
    repo.commit(
        {
            "lib/graders/__init__.py": "", "lib/graders/helpers.py": "WORD = 'correct'\n", "requirements.txt": "six\n",
            "lib/graders/judge.py": "from graders.helpers import WORD\n\ndef grade(answer):\n    return WORD\n",
            "golden/cases.yaml": case_file(CASES),
        }
    )  # fmt: skip
    assert repo.gate("init").code == 0
    assert repo.gate("run").code == 0
    config = (repo.root / ".grader-gate.yml").read_text("utf-8")
    assert "callable: graders.judge:grade\n    path: lib\n" in config
    assert "lock: requirements.txt" in config
    workflow = (repo.root / ".github/workflows/grader-gate.yml").read_text("utf-8")
    assert "grader-gate action" in workflow


@pytest.mark.parametrize(
    ("example", "starter"), [("grader-gate.yml", "workflow.yml"), ("grader-gate-pip.yml", "workflow-pip.yml")]
)
def test_init_writes_the_documented_workflows(example: str, starter: str) -> None:
    root = Path(__file__).parents[2]
    written = (root / "src/grader_gate/flow/starter" / starter).read_text("utf-8")
    assert written == (root / "examples/workflows" / example).read_text("utf-8")


def test_a_bare_callable_may_give_verdict_and_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "both.py").write_text(
        "def grade(answer):\n    n = len(answer)\n    return {'score': n / 10, 'verdict': 'correct' if n > 4 else 'incorrect'}\n"
    )
    (tmp_path / "steps.yaml").write_text(
        "ladders:\n  - {id: a, question: q, rungs: [{answer: x}, {answer: xx}, {answer: xxxxxx}]}\n", "utf-8"
    )
    assert main(["ladder", "steps.yaml", "--grade", "both:grade", "--out", "l.jsonl", "--quiet"]) == 0
    assert "All 2 adjacent rungs are in order" in capsys.readouterr().out


def test_floors_over_too_few_mutants_are_said_and_never_look_like_sensitivity(repo: Repository) -> None:
    config = CONFIG.replace("mutators: none", "mutators: [empty]") + "policy: {kill_rate: {default: 0.9}}\n"
    always = "def grade(answer):\n    return 'correct'\n"
    repo.write(
        {
            ".grader-gate.yml": config,
            "cases/all.yaml": case_file({"a": ("It is good", "correct")}),
            "code/judge.py": always,
        }
    )
    run = repo.gate("audit")
    (notice,) = [n["message"] for n in run.result["notices"] if "not enforceable" in n["message"]]
    assert "under 10 mutants; 0 of these 1 mutants are caught" in notice
    assert notice.split("; ")[-1] in " ".join(run.out.split())
    assert "Compared" not in run.out
