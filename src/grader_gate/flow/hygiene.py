"""``grader-gate lint``: what is doubtful about the golden cases and ladders of a revision. Grades nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader_gate.audits.hygiene import Remark, remarks, shaky_references, unmutated
from grader_gate.changes.git import Git
from grader_gate.config import ChecksGrader
from grader_gate.flow.sides import SideSetup, open_tree, read_side
from grader_gate.model import GoldenCase, GradeVerdict, Side
from grader_gate.suite.mutators.api import MutationContext, Mutator, NotApplicable, Polarity

REPLACING = frozenset({"relevance"})
"""Properties whose mutators put another text in place of the answer: they apply to whatever was there."""


def lint(
    root: Path, revision: str, *, config_path: str, environ: Mapping[str, str], suites: Sequence[str] = ()
) -> dict[str, list[Remark]]:
    """The remarks on each suite of a revision.

    :raises UsageError: configuration or suites cannot be read, or a suite is not there.
    """
    from grader_gate.flow.prepare import refuse_unknown

    with Git.find(root, env=environ) as git:
        sha, tree = open_tree(git, revision)
        side = read_side(git, Side.HEAD, sha, tree, config_path=config_path, environ=environ)
        refuse_unknown(tuple(suites), set(side.suites))
        return {name: _suite(side, name) for name in side.suites if not suites or name in suites}


def _suite(side: SideSetup, name: str) -> list[Remark]:
    from grader_gate.suite.mutators.sentences import sentences

    suite, config = side.suites[name], side.config.suites[name]
    cases = list(suite.cases)

    def sentences_of(text: str) -> list[str]:
        return [text[start:end] for start, end in sentences(text, "en")]

    found = remarks(
        cases,
        list(suite.ladders),
        acceptable_error=side.config.policy.acceptable_error,
        sentences_of=sentences_of,
    )
    if side.mutators[name]:
        found += unmutated(_inapplicable(cases, side.mutators[name], side.texts(config.grader).context), cases)
    grader = side.config.graders[config.grader]
    if isinstance(grader, ChecksGrader):
        found += shaky_references(_failed(side, config.grader, grader, cases), cases)
    return found


def _inapplicable(
    cases: Sequence[GoldenCase], mutators: Sequence[Mutator], context: MutationContext | None
) -> dict[str, list[str]]:
    """Case id → why no mutator of content applies; only cases that none applies to."""
    from dataclasses import replace

    from grader_gate.suite.mutators.apply import mutate

    known = replace(context or MutationContext(), others=tuple(sorted(cases, key=lambda c: c.id)))
    content = [
        m for m in mutators if m.polarity is Polarity.DEGRADE and m.property not in REPLACING and m.name != "empty"
    ]
    found: dict[str, list[str]] = {}
    for case in cases:
        text = case.reference or (case.answer if case.expected is GradeVerdict.CORRECT else None)
        if text is None:
            if case.expected is GradeVerdict.PARTIAL:
                found[case.id] = ["no reference, and the answer is only partly right"]
            continue
        reasons: list[str] = []
        for mutator in content:
            outcome = mutate(mutator, text, case, known)
            if not isinstance(outcome, NotApplicable):
                break
            reasons.append(outcome.reason)
        else:
            found[case.id] = reasons
    return found


def _failed(side: SideSetup, name: str, grader: ChecksGrader, cases: Sequence[GoldenCase]) -> dict[str, list[str]]:
    """Case id → the checks that reject its own reference, with the reason."""
    from grader_gate.graders.checking.base import Building, CheckProblem, CheckTimeout
    from grader_gate.graders.checks import TYPES, check_label

    visible = grader.contract.inputs
    asks = [
        (check_label(check, n), TYPES[check.type][0](Building(check, f"graders.{name}.checks.{n}", side.tree, visible)))
        for n, check in enumerate(grader.checks)
    ]
    found: dict[str, list[str]] = {}
    for case in cases:
        if case.reference is None:
            continue
        inputs: dict[str, Any] = {
            "question": case.question,
            "reference": case.reference,
            "answer": case.reference,
            "sources": [source.model_dump() for source in case.sources],
        }
        for label, ask in asks:
            try:
                passed, why = ask({key: value for key, value in inputs.items() if key in visible})
            except CheckProblem as error:
                passed, why = False, error.detail
            except CheckTimeout as error:
                passed, why = False, str(error)
            if not passed:
                found.setdefault(case.id, []).append(f"{label} ({why})")
    return found
