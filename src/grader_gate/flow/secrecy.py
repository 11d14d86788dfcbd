"""Which values a run must keep out of everything it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader_gate.config import CommandGrader, PythonGrader
from grader_gate.flow.sides import SideSetup
from grader_gate.graders.redaction import MIN_SECRET, Redactor


def redact_for(environ: Mapping[str, str], *sides: SideSetup) -> Callable[[str], str]:
    """What takes secrets out of a text: the keys of all providers, and what graders in code may see of secrets.

    A grader in code that reads a key may print it, return it in a reason or raise an error that shows it.

    :param sides: the sides of the run; their configurations name the variables.
    """
    names: set[str] = set()
    for side in sides:
        names |= {p.key_env for p in side.providers.values() if p.key_env}
        for grader in side.config.graders.values():
            if isinstance(grader, PythonGrader | CommandGrader):
                names |= {name for name in grader.env if len(environ.get(name, "")) >= MIN_SECRET}
    return Redactor([value for name in sorted(names) if (value := environ.get(name, "").strip())]).hide
