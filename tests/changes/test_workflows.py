from __future__ import annotations

import pytest

from grader_gate.changes.goalposts import goalposts
from grader_gate.changes.tree import MemoryTree
from grader_gate.changes.workflows import (
    WorkflowChange,
    workflow_changes,
    workflow_goalposts,
    workflow_notices,
)
from grader_gate.model import Location
from tests.changes.example import BASE, SUITES

PATH = ".github/workflows/gate.yml"
GATE = """\
on:
  pull_request:
  push:
    branches: [main]
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {fetch-depth: 2}
      - uses: example/grader-gate@v1
        with:
          max_calls: 100
          suites: a b
  cli:
    runs-on: ubuntu-latest
    steps:
      - run: |
          pip install grader-gate==1.0
          grader-gate action
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: ruff check .
"""


def change(old: str, new: str, count: int = 1) -> WorkflowChange:
    assert GATE.count(old) >= 1, old
    return WorkflowChange(PATH, GATE.encode(), GATE.replace(old, new, count).encode())


LOOSENINGS = [
    ("  pull_request:\n", "  workflow_dispatch:\n", "no longer runs on pull_request"),
    ("  pull_request:\n", "  pull_request: {paths: [src/**]}\n", "on.pull_request.paths: all → src/**"),
    ("  pull_request:\n", "  pull_request: {types: [opened]}\n", "on.pull_request.types: all → opened"),
    ("  pull_request:\n", "  pull_request: {paths-ignore: [prompts/**]}\n",
     "on.pull_request.paths-ignore: none → prompts/**"),
    ("[main]", "[release]", "on.push.branches: main → release"),
    ("[main]", "[main, '!main']", "on.push.branches: main → !main, main"),
    ("      - uses: example/grader-gate@v1\n", "      - uses: example/other@v1\n",
     "job gate: the step of the gate is gone"),
    ("@v1\n        with:\n          max", "@v1\n        continue-on-error: true\n        with:\n          max",
     "job gate, step of the gate: continue-on-error: True"),
    ("    runs-on", "    continue-on-error: true\n    runs-on", "job gate: continue-on-error: True"),
    ("    runs-on", "    if: github.actor != 'me'\n    runs-on", "job gate: if: always → github.actor != 'me'"),
    ("suites: a b", "suites: a", "job gate: with.suites: a b → a"),
    ("suites: a b", "suites: a b\n          mode: report", "job gate: with.mode: unset → report"),
    ("suites: a b", "suites: a b\n          config: other.yml", "job gate: with.config: unset → other.yml"),
    ("uses: example/grader-gate@v1", "uses: mallory/grader-gate@v1",
     "job gate: uses: example/grader-gate → mallory/grader-gate"),
    ("grader-gate action", "grader-gate action || true",
     "job cli: run: grader-gate action → grader-gate action || true"),
    ("grader-gate action", "grader-gate plan", "job cli: run: grader-gate action → grader-gate plan"),
    ("          pip", "          set +e\n          pip", "job cli: run: a failure is swallowed"),
    ("      - run: |\n          pip", "      - shell: bash {0}\n        run: |\n          pip",
     "job cli, step of the gate: shell: unset → bash {0}"),
    ("          pip install grader-gate==1.0\n          grader-gate action\n", "          true\n",
     "job cli: the step of the gate is gone"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "detail"), LOOSENINGS)
def test_each_loosening_is_exactly_one_goalpost(old: str, new: str, detail: str) -> None:
    (only,) = workflow_goalposts([change(old, new)])
    assert only.what == "workflow loosened"
    assert only.detail == f"{PATH}: {detail}"
    assert only.location == Location(path=PATH)
    assert workflow_notices([change(old, new)]) == []


TIGHTENINGS = [
    ("  push:\n    branches: [main]\n", "  push:\n"),
    ("  pull_request:\n", "  pull_request:\n  merge_group:\n"),
    ("[main]", "[main, release]"),
    ("suites: a b", "suites: a b\n          mode: block"),
    ("suites: a b", "suites: a b\n          comment: false"),
    ("max_calls: 100", "max_calls: 10"),
    ("example/grader-gate@v1", "example/grader-gate@v2"),
    ("grader-gate==1.0", "grader-gate==1.1"),
    ("    runs-on: ubuntu-latest", "    runs-on: ubuntu-24.04"),
]


@pytest.mark.parametrize(("old", "new"), TIGHTENINGS)
def test_another_change_of_such_a_step_is_shown(old: str, new: str) -> None:
    assert workflow_goalposts([change(old, new)]) == []
    (notice,) = workflow_notices([change(old, new)])
    assert notice.message.startswith(f"{PATH}: the workflow that runs the gate changed (")


@pytest.mark.parametrize(("old", "new"), [("ruff check .", "ruff check src"), ("on:\n", "# comment\non:\n")])
def test_other_jobs_are_nobodys_business(old: str, new: str) -> None:
    assert workflow_goalposts([change(old, new)]) == []
    assert workflow_notices([change(old, new)]) == []


@pytest.mark.parametrize("head", [None, b"on: push\njobs: {}\n", b"jobs: [1]\n", b"hello\n", b""])
def test_a_workflow_without_the_gate(head: bytes | None) -> None:
    (only,) = workflow_goalposts([WorkflowChange(PATH, GATE.encode(), head)])
    assert only.detail == f"{PATH}: the gate no longer runs in it"


@pytest.mark.parametrize(
    "head", [b"on: [\n", b"\0", b"a: &a [1]\nb: " + b"[" * 500, b"on: push\non: push\n", b"\xff\xfe"]
)
def test_a_workflow_that_cannot_be_read(head: bytes) -> None:
    (only,) = workflow_goalposts([WorkflowChange(PATH, GATE.encode(), head)])
    assert "can no longer be read" in only.detail


def test_a_renamed_workflow_or_job_is_the_same() -> None:
    new = ".github/workflows/grader.yaml"
    renamed = [WorkflowChange(PATH, GATE.encode(), None), WorkflowChange(new, None, GATE.encode())]
    assert workflow_goalposts(renamed) == []
    worse = [renamed[0], WorkflowChange(new, None, GATE.replace("suites: a b", "suites: a").encode())]
    assert [g.detail for g in workflow_goalposts(worse)] == [f"{new}: job gate: with.suites: a b → a"]
    assert workflow_goalposts([change("  gate:\n", "  judge:\n")]) == []


def test_a_reusable_workflow_is_a_step_too() -> None:
    base = b"on: pull_request\njobs:\n  g:\n    uses: example/grader-gate/.github/workflows/check.yml@v1\n"
    head = base + b"    if: false\n"
    assert [g.detail for g in workflow_goalposts([WorkflowChange(PATH, base, head)])] == [
        f"{PATH}: job g: if: always → False"
    ]


def test_a_gate_installed_and_called_on_one_line_is_seen() -> None:
    base = b"on: push\njobs:\n  g:\n    steps:\n      - run: pip install grader-gate==1 && grader-gate action\n"
    newer, worse = base.replace(b"==1", b"==2"), base.replace(b"action", b"action | tee log")
    assert workflow_goalposts([WorkflowChange(PATH, base, newer)]) == []
    assert [g.detail for g in workflow_goalposts([WorkflowChange(PATH, base, worse)])] == [
        f"{PATH}: job g: run: grader-gate action → grader-gate action | tee log"
    ]


def test_a_new_workflow_loosens_nothing() -> None:
    assert workflow_goalposts([WorkflowChange(PATH, None, GATE.encode())]) == []


def test_changed_workflows_of_two_trees() -> None:
    base = MemoryTree({PATH: GATE, ".github/workflows/a.yaml": "x", ".github/workflows/sub/b.yml": "x", "c.yml": "1"})
    head = MemoryTree({PATH: GATE + "\n", ".github/workflows/a.yaml": "x", "c.yml": "2"})
    assert workflow_changes(base, head) == [WorkflowChange(PATH, GATE.encode(), GATE.encode() + b"\n")]
    assert workflow_changes(base, base) == []


def test_they_stand_among_the_goalposts() -> None:
    found = goalposts(BASE, BASE, SUITES, SUITES, workflows=[change("suites: a b", "suites: a")])
    assert [g.what for g in found] == ["workflow loosened"]
