"""Baseline records that do not say what base says."""

from __future__ import annotations

from tests.flow.repository import Repository


def frozen(repo: Repository, old: str, new: str) -> None:
    """Freeze on main, with one verdict of the record changed by hand, and go on with a topic branch."""
    repo.git("switch", "-q", "main")
    assert repo.gate("freeze", "HEAD", "--by", "t", out="frozen").code == 0
    (record,) = (repo.root / ".grader-gate/baseline").glob("*.jsonl")
    text = record.read_text("utf-8")
    assert new == old or new not in text.replace(old, "")
    record.write_text(text.replace(old, new), "utf-8")
    repo.commit(message="freeze")
    repo.git("switch", "-q", "-c", "later")


def test_a_record_that_says_base_was_wrong_already_does_not_excuse_a_worse_head(repo: Repository) -> None:
    frozen(repo, '"reason":"it ends with half","verdict":"partial"', '"reason":"it ends with half","verdict":"correct"')
    repo.commit({"rubric.md": "lenient: look\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (1, "fail")
    assert [f["case"] for f in run.findings("regression")] == ["two"]


def test_true_debt_costs_one_call_on_base_and_is_not_blamed(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({"rubric.md": "lenient: as ever\n"})
    frozen(repo, "", "")
    repo.commit({"rubric.md": "lenient: look again\n"})
    run = repo.check()
    assert (run.code, run.result["verdict"]) == (0, "pass")
    assert [r["item"] for r in run.ledger() if r["side"] == "base"] == ["golden/two"]
