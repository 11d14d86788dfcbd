"""Goalposts of a comparison: policy, suites, workflow and baseline files."""

from __future__ import annotations

from grader_gate.changes.goalposts import goalposts, notices
from grader_gate.changes.workflows import workflow_changes, workflow_notices
from grader_gate.config import Mutators
from grader_gate.configfile import line_of
from grader_gate.errors import UsageError
from grader_gate.flow.mutatorset import module_path
from grader_gate.flow.sides import SideSetup
from grader_gate.model import Location
from grader_gate.result import Goalpost, Notice
from grader_gate.suite.mutators.registry import resolve


def find_goalposts(base: SideSetup, head: SideSetup, config_path: str) -> list[Goalpost]:
    """Every change of what is measured that needs a maintainer's acceptance."""
    found = goalposts(
        base.config,
        head.config,
        base.suites,
        head.suites,
        workflows=workflow_changes(base.raw, head.raw),
        config_path=config_path,
        line_of=lambda keys: line_of(head.tree, config_path, keys),
        catalogue=_chosen,
    )
    return [*found, *_edited_records(base, head), *_edited_mutators(base, head)]


def find_notices(base: SideSetup, head: SideSetup) -> list[Notice]:
    """Changes that loosen nothing and that a reviewer should still see."""
    return [*notices(base.config, head.config), *workflow_notices(workflow_changes(base.raw, head.raw))]


def _chosen(config: Mutators) -> set[str]:
    """Names of the mutators that settings choose; project-local ones by their specification."""
    named = config.model_copy(update={"modules": ()})
    try:
        return {mutator.name for mutator in resolve(named)} | set(config.modules)
    except UsageError:
        return {*config.include, *config.modules}


def _edited_mutators(base: SideSetup, head: SideSetup) -> list[Goalpost]:
    """A project-local mutator is part of the examination: base's is run, so head's would take effect unseen."""
    specs = dict.fromkeys(spec for suite in base.config.suites.values() for spec in suite.mutators.modules)
    paths = dict.fromkeys(module_path(spec) for spec in specs)
    return [
        Goalpost(
            what="project-local mutator changed",
            detail=f"{path}: base's is run here; head's takes effect once it is merged",
            location=Location(path=path),
        )
        for path in paths
        if base.raw.blob(path) != head.raw.blob(path)
    ]


def _edited_records(base: SideSetup, head: SideSetup) -> list[Goalpost]:
    """A frozen record is immutable: one that was edited or removed is a goalpost, a new one is not."""
    folder = base.config.baseline.path.strip("/") + "/"
    made = []
    for path in base.raw.paths():
        if path.startswith(folder) and base.raw.blob(path) != head.raw.blob(path):
            what = "baseline record removed" if head.raw.blob(path) is None else "baseline record edited"
            made.append(
                Goalpost(
                    what=what, detail="a frozen record is never changed; freeze anew", location=Location(path=path)
                )
            )
    return made
