"""The verdict in words and what to do next. Pure."""

from __future__ import annotations

from grader_gate.model import GateVerdict, Role
from grader_gate.result import FindingKind, Result

_COUNTED = [
    ((FindingKind.REGRESSION, FindingKind.DROP), "regression", "regressions"),
    ((FindingKind.SURVIVOR,), "new survivor", "new survivors"),
    ((FindingKind.KILL_RATE,), "kill-rate breach", "kill-rate breaches"),
    ((FindingKind.INVERSION,), "inversion", "inversions"),
    ((FindingKind.INVERSION_RATE,), "inversion rate above its limit", "inversion rates above their limit"),
    ((FindingKind.CONTROL,), "control that moved", "controls that moved"),
    ((FindingKind.ATTACK,), "attack that gained", "attacks that gained"),
    ((FindingKind.FLAT,), "flat ladder", "flat ladders"),
    ((FindingKind.CITATION,), "citation breach", "citation breaches"),
    ((FindingKind.NEW_CASE,), "failing new case", "failing new cases"),
]


def headline(result: Result) -> str:
    """One line: the verdict and what it rests on."""
    goalposts = sum(not g.accepted for g in result.goalposts)
    match result.verdict:
        case GateVerdict.FAIL:
            parts = []
            for kinds, one, many in _COUNTED:
                if n := result.count(*kinds):
                    parts.append(f"{n} {one if n == 1 else many}")
            if goalposts and not parts:
                if goalposts == 1:
                    return "1 goalpost moved: a maintainer has to accept it"
                return f"{goalposts} goalposts moved: a maintainer has to accept them"
            if goalposts:
                parts.append(f"{goalposts} goalpost{'' if goalposts == 1 else 's'} moved")
            return "This change makes the grader worse: " + ", ".join(parts) if parts else "This change fails the gate"
        case GateVerdict.ERROR:
            why = next((w for s in result.suites if s.verdict is GateVerdict.ERROR for w in s.why), "not decided")
            return f"Could not decide: {why}"
        case GateVerdict.PASS:
            graded = sum(s.graded.k for s in result.suites if s.graded is not None)
            screens = sum(s.role is not Role.GATE for s in result.suites)
            note = f"; {screens} suite{'' if screens == 1 else 's'} only reports" if screens else ""
            if not graded:
                return "The accepted changes of what is measured stand; nothing had to be graded" + note
            return f"No regression confirmed over {graded} graded items" + note
        case GateVerdict.NOT_APPLICABLE:
            return "No grader, case or policy changed"


def next_steps(result: Result, *, report_mode: bool) -> tuple[str, ...]:
    """What the author or the maintainer can do."""
    steps = []
    if result.verdict is GateVerdict.FAIL:
        if result.count(*FindingKind):
            steps.append("Mend the prompt, rubric or code named above and push; the gate runs again.")
        if any(not g.accepted for g in result.goalposts):
            steps.append("A maintainer who agrees with the changed goalposts puts on the freeze label.")
        elif result.suites:
            steps.append("If the new behaviour is wanted, a maintainer freezes it as the new baseline with the label.")
    elif result.verdict is GateVerdict.ERROR:
        steps.append("Run the job again once the cause is mended: what was paid for is kept and not called again.")
    if report_mode and result.verdict in (GateVerdict.FAIL, GateVerdict.ERROR):
        steps.append("`mode: report` is on: this does not block. Set `mode: block` when the noise is known.")
    return tuple(steps)
