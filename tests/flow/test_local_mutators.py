"""Mutators of the project: read from the trusted side, part of the examination."""

from __future__ import annotations

from tests.flow.repository import CONFIG, Repository, case_file

LOCAL = """
from grader_gate.model import GradeVerdict
from grader_gate.suite.mutators import Mutant, Mutator, Polarity


def shout(text, case, context):
    return [Mutant(text.upper() + " bad")]


def mutator():
    return Mutator(
        name="shout", polarity=Polarity.DEGRADE, property="tone", best=GradeVerdict.PARTIAL, version=1, function=shout,
        example=("a", "A bad"), default=False, description="Shout.",
    )
"""
CASES = {f"c{n}": (f"Answer {n} is good", "correct") for n in range(12)}


def with_local(repo: Repository) -> None:
    repo.git("switch", "-q", "main")
    config = CONFIG.replace("mutators: none", 'mutators: {use: none, modules: ["tools.local:mutator"]}')
    repo.commit({".grader-gate.yml": config, "tools/local.py": LOCAL, "cases/all.yaml": case_file(CASES)})
    repo.git("switch", "-q", "-C", "topic")


def test_a_mutator_of_the_project_is_run_beside_the_identity(repo: Repository) -> None:
    with_local(repo)
    run = repo.gate("audit")
    rows = {row["mutator"]: row["head"] for row in run.suite["mutators"]}
    assert rows["shout"] == {"k": 12, "n": 12, "planned": 12}
    assert set(rows) == {"shout", "identity"}


def test_a_changed_mutator_of_the_project_is_a_goalpost_and_bases_is_run(repo: Repository) -> None:
    with_local(repo)
    tame = LOCAL.replace('text.upper() + " bad"', "text + ' .'")
    repo.commit({"tools/local.py": tame, "rubric.md": "strict again\n"})
    run = repo.check()
    assert (run.code, run.goalposts()) == (1, ["project-local mutator changed"])
    rows = {row["mutator"]: row["head"] for row in run.suite["mutators"]}
    assert rows["shout"] == {"k": 12, "n": 12, "planned": 12}


def test_code_of_heads_mutator_is_never_run(repo: Repository) -> None:
    with_local(repo)
    canary = repo.root.parent / "canary"
    repo.commit({"tools/local.py": LOCAL + f"\nopen({str(canary)!r}, 'w').close()\n"})
    assert repo.check().code == 1
    assert not canary.exists()


def test_a_mutator_that_cannot_be_loaded_is_one_line_with_its_place(repo: Repository) -> None:
    with_local(repo)
    repo.write({"tools/local.py": "raise RuntimeError('no')\n"})
    run = repo.gate("audit")
    assert run.code == 2
    assert "tools.local:mutator: cannot be loaded: RuntimeError: no" in run.err
    assert ".grader-gate.yml:11" in run.err
