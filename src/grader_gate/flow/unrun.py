"""Graders in code that a change touches where its code does not run: what could not be measured is never green."""

from __future__ import annotations

from grader_gate.flow.prepare import Prepared
from grader_gate.flow.sides import source_closure, with_code_of
from grader_gate.model import GateVerdict, Role
from grader_gate.result import SuiteResult


def changed_code(prepared: Prepared) -> list[str]:
    """Names of head's graders in code that differ from base's and are not run here."""
    head, base = prepared.head, prepared.base
    found = []
    for name in sorted(head.not_run):
        mine, theirs = head.config.graders.get(name), base.config.graders.get(name)
        if mine is None:
            continue
        same = theirs is not None and mine.kind == theirs.kind and with_code_of(mine, theirs) == mine
        if same and theirs is not None:
            left, right = source_closure(base.tree, theirs), source_closure(head.tree, mine)
            same = (left and left.digest) == (right and right.digest)
        if not same:
            found.append(name)
    return found


def unmeasured_code(prepared: Prepared, suites: list[SuiteResult]) -> list[SuiteResult]:
    """The suites, with those in error whose grader is changed code that did not run; a fail stays a fail."""
    made = {suite.name: suite for suite in suites}
    head = prepared.head.config
    for grader in changed_code(prepared):
        why = f"graders.{grader}: its code changes here and was not run; a trusted branch has to measure it"
        for name, config in head.suites.items():
            if config.grader != grader or name not in prepared.suites:
                continue
            suite = made.get(name)
            if suite is None:
                contract = head.graders[grader].contract
                role = contract.role if contract.role is not Role.ABSTAIN else Role.SCREEN
                kind = head.graders[grader].kind
                suite = SuiteResult(name=name, grader=grader, kind=kind, role=role, verdict=GateVerdict.ERROR)
            verdict = suite.verdict if suite.verdict is GateVerdict.FAIL else GateVerdict.ERROR
            made[name] = suite.model_copy(update={"verdict": verdict, "why": (why, *suite.why)})
    return list(made.values())
