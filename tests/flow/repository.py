"""A real git repository with a tiny judge in code, and the real command line run on it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader_gate.cli import main

JUDGE = '''
"""Says what the answer's last word says; the rubric's first word decides how strict it is."""

RANKS = ["incorrect", "partial", "correct"]


def grade(question, reference, rubric, answer, seed):
    word = answer.rsplit(" ", 1)[-1].strip(".")
    verdict = {"good": "correct", "half": "partial", "bad": "incorrect"}.get(word, "incorrect")
    mode = rubric.split()[0].rstrip(":") if rubric else "strict"
    if mode == "lenient" and verdict == "partial":
        verdict = "correct"
    if mode == "harsh" and verdict != "incorrect":
        verdict = RANKS[RANKS.index(verdict) - 1]
    if mode == "coin" and word == "half":
        verdict = ["partial", "correct"][seed % 2]
    if mode == "broken" and verdict == "partial":
        raise ValueError("cannot read this")
    return {"verdict": verdict, "reason": f"it ends with {word}"}
'''

CONFIG = """
version: 1
graders:
  judge:
    kind: python
    callable: judge:grade
    path: code
    rubric: rubric.md
    contract: {inputs: [question, reference, rubric, answer]}
suites:
  main: {grader: judge, cases: "cases/*.yaml", ladders: "ladders/*.yaml", mutators: none}
"""

CASES = {
    "one": ("It is good", "correct"),
    "two": ("It is half", "partial"),
    "three": ("It is bad", "incorrect"),
    "four": ("All of it is good", "correct"),
}

LADDER = """
ladders:
  - id: steps
    question: How?
    rungs:
      - {answer: "so bad", defect: wrong}
      - {answer: "so half", defect: incomplete}
      - {answer: "so good"}
"""


def case_file(cases: dict[str, tuple[str, str]], **tags: str) -> str:
    """A case file from id → (answer, expected)."""
    rows = []
    for name, (answer, expected) in cases.items():
        tag = tags.get(name, "plain")
        rows.append(
            f'  - {{id: {name}, question: "Q {name}?", answer: "{answer}", expected: {expected}, tags: [{tag}]}}'
        )
    return "cases:\n" + "\n".join(rows) + "\n"


@dataclass
class Run:
    """What one command did."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def result(self) -> dict[str, Any]:
        """``result.json``."""
        value: dict[str, Any] = json.loads((self.folder / "result.json").read_text("utf-8"))
        return value

    @property
    def suite(self) -> dict[str, Any]:
        """The only suite of the result."""
        (only,) = self.result["suites"]
        return dict(only)

    def findings(self, *kinds: str) -> list[dict[str, Any]]:
        """Findings of these kinds (of all without) over all suites."""
        return [f for s in self.result["suites"] for f in s["findings"] if not kinds or f["kind"] in kinds]

    def goalposts(self) -> list[str]:
        """What the goalposts are called."""
        return [g["what"] for g in self.result["goalposts"]]

    def ledger(self) -> list[dict[str, Any]]:
        """Rows of the ledger."""
        path = self.folder / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


class Repository:
    """A git repository in a folder, with commits and the gate's commands."""

    def __init__(self, root: Path, capsys: Any) -> None:
        self.root, self._capsys = root, capsys
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        """Run git; its standard output."""
        command = [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
            *arguments,
        ]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, files: dict[str, str | bytes | None]) -> None:
        """Write files; None removes one."""
        for name, content in files.items():
            path = self.root / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: dict[str, str | bytes | None] | None = None, message: str = "change") -> str:
        """Write files and commit everything; the new SHA."""
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def gate(self, *arguments: str, out: str = "results") -> Run:
        """Run ``grader-gate``; results go to a folder beside the repository."""
        folder = self.root.parent / out
        where = ["--out", str(folder)] if arguments[0] not in ("init", "schema", "lint") else []
        self._capsys.readouterr()
        try:
            code = main(
                [
                    *arguments,
                    *([] if arguments[0] == "schema" else ["-C", str(self.root)]),
                    *where,
                    *(["--quiet"] if where else []),
                ]
            )
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        said = self._capsys.readouterr()
        return Run(int(code), said.out, said.err, folder)

    def check(self, *more: str, base: str = "main", head: str = "HEAD", out: str = "results") -> Run:
        """``grader-gate check``."""
        return self.gate("check", "--base", base, "--head", head, *more, out=out)


def base_files(**changed: str) -> dict[str, str | bytes | None]:
    """The files of the base commit."""
    return {
        ".grader-gate.yml": changed.get("config", CONFIG),
        "code/judge.py": changed.get("judge", JUDGE),
        "rubric.md": changed.get("rubric", "strict: look at the last word\n"),
        "cases/all.yaml": changed.get("cases", case_file(CASES)),
        "ladders/all.yaml": changed.get("ladders", LADDER),
    }
