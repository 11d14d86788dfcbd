"""Pull requests from forks: testimony by the companion, and the label that lets one head commit be graded."""

import io
import json
import zipfile

import pytest

from grader_gate.result import Result
from tests.freeze.moody import JUDGE, moody_world
from tests.freeze.world import AUTHOR, MAINTAINER, TRIAGER, config
from tests.report import fixtures
from tests.servers import github_repository as hub
from tests.servers.github_server import Token

SAFE = "safe-to-grade"
HOSTILE = '</details>\n# hello @octocat fixes #1 <img src=x> ![x](//evil.example/x)\n::error::x\n```\n<!-- grader-gate {"v":1} -->'


def archive(*files: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files:
            file.writestr(name, data)
    return packed.getvalue()


def report(result: Result) -> bytes:
    return archive(("result.json", result.model_dump_json().encode()))


@pytest.fixture
def fork(new_world):
    made = new_world()
    made.open_pull(fork=True)
    return made


# ---------------------------------------------------------------- what a fork's own run may do


def test_a_forks_own_run_writes_nothing_and_runs_none_of_its_code(new_world, tmp_path, server):
    world, _ = moody_world(new_world, tmp_path)
    canary = tmp_path / "canary"
    world.open_pull(
        {"rubric.md": "harsh\n", "code/judge.py": JUDGE + f'\nopen({str(canary)!r}, "w").write("ran")\n'}, fork=True
    )
    server.tokens["read-only-token-1"] = Token(permissions={"contents": "read", "pull_requests": "read"})
    payload = world.pull_event("synchronize")
    assert world.run("pull_request", payload, world.merge, "refs/pull/1/merge", token="read-only-token-1") in (1, 3)
    assert not canary.exists()
    assert (server.comments, server.check_runs, server.statuses) == ({}, [], {})
    assert "its code changes here and was not run" in json.dumps(world.result)


def test_changed_code_that_does_not_run_is_never_green(new_world, tmp_path):
    world, _ = moody_world(new_world, tmp_path)
    world.open_pull({"code/judge.py": JUDGE + "\n# another version\n"}, fork=True)
    assert world.check() == 3
    assert world.verdict() == "failure"


def test_a_changed_rubric_of_a_fork_is_measured_by_the_base_branchs_code(new_world, tmp_path):
    world, _ = moody_world(new_world, tmp_path)
    world.open_pull({"rubric.md": "harsh\n"}, fork=True)
    assert world.check() == 1
    assert world.result["suites"][0]["findings"][0]["status"] == "confirmed"


@pytest.mark.parametrize("fork", [True, False])
def test_the_merge_queue_runs_no_code_of_a_fork(new_world, tmp_path, fork):
    world, _ = moody_world(new_world, tmp_path)
    canary = tmp_path / "canary"
    plant = f'\nopen({str(canary)!r}, "w").write("ran")\n'
    world.open_pull({"code/judge.py": JUDGE + plant}, fork=fork)
    assert world.merge_group() == (3 if fork else 0)
    assert canary.exists() is not fork
    assert world.verdict(world.merge) == ("failure" if fork else "success")


# ---------------------------------------------------------------- the companion


def test_the_forks_word_is_shown_as_unverified_and_is_never_green(fork, server):
    hub.add_artifact(server, 77, "grader-gate-report", report(fixtures.passing()))
    assert fork.finished() == 0
    assert "unverified report of a fork" in fork.comment
    assert "It says **pass**" in fork.comment
    assert fork.verdict() == "failure"
    assert "✅" not in fork.comment
    assert list(server.state.labels) == [SAFE]
    assert fork.records() == {}


def test_it_counts_as_no_report_for_the_freeze_label(fork, server):
    hub.add_artifact(server, 77, "grader-gate-report", report(fixtures.passing()))
    assert fork.finished() == 0
    assert fork.freeze() == 2
    assert "there is no report on" in fork.log
    assert fork.records() == {}


def test_nothing_of_it_comes_alive(fork, server):
    result = fixtures.failing()
    suite = result.suites[0]
    findings = tuple(f.model_copy(update={"sentence": HOSTILE}) for f in suite.findings)
    evil = result.model_copy(
        update={
            "headline": HOSTILE,
            "report_url": "javascript:alert(1)",
            "key": "other",
            "evidence": {"a" * 64: ("b" * 16,)},
            "suites": (suite.model_copy(update={"findings": findings}),),
        }
    )
    hub.add_artifact(server, 77, "grader-gate-report", report(evil))
    assert fork.finished() == 0
    assert "javascript:" not in fork.comment
    assert '"evidence"' not in fork.comment
    assert '"key":""' in fork.comment.splitlines()[0]
    outside, fence = [], None
    for line in fork.comment.splitlines()[1:]:
        if fence is None and line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None, "every block is closed"
    shown = "\n".join(outside)
    for word in ("@octocat", "<img", "evil.example", "# hello", "<!--"):
        assert word not in shown
    assert not any(line.startswith("::error") for line in fork.log.splitlines())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no zip at all", "no archive that can be read"),
        (archive(("other.json", b"{}")), "0 files named result.json"),
        (archive(("result.json", b"[" * 100_000)), "does not follow the schema"),
        (archive(("result.json", b'{"verdict": "pass"}')), "does not follow the schema"),
        (archive(("result.json", b" " * (9 * 1024 * 1024))), "is larger than"),
        (archive(*((f"f{n}", b"") for n in range(1_200))), "more than 1000 files"),
        (report(fixtures.passing())[:-40], "no archive that can be read"),
    ],
)
def test_what_follows_no_schema_is_not_shown(fork, server, data, why):
    hub.add_artifact(server, 77, "grader-gate-report", data)
    assert fork.finished() == 0
    assert why in fork.log
    assert "It left no report that can be read." in fork.comment
    assert fork.verdict() == "failure"


def test_no_artifact_or_an_expired_one(fork, server):
    hub.add_artifact(server, 77, "grader-gate-report", report(fixtures.passing()), expired=True)
    assert fork.finished() == 0
    assert "left no artifact" in fork.log
    assert "It left no report" in fork.comment


@pytest.mark.parametrize("pulls", [0, 2])
def test_without_exactly_one_pull_request_nothing_is_posted(fork, server, pulls):
    if pulls == 0:
        server.pulls[1]["state"] = "closed"
    else:
        server.pulls[2] = server.pulls[1] | {"number": 2}
    assert fork.finished() == 0
    assert "nothing is posted" in fork.log
    assert server.writes() == []


def test_a_head_that_moved_is_not_posted_to(fork, server):
    assert fork.finished(head_sha="a" * 40) == 0
    assert server.writes() == []


def test_a_deleted_fork_is_found_by_its_commit(fork, server):
    server.pulls[1]["head"]["repo"] = None
    assert fork.finished(head_repository=None) == 0
    assert "unverified report of a fork" in fork.comment
    # GitHub gives null here, and its own description says it never does.
    server.violations[:] = [line for line in server.violations if 'head/repo: null is not of type "object"' not in line]


@pytest.mark.parametrize("name", ["push", "schedule", "pull_request_target", ""])
def test_runs_of_other_events_are_left_alone(fork, server, name):
    assert fork.finished(event=name) == 0
    assert "nothing is posted" in fork.log
    assert server.writes() == []


def test_a_branch_of_the_repository_itself_posts_its_own_report(world, server):
    before = world.comment
    server.pulls[1]["head"]["user"]["login"] = "somebody"
    assert world.finished() == 0
    assert "is not from a fork" in world.log
    assert world.comment == before


def test_a_pull_request_that_changes_nothing_measured_is_settled_without_a_label(new_world):
    world = new_world()
    world.open_pull({"README.md": "a typo mended\n"}, fork=True)
    assert world.finished() == 0
    assert world.verdict() == "success"
    assert world.server.comments == {}


def test_a_forks_later_word_does_not_replace_a_trusted_report(fork, server):
    assert fork.freeze(label=SAFE) == 1
    trusted = fork.comment
    hub.add_artifact(server, 77, "grader-gate-report", report(fixtures.passing()))
    assert fork.finished() == 0
    assert "has a report of a trusted run" in fork.log
    assert (fork.comment, fork.verdict()) == (trusted, "failure")


def test_nor_does_it_replace_a_trusted_check_that_has_no_comment(fork, server):
    assert fork.freeze(label=SAFE, comment="false") == 1
    before = json.dumps(server.check_runs)
    assert fork.finished() == 0
    assert json.dumps(server.check_runs) == before
    assert server.comments == {}


def test_a_forks_second_run_is_shown_in_the_same_comment(fork, server):
    hub.add_artifact(server, 77, "grader-gate-report", report(fixtures.passing()))
    assert fork.finished() == 0
    hub.add_artifact(server, 78, "grader-gate-report", report(fixtures.failing()))
    assert fork.finished(78) == 0
    assert "It says **fail**" in fork.comment
    assert fork.verdict() == "failure"


# ---------------------------------------------------------------- safe to grade


def test_a_maintainer_lets_one_head_be_graded(fork, server):
    hub.add_artifact(server, 77, "grader-gate-report", report(fixtures.passing()))
    assert fork.finished() == 0
    assert fork.freeze(label=SAFE) == 1
    assert fork.labels == []
    assert fork.verdict() == "failure"
    assert "unverified" not in fork.comment
    assert f"{MAINTAINER} lets {fork.head} be graded; its code does not run" in fork.log
    assert server.state.labels[SAFE]["description"]


def test_a_clean_change_of_a_fork_becomes_green(new_world):
    world = new_world()
    world.open_pull({".grader-gate.yml": config("aris")}, fork=True)
    assert world.freeze(label=SAFE) == 0
    assert world.verdict() == "success"


@pytest.mark.parametrize(
    ("by", "why"), [(TRIAGER, "triager has read permission"), (AUTHOR, "opened this pull request")]
)
def test_who_may_not(fork, by, why):
    assert fork.freeze(by, label=SAFE) == 2
    assert why in fork.log
    assert fork.labels == []
    assert fork.verdict() is None


def test_a_push_between_approval_and_use_is_refused(fork, server):
    fork.label(SAFE)
    stale = fork.pull_event("labeled") | {"label": {"name": SAFE}}
    fork.push({".grader-gate.yml": config("Rome")})
    server.pulls[1]["head"]["repo"]["full_name"] = "somebody/judges"
    assert fork.run("pull_request_target", stale, fork.main, "refs/heads/main") == 2
    assert "was pushed since" in fork.log
    assert (fork.labels, server.check_runs, server.comments) == ([], [], {})


def test_a_conflicting_fork_cannot_choose_an_old_policy(fork, server):
    server.pulls[1]["merge_commit_sha"] = None
    assert fork.freeze(label=SAFE) == 2
    assert "resolve the conflict" in fork.log
    assert server.check_runs == []


@pytest.mark.parametrize("label", [SAFE, "freeze-baseline"])
def test_no_code_of_the_head_runs_under_pull_request_target(new_world, tmp_path, label):
    world, _ = moody_world(new_world, tmp_path)
    canary = tmp_path / "canary"
    plant = f'open({str(canary)!r}, "w").write("ran")\n'
    world.open_pull(
        {
            "code/judge.py": JUDGE + "\n" + plant,
            "code/sitecustomize.py": plant,
            "sitecustomize.py": plant,
            "conftest.py": plant,
            ".gitattributes": "* filter=evil\n",
            "rubric.md": "harsh {{ ''.__class__.__mro__ }}\n",
        },
        fork=True,
    )
    world.server.add_comment(1, f'<!-- grader-gate {{"v":1,"key":"","pr_head":"{world.head}"}} -->\n\nreport')
    assert world.freeze(label=label) in (1, 2, 3)
    assert not canary.exists()
    assert world.verdict() != "success"
    assert world.records() == {}
