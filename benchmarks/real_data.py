"""The program on material nobody here wrote: recorded LLM judges, and student answers labelled by people.

    python benchmarks/real_data.py --data FOLDER [--json FILE]

FOLDER holds `llmbar-pairs.jsonl` and `llmbar-recorded-runs.jsonl` (LLMBar, Zeng et al. 2024, MIT: 419 pairs judged by
GPT-4 and others under several prompts) and `beetle-golden.jsonl`, `beetle-ladders.jsonl` (SemEval-2013 Task 7,
CC-BY-SA-3.0). The recordings go through the `replay` kind and `grader-gate check`, each prompt change a pull request; the
student answers are graded by the judge in code of `examples/support-bot`, through `grader-gate run` and `audit`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
JUDGE = HERE.parent / "examples" / "support-bot" / "base"

REPLAY = """
version: 1
graders:
  recorded: {kind: replay, ledger: ledger.jsonl%s}
suites:
  llmbar: {grader: recorded, %s, mutators: none}
policy: {max_inversion_rate: 1.0}
"""
SCALE = ", contract: {scale: {min: 0, max: 10, thresholds: {correct: 6, partial: 3}}}"

BEETLE = """
version: 1
graders:
  judge:
    kind: python
    callable: judge:grade
    path: grader
    rubric: rubrics/support.md
    contract: {inputs: [question, reference, rubric, answer], scale: {min: 0, max: 1, thresholds: {correct: 0.75, partial: 0.4}}}
suites:
  beetle: {grader: judge, cases: cases.jsonl, ladders: ladders.jsonl}
"""


def main() -> int:
    """Run all and print; 1 where a recorded figure is not reproduced."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    arguments = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="grader-gate-data-") as folder:
        work = Path(folder)
        found["verdicts"] = verdicts(work / "verdicts", arguments.data, None)
        found["natural"] = verdicts(work / "natural", arguments.data, "natural")
        found["scores"] = scores(work / "scores", arguments.data)
        found["beetle"] = beetle(work / "beetle", arguments.data)
    for name, part in found.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in part.items()))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0


def recordings(data: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """(model, prompt) → pair → [[first order, second order], score of the better, score of the worse]."""
    rows = [json.loads(line) for line in (data / "llmbar-recorded-runs.jsonl").read_text("utf-8").splitlines()]
    return {(row["model"], row["prompt"]): row["runs"] for row in rows}


def pairs(data: Path) -> dict[str, Any]:
    """Pair id → pair. A pair that was recorded but whose text the folder lacks is known by its id alone."""
    rows = (json.loads(line) for line in (data / "llmbar-pairs.jsonl").read_text("utf-8").splitlines())
    known = {row["id"]: row for row in rows}
    for runs in recordings(data).values():
        for key in runs:
            rungs = [{"level": level, "answer": f"{key} answer {level}"} for level in (0, 1)]
            tags = ["llmbar", key.split(":")[2]]
            known.setdefault(key, {"id": key, "question": key, "reference": None, "rungs": rungs, "tags": tags})
    return known


def verdicts(root: Path, data: Path, only: str | None) -> dict[str, Any]:
    """GPT-4's pairwise verdicts in both orders; `Vanilla` on base, `Vanilla_NoRules` on head."""
    known, runs = pairs(data), recordings(data)
    chosen = [k for k in runs["GPT-4", "Vanilla"] if only is None or only in known[k]["tags"]]
    orders = ("ab", "ba")

    def rows(prompt: str) -> Iterator[dict[str, Any]]:
        for key in chosen:
            for order, right in zip(orders, runs["GPT-4", prompt][key][0], strict=True):
                yield row(f"golden/{key}:{order}", {"verdict": "correct" if right else "incorrect"})

    cases = [
        {
            "id": f"{key}:{order}", "question": known[key]["question"], "expected": "correct",
            "answer": known[key]["rungs"][1]["answer"], "tags": [*known[key]["tags"][1:], f"order-{order}"],
        }
        for key in chosen
        for order in orders
    ]  # fmt: skip
    result, code = compare(
        root, REPLAY % ("", "cases: cases.jsonl"), "cases.jsonl", cases, rows("Vanilla"), rows("Vanilla_NoRules")
    )
    part = result["suites"][0]
    golden = next(r for r in part["audits"] if r["audit"] == "golden")
    flips = [f for f in part["findings"] if f["claim_kind"] == "golden" and str(f["case"]).endswith(":ab")]
    return {
        "verdict": result["verdict"], "exit": code, "claims": golden["head"]["n"],
        "base": share(golden["base"]), "head": share(golden["head"]),
        "worse (first order)": sum(f["kind"] == "regression" for f in flips),
        "better (first order)": sum(f["kind"] == "improvement" for f in flips),
        "drops": "; ".join(f["sentence"] for f in part["findings"] if f["kind"] == "drop") or "none",
        "confirmable": part["certainty"]["confirmable"],
    }  # fmt: skip


def scores(root: Path, data: Path) -> dict[str, Any]:
    """GPT-4's pointwise scores as two-rung ladders; `Rating` on base, `Rating_NoRules` on head."""
    known, runs = pairs(data), recordings(data)
    chosen = list(runs["GPT-4", "Rating"])

    def rows(prompt: str) -> Iterator[dict[str, Any]]:
        for key in chosen:
            _, better, worse = runs["GPT-4", prompt][key]
            for index, score in enumerate((worse, better)):
                if score is None:
                    error = {"kind": "malformed", "message": "no score in the recording"}
                    yield row(f"rung/{key}/{index}", {"error": error})
                else:
                    verdict = "correct" if score >= 6 else "partial" if score >= 3 else "incorrect"
                    yield row(f"rung/{key}/{index}", {"score": score, "verdict": verdict})

    ladders = [{k: v for k, v in known[key].items() if k != "reference"} for key in chosen]
    result, code = compare(
        root,
        REPLAY % (SCALE, "ladders: ladders.jsonl"),
        "ladders.jsonl",
        ladders,
        rows("Rating"),
        rows("Rating_NoRules"),
    )
    row_ = next(r for r in result["suites"][0]["audits"] if r["audit"] == "ladders")
    malformed = sum(any(runs["GPT-4", p][k][i] is None for i in (1, 2)) for p in ("Rating",) for k in chosen)
    return {
        "verdict": result["verdict"], "exit": code, "pairs": row_["head"]["n"], "without a score": malformed,
        "inverted on base": f"{(row_['base']['n'] - row_['base']['k'] - malformed) / (row_['base']['n'] - malformed):.1%}",
        "inverted on head": f"{(row_['head']['n'] - row_['head']['k'] - malformed) / (row_['head']['n'] - malformed):.1%}",
    }  # fmt: skip


def beetle(root: Path, data: Path) -> dict[str, Any]:
    """Student answers and ladders under the example's judge in code: figures of a simple judge on real material."""
    shutil.copytree(JUDGE / "grader", root / "grader")
    shutil.copytree(JUDGE / "rubrics", root / "rubrics")
    shutil.copy(data / "beetle-golden.jsonl", root / "cases.jsonl")
    shutil.copy(data / "beetle-ladders.jsonl", root / "ladders.jsonl")
    (root / ".grader-gate.yml").write_text(BEETLE, "utf-8")
    git(root, "init", "-q")
    commit(root, "beetle")
    gate(root, "run", "HEAD")
    run = json.loads((root / ".grader-gate-out" / "result.json").read_text("utf-8"))["suites"][0]
    gate(root, "audit", "HEAD")
    audit = json.loads((root / ".grader-gate-out" / "result.json").read_text("utf-8"))["suites"][0]
    rows = {r["audit"]: r["head"] for r in (*run["audits"], *audit["audits"])}
    return {
        "cases": rows["golden"]["n"], "agrees with people": share(rows["golden"]),
        "mutants": rows["mutants"]["n"], "caught": share(rows["mutants"]), "controls": share(rows["controls"]),
        "ladders": run["ladders"]["ladders"], "adjacent pairs": rows["ladders"]["n"], "in order": share(rows["ladders"]),
    }  # fmt: skip


def row(item: str, grade: dict[str, Any]) -> dict[str, Any]:
    """One recorded ledger row."""
    return {
        "suite": "llmbar", "grader": "recorded", "item": item, "side": "head", "purpose": "screen",
        "request_digest": "", "judgement_digest": "", "repeat": 0, "grade": grade, "at": "2024-01-01T00:00:00Z",
    }  # fmt: skip


def compare(
    root: Path,
    config: str,
    name: str,
    things: list[dict[str, Any]],
    base: Iterator[dict[str, Any]],
    head: Iterator[dict[str, Any]],
) -> tuple[dict[str, Any], int]:
    """A repository whose second commit swaps the recording, checked."""
    root.mkdir(parents=True)
    (root / ".grader-gate.yml").write_text(config, "utf-8")
    lines(root / name, things)
    git(root, "init", "-q")
    lines(root / "ledger.jsonl", base)
    commit(root, "base")
    lines(root / "ledger.jsonl", head)
    commit(root, "head")
    code = gate(root, "check", "--base", "HEAD^", "--head", "HEAD")
    return json.loads((root / ".grader-gate-out" / "result.json").read_text("utf-8")), code


def lines(path: Path, rows: Any) -> None:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), "utf-8")


def share(rate: dict[str, int]) -> str:
    """A rate in per cent."""
    return f"{rate['k'] / rate['n']:.1%}"


def gate(root: Path, *arguments: str) -> int:
    """Run the real command line."""
    command = [sys.executable, "-m", "grader_gate", *arguments, "--quiet", "-C", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3) or not (root / ".grader-gate-out" / "result.json").exists():
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.returncode


def git(root: Path, *arguments: str) -> None:
    """Run git in the repository."""
    subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *arguments], cwd=root, check=True)


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


if __name__ == "__main__":
    sys.exit(main())
