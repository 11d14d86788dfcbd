"""Why a suite is affected: the changed keys and files, with their lines on head."""

from __future__ import annotations

from collections.abc import Iterator

from grader_gate.changes.diff import changed_lines
from grader_gate.config import ChatGrader, CommandGrader, GraderConfig, PythonGrader, ReplayGrader
from grader_gate.flow.sides import SideSetup, source_closure
from grader_gate.model import GoldenCase, Ladder, Location
from grader_gate.result import Change

_KEYS = (
    "model",
    "prompt",
    "parameters",
    "variables",
    "output",
    "version",
    "checks",
    "arguments",
    "provider",
    "kind",
    "callable",
    "command",
    "plugin",
    "options",
    "fixtures",
    "contract",
)
"""Keys of a grader's block that change what it does; files it names are compared by content."""

_LONG = ("checks", "contract", "fixtures", "prompt")


def grader_changes(base: SideSetup, head: SideSetup, base_name: str, head_name: str, config_path: str) -> list[Change]:
    """What of a grader differs: keys of its configuration, then files it reads."""
    before, after = base.config.graders[base_name], head.config.graders[head_name]
    found = []
    if base_name != head_name:
        found.append(Change(what="grader", detail=f"{base_name} → {head_name}", location=Location(path=config_path)))
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    for key in _KEYS:
        if old.get(key) != new.get(key):
            detail = "" if key in _LONG else f"{_short(old.get(key))} → {_short(new.get(key))}"
            found.append(Change(what=key, detail=detail, location=Location(path=config_path)))
    files = dict.fromkeys([*_files(base, before), *_files(head, after)])
    for what, path in files:
        found += _file_change(base, head, what, path)
    return found


def case_changes(base: SideSetup, head: SideSetup, suite: str) -> list[Change]:
    """Rubric files of the suite's cases that differ; the cases' own files are shown with the new cases."""
    things: list[GoldenCase | Ladder] = [*base.suites[suite].cases, *base.suites[suite].ladders]
    paths = dict.fromkeys(t.rubric.path for t in things if t.rubric is not None and t.rubric.path is not None)
    return [change for path in paths for change in _file_change(base, head, "rubric", path)]


def _file_change(base: SideSetup, head: SideSetup, what: str, path: str) -> list[Change]:
    old, new = base.raw.blob(path), head.raw.blob(path)
    if old == new:
        return []
    if new is None:
        return [Change(what=what, detail="deleted", location=Location(path=path))]
    if old is None:
        return [Change(what=what, detail="added", location=Location(path=path))]
    lines = changed_lines(base.raw, head.raw, path)
    if not lines and base.raw.read(path).replace(b"\r\n", b"\n") == head.raw.read(path).replace(b"\r\n", b"\n"):
        return []
    return [Change(what=what, location=Location(path=path, line=lines[0] if lines else None), lines=lines)]


def _files(side: SideSetup, config: GraderConfig) -> Iterator[tuple[str, str]]:
    if config.rubric is not None:
        yield "rubric", config.rubric
    if isinstance(config, ChatGrader):
        if isinstance(config.prompt, str):
            yield "prompt", config.prompt
        else:
            yield from (("prompt", m.file) for m in config.prompt if m.file is not None)
    elif isinstance(config, PythonGrader | CommandGrader):
        closure = source_closure(side.tree, config)
        yield from (("source", path) for path in (closure.files if closure is not None else ()))
    elif isinstance(config, ReplayGrader):
        yield "recording", config.ledger


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:80] + "…"
