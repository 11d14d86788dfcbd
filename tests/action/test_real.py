"""The whole program through the action's entry, with nothing in place of the measurement."""

import io
import json
import subprocess
import sys

from grader_gate import action
from grader_gate.report.marker import parse_header
from tests.action.real import make_real_job


def test_a_broken_grader_is_measured_and_blocked(server, tmp_path):
    job = make_real_job(server, tmp_path)
    (job.files / "event.json").write_text(json.dumps(job.payload), encoding="utf-8")
    stream = io.StringIO()
    assert action.main(job.env, stream=stream, sleep=job.naps.append) == 1, stream.getvalue()
    assert job.conclusions == ["failure"]
    (comment,) = server.bodies(1)
    header = parse_header(comment)
    assert (header["base"], header["head"], header["verdict"]) == (job.origin.main, job.origin.merge, "fail")
    assert job.outputs["verdict"] == "fail"
    assert int(job.outputs["regressions"]) >= 1
    found = {path.name for path in (job.workspace / "grader-gate-report").iterdir()}
    assert {"result.json", "ledger.jsonl", "comment.md", "report.html", "junit.xml", "event.json"} <= found


def test_the_command_line_is_the_containers_equal(server, tmp_path):
    job = make_real_job(server, tmp_path)
    (job.files / "event.json").write_text(json.dumps(job.payload), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "grader_gate", "action"],
        cwd=job.workspace,
        env=job.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert job.conclusions == ["failure"]
    assert len(server.bodies(1)) == 1
    assert job.outputs["verdict"] == "fail"


def test_a_pull_request_that_touches_no_grader_is_green_and_silent(server, tmp_path):
    job = make_real_job(server, tmp_path, config="Paris", extra={"README.md": "words"})
    (job.files / "event.json").write_text(json.dumps(job.payload), encoding="utf-8")
    stream = io.StringIO()
    assert action.main(job.env, stream=stream, sleep=job.naps.append) == 0, stream.getvalue()
    assert job.conclusions == ["success"]
    assert server.bodies(1) == []
    assert (job.outputs["verdict"], job.outputs["calls"]) == ("not applicable", "0")
