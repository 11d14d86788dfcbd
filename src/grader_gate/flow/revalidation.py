"""Which changes call for validating a grader anew, and with which commands. Calls nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from grader_gate.config import Contract
from grader_gate.flow.compare import head_grader_name
from grader_gate.flow.sides import SideSetup
from grader_gate.flow.why import case_changes, grader_changes
from grader_gate.model import GoldenCase, Ladder
from grader_gate.result import Notice

CALIBRATE, NOISE, FREEZE, AUDIT = "calibrate", "noise", "freeze", "audit"
COMMANDS = {
    CALIBRATE: "`grader-gate calibrate` (agreement with people)",
    NOISE: "`grader-gate noise` (flip rates)",
    AUDIT: "`grader-gate audit` (kill rates and limits)",
    FREEZE: "`grader-gate freeze` (the baseline)",
}
"""What is validated by what, in the order it is done."""

ASKS = {
    "model": (CALIBRATE, NOISE, FREEZE),
    "prompt": (CALIBRATE, NOISE, FREEZE),
    "rubric": (CALIBRATE, FREEZE),
    "parameters": (NOISE, FREEZE),
    "code": (CALIBRATE, NOISE, FREEZE),
    "checks": (CALIBRATE, FREEZE),
    "reading of replies": (CALIBRATE, FREEZE),
    "visible inputs": (CALIBRATE, NOISE, FREEZE),
    "environment": (NOISE, FREEZE),
    "references": (AUDIT, FREEZE),
    "task distribution": (CALIBRATE, FREEZE),
    "policy": (AUDIT,),
}
"""What changed → what it calls into question."""

MEANS = {
    "model": "model",
    "provider": "model",
    "kind": "code",
    "grader": "code",
    "prompt": "prompt",
    "variables": "prompt",
    "rubric": "rubric",
    "parameters": "parameters",
    "arguments": "parameters",
    "version": "code",
    "callable": "code",
    "command": "code",
    "source": "code",
    "fixtures": "environment",
    "checks": "checks",
    "output": "reading of replies",
}
"""What :func:`grader_gate.flow.why.grader_changes` calls a change → what it is here."""


def revalidation(base: SideSetup, head: SideSetup) -> list[Notice]:
    """One notice per suite whose grader or cases changed so that earlier validation no longer speaks for it."""
    found = []
    for name in base.suites:
        changed = list(dict.fromkeys(_changed(base, head, name)))
        if changed:
            found.append(Notice(message=f"suite {name}: {words(changed)}"))
    if base.config.policy != head.config.policy:
        found.append(Notice(message=words(["policy"])))
    return found


def words(changed: list[str]) -> str:
    """``model and rubric changed: once merged, revalidate with …``."""
    asked = set(chain.from_iterable(ASKS[what] for what in changed))
    commands = [said for name, said in COMMANDS.items() if name in asked]
    return f"{_listed(changed)} changed: once merged, revalidate with {_listed(commands)}"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _changed(base: SideSetup, head: SideSetup, suite: str) -> Iterator[str]:
    before = base.config.suites[suite].grader
    after = head_grader_name(base, head, suite)
    if after is not None:
        for change in grader_changes(base, head, before, after, ""):
            if change.what in MEANS:
                yield MEANS[change.what]
        yield from _contract(base.config.graders[before].contract, head.config.graders[after].contract)
    if case_changes(base, head, suite):
        yield "rubric"
    if suite in head.suites:
        yield from _cases(base, head, suite)


def _contract(before: Contract, after: Contract) -> Iterator[str]:
    if before.served_model != after.served_model:
        yield "model"
    if before.inputs != after.inputs:
        yield "visible inputs"
    if (before.scale, before.abstains) != (after.scale, after.abstains):
        yield "reading of replies"


def _cases(base: SideSetup, head: SideSetup, suite: str) -> Iterator[str]:
    """Cases are told apart by their texts, so that a renamed one is the same."""
    before, after = _things(base, suite), _things(head, suite)
    kept = {t.id: t for t in after}
    if any(t.id in kept and kept[t.id].reference != t.reference for t in before):
        yield "references"
    if {_asked(t) for t in before} != {_asked(t) for t in after}:
        yield "task distribution"


def _things(side: SideSetup, suite: str) -> list[GoldenCase | Ladder]:
    return [*side.suites[suite].cases, *side.suites[suite].ladders]


def _asked(thing: GoldenCase | Ladder) -> tuple[str, ...]:
    """What makes a case part of the distribution: what is asked, what is answered, under which tags."""
    answers = (thing.answer,) if isinstance(thing, GoldenCase) else tuple(r.answer for r in thing.rungs)
    return (thing.question, *answers, *sorted(thing.tags))
