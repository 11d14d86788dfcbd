"""The steps of GitHub workflows that run the gate: what a change does to them. Pure text in, findings out.

A workflow comes from the head, so whoever can edit it can switch the gate off. What it loosens is a goalpost; any other
change of such a step is at least shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader_gate.changes.tree import BlobTree
from grader_gate.errors import UsageError
from grader_gate.model import Location
from grader_gate.result import Goalpost, Notice

FOLDER = ".github/workflows"
_GATE = re.compile(r"grader[-_]gate", re.IGNORECASE)
_INSTALL = re.compile(r"\b(?:install|add|sync|pull)\b")
_SWALLOWS = re.compile(r"\|\|\s*(?:true\b|:|echo\b|exit\s+0\b)|\bset\s+\+e\b|;\s*true\s*$", re.MULTILINE)
"""Shell that turns a failure into success."""

_STEERING = ("mode", "suites", "config", "base", "head", "key")
"""Inputs that decide what is measured or whether it blocks; others say where the report goes or what it may cost."""

_NARROWING = ("paths", "branches", "types", "tags")
_GATING_EVENTS = ("pull_request", "pull_request_target", "merge_group", "push", "schedule", "workflow_run")


@dataclass(frozen=True, slots=True)
class WorkflowChange:
    """One changed workflow file; ``base`` or ``head`` is None where that side does not have it."""

    path: str
    base: bytes | None
    head: bytes | None


@dataclass(slots=True)
class _Step:
    """A step of the gate, with its job: a reusable workflow's job is a step too."""

    job: str
    job_keys: Mapping[str, Any]
    keys: Mapping[str, Any]
    path: str = ""


@dataclass(slots=True)
class _Workflow:
    steps: list[_Step] = field(default_factory=list)
    events: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    readable: bool = True


def workflow_changes(base: BlobTree, head: BlobTree) -> list[WorkflowChange]:
    """The workflow files that differ between two trees."""

    def files(tree: BlobTree) -> set[str]:
        return {path for path in tree.paths() if _is_workflow(path)}

    return [
        WorkflowChange(path, _bytes(base, path), _bytes(head, path))
        for path in sorted(files(base) | files(head))
        if base.blob(path) != head.blob(path)
    ]


def _is_workflow(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith((".yml", ".yaml"))


def _bytes(tree: BlobTree, path: str) -> bytes | None:
    try:
        return tree.read(path) if tree.exists(path) else None
    except UsageError:
        return b"\0"  # there, and unreadable as a workflow


def workflow_goalposts(changes: Sequence[WorkflowChange]) -> list[Goalpost]:
    """Loosened steps, jobs and triggers of the gate."""
    found: list[Goalpost] = []
    for path, base, head in _pairs(changes):
        details = list(_loosened(base, head))
        location = Location(path=path)
        found += [Goalpost(what="workflow loosened", detail=f"{path}: {d}", location=location) for d in details]
    return found


def workflow_notices(changes: Sequence[WorkflowChange]) -> list[Notice]:
    """Steps of the gate that changed in any other way."""
    found: list[Notice] = []
    for path, base, head in _pairs(changes):
        if any(_loosened(base, head)):
            continue
        steps = _match(base.steps, head.steps)
        changed = [
            old.job for old, new in steps if new is not None and (old.keys, old.job_keys) != (new.keys, new.job_keys)
        ]
        if changed or base.events != head.events:
            what = f"job {', '.join(dict.fromkeys(changed))}" if changed else "its triggers"
            found.append(Notice(message=f"{path}: the workflow that runs the gate changed ({what})"))
    return found


def _pairs(changes: Sequence[WorkflowChange]) -> Iterator[tuple[str, _Workflow, _Workflow]]:
    """(path, base, head) of files that run the gate on base. One that vanished goes with a new one that runs it."""
    read = [(c.path, _read(c.base), _read(c.head), c) for c in changes]
    fresh = [(path, head) for path, _, head, c in read if c.base is None and head.steps]
    for path, base, head, change in read:
        if not base.steps:
            continue
        renamed = fresh.pop(0) if change.head is None and fresh else None
        now, after = (path, head) if renamed is None else renamed
        yield now, base, after


def _read(data: bytes | None) -> _Workflow:
    # Only where a workflow changed is a YAML reader needed: most pull requests start without it.
    from grader_gate.documents import read_document

    if data is None:
        return _Workflow()
    try:
        value = read_document(data, "workflow.yml").value
    except UsageError:
        return _Workflow(readable=False)
    found = _Workflow()
    if not isinstance(value, dict):
        return found
    found.events = _events(value.get("on"))
    jobs = value.get("jobs")
    for name, job in jobs.items() if isinstance(jobs, dict) else ():
        if not isinstance(job, dict):
            continue
        keys = {"defaults": value.get("defaults")} | {key: part for key, part in job.items() if key != "steps"}
        if _GATE.search(str(job.get("uses", ""))):
            found.steps.append(_Step(name, keys, keys))
        steps = job.get("steps")
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict) and _GATE.search(f"{step.get('uses', '')}\n{_commands(step)}"):
                found.steps.append(_Step(name, keys, step))
    return found


def _events(value: Any) -> dict[str, Mapping[str, Any]]:
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list):
        return {str(name): {} for name in value}
    if isinstance(value, dict):
        return {str(name): part if isinstance(part, dict) else {} for name, part in value.items()}
    return {}


def _commands(step: Mapping[str, Any]) -> str:
    """The commands of ``run`` that call the gate, not those that install it."""
    parts = re.split(r"&&|;|\n", str(step.get("run", "")).replace("\\\n", " "))
    return "\n".join(part.strip() for part in parts if _GATE.search(part) and not _INSTALL.search(part))


def _match(base: list[_Step], head: list[_Step]) -> list[tuple[_Step, _Step | None]]:
    """Steps of base with those of head: by job and order, then whatever is left in order."""
    left = list(head)
    found: list[_Step | None] = []
    for old in base:
        new = next((step for step in left if step.job == old.job), None)
        found.append(new)
        if new is not None:
            left.remove(new)
    return [
        (old, new if new is not None else (left.pop(0) if left else None)) for old, new in zip(base, found, strict=True)
    ]


def _loosened(base: _Workflow, head: _Workflow) -> Iterator[str]:
    if not head.readable:
        yield "it can no longer be read, so that the gate runs cannot be told"
        return
    if base.steps and not head.steps:
        yield "the gate no longer runs in it"
        return
    yield from _triggers(base.events, head.events)
    for old, new in _match(base.steps, head.steps):
        if new is None:
            yield f"job {old.job}: the step of the gate is gone"
            continue
        yield from _conditions(f"job {new.job}", old.job_keys, new.job_keys)
        if old.keys is not old.job_keys:
            yield from _conditions(f"job {new.job}, step of the gate", old.keys, new.keys)
        yield from _call(f"job {new.job}", old.keys, new.keys)


def _triggers(base: Mapping[str, Mapping[str, Any]], head: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for event in _GATING_EVENTS:
        if event not in base:
            continue
        if event not in head:
            yield f"no longer runs on {event}"
            continue
        for key in _NARROWING:
            old, new = _listed(base[event].get(key)), _listed(head[event].get(key))
            if new is not None and (old is None or old - new or {n for n in new - old if n.startswith("!")}):
                yield f"on.{event}.{key}: {_shown(old)} → {_shown(new)}"
            ignored = f"{key}-ignore"
            old, new = _listed(base[event].get(ignored)) or set(), _listed(head[event].get(ignored)) or set()
            if new - old:
                yield f"on.{event}.{ignored}: {_shown(old)} → {_shown(new)}"


def _listed(value: Any) -> set[str] | None:
    if value is None:
        return None
    return {str(part) for part in value} if isinstance(value, list) else {str(value)}


def _shown(value: set[str] | None) -> str:
    return "all" if value is None else ", ".join(sorted(value)) or "none"


def _conditions(where: str, base: Mapping[str, Any], head: Mapping[str, Any]) -> Iterator[str]:
    forgiven = head.get("continue-on-error", False)
    if forgiven not in (False, "false") and forgiven != base.get("continue-on-error", False):
        yield f"{where}: continue-on-error: {forgiven}"
    condition = head.get("if")
    if condition is not None and condition != base.get("if"):
        yield f"{where}: if: {base.get('if', 'always')} → {condition}"
    for key in ("shell", "working-directory", "defaults"):
        if base.get(key) != head.get(key):
            yield f"{where}: {key}: {base.get(key, 'unset')} → {head.get(key, 'unset')}"


def _call(where: str, base: Mapping[str, Any], head: Mapping[str, Any]) -> Iterator[str]:
    old, new = (_action(str(keys.get("uses", ""))) for keys in (base, head))
    if old != new:
        yield f"{where}: uses: {old or 'a command'} → {new or 'a command'}"
    commands, now = _commands(base), _commands(head)
    if old == new and commands != now:
        yield f"{where}: run: {commands} → {now}".replace("\n", "; ")
    elif _swallows(head) > _swallows(base):
        yield f"{where}: run: a failure is swallowed"
    given, gives = _inputs(base), _inputs(head)
    for name in _STEERING:
        if given.get(name) != gives.get(name) and not (name == "mode" and gives.get(name) == "block"):
            yield f"{where}: with.{name}: {given.get(name, 'unset')} → {gives.get(name, 'unset')}"


def _action(uses: str) -> str:
    """What is used, without its version: ``owner/name@ref`` or ``docker://image:tag``."""
    name = uses.partition("@")[0]
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"


def _swallows(step: Mapping[str, Any]) -> int:
    return len(_SWALLOWS.findall(str(step.get("run", ""))))


def _inputs(step: Mapping[str, Any]) -> Mapping[str, Any]:
    value = step.get("with")
    return value if isinstance(value, dict) else {}
