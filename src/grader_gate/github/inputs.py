"""The action's inputs: one table, read strictly. ``action.yml`` and docs/github.md say the same (a test compares them).

The workflow that sets them can be edited by the pull request's head, so an input may tighten what the base branch's
policy says and never loosen it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader_gate.config import DEFAULT_PATH, NAME
from grader_gate.errors import UsageError

DEFAULT_OUT = "grader-gate-report"

INPUTS: Mapping[str, str] = {
    "token": "${{ github.token }}",
    "config": DEFAULT_PATH,
    "suites": "",
    "max_calls": "",
    "mode": "",
    "key": "",
    "task": "",
    "base": "",
    "head": "",
    "out": DEFAULT_OUT,
    "comment": "true",
    "check": "true",
    "ca_bundle": "",
}
"""Every input with the default that ``action.yml`` gives it. Underscores: a hyphen would get lost in a shell."""

OUTPUTS = ("verdict", "regressions", "inversions", "kill_rate_breaches", "calls", "report")
"""Every output, in the order of the documentation."""


class BadInput(UsageError):
    """An input whose value cannot be used."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"input `{name}`: {message}")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs, checked. The token never shows in a ``repr``."""

    token: str | None = field(repr=False)
    config: str
    suites: tuple[str, ...]
    max_calls: int | None
    block: bool
    key: str
    freeze: bool
    base: str
    head: str
    out: Path
    comment: bool
    check: bool
    ca_bundle: Path | None


def read_inputs(environ: Mapping[str, str], root: Path) -> Inputs:
    """Read ``INPUT_*``. In a job of its own (``grader-gate action``) the same names work, and ``GITHUB_TOKEN``.

    :param root: the workspace; ``out`` and ``ca_bundle`` are relative to it.
    :raises BadInput: a value that cannot be used, with the name of the input.
    """

    def raw(name: str) -> str:
        value = environ.get(f"INPUT_{name.upper()}", "").strip()
        return value or ("" if name == "token" else INPUTS[name])

    suites = tuple(dict.fromkeys(part for part in re.split(r"[,\s]+", raw("suites")) if part))
    for name in suites:
        if not re.match(NAME, name):
            raise BadInput("suites", f"{name!r} is no suite's name; separate names with commas or lines")
    key = raw("key")
    if key and not re.match(NAME, key):
        raise BadInput("key", f"{key!r}: use letters, digits, dots, dashes and underscores, at most 64")
    config = raw("config")
    if Path(config).is_absolute() or ".." in Path(config).parts:
        raise BadInput("config", f"{config!r} lies outside the repository; name a path relative to its top folder")
    return Inputs(
        token=raw("token") or environ.get("GITHUB_TOKEN", "").strip() or None,
        config=config,
        suites=suites,
        max_calls=_count("max_calls", raw("max_calls")),
        block=_block(raw("mode")),
        key=key,
        freeze=_task(raw("task")),
        base=raw("base"),
        head=raw("head"),
        out=_inside("out", raw("out"), root),
        comment=_boolean("comment", raw("comment")),
        check=_boolean("check", raw("check")),
        ca_bundle=_bundle(raw("ca_bundle"), root),
    )


def _block(value: str) -> bool:
    if value not in ("", "block"):
        raise BadInput(
            "mode", f"{value!r}: only `block` can be asked for here; report mode is set in the configuration on base"
        )
    return value == "block"


def _task(value: str) -> bool:
    if value not in ("", "freeze"):
        raise BadInput("task", f"{value!r}: only `freeze` can be asked for; all else follows from the event")
    return value == "freeze"


def _boolean(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise BadInput(name, f"{value!r} is neither `true` nor `false`")
    return value.lower() == "true"


def _count(name: str, value: str) -> int | None:
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 9):
        raise BadInput(name, f"{value!r} is no whole number of calls, 0 or more")
    return int(value)


def _inside(name: str, value: str, root: Path) -> Path:
    """A folder below the workspace, also after symlinks: the checkout may hold a hostile one."""
    top = root.resolve()
    path = (top / value).resolve()
    if path == top or not path.is_relative_to(top):
        raise BadInput(name, f"{value!r} lies outside the workspace; name a folder below it")
    if path.relative_to(top).parts[0] == ".git":
        raise BadInput(name, f"{value!r} lies in git's own folder; name another")
    return path


def _bundle(value: str, root: Path) -> Path | None:
    if not value:
        return None
    path = (root / value).resolve()
    if not path.is_file():
        raise BadInput(
            "ca_bundle", f"{value!r}: no such file; in a container only the workspace is mounted, so put it there"
        )
    return path
