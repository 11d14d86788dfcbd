"""``ladder new``: a first ladder for a golden case, made from mutators, to be edited by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from grader_gate.changes.git import Git
from grader_gate.config import DEFAULT_PATH
from grader_gate.configfile import load_config
from grader_gate.errors import UsageError
from grader_gate.flow.sides import WORKTREE, open_tree
from grader_gate.model import GoldenCase, GradeVerdict
from grader_gate.suite.load import load_suites
from grader_gate.suite.mutators.api import MutationContext, NotApplicable
from grader_gate.suite.mutators.apply import mutate
from grader_gate.suite.mutators.registry import registry

RUNGS = (
    ("evasive",),
    ("negate", "wrong_final", "antonym", "swap_entities"),
    ("corrupt_number", "unit_swap", "swap_numbers", "modality"),
    ("truncate_half", "drop_last_sentence", "drop_first_sentence", "drop_list_item"),
)
"""From the worst rung up, the mutators that may make it; the first that applies does. An answer that says nothing, one
that says the opposite, one with a wrong detail, one that leaves something out, and above them the text itself."""


class NoSuchCase(UsageError):
    """No suite holds the case."""


class NothingToClimb(UsageError):
    """The case has neither a reference nor an answer that is right, or no mutator applies to it."""


def ladder_skeleton(root: Path, case_id: str, *, environ: Mapping[str, str], config_path: str = DEFAULT_PATH) -> str:
    """YAML of a ladder for a golden case of the working tree.

    :raises NoSuchCase: with the nearest id. :raises NothingToClimb: there is no good text to spoil.
    """
    with Git.find(root, env=environ) as git:
        _, tree = open_tree(git, WORKTREE)
        suites = load_suites(tree, load_config(tree, config_path), config_path=config_path)
    cases = {case.id: case for suite in suites.values() for case in suite.cases}
    if case_id not in cases:
        near = get_close_matches(case_id, cases, 1)
        raise NoSuchCase(f"no golden case {case_id!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    case = cases[case_id]
    text = case.reference or (case.answer if case.expected is GradeVerdict.CORRECT else None)
    if text is None:
        raise NothingToClimb(f"case {case_id!r} has no reference and its answer is not right; write one first")
    others = tuple(sorted(cases.values(), key=lambda c: c.id))
    rungs = list(_rungs(case, text, others))
    if len(rungs) < 2:
        raise NothingToClimb(f"case {case_id!r}: no mutator applies to {text[:60]!r}; write the ladder by hand")
    return _yaml(case, text, rungs)


def _rungs(case: GoldenCase, text: str, others: tuple[GoldenCase, ...]) -> Iterator[tuple[str, str]]:
    """(answer, defect), worst first."""
    seen = {text}
    for names in RUNGS:
        for name in names:
            mutator = registry()[name]
            made = mutate(mutator, text, case, MutationContext(others=others))
            if isinstance(made, NotApplicable) or made[0].text in seen:
                continue
            seen.add(made[0].text)
            yield made[0].text, f"{name}: {mutator.description}"
            break


def _yaml(case: GoldenCase, text: str, rungs: list[tuple[str, str]]) -> str:
    # JSON strings are YAML strings, and no text of a case can leave its quotes.
    def quoted(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [
        "# Made from mutators; edit it by hand: each rung must be ONE nameable defect better than the one below, and",
        "# its evidence the words a faithful reason cites. `grader-gate lint` questions rungs that differ by more.",
        "ladders:",
        f"  - id: {quoted(case.id)}",
        f"    question: {quoted(case.question)}",
    ]
    if case.reference is not None:
        lines.append(f"    reference: {quoted(case.reference)}")
    if case.tags:
        lines.append(f"    tags: [{', '.join(quoted(tag) for tag in case.tags)}]")
    lines.append("    rungs:")
    for answer, defect in rungs:
        lines += [f"      - answer: {quoted(answer)}", f"        defect: {quoted(defect)}", "        evidence: []"]
    lines += [f"      - answer: {quoted(text)}", "        evidence: []"]
    return "\n".join(lines) + "\n"
