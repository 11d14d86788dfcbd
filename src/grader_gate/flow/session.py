"""One run's shared means: ledger, cache, budget, progress, and how planned grades become rows in gradebooks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader_gate.audits.gradebook import Gradebook
from grader_gate.config import Budget as BudgetCaps
from grader_gate.flow.outputs import make_folder
from grader_gate.graders.base import Grader
from grader_gate.model import LedgerRow, PlannedGrade, Side, digest
from grader_gate.result import Cost
from grader_gate.runs.budget import Budget
from grader_gate.runs.cache import Cache
from grader_gate.runs.engine import RunOutcome, run
from grader_gate.runs.estimate import Tariff
from grader_gate.runs.ledger import Ledger
from grader_gate.runs.progress import Progress


@dataclass(slots=True)
class Session:
    """Grades planned grades and keeps the count of what they cost.

    :ivar graders: by side and name, as the engine wants them.
    """

    ledger: Ledger
    cache: Cache | None
    budget: Budget
    progress: Callable[[str], Progress]
    concurrency: int
    graders: dict[tuple[Side, str], Grader] = field(default_factory=dict)
    tariff: Tariff | None = None
    from_baseline: int = 0
    planned: int = 0
    measured: int = 0
    _calls: int = 0
    _cached: int = 0
    _resumed: int = 0
    _input_tokens: int = 0
    _output_tokens: int = 0
    _usd: float | None = 0.0
    _started: float = field(default_factory=time.monotonic)

    async def grade(self, planned: Sequence[PlannedGrade], label: str) -> RunOutcome:
        """Get the planned grades; those the budget refused are simply missing from the outcome."""
        if not planned:
            return RunOutcome()
        known = {p.key for p in planned if self.ledger.get(p) is not None}
        outcome = await run(
            planned,
            self.graders,
            ledger=self.ledger,
            cache=self.cache,
            budget=self.budget,
            concurrency=self.concurrency,
            progress=self.progress(label),
            worst_cost=None if self.tariff is None else self.tariff.worst_cost,
        )
        self.planned += len({p.key for p in planned})
        self._cached += outcome.cached
        self._resumed += outcome.resumed
        for row in outcome.rows.values():
            self.measured += not row.grade.unmeasured
            if row.reused is None and row.key not in known:
                self._count(row)
        return outcome

    def _count(self, row: LedgerRow) -> None:
        usage = row.grade.usage
        self._calls += usage.calls
        self._input_tokens += usage.input_tokens
        self._output_tokens += usage.output_tokens
        if usage.cost_usd is not None and self._usd is not None:
            self._usd += usage.cost_usd
        elif usage.input_tokens or usage.output_tokens:
            self._usd = None

    @property
    def calls_left(self) -> int | None:
        """Calls the budget still allows; None without a cap."""
        return None if self.budget.max_calls is None else max(0, self.budget.max_calls - self.budget.calls)

    def cost(self) -> Cost:
        """What was spent so far; dollars only where every model that was called has a price."""
        return Cost(
            calls=self._calls,
            cached=self._cached,
            from_baseline=self.from_baseline,
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
            usd=self._usd,
            seconds=round(time.monotonic() - self._started, 3),
        )


def into(book: Gradebook, rows: Iterable[LedgerRow], *, stored: bool = False) -> None:
    """Enter rows in a gradebook; ``stored`` enters them as what base is known to say."""
    from grader_gate.audits.gradebook import STORED

    for row in rows:
        book.put(row.side, STORED if stored else row.purpose, row.item, row.repeat, row.grade)


def caps(policy: BudgetCaps, max_calls: int | None) -> Budget:
    """The run's budget: the policy's caps, which a caller may only tighten."""
    calls = policy.max_calls if max_calls is None else min(policy.max_calls, max_calls)
    return Budget(max_calls=calls, max_cost_usd=policy.max_cost_usd, max_seconds=policy.max_seconds)


def _aside(out: Path, pair: str) -> Path:
    return out / f"ledger.{digest('pair', pair)[:12]}.jsonl"


def open_ledger(out: Path, pair: Mapping[str, str], redact: Callable[[str], str]) -> Ledger:
    """The ledger of this pair of revisions in ``out``: an interrupted run of the same pair is resumed, whatever ran in
    between. The ledger of another pair is put aside under its name, for its confirmations are evidence of that pair
    only."""
    make_folder(out)
    path, note = out / "ledger.jsonl", out / "run.json"
    text = json.dumps(dict(pair), sort_keys=True, indent=1) + "\n"
    before = note.read_text("utf-8", "replace") if note.exists() else None
    if before != text:
        if path.exists():
            path.replace(_aside(out, before or ""))
        if (kept := _aside(out, text)).exists():
            kept.rename(path)
    note.write_text(text, "utf-8")
    return Ledger(path, redact=redact)
