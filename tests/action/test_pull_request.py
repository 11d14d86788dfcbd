"""The action on a pull request, through its real entry: socket, repository, files and all."""

import json
import signal

import pytest

from grader_gate import action
from grader_gate.changes.git import ObjectMissing
from grader_gate.errors import UsageError
from grader_gate.report.marker import parse_header
from grader_gate.result import Result
from tests.action.job import TOKEN, checkout
from tests.report import fixtures
from tests.servers.github_server import Fault, Token


def test_a_failing_pull_request_is_answered_everywhere(job, server):
    assert job.run() == 1
    call = job.measure.calls[0]
    assert (call["base"], call["head"]) == (job.origin.main, job.origin.merge)
    assert job.measure.prompts == [b"old\n", b"new\n"]
    (run,) = server.check_runs
    assert (run["name"], run["head_sha"], run["status"], run["conclusion"]) == (
        "grader-gate",
        job.origin.head,
        "completed",
        "failure",
    )
    assert server.annotations[run["id"]]
    (comment,) = server.bodies(1)
    header = parse_header(comment)
    assert (header["run_id"], header["attempt"], header["pr_head"]) == (100, 1, job.origin.head)
    assert (header["base"], header["head"], header["verdict"]) == (job.origin.main, job.origin.merge, "fail")
    result = fixtures.failing()
    assert result.headline in job.summary
    blocking = [finding.kind for one in result.suites for finding in one.findings if finding.blocking]
    assert job.outputs["verdict"] == "fail"
    assert int(job.outputs["regressions"]) == blocking.count("regression") + blocking.count("drop") > 0
    assert int(job.outputs["inversions"]) == blocking.count("inversion") > 0
    assert int(job.outputs["kill_rate_breaches"]) == blocking.count("kill rate") > 0
    assert int(job.outputs["calls"]) == result.cost.calls
    assert job.outputs["report"] == "grader-gate-report/report.html"
    assert (job.workspace / job.outputs["report"]).is_file()
    assert f"base {job.origin.main} (first parent of the tested merge commit)" in job.log


@pytest.mark.parametrize(
    ("result", "code", "conclusion", "verdict"),
    [
        (fixtures.passing(), 0, "success", "pass"),
        (fixtures.failing(), 1, "failure", "fail"),
        (fixtures.error(), 3, "failure", "error"),
        (fixtures.not_applicable(), 0, "success", "not applicable"),
        (fixtures.report_mode().model_copy(update={"exit_code": 0}), 0, "success", "fail"),
    ],
    ids=["pass", "fail", "error", "not applicable", "report mode"],
)
def test_verdicts_become_exit_codes_and_conclusions(job, server, result, code, conclusion, verdict):
    job.measure.result = result
    assert job.run() == code
    assert job.conclusions == [conclusion]
    assert job.outputs["verdict"] == verdict


def test_what_could_not_be_measured_says_so_and_is_never_green(job, server):
    job.measure.result = fixtures.error()
    job.run()
    (run,) = server.check_runs
    assert run["output"]["title"] == "Could not measure: Nothing could be graded: the provider refuses the key."


def test_report_mode_says_that_it_does_not_block(job, server):
    job.measure.result = fixtures.report_mode().model_copy(update={"exit_code": 0})
    job.run()
    assert server.check_runs[0]["output"]["title"].startswith("Report mode, does not block: ")
    assert len(server.bodies(1)) == 1


def test_the_input_mode_can_only_tighten(job, server):
    job.measure.result = fixtures.report_mode().model_copy(update={"exit_code": 0})
    assert job.run(mode="block") == 1
    assert job.conclusions == ["failure"]
    stored = json.loads((job.workspace / "grader-gate-report/result.json").read_text(encoding="utf-8"))
    assert (stored["mode"], stored["exit_code"]) == ("block", 1)
    assert job.run(mode="report") == 2
    assert "only `block` can be asked for here" in job.log


def test_nothing_affected_writes_no_comment_but_updates_one(job, server):
    job.run()
    assert len(server.bodies(1)) == 1
    job.measure.result = fixtures.not_applicable()
    job.env["GITHUB_RUN_ID"] = "101"
    assert job.run() == 0
    assert [parse_header(body)["verdict"] for body in server.bodies(1)] == ["not applicable"]
    server.comments.clear()
    assert job.run() == 0
    assert server.bodies(1) == []
    assert "comment: left out: nothing is affected" in job.log


def test_a_re_run_updates_comment_and_check_of_the_same_head(job, server):
    job.run()
    job.measure.result = fixtures.passing()
    job.env["GITHUB_RUN_ATTEMPT"] = "2"
    assert job.run() == 0
    assert [parse_header(b)["attempt"] for b in server.bodies(1)] == [2]
    assert job.conclusions == ["failure", "success"]


@pytest.mark.parametrize("depth", [1, 2, 50])
def test_every_depth_of_clone_compares_the_same_commits(server, depth, new_job):
    job = new_job(depth=depth)
    assert job.run() == 1
    assert (job.measure.calls[0]["base"], job.measure.calls[0]["head"]) == (job.origin.main, job.origin.merge)
    assert job.measure.prompts == [b"old\n", b"new\n"]
    fetched = [seen for seen in server.requests if ".git/" in seen.path]
    assert bool(fetched) is (depth == 1)
    assert all(seen.status == 200 for seen in fetched)
    assert TOKEN not in (job.workspace / ".git/config").read_text(encoding="utf-8")


def test_a_checkout_of_the_head_alone_is_completed(server, tmp_path, new_job):
    job = new_job()
    job.workspace = checkout(job.origin, tmp_path / "other", depth=1, ref="refs/heads/feature")
    job.env["GITHUB_WORKSPACE"] = str(job.workspace)
    assert job.run() == 1
    assert job.measure.calls[0]["head"] == job.origin.merge


def test_a_stale_payload_falls_back_to_the_merge_base(job, server):
    newer = job.origin.repo.git("commit-tree", f"{job.origin.head}^{{tree}}", "-p", job.origin.head, "-m", "newer")
    job.origin.repo.git("update-ref", "refs/heads/feature", newer)
    job.payload["pull_request"]["head"]["sha"] = newer
    server.add_pull(1, newer)
    base_ref = job.payload["pull_request"]["base"]["ref"]
    server.merge_bases[f"{base_ref}...{newer}"] = job.origin.fork_point
    assert job.run() == 1
    assert (job.measure.calls[0]["base"], job.measure.calls[0]["head"]) == (job.origin.fork_point, newer)
    assert "the tested commit is not the merge of this head" in job.log


def test_a_commit_that_cannot_be_fetched_is_an_error_and_not_green(server, new_job):
    job = new_job(depth=1)
    server.git_repo = None
    assert job.run() == 3
    assert job.measure.calls == []
    assert job.conclusions == ["failure"]
    assert f"commit {job.origin.main[:12]} is not in this clone and could not be fetched" in job.log
    assert "set `fetch-depth: 2`" in server.bodies(1)[0].replace("<span>:</span>", ":") or server.bodies(1)
    assert job.outputs["verdict"] == "error"


def test_a_private_repository_needs_the_token_to_fetch(server, new_job):
    job = new_job(depth=1)
    del job.env["INPUT_TOKEN"]
    assert job.run() == 3
    assert server.check_runs == []
    assert [seen.status for seen in server.requests if ".git/" in seen.path] == [401]


def test_no_git_at_all_is_told(job):
    job.env["GITHUB_WORKSPACE"] = str(job.files)
    assert job.run() == 2
    assert "check the repository out with git" in job.log
    assert job.conclusions == ["failure"]


def test_without_a_token_it_is_measured_all_the_same(job, server):
    del job.env["INPUT_TOKEN"]
    assert job.run() == 1
    assert server.requests == []
    assert fixtures.failing().headline in job.summary
    assert job.outputs["verdict"] == "fail"
    assert "::warning title=grader-gate::no token" in job.log


def test_the_permissions_of_the_example_workflow_are_enough_and_none_can_go(job, server):
    example = {"contents": "read", "checks": "write", "statuses": "write", "pull_requests": "write"}
    server.tokens[TOKEN] = Token(permissions=example)
    assert job.run() == 1
    assert (len(server.bodies(1)), job.conclusions) == (1, ["failure"])
    assert "not everything was posted" not in job.log
    server.tokens[TOKEN] = Token(permissions=example | {"pull_requests": "read"})
    job.env["GITHUB_RUN_ID"] = "101"
    assert job.run() == 1
    assert parse_header(server.bodies(1)[0])["run_id"] == 100
    assert "comment: failed: PATCH" in job.log


@pytest.mark.parametrize("who", ["fork", "deleted fork", "dependabot"])
def test_a_read_only_token_is_told_by_its_cause(job, server, who):
    read = dict.fromkeys(("issues", "checks", "statuses", "pull_requests", "contents"), "read")
    server.tokens[TOKEN] = Token(permissions=read)
    head = job.payload["pull_request"]["head"]
    if who == "fork":
        head["repo"]["full_name"] = "mallory/judges"
    elif who == "deleted fork":
        head["repo"] = None
    else:
        job.payload["sender"]["login"] = "dependabot[bot]"
    assert job.run() == 1
    assert job.measure.calls[0]["run_head_code"] is (who == "dependabot")
    assert server.bodies(1) == []
    assert server.check_runs == []
    assert all(seen.status == 403 for seen in server.writes())
    assert ("Dependabot" if who == "dependabot" else "from a fork") in job.log
    assert "comment: failed: GitHub gives a pull request" in job.log
    assert "not everything was posted" in job.log
    assert fixtures.failing().headline in job.summary


def test_a_head_that_moved_is_not_posted_to(job, server):
    server.add_pull(1, "d" * 40)
    assert job.run() == 1
    assert server.bodies(1) == []
    assert "head is now dddddddddddd" in job.log
    assert job.conclusions == ["failure"]


def test_github_down_changes_neither_verdict_nor_exit_code_and_is_posted_later(job, server, capsys):
    server.fault("*", "/repos/", *[Fault(503)] * 60)
    assert job.run() == 1
    assert (server.check_runs, server.comments) == ([], {})
    assert job.outputs["verdict"] == "fail"
    assert "not everything was posted" in job.log
    server.faults.clear()
    naps = []
    code = action.publish_folder(job.workspace / "grader-gate-report", {"GITHUB_TOKEN": TOKEN}, sleep=naps.append)
    assert code == 0
    assert job.conclusions == ["failure"]
    assert [parse_header(b)["run_id"] for b in server.bodies(1)] == [100]
    again = action.publish_folder(job.workspace / "grader-gate-report", {"GITHUB_TOKEN": TOKEN}, sleep=naps.append)
    assert again == 0
    assert len(server.bodies(1)) == 1
    assert "comment: posted: unchanged" in capsys.readouterr().out


def test_results_are_on_disk_before_the_comment_is_written(job, server):
    seen = []
    out = job.workspace / "grader-gate-report"
    note = lambda: seen.append(sorted(p.name for p in out.iterdir()))  # noqa: E731
    server.fault("POST", "/comments$", Fault(pass_through=True, then=note))
    job.run()
    assert seen[0] == ["comment.md", "event.json", "junit.xml", "report.html", "result.json"]
    Result.model_validate_json((out / "result.json").read_bytes())


def test_a_body_that_github_calls_too_long_is_sent_again_in_short(job, server):
    server.fault("POST", "/comments$", Fault(422, "Validation Failed", errors=[{"message": "Body is too long"}]))
    assert job.run() == 1
    assert len(server.bodies(1)) == 1
    assert len(server.bodies(1)[0]) <= 20_000
    assert "comment refused, sent again in short" in job.log


@pytest.mark.parametrize("path", ["/pulls/1$", "/comments$", "/check-runs$", "/check-runs/"])
def test_a_proxys_page_changes_neither_verdict_nor_exit_code(job, server, path):
    server.fault("*", path, *[Fault(200, raw=b"<html>Sign in</html>")] * 20)
    assert job.run() == 1
    assert job.outputs["verdict"] == "fail"
    assert "not everything was posted" in job.log
    assert "crashed" not in job.log


class BrokenConfig(UsageError):
    pass


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BrokenConfig(".grader-gate.yml:3: graders: unknown key"), 2, ".grader-gate.yml:3: graders: unknown key"),
        (ObjectMissing("object 123 is not in this clone"), 3, "object 123 is not in this clone"),
        (ZeroDivisionError("secret detail"), 3, "the gate crashed (ZeroDivisionError)"),
    ],
)
def test_an_error_completes_the_check_and_says_why(job, server, error, code, said):
    job.measure.result = error
    assert job.run() == code
    (run,) = server.check_runs
    assert (run["status"], run["conclusion"]) == ("completed", "failure")
    assert run["output"]["title"] == f"Could not measure: {said}" or run["output"]["title"].startswith(
        f"Could not measure: {said}"
    )
    assert "secret detail" not in json.dumps(server.check_runs) + json.dumps(server.bodies(1))
    assert job.outputs["verdict"] == "error"
    assert len(server.bodies(1)) == 1


def test_a_cancelled_job_completes_its_check(job, server):
    job.measure.result = KeyboardInterrupt()
    assert job.run() == 3
    assert job.conclusions == ["failure"]
    assert server.bodies(1) == []


def test_sigterm_is_a_cancellation(job, server):
    before = signal.getsignal(signal.SIGTERM)
    real = job.measure.__call__

    def killed(root, base, head, **options):
        signal.raise_signal(signal.SIGTERM)
        return real(root, base, head, **options)

    job.measure = killed
    assert job.run() == 3
    assert job.conclusions == ["failure"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_measuring_sees_no_token_of_githubs_and_keeps_the_graders_key(job):
    job.env |= {"GITHUB_TOKEN": TOKEN, "ACTIONS_RUNTIME_TOKEN": "runtime-token-1234"}
    job.run()
    environ = job.measure.calls[0]["environ"]
    assert not {"INPUT_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"} & set(environ)
    assert environ["JUDGE_KEY"] == "the-graders-own-key"


def test_inputs_reach_the_measurement(job, server):
    (job.workspace / "ca.pem").write_text("pem", encoding="utf-8")
    job.run(
        config="conf/gate.yml",
        suites="a, b\nc",
        max_calls="7",
        key="nightly",
        out="out/here",
        comment="false",
        check="false",
    )
    call = job.measure.calls[0]
    assert (call["config_path"], call["suites"], call["max_calls"], call["key"]) == (
        "conf/gate.yml",
        ("a", "b", "c"),
        7,
        "nightly",
    )
    assert call["out"] == job.workspace / "out/here"
    assert server.writes() == []


def test_a_key_keeps_comment_and_check_apart(job, server):
    job.run()
    job.run(key="nightly")
    assert [run["name"] for run in server.check_runs] == ["grader-gate", "grader-gate (nightly)"]
    assert [parse_header(b)["key"] for b in server.bodies(1)] == ["", "nightly"]


def test_results_that_the_head_brings_along_are_refused(server, tmp_path, new_job):
    job = new_job()
    repo = job.origin.repo
    repo.git("checkout", "-q", "feature")
    head = repo.commit({"grader-gate-report/ledger.jsonl": "forged\n"})
    repo.git("checkout", "-q", "--detach", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", head)
    repo.git("update-ref", "refs/pull/1/merge", "HEAD")
    job.env["GITHUB_SHA"] = repo.git("rev-parse", "HEAD")
    job.payload["pull_request"]["head"]["sha"] = head
    server.add_pull(1, head)
    job.workspace = checkout(job.origin, tmp_path / "planted", depth=2)
    job.env["GITHUB_WORKSPACE"] = str(job.workspace)
    assert job.run() == 2
    assert job.measure.calls == []
    assert "is part of the commit under test" in job.log
    assert job.run(out="elsewhere") == 1


def test_two_runs_of_one_moment_leave_one_comment(job, server):
    other = []

    def meanwhile():
        if not other:
            body = server.bodies(1)[0].replace('"run_id":100', '"run_id":99')
            other.append(server.add_comment(1, body))

    server.fault("POST", "/comments$", Fault(pass_through=True, then=meanwhile))
    assert job.run() == 1
    assert [parse_header(b)["run_id"] for b in server.bodies(1)] == [100]
    assert other
