"""Files of cases are no text for a grader: they hold the verdicts it is to find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grader_gate.changes.paths import normalise
from grader_gate.config import ChatGrader, Config, GraderConfig
from grader_gate.errors import LocatedError
from grader_gate.model import GoldenCase, Ladder, Suite


class CaseFileShownError(LocatedError):
    """A prompt or a rubric is a file of cases."""


def refuse_case_files(config: Config, suites: Mapping[str, Suite], config_path: str) -> None:
    """See that no grader is shown a file of cases or ladders as its prompt or as a rubric.

    :raises CaseFileShownError: one is.
    """
    entries: list[GoldenCase | Ladder] = []
    for suite in suites.values():
        entries += suite.cases
        entries += suite.ladders
    # Rubrics of cases in files of their own are among a suite's files, so that only places of cases count.
    held = {one.location.path for one in entries if one.location is not None}
    for name, grader in config.graders.items():
        for key, path in _texts(grader):
            if normalise(path) in held:
                raise CaseFileShownError(
                    f"{path} holds cases: the grader would be shown the verdicts expected of it; use a file of its own",
                    path=config_path,
                    key=f"graders.{name}.{key}",
                )
    for one in entries:
        if _rubric(one) in held:
            raise CaseFileShownError(
                f"{_rubric(one)} holds cases: the grader would be shown the verdicts expected of it; "
                "write the rubric into a file of its own",
                path=None if one.location is None else one.location.path,
                line=None if one.location is None else one.location.line,
                key=f"{one.id}.rubric",
            )


def _texts(grader: GraderConfig) -> Iterable[tuple[str, str]]:
    if grader.rubric is not None:
        yield "rubric", grader.rubric
    if isinstance(grader, ChatGrader):
        if isinstance(grader.prompt, str):
            yield "prompt", grader.prompt
        else:
            yield from (("prompt", message.file) for message in grader.prompt if message.file is not None)


def _rubric(one: GoldenCase | Ladder) -> str | None:
    return None if one.rubric is None else one.rubric.path
