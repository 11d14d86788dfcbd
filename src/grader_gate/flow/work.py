"""What a prepared comparison has to measure, by digest: suites, new cases, calls and their price. Calls nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grader_gate.baselines.record import Baseline, BaselineRecord, read_baseline
from grader_gate.config import ChatGrader, Config, HttpGrader, Provider
from grader_gate.flow.compare import Comparison, compare, screen_plan, take_baseline
from grader_gate.flow.novelty import Novelty, novelty
from grader_gate.flow.prepare import Prepared
from grader_gate.flow.sides import SideSetup
from grader_gate.model import PlannedGrade, Purpose, Role, digest
from grader_gate.result import Estimate, Notice
from grader_gate.runs.cache import Cache
from grader_gate.runs.estimate import Tariff, estimate
from grader_gate.runs.plan import passes


@dataclass(slots=True)
class Work:
    """What is to be measured: affected suites, new cases, and the calls that takes."""

    comparisons: list[Comparison] = field(default_factory=list)
    novelties: dict[str, Novelty] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    unaffected: list[str] = field(default_factory=list)
    baseline: Baseline = field(default_factory=Baseline)

    @property
    def empty(self) -> bool:
        """Whether nothing has to be graded."""
        return not self.comparisons and not self.novelties


def find_work(prepared: Prepared, records: Sequence[BaselineRecord] = ()) -> Work:
    """Compare every suite by digest; no call is made.

    :param records: trusted records from other stores than the base commit's files.
    """
    base, head = prepared.base, prepared.head
    work = Work()
    for name in prepared.suites:
        if name in base.suites:
            if base.config.graders[base.config.suites[name].grader].contract.strongest_role() is Role.ABSTAIN:
                prepared.notices.append(Notice(message=f"suite {name}: the contract abstains; nothing is graded"))
                continue
            comparison = compare(base, head, name)
            if comparison.head is None:
                work.gone.append(name)
            elif comparison.affected.claims:
                work.comparisons.append(comparison)
            else:
                work.unaffected.append(name)
        if name in head.suites:
            new = novelty(base, head, name, head.config.suites[name].grader)
            if new is not None:
                work.novelties[name] = new
    if work.comparisons:
        work.baseline = read_baseline(base.tree, base.config.baseline.path, records)
        for comparison in work.comparisons:
            take_baseline(comparison, work.baseline)
    return work


def first_calls(work: Work, config: Config) -> list[PlannedGrade]:
    """The screen of all suites and the new cases: what is certain to be called, unless it is cached."""
    planned: list[PlannedGrade] = []
    for comparison in work.comparisons:
        repeats = config.suites[comparison.suite].repeats
        planned += screen_plan(comparison, screen=repeats.screen, live=repeats.live)
    for name, new in work.novelties.items():
        screen = config.suites[name].repeats.screen if name in config.suites else 1
        planned += passes(new.head, new.items, Purpose.SCREEN, range(screen))
    return planned


def tariff_of(base: SideSetup, head: SideSetup) -> Tariff:
    """Prices of every grader built so far, from the trusted side's provider blocks."""
    graders, providers = {}, {}
    for side in (base, head):
        for name, grader in side.built.items():
            graders[side.side, name] = grader
            provider = _provider(side, name, base)
            if provider is not None:
                providers[side.side, name] = provider
    return Tariff(graders, providers)


def _provider(side: SideSetup, name: str, base: SideSetup) -> Provider | None:
    config = side.config.graders.get(name)
    return base.providers.get(config.provider) if isinstance(config, ChatGrader | HttpGrader) else None


def estimate_of(work: Work, prepared: Prepared, cache: Cache | None, further: Sequence[PlannedGrade] = ()) -> Estimate:
    """What the run will take: the first calls exactly, and the most that confirmation could add.

    :param further: calls of a second family, where it is asked for.
    """
    planned = [*first_calls(work, prepared.base.config), *further]
    claims = sum(len(c.affected.claims) for c in work.comparisons)
    return estimate(
        planned,
        tariff_of(prepared.base, prepared.head),
        cache=cache,
        confirm_calls_high=MOST_CONFIRMED_RUNS * min(claims, MOST_RERUN_CLAIMS) * 2,
    )


MOST_CONFIRMED_RUNS = 18
"""Re-runs a side of one flip at most (decision page, table of k)."""

MOST_RERUN_CLAIMS = 200
"""Flips beyond which the table of k no longer grows; only for the upper estimate."""


def plan_digest(work: Work) -> str:
    """Tells whether an interrupted run had the same work: its ledger is only resumed then."""
    return digest(
        "plan",
        [
            (
                c.suite,
                c.base.grader.identity,
                c.head.grader.identity if c.head else "",
                [c.head.request_digest(i) for i in c.affected.items] if c.head else [],
            )
            for c in work.comparisons
        ],
        [(n, new.head.grader.identity, new.items) for n, new in work.novelties.items()],
    )
