"""What a grader must never be shown."""

from __future__ import annotations

import pytest

from tests.flow.repository import CASES, CONFIG, Repository, base_files, case_file


def test_a_file_of_cases_is_no_rubric_for_a_grader(repo: Repository) -> None:
    repo.commit({".grader-gate.yml": CONFIG.replace("rubric: rubric.md", "rubric: ./cases/all.yaml")})
    run = repo.check()
    assert (run.code, run.ledger()) == (2, [])
    assert "./cases/all.yaml holds cases" in run.err
    assert "graders.judge.rubric" in run.err


@pytest.mark.parametrize("path", ["all.yaml", "../ladders/all.yaml"])
def test_a_file_of_cases_is_no_rubric_for_a_case(repo: Repository, path: str) -> None:
    repo.commit({"cases/all.yaml": case_file(CASES).replace(", tags:", f", rubric: {{file: {path}}}, tags:", 1)})
    run = repo.check()
    assert (run.code, run.ledger()) == (2, [])
    assert "holds cases" in run.err


def test_a_rubric_file_among_the_case_files_folder_is_fine(empty: Repository) -> None:
    rubrics = case_file(CASES).replace(", tags:", ", rubric: {file: strict.md}, tags:")
    empty.commit({**base_files(cases=rubrics), "cases/strict.md": "strict: x\n"}, "base")
    empty.git("switch", "-q", "-c", "topic")
    empty.commit({"cases/strict.md": "lenient: x\n"})
    run = empty.check()
    assert [f["case"] for f in run.findings("regression")] == ["two"]
