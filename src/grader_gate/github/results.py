"""What the action adds to a result, and makes of the lack of one. Pure."""

from __future__ import annotations

from grader_gate import __version__
from grader_gate.errors import ExitCode
from grader_gate.github.event import Event
from grader_gate.github.inputs import Inputs
from grader_gate.github.revisions import Compared
from grader_gate.model import GateVerdict
from grader_gate.report.view import counts
from grader_gate.result import Result, Revision

_EXIT_CODES = {GateVerdict.FAIL: ExitCode.FAIL, GateVerdict.ERROR: ExitCode.ERROR}


def tightened(result: Result, *, block: bool) -> Result:
    """The result under the input ``mode: block``, where base's configuration only reports."""
    if not block or result.mode == "block":
        return result
    return result.model_copy(update={"mode": "block", "exit_code": int(_EXIT_CODES.get(result.verdict, ExitCode.OK))})


def unmeasured(event: Event, inputs: Inputs, sides: Compared | None, line: str, code: ExitCode) -> Result:
    """A result for a run that came to no verdict, so that check, comment and files say why.

    :param line: one clean line without secrets.
    """
    return Result(
        tool_version=__version__,
        verdict=GateVerdict.ERROR,
        headline=f"Could not measure: {line}",
        exit_code=int(code),
        base=Revision(sha=sides.base if sides else "", name=event.base_ref or inputs.base),
        head=Revision(sha=sides.head if sides else event.head_sha, name=event.head_sha or inputs.head),
        key=inputs.key,
        config_path=inputs.config,
    )


def output_values(result: Result, report: str) -> dict[str, str]:
    """The step's outputs. Counts are those of the comment.

    :param report: path of the HTML report, relative to the workspace; empty where there is none.
    """
    counted = counts(result)
    return {
        "verdict": result.verdict.value,
        "regressions": str(counted.regressions),
        "inversions": str(counted.inversions),
        "kill_rate_breaches": str(counted.kill_rate_breaches or counted.survivors),
        "calls": str(result.cost.calls),
        "report": report,
    }
