"""Grades that a branch brings along are not taken for grades; secrets do not reach a job's log."""

import json
import shutil

import pytest

from tests.action.conftest import new_job, server, template  # noqa: F401  fixtures
from tests.flow.repository import CASES, Repository, base_files, case_file

LENIENT = {"rubric.md": "lenient: be kind\n"}


@pytest.fixture
def repo(tmp_path, capsys):
    made = Repository(tmp_path / "repo", capsys)
    made.commit(base_files(), "base")
    made.git("switch", "-q", "-c", "topic")
    return made


def forged(repo, tmp_path):
    """What a run on this change leaves, with every verdict turned into the one that is expected."""
    repo.write(LENIENT)
    repo.check(head="WORKTREE", out="forged")
    ledger = tmp_path / "forged" / "ledger.jsonl"
    rows = [json.loads(line) for line in ledger.read_text("utf-8").splitlines()]
    expected = {f"golden/{name}": verdict for name, (_, verdict) in CASES.items()}
    for row in rows:
        row["grade"]["verdict"] = expected.get(row["item"], row["grade"]["verdict"])
    ledger.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return tmp_path / "forged"


def test_without_the_refusal_a_ledger_would_be_believed(repo, tmp_path):
    """The attack is real: an untracked ledger of the same work is a run to be resumed."""
    folder = forged(repo, tmp_path)
    shutil.copytree(folder, tmp_path / "again")
    assert repo.check(head="WORKTREE", out="again").code == 0
    assert repo.check(head="WORKTREE", out="fresh").code == 1


@pytest.mark.parametrize("where", ["results", "a/b"])
def test_a_tracked_ledger_is_refused(repo, tmp_path, where):
    folder = forged(repo, tmp_path)
    shutil.copytree(folder, repo.root / where)
    (repo.root / where / ".gitignore").unlink()
    repo.commit(message="bring a ledger along")
    ran = repo.gate("check", "--base", "main", "--head", "WORKTREE", out=f"repo/{where}")
    assert ran.code == 2
    assert f"{where}/ledger.jsonl: git tracks it" in ran.err


def test_a_tracked_link_to_a_ledger_is_refused(repo, tmp_path):
    folder = forged(repo, tmp_path)
    (repo.root / "results").symlink_to(folder)
    (repo.root / "other").mkdir()
    (repo.root / "other" / "ledger.jsonl").symlink_to(folder / "ledger.jsonl")
    (repo.root / "other" / "run.json").symlink_to(folder / "run.json")
    repo.commit(message="bring links along")
    ran = repo.gate("check", "--base", "main", "--head", "WORKTREE", out="repo/other")
    assert ran.code == 2
    assert "other/ledger.jsonl: git tracks it" in ran.err


@pytest.mark.parametrize("command", [["check", "--base", "main", "--head", "WORKTREE"], ["run"], ["audit"]])
def test_a_tracked_cache_is_refused(repo, command):
    repo.commit({".grader-gate-cache/cache.sqlite": b"x", **LENIENT})
    ran = repo.gate(*command)
    assert ran.code == 2
    assert ".grader-gate-cache/cache.sqlite: git tracks it" in ran.err
    assert repo.gate(*command, "--no-cache").code in (0, 1)


def test_a_cache_of_one_s_own_is_no_trouble(repo):
    repo.commit({"cases/all.yaml": case_file({**CASES, "two": ("It is half", "correct")})})
    assert repo.check().code == repo.check().code


def test_a_crash_shows_no_variable_that_is_named_like_a_secret(new_job):  # noqa: F811
    job = new_job()
    secrets = {
        name: f"value-of-{name.lower()}-0123" for name in ("OPENAI_API_KEY", "MY_SECRET", "DB_PASSWORD", "X_TOKEN_2")
    }
    job.env |= {**secrets, "MONKEY_FILE": "/usr/share/monkey"}
    job.measure.result = RuntimeError(f"broke with {secrets} and /usr/share/monkey")
    assert job.run() == 3
    for value in secrets.values():
        assert value not in job.log + job.summary + str(job.server.comments)
    assert "/usr/share/monkey" in job.log
    assert job.log.count("***") >= len(secrets)
