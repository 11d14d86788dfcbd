"""How a command ends when the world around it is odd: one clear line and the right exit code, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader_gate import cli
from tests.flow.repository import Repository


def started(repo: Repository, *arguments: str, **environ: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "grader_gate", *arguments, "-C", str(repo.root)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environ},
    )  # fmt: skip


def test_a_reader_that_goes_away_does_not_turn_a_fail_into_success(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient: look\n"})
    process = started(repo, "check", "--base", "main", "--head", "HEAD")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 1
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


def test_a_terminal_without_unicode_still_shows_the_verdict(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient: look\n"})
    process = started(repo, "check", "--base", "main", "--head", "HEAD", PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"Fail" in out
    assert b"Traceback" not in err


@pytest.mark.parametrize("out", ["rubric.md", "rubric.md/below", "x" * 300, "code/judge.py"])
def test_a_folder_of_results_that_cannot_be_is_a_usage_error(repo: Repository, out: str) -> None:
    repo.commit({"rubric.md": "lenient: look\n"})
    run = repo.gate("check", "--base", "main", "--head", "HEAD", out=f"repo/{out}")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert out in run.err


def test_a_note_of_an_earlier_run_that_is_no_text_is_not_trusted(repo: Repository) -> None:
    repo.commit({"rubric.md": "lenient: look\n"})
    folder = repo.root.parent / "results"
    folder.mkdir()
    (folder / "run.json").write_bytes(b"\xff\xfe")
    assert repo.check().code == 1


def test_a_bug_is_no_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("grader_gate.commands.run_mutators", broken)
    assert cli.main(["mutators"]) == 3
    assert "a bug of grader-gate" in capsys.readouterr().err
