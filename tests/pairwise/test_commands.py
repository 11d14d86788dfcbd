"""Comparing graders through the command line, on a real repository."""

from __future__ import annotations

import json

import pytest

from tests.flow.repository import Repository
from tests.pairwise.judges import CASES, CONFIG, JUDGE, LADDERS, files, start

WITH_CASES = CONFIG.replace('ladders: "ladders/*.yaml"', 'ladders: "ladders/*.yaml", cases: "cases/*.yaml"')


def test_a_fair_judge_is_consistent_and_in_order(repo: Repository):
    start(repo)
    run = repo.gate("ladder", "--repeats", "1")
    assert run.code == 0, run.err
    stats = run.suite["ladders"]
    assert stats["pairs"] == {"k": 3, "n": 3, "planned": 3}
    assert stats["consistency"] == {"k": 3, "n": 3, "planned": 3}
    assert stats["inversions"] == 0
    assert not run.findings()
    assert len(run.ledger()) == 6


def test_nothing_that_tells_the_rungs_apart_is_in_the_ledger_beside_its_facts(repo: Repository):
    start(repo)
    rows = repo.gate("ladder", "--repeats", "1").ledger()
    assert {row["grade"]["preference"] for row in rows} == {"a", "b"}
    assert {row["facts"]["better"] for row in rows} == {"a", "b"}
    # A fair judge says what the facts say, whichever place that is.
    assert all(row["grade"]["preference"] == row["facts"]["better"] for row in rows)


def test_a_judge_that_takes_the_first_is_caught_alone(repo: Repository):
    start(repo, rubric="first: whatever stands first\n")
    run = repo.gate("ladder", "--repeats", "1")
    assert run.code == 1
    assert run.suite["ladders"]["consistency"] == {"k": 0, "n": 3, "planned": 3}
    assert run.suite["ladders"]["inversions"] == 3
    (steps,) = [f for f in run.findings("inversion") if f["case"] == "steps"]
    (bias,) = run.findings("position bias")
    assert (bias["blocking"], bias["sentence"]) == (
        False,
        "the say on 3 of 3 pairs depends on which answer stands first",
    )
    assert "higher rung wins" in steps["head"]
    assert "lower rung wins" in steps["head"]


def test_a_change_that_brings_position_bias_is_blocked_and_named(repo: Repository):
    start(repo)
    repo.commit({"rubric.md": "first: whatever stands first\n"})
    run = repo.check()
    assert run.code == 1, run.out
    broken = run.findings("inversion")
    assert {f["case"] for f in broken if f["blocking"]} == {"steps", "pair"}
    assert all(f["status"] == "confirmed" for f in broken)
    (bias,) = run.findings("position bias")
    assert bias["blocking"] is False
    assert bias["status"] == "confirmed"
    assert (bias["base"], bias["head"]) == ("3 of 3 pairs told alike", "0 of 3")
    stats = run.suite["ladders"]
    assert stats["consistency"]["k"] == 0
    assert stats["consistency_base"]["k"] == 3
    assert stats["consistency_interval"][1] < 1


def test_a_judge_that_prefers_the_worse_is_consistent_but_out_of_order(repo: Repository):
    start(repo)
    repo.commit({"rubric.md": "upside: the worse word wins\n"})
    run = repo.check()
    assert run.code == 1
    assert run.suite["ladders"]["consistency"] == {"k": 3, "n": 3, "planned": 3}
    assert not run.findings("position bias")
    assert all(f["head"] == "lower rung wins in both orders" for f in run.findings("inversion"))


def test_a_noisy_judge_on_both_sides_is_not_blocked(repo: Repository):
    start(repo, rubric="coin: near ones by chance\n")
    repo.commit({"rubric.md": "coin: near ones by chance, in other words\n"})
    run = repo.check()
    assert run.code == 0, run.out
    assert not [f for f in run.findings() if f["blocking"]]


def test_golden_answers_to_one_question_are_compared(repo: Repository):
    start(repo, config=WITH_CASES)
    assert repo.gate("run").suite["audits"][0]["head"] == {"k": 4, "n": 4, "planned": 4}
    repo.commit({"rubric.md": "near: the first of near ones\n"})
    run = repo.check()
    assert run.code == 1
    names = {f["claim"] for f in run.findings("regression")}
    assert names == {"pair/partly<right", "pair/wrong<partly"}
    assert "better answer wins; swapped: worse answer wins" in {f["head"] for f in run.findings("regression")} or (
        "worse answer wins; swapped: better answer wins" in {f["head"] for f in run.findings("regression")}
    )


def test_freezing_brings_the_base_side(repo: Repository):
    repo.commit(files(), "base")
    frozen = repo.gate("freeze", "--repeats", "2")
    assert frozen.code == 0, frozen.err
    assert "frozen 6 items with 12 calls" in frozen.out
    repo.commit()
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"rubric.md": "first: whatever stands first\n"})
    run = repo.check()
    assert run.code == 1
    assert run.result["cost"]["from_baseline"] == 6


def test_a_new_ladder_is_graded_in_both_orders(repo: Repository):
    start(repo, rubric="near: the first of near ones\n")
    repo.commit({"ladders/more.yaml": LADDERS.replace("steps", "more").replace("id: pair", "id: other").replace(
        "so ", "well, ").replace("thus ", "hence ")})  # fmt: skip
    run = repo.check()
    found = run.findings("new case")
    assert {f["claim"] for f in found} == {"new/rungs/more/0<1", "new/rungs/more/1<2"}
    assert all("base fails it too" in f["sentence"] for f in found)
    assert run.code == 0


def test_the_plan_says_what_the_pairs_cost(repo: Repository):
    start(repo, config=WITH_CASES)
    run = repo.gate("plan")
    assert run.code == 0, run.err
    # Three ladder pairs and four pairs of golden answers, two calls each.
    assert "14 calls" in run.out
    repo.commit({".grader-gate.yml": WITH_CASES.replace("mutators: none", "mutators: none, pairs: {design: sampled, "
                                                        "per_case: 1}")})  # fmt: skip
    # One pair of each ladder and of each question.
    assert "8 calls" in repo.gate("plan", "HEAD").out


def test_mutants_are_compared_with_the_original(repo: Repository):
    config = WITH_CASES.replace("mutators: none", "mutators: {use: all}")
    judge = JUDGE.replace('RANKS.get(answer.rsplit(" ", 1)[-1].strip(".!"), 0)', "len(answer)").replace(
        "abs(a - b) == 1", "False"
    )
    reference = "The bridge is 300 metres long. It was built in 1932. It does not carry trains."
    cases = f'cases:\n  - {{id: one, question: "Q?", answer: "Nope", expected: incorrect, reference: "{reference}"}}\n'
    start(repo, config=config, judge=judge, cases=cases)
    run = repo.gate("audit")
    rows = {row["mutator"]: row["head"] for row in run.suite["mutators"]}
    # A judge for whom longer is better catches what cuts, and no padding.
    assert rows["truncate_half"]["k"] == rows["truncate_half"]["n"] == 1
    survivors = {f["mutator"] for f in run.findings("survivor")}
    assert {"corrupt_number", "self_contradict"} <= survivors
    assert all(f["after"] != reference and f["before"] == reference for f in run.findings("survivor"))
    assert "identity" not in rows


def test_abstentions_are_counted_and_listed(repo: Repository):
    start(repo, rubric="silent: say nothing\n")
    run = repo.gate("ladder", "--repeats", "1")
    assert run.suite["abstained"] == {"k": 6, "n": 6, "planned": 6}
    assert run.suite["ladders"]["consistency"] == {"k": 0, "n": 0, "planned": 3}


def test_a_number_is_no_preference(repo: Repository):
    start(repo, rubric="number: one\n")
    run = repo.gate("ladder", "--repeats", "1")
    assert all(r["grade"]["error"]["kind"] == "malformed" for r in run.ledger())
    assert "`a`, `b` or `tie`" in run.ledger()[0]["grade"]["error"]["message"]
    assert run.code == 1


def test_one_answer_and_two_are_not_compared(repo: Repository):
    start(repo)
    single = CONFIG.replace("compares: true, ", "").replace("answer_a, answer_b", "answer")
    repo.commit({".grader-gate.yml": single, "code/judge.py": "def compare(question, rubric, answer): return True\n"})
    run = repo.check()
    assert run.code == 2
    assert "judges one answer" in run.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("inputs: [question, rubric, answer_a, answer_b]", "inputs: [question, answer]", "answer_a"),
        ("compares: true, abstains: true, ", "", "compares: true"),
        ("compares: true,", "compares: true, scale: {},", "no `scale`"),
    ],
)
def test_a_contract_that_cannot_be_is_refused(repo: Repository, old: str, new: str, said: str):
    start(repo, config=CONFIG.replace(old, new))
    run = repo.gate("ladder")
    assert run.code == 2
    assert ".grader-gate.yml:" in run.err
    assert said in run.err


def test_a_recording_of_pairs_is_replayed(repo: Repository, tmp_path):
    start(repo)
    ledger = repo.gate("ladder", "--repeats", "1").folder / "ledger.jsonl"
    rows = [json.loads(line) for line in ledger.read_text("utf-8").splitlines()]
    replay = CONFIG.replace("kind: python", "kind: replay").replace("callable: judge:compare", "ledger: rec.jsonl")
    replay = replay.replace("    path: code\n", "")
    repo.commit({".grader-gate.yml": replay, "rec.jsonl": ledger.read_bytes()})
    repo.git("branch", "-f", "recorded")
    again = repo.gate("ladder", "--repeats", "1", out="again")
    assert again.suite["ladders"]["consistency"] == {"k": 3, "n": 3, "planned": 3}
    for row in rows:
        row["grade"]["preference"] = "a"
    repo.commit({"rec.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    run = repo.check(base="recorded", out="compared")
    assert run.suite["ladders"]["consistency"] == {"k": 0, "n": 3, "planned": 3}


def test_every_report_shows_the_consistency(repo: Repository):
    start(repo)
    repo.commit({"rubric.md": "first: whatever stands first\n"})
    run = repo.check()
    said = "Told alike in both orders: 0 of 3 (0.0 %) of the pairs"
    assert said in (run.folder / "comment.md").read_text("utf-8").replace("\\", "")
    assert said in (run.folder / "report.html").read_text("utf-8")
    assert said in " ".join(run.out.split())


def test_two_ledgers_of_pairs_are_compared(repo: Repository):
    start(repo)
    fair = repo.gate("ladder", "--repeats", "1", out="fair").folder / "ledger.jsonl"
    repo.write({"rubric.md": "upside: the worse word wins\n"})
    worse = repo.gate("ladder", "--repeats", "1", "--no-cache", out="worse").folder / "ledger.jsonl"
    run = repo.gate("diff", str(fair), str(worse), out="diff")
    assert "3 worse, 0 better" in run.out
    same = repo.gate("diff", str(fair), str(fair), out="same")
    assert same.code == 0
    assert "0 worse, 0 better" in same.out


def test_calibration_says_that_it_needs_single_answers(repo: Repository):
    start(repo, config=WITH_CASES, cases=CASES.replace("expected: ", "labels: {ann: correct}, expected: "))
    run = repo.gate("calibrate")
    assert run.code == 2
    assert "judge compares two answers" in run.err
