"""A judge in code whose answers a file outside the repository decides: a provider that changes, fails and recovers."""

from __future__ import annotations

from pathlib import Path

from tests.freeze.world import World

JUDGE = '''
"""Says what the answer's last word says, as its mood and the rubric let it."""

import os
import pathlib


def grade(question, rubric, answer, state, seed):
    mood = pathlib.Path(state).read_text().strip()
    word = answer.rsplit(" ", 1)[-1].strip(".")
    verdict = {"good": "correct", "bad": "incorrect"}.get(word, "partial")
    if mood == "down":
        os._exit(3)
    if rubric.startswith("harsh") and mood != "kind" and verdict == "correct":
        verdict = "partial"
    if mood == "drifted" and verdict == "correct":
        verdict = "incorrect"
    if mood == "lenient":
        verdict = "correct"
    return {"verdict": verdict, "reason": f"it ends with {word}"}
'''

CONFIG = """\
version: 1
graders:
  judge:
    kind: python
    callable: judge:grade
    path: code
    rubric: rubric.md
    arguments: {state: %(state)s}
    contract: {inputs: [question, rubric, answer]}
suites:
  main: {grader: judge, cases: cases.yml, mutators: none, repeats: {freeze: %(freeze)d}}
baseline: {store: branch}
%(more)s"""


def cases(good: int = 6, bad: int = 6) -> str:
    """Cases whose answers end with the verdict they deserve."""
    rows = [f'- {{id: g{n}, question: "Q{n}?", answer: "It is good", expected: correct}}' for n in range(good)]
    rows += [f'- {{id: b{n}, question: "R{n}?", answer: "It is bad", expected: incorrect}}' for n in range(bad)]
    return "\n".join(rows) + "\n"


def moody_world(new_world, tmp_path: Path, *, freeze: int = 5, more: str = "", good: int = 6) -> tuple[World, Path]:
    """A world with this judge on main, in the mood ``usual``, and the file that holds the mood."""
    state = tmp_path / "mood"
    state.write_text("usual")
    files: dict[str, str | bytes] = {
        ".grader-gate.yml": CONFIG % {"state": state, "freeze": freeze, "more": more},
        "code/judge.py": JUDGE,
        "rubric.md": "strict\n",
        "cases.yml": cases(good),
    }
    return new_world(files=files), state
