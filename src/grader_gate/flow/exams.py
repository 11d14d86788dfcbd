"""What a grader is asked in a suite: as many answers as its contract says, in as many environments as it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader_gate.config import CommandGrader, Config, Contract, GraderConfig, Pairs
from grader_gate.errors import UsageError
from grader_gate.model import Role, Suite
from grader_gate.result import Notice
from grader_gate.suite.dirty import DIRTY, add_dirty
from grader_gate.suite.items import Examination, SideTexts, examine
from grader_gate.suite.mutators.api import Mutator


class ComparesChanged(UsageError):
    """One side's grader judges one answer, the other side's compares two: nothing of them can be compared."""


def pairs_of(config: Config, suite: str, contract: Contract) -> Pairs | None:
    """Which pairs a grader is shown in a suite; None for one that judges single answers.

    :param config: the side's whose suite it is; a suite only the other side has gets the default design.
    """
    if not contract.compares:
        return None
    return config.suites[suite].pairs if suite in config.suites else Pairs()


def suite_exam(
    config: Config,
    suite: Suite,
    texts: SideTexts,
    *,
    mutators: Sequence[Mutator],
    per_mutator: int,
    role_for: Callable[[tuple[str, ...]], Role],
) -> Examination:
    """The items and claims of a suite under the contract of its own side's grader.

    :param config: the configuration of the side whose suite it is.
    :param texts: how the grading side shows it.
    """
    grader = config.graders[config.suites[suite.name].grader]
    pairs = pairs_of(config, suite.name, grader.contract)
    made = examine(suite, mutators, per_mutator, texts, role_for, pairs=pairs)
    if _tries_dirty(grader) and mutators and pairs is None:
        add_dirty(made, suite.cases, role_for)
    return made


def refuse_mixed(suite: str, base: Contract, head: Contract) -> None:
    """Two sides that are asked different things are not compared.

    :raises ComparesChanged: one side compares, the other does not.
    """
    if base.compares != head.compares:
        now = "compares two answers" if head.compares else "judges one answer"
        raise ComparesChanged(
            f"suites.{suite}: the grader now {now}, on the base branch it does not; nothing of it can be compared. "
            "Add it as a new grader with a suite of its own, and remove the old one once it is frozen"
        )


def _tries_dirty(grader: GraderConfig) -> bool:
    return isinstance(grader, CommandGrader) and grader.fixtures is not None and bool(grader.fixtures.dirty)


def idle_trials(grader: GraderConfig, suite: str, exam: Examination) -> list[Notice]:
    """That a dirty environment was configured and there is no wrong answer to try it on."""
    if not _tries_dirty(grader) or any(claim.mutator == DIRTY for claim in exam.claims.values()):
        return []
    said = f"suite {suite}: `fixtures.dirty` was not tried: no case expected `incorrect`, or `mutators: none`"
    return [Notice(message=said, level="warning")]
