"""Has the provider changed under an unchanged repository? A sample of the frozen baseline, graded anew and compared.

The question is the gate's own, with the frozen grades as base and today's as head, so the gate's own rule decides it.
One thing differs: the model that gave the frozen grades cannot be called any more, for it is just what may have
changed. So base is "not obtainable": a single claim is confirmed by re-runs of today against stored runs that all
agreed (five of each), and the sample as a whole by the exact paired test (p at most .001). The gate looks for worse
only; here better is a change too, so the exact test is made in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader_gate.audits.claims import Reading, needed_items
from grader_gate.audits.gradebook import STORED, Gradebook, ReadingPair
from grader_gate.baselines.record import Baseline, BaselineRecord, read_baseline
from grader_gate.config import Contract
from grader_gate.decision.decide import decide
from grader_gate.decision.evidence import Evidence, Requests
from grader_gate.decision.outcome import ClaimStatus, Settings
from grader_gate.flow.compare import Comparison, all_evidence, settle, take_baseline
from grader_gate.flow.heads import covered
from grader_gate.flow.session import Session, into
from grader_gate.flow.single import SingleOptions, single_run
from grader_gate.model import Claim, GateVerdict, Purpose, Role, Side, digest
from grader_gate.runs.plan import Affected, SideExam, needed, passes

SAMPLE = 60
"""Items of a suite per run; another day draws others, so that a month of nights sees a large suite."""


@dataclass(frozen=True, slots=True)
class SuiteDrift:
    """What one suite's sample shows.

    :ivar verdict: ``fail`` where it drifted, ``pass`` where nothing speaks for it, ``error`` where it was not measured,
        ``not applicable`` where it has no frozen grade or cannot be called again.
    :ivar moved: claims confirmed as worse, in words.
    :ivar frozen_models: served versions among the frozen grades. :ivar served_models: those of today.
    """

    suite: str
    verdict: GateVerdict
    why: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    claims: int = 0
    graded: int = 0
    frozen_models: tuple[str, ...] = ()
    served_models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """All suites, and what it took."""

    commit: str
    baseline: str
    suites: tuple[SuiteDrift, ...]
    calls: int

    @property
    def verdict(self) -> GateVerdict:
        """Drift in any suite beats what was not measured, which beats a pass."""
        found = {s.verdict for s in self.suites}
        order = (GateVerdict.FAIL, GateVerdict.ERROR, GateVerdict.PASS)
        return next((v for v in order if v in found), GateVerdict.NOT_APPLICABLE)


async def measure_drift(
    root: Path,
    revision: str,
    options: SingleOptions,
    day: str,
    records: Iterable[BaselineRecord] = (),
    *,
    sample: int = SAMPLE,
) -> Drift:
    """Grade a sample anew, without any cache, and judge it.

    :param day: chooses the sample; the same day draws the same.
    """
    with single_run(root, revision, options, "drift") as run:
        side = run.side
        try:
            side.prepare()
            baseline = read_baseline(side.tree, side.config.baseline.path, records)
            contracts = {name: side.config.graders[exam.name].contract for name, exam in run.exams.items()}
            suites = [
                await _suite(exam, run.session, baseline, contracts[name], day, sample)
                if contracts[name].role is not Role.ABSTAIN
                else SuiteDrift(name, GateVerdict.NOT_APPLICABLE, ("the contract abstains",))
                for name, exam in run.exams.items()
            ]
            return Drift(side.sha, baseline.describe(), tuple(suites), run.session.cost().calls)
        finally:
            await side.aclose()


async def _suite(
    exam: SideExam, session: Session, baseline: Baseline, contract: Contract, day: str, sample: int
) -> SuiteDrift:
    name, reading = exam.suite, Reading(contract.scale)
    if not exam.grader.repeatable:
        return SuiteDrift(name, GateVerdict.NOT_APPLICABLE, ("recorded grades do not drift",))
    claims = draw(exam, baseline, day, sample)
    if not claims:
        return SuiteDrift(name, GateVerdict.NOT_APPLICABLE, ("no frozen grade has these digests",))
    items = needed(claims)
    pair = ReadingPair(reading, reading)
    comparison = Comparison(
        name,
        replace(exam, side=Side.BASE),
        exam,
        Affected(items=items, claims={c.id: c for c in claims}),
        pair,
        Gradebook(),
    )
    take_baseline(comparison, baseline)
    outcome = await session.grade(list(passes(exam, items, Purpose.SCREEN, range(1))), f"drift of {name}")
    into(comparison.book, outcome.rows.values())
    settings = Settings(base_obtainable=False)
    decision = await settle(comparison, session, settings, deterministic=False, gates=lambda claim: claim.gating)
    found = all_evidence(comparison, deterministic=False, gates=lambda claim: claim.gating)
    better = _better(found, settings)
    moved = [f"{n}: {d.sentence}" for n, d in decision.claims.items() if d.status is ClaimStatus.CONFIRMED]
    why = [f"{len(moved)} claims are worse than frozen, each confirmed by re-runs"] if moved else []
    why += [f"worse: {d.sentence}" for d in decision.drops if d.blocked]
    why += [f"better: {line}" for line in better]
    unmeasured = [i for i in items if not _measured(comparison.book, i)]
    verdict = GateVerdict.FAIL if why else GateVerdict.PASS
    undecided = sum(d.status is ClaimStatus.UNDECIDED for d in decision.claims.values())
    if undecided and not why:
        # Too little is stored to tell one claim from noise; the whole sample was tested, and says nothing.
        why = [f"{undecided} claims differ and cannot be decided: freeze with `repeats.freeze: 5` or more"]
    if unmeasured and verdict is not GateVerdict.FAIL:
        verdict = GateVerdict.ERROR
        why = [session.budget.exhausted or f"{len(unmeasured)} of {len(items)} items could not be graded"]
    return SuiteDrift(
        name,
        verdict,
        tuple(why),
        tuple(moved),
        len(claims),
        len(items) - len(unmeasured),
        _models(comparison, Side.BASE),
        _models(comparison, Side.HEAD),
    )


def draw(exam: SideExam, baseline: Baseline, day: str, sample: int) -> list[Claim]:
    """Claims whose items are all frozen, in an order that the day decides, up to ``sample`` items."""
    known = [c for c in exam.exam.claims.values() if all(covered(baseline, exam, i) for i in c.items)]
    known.sort(key=lambda claim: digest("drift", day, exam.suite, claim.id))
    chosen: list[Claim] = []
    items: set[str] = set()
    for claim in known:
        if len(items | set(needed_items(claim))) <= sample:
            items |= set(needed_items(claim))
            chosen.append(claim)
    return chosen


def _better(found: Sequence[Evidence], settings: Settings) -> list[str]:
    """The exact test with the sides changed: frozen against today."""
    turned = [
        replace(e, stored=e.screen, screen=e.stored, confirm_head=(), confirm_base=(), repeatable=False) for e in found
    ]
    decision = decide(turned, settings)
    return [] if isinstance(decision, Requests) else [d.sentence for d in decision.drops if d.blocked]


def _measured(book: Gradebook, item: str) -> bool:
    return any(not grade.unmeasured for grade in book.of(Side.HEAD, Purpose.SCREEN, item).values())


def _models(comparison: Comparison, side: Side) -> tuple[str, ...]:
    purpose = STORED if side is Side.BASE else Purpose.SCREEN
    grades = (g for item in comparison.affected.items for g in comparison.book.of(side, purpose, item).values())
    return tuple(sorted({g.served_model for g in grades if g.served_model}))
