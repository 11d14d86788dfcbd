"""How long a pull request that touches no grader takes, over many golden cases.

Builds a git repository with `--cases` cases (JSON Lines), changes a file the gate does not read, and times the real
command `grader-gate check` as a whole process, interpreter start included.

    python benchmarks/noop.py [--quick] [--cases N] [--format jsonl|yaml] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

CONFIG = """
version: 1
providers:
  local: {base_url: "http://127.0.0.1:9/v1"}
graders:
  judge:
    kind: chat
    provider: local
    model: pinned-2026-01-01
    prompt: judge.md
suites:
  main: {grader: judge, cases: "cases/*"}
"""
PROMPT = "Question: {{ question }}\nReference: {{ reference }}\nRubric: {{ rubric }}\n<answer>{{ answer }}</answer>\n"


def main() -> int:
    """Measure and print; 1 where a run did not end as not applicable."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three runs instead of nine")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--format", choices=["jsonl", "yaml"], default="jsonl")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    arguments = parser.parse_args()
    runs = 3 if arguments.quick else 9
    with tempfile.TemporaryDirectory(prefix="grader-gate-noop-") as folder:
        root = Path(folder)
        build(root, arguments.cases, arguments.format)
        seconds = [timed(root) for _ in range(runs)]
    result = {"wall_s": round(median(seconds), 3), "cases": arguments.cases}
    print(f"{arguments.cases} cases ({arguments.format}), nothing affected: median {result['wall_s']} s of {runs} runs"
          f" ({min(seconds):.3f} to {max(seconds):.3f} s)")  # fmt: skip
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result) + "\n", "utf-8")
    return 0


def build(root: Path, cases: int, form: str) -> None:
    """A repository whose second commit changes only a file of no interest."""
    (root / "cases").mkdir()
    (root / ".grader-gate.yml").write_text(CONFIG, "utf-8")
    (root / "judge.md").write_text(PROMPT, "utf-8")
    rows = [
        {
            "id": f"case-{n}", "question": f"What is the limit of plan {n}?", "rubric": "The figure must be right.",
            "reference": f"Plan {n} allows {n + 7} requests an hour and {n % 40} users, billed at the end of the month.",
            "answer": f"It allows {n + 7 + n % 3} requests an hour.", "expected": ["correct", "incorrect"][n % 2],
            "tags": [f"tag-{n % 12}"],
        }
        for n in range(cases)
    ]  # fmt: skip
    if form == "jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        text = "cases:\n" + "".join(
            "  - " + "\n    ".join(f"{key}: {json.dumps(value)}" for key, value in row.items()) + "\n" for row in rows
        )
    (root / "cases" / f"all.{form}").write_text(text, "utf-8")
    (root / "app.py").write_text("print('one')\n", "utf-8")
    git(root, "init", "-q", "-b", "main")
    commit(root, "base")
    (root / "app.py").write_text("print('two')\n", "utf-8")
    commit(root, "head")


def timed(root: Path) -> float:
    """Seconds of one check as a process."""
    command = [
        sys.executable,
        "-m",
        "grader_gate",
        "check",
        "--base",
        "HEAD^",
        "--head",
        "HEAD",
        "--quiet",
        "-C",
        str(root),
    ]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0 or "not applicable" not in done.stdout.lower():
        sys.exit(f"the check did not end as not applicable ({done.returncode}):\n{done.stdout}\n{done.stderr}")
    return seconds


def git(root: Path, *arguments: str) -> None:
    """Run git in the repository."""
    subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *arguments], cwd=root, check=True)


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


if __name__ == "__main__":
    sys.exit(main())
