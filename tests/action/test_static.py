"""What is checked of the action's files without running them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from grader_gate.github.inputs import INPUTS, OUTPUTS

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
WORKFLOWS = sorted([*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("examples/workflows/*.yml")])
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
DOCS = (ROOT / "docs/github.md").read_text(encoding="utf-8")


FURTHER = {
    "freeze.yml": {"contents": "write", "issues": "write"},
    "safe-to-grade.yml": {"issues": "write"},
    "companion.yml": {"actions": "read"},
    "push.yml": {"contents": "write"},
    "drift.yml": {"issues": "write"},
}
"""What a workflow holds beyond those of the check, each for one reason; docs/freezing.md has the table."""


def run(tool: str, *args: object) -> None:
    done = subprocess.run([BIN / tool, *map(str, args)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of a table of docs/github.md, by the name in its first column."""
    section = DOCS.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    cells = [
        [c.strip() for c in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| `")
    ]
    return {row[0].strip("` "): row[1:] for row in cells}


def test_action_yml_code_and_documentation_name_the_same_inputs():
    assert {name: body["default"] for name, body in ACTION["inputs"].items()} == dict(INPUTS)
    documented = rows("Inputs")
    assert list(documented) == list(INPUTS)
    for name, default in INPUTS.items():
        assert documented[name][0] == (f"`{default}`" if default else "empty"), name


def test_action_yml_code_and_documentation_name_the_same_outputs():
    assert tuple(ACTION["outputs"]) == OUTPUTS
    assert tuple(rows("Outputs")) == OUTPUTS


def test_input_names_survive_a_shell():
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in INPUTS)


def test_the_image_starts_python_by_an_absolute_path_and_changes_neither_user_nor_folder():
    final = (ROOT / "Dockerfile").read_text(encoding="utf-8").rpartition("\nFROM ")[2]
    assert 'ENTRYPOINT ["/opt/grader-gate/bin/python", "-I", "-m", "grader_gate.action"]' in final
    assert not re.search(r"^(USER|WORKDIR|ADD)\b", final, re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_workflows_hold_the_least_and_pin_what_they_use(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        beyond = FURTHER.get(path.name, {})
        assert set(job["permissions"]) <= {"contents", "checks", "statuses", "pull-requests", *beyond}
        assert job["permissions"]["contents"] == beyond.get("contents", "read")
        assert all(job["permissions"][name] == value for name, value in beyond.items())
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            if "uses" in step:
                assert re.search(r"@[0-9a-f]{40}$", step["uses"]), step["uses"]
    assert "paths" not in str(workflow.get(True, workflow.get("on")))


def test_zizmor_finds_nothing():
    run("zizmor", "--offline", "--no-progress", "--persona=regular", "action.yml", *WORKFLOWS)


def test_actionlint_finds_nothing():
    run("actionlint", "-shellcheck=", "-pyflakes=", *WORKFLOWS)


def test_schemas_of_action_and_workflows_hold():
    run("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


def test_hadolint_finds_nothing():
    run("hadolint", "Dockerfile")
