"""The second families of one revision on its own: graded after all that the result rests on."""

from __future__ import annotations

from grader_gate.flow.families import add_second, of_single
from grader_gate.flow.single import SingleRun
from grader_gate.result import Result


async def add_seconds(run: SingleRun, result: Result) -> Result:
    """The result with each suite's second family beside it; verdict and exit code stay."""
    suites = {suite.name: suite for suite in result.suites}
    notices = list(result.notices)
    for name, exam in run.seconds.items():
        first = of_single(run.exams[name], run.books[name], run.side.config)
        suites[name], notes = await add_second(suites[name], first, exam, run.session, run.side.config)
        notices += notes
    more = {"suites": tuple(suites.values()), "notices": tuple(notices), "cost": run.session.cost()}
    return result.model_copy(update=more) if run.seconds else result
