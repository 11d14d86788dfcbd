"""Comparing judges in code for the tests: the better word wins, unless the rubric's first word says otherwise."""

from __future__ import annotations

from tests.flow.repository import Repository

JUDGE = '''
"""Prefers the answer with the better last word; the rubric's first word gives it a habit."""

RANKS = {"bad": 0, "half": 1, "good": 2}


def worth(answer):
    return RANKS.get(answer.rsplit(" ", 1)[-1].strip(".!"), 0)


def compare(question, rubric, answer_a, answer_b, seed):
    habit = rubric.split()[0].rstrip(":")
    a, b = worth(answer_a), worth(answer_b)
    if habit == "first":
        verdict = "a"
    elif habit == "near" and abs(a - b) == 1:
        verdict = "a"
    elif habit == "upside":
        verdict = "tie" if a == b else "a" if a < b else "b"
    elif habit == "silent":
        return {"abstained": True, "reason": "cannot tell"}
    elif habit == "coin" and abs(a - b) == 1:
        verdict = "ab"[seed % 2]
    elif habit == "number":
        return 1
    else:
        verdict = "tie" if a == b else "a" if a > b else "b"
    return {"verdict": verdict, "reason": f"{answer_a} against {answer_b}"}
'''

CONFIG = """
version: 1
graders:
  judge:
    kind: python
    callable: judge:compare
    path: code
    rubric: rubric.md
    contract: {compares: true, abstains: true, inputs: [question, rubric, answer_a, answer_b]}
suites:
  main: {grader: judge, ladders: "ladders/*.yaml", mutators: none}
"""

LADDERS = """
ladders:
  - id: steps
    question: How?
    rungs:
      - {answer: "so bad", defect: wrong}
      - {answer: "so half", defect: incomplete}
      - {answer: "so good"}
  - id: pair
    question: Why?
    rungs:
      - {answer: "thus bad", defect: wrong}
      - {answer: "thus good"}
"""

CASES = """
cases:
  - {id: right, question: "What?", answer: "this is good", expected: correct}
  - {id: partly, question: "What?", answer: "this is half", expected: partial}
  - {id: wrong, question: "What?", answer: "this is bad", expected: incorrect}
  - {id: alone, question: "When?", reference: "then good", answer: "never bad", expected: incorrect}
"""


def files(**changed: str) -> dict[str, str | bytes | None]:
    """The files of a repository whose judge compares."""
    return {
        ".grader-gate.yml": changed.get("config", CONFIG),
        "code/judge.py": changed.get("judge", JUDGE),
        "rubric.md": changed.get("rubric", "fair: the better word wins\n"),
        "ladders/all.yaml": changed.get("ladders", LADDERS),
        "cases/all.yaml": changed.get("cases", CASES),
    }


def start(repo: Repository, **changed: str) -> None:
    """Commit them as the base; HEAD goes on on a branch of its own."""
    repo.commit(files(**changed), "base")
    repo.git("switch", "-q", "-c", "topic")
