"""Two judges in code that are blind to different defects, and the suite they share."""

from __future__ import annotations

from tests.flow.repository import Repository

JUDGES = '''
import re


def words(text):
    return set(re.findall(r"[a-z]+", text.lower()))


def by_words(reference, answer, **more):
    """Sees missing words, is blind to numbers."""
    return "correct" if words(reference) <= words(answer) else "incorrect"


def by_numbers(reference, answer, **more):
    """Sees changed numbers, is blind to words."""
    return "correct" if re.findall(r"\\d+", reference) == re.findall(r"\\d+", answer) else "incorrect"


def anything(reference, answer, **more):
    return "correct"
'''

CONFIG = """
version: 1
graders:
  words: {kind: python, callable: "judges:by_words", contract: {inputs: [reference, answer], family: alpha, deterministic: true}}
  numbers: {kind: python, callable: "judges:by_numbers", contract: {inputs: [reference, answer], family: beta, deterministic: true}}
  blind: {kind: python, callable: "judges:anything", contract: {inputs: [reference, answer], family: gamma, deterministic: true}}
suites:
  main: {grader: words, second_family: numbers, cases: cases.yaml, mutators: [corrupt_number, drop_last_sentence, identity]}
"""

FACTS = [
    ("bridge", "The bridge is 310 metres long. It carries 2 tracks across the river."),
    ("tower", "The tower has 44 floors. It was opened by the mayor."),
    ("ship", "The ship sailed 900 miles. It came back with spices."),
    ("lake", "The lake holds 12 islands. Nobody lives on them."),
]


def cases(**metadata: str) -> str:
    """One case a fact, and a wrong answer to the first that only one of the judges sees."""
    rows = ["cases:"]
    for name, text in FACTS:
        rows.append(f'  - {{id: {name}, question: "Tell of the {name}.", reference: "{text}", answer: "{text}", '
                    f"expected: correct, metadata: {metadata or {}} }}")  # fmt: skip
    wrong = FACTS[0][1].replace("310", "999")
    rows.append(f'  - {{id: wrong, question: "Tell of the bridge.", reference: "{FACTS[0][1]}", answer: "{wrong}", '
                "expected: incorrect}")  # fmt: skip
    return "\n".join(rows) + "\n"


def start(repo: Repository, config: str = CONFIG, texts: str | None = None, judges: str = JUDGES) -> None:
    """Commit them as the base; HEAD goes on on a branch of its own."""
    repo.commit({".grader-gate.yml": config, "cases.yaml": texts or cases(), "judges.py": judges}, "base")
    repo.git("switch", "-q", "-c", "topic")
