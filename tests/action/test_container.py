"""The real image, started as a runner starts it, on a pull request that really breaks a grader."""

import json
import os

import pytest

from grader_gate.report.marker import parse_header
from tests.action.engine import IMAGE, Engine, build_image, find_engine
from tests.action.real import make_real_job

pytestmark = pytest.mark.container


@pytest.fixture(scope="module")
def engine() -> Engine:
    found = find_engine("docker", "podman")
    build_image(found)
    return found


@pytest.fixture
def start(engine):
    """Run the image on a job; gives exit code and log."""

    def run(job, **env: str):
        job.env |= env
        (job.files / "event.json").write_text(json.dumps(job.payload), encoding="utf-8")
        for name in ("output", "summary"):
            (job.files / name).touch()
        (job.files / "home").mkdir(exist_ok=True)
        inside = job.env | {
            "HOME": "/github/home",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_PATH": "/github/runner/event.json",
            "GITHUB_OUTPUT": "/github/runner/output",
            "GITHUB_STEP_SUMMARY": "/github/runner/summary",
        }
        del inside["PATH"]
        mounts = {job.workspace: "/github/workspace", job.files: "/github/runner", job.files / "home": "/github/home"}
        args = [part for name, value in inside.items() for part in ("-e", f"{name}={value}")]
        args += [part for source, to in mounts.items() for part in ("-v", f"{source}:{to}")]
        done = engine.run_image("--network", "host", "--workdir", "/github/workspace", *args, IMAGE)
        job.log = done.stdout + done.stderr
        return done.returncode

    return run


def test_a_pull_request_is_measured_in_a_foreign_owned_shallow_workspace(start, server, tmp_path):
    job = make_real_job(server, tmp_path)
    if os.geteuid() == 0:
        for path in (job.workspace, *job.workspace.rglob("*")):
            os.chown(path, 12345, 12345, follow_symlinks=False)
    assert start(job) == 1, job.log
    assert job.conclusions == ["failure"]
    (comment,) = server.bodies(1)
    assert (parse_header(comment)["base"], parse_header(comment)["verdict"]) == (job.origin.main, "fail")
    assert (job.outputs["verdict"], job.outputs["report"]) == ("fail", "grader-gate-report/report.html")
    assert int(job.outputs["regressions"]) >= 1
    assert (job.workspace / "grader-gate-report/report.html").stat().st_uid == (
        12345 if os.geteuid() == 0 else os.getuid()
    )
    assert "capitals" in job.summary


def test_modules_of_the_checkout_do_not_replace_the_programs_own(start, server, tmp_path):
    planted = "open('/github/runner/canary', 'w').write('ran')\n"
    names = ("json.py", "sitecustomize.py", "grader_gate/__init__.py", "grader_gate/action.py", "usercustomize.py")
    job = make_real_job(server, tmp_path, extra=dict.fromkeys(names, planted))
    assert start(job, PYTHONPATH="/github/workspace", PYTHONSTARTUP="/github/workspace/json.py") == 1, job.log
    assert not (job.files / "canary").exists()


def test_without_a_runner_it_says_what_it_lacks(engine):
    done = engine.run_image(IMAGE)
    assert done.returncode == 2
    assert "GITHUB_EVENT_NAME and GITHUB_EVENT_PATH are not set" in done.stdout
