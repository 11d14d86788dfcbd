"""One revision alone, and two recordings: nothing usable and nothing there are no pass."""

from __future__ import annotations

import pytest

from tests.flow.repository import Repository


@pytest.mark.parametrize("command", ["run", "audit", "ladder"])
def test_a_grader_that_gives_no_usable_reply_does_not_pass(repo: Repository, command: str) -> None:
    repo.commit({"code/judge.py": "def grade(answer):\n    return 'what?'\n"})
    run = repo.gate(command, *(["--revision"] if command == "ladder" else []), "HEAD")
    assert run.code in (1, 3)
    assert run.suite["verdict"] in ("fail", "error")
    if command != "ladder":
        assert "got no usable reply" in run.suite["why"][0]


def test_a_ledger_that_lacks_items_of_the_first_is_no_pass(repo: Repository) -> None:
    first = repo.gate("run", "HEAD", out="a").folder / "ledger.jsonl"
    rows = first.read_text("utf-8").splitlines(keepends=True)
    second = repo.root.parent / "half.jsonl"
    second.write_text("".join(rows[:3]), "utf-8")
    run = repo.gate("diff", str(first), str(second))
    assert run.code == 3
    assert "4 of 7 items of the first ledger are not in the second" in run.out


def test_a_ledger_with_more_items_than_the_first_passes(repo: Repository) -> None:
    second = repo.gate("run", "HEAD", out="a").folder / "ledger.jsonl"
    first = repo.root.parent / "half.jsonl"
    first.write_text("".join(second.read_text("utf-8").splitlines(keepends=True)[:3]), "utf-8")
    assert repo.gate("diff", str(first), str(second)).code == 0
