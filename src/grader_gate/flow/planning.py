"""What would be graded, why, and what it costs: for ``check --dry-run`` and ``plan``. Calls nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tabulate import tabulate

from grader_gate.config import Mutators
from grader_gate.flow.exams import suite_exam
from grader_gate.flow.families import second_calls, second_exams
from grader_gate.flow.prepare import CheckOptions, Prepared
from grader_gate.flow.single import SingleOptions, single_run
from grader_gate.flow.why import case_changes, grader_changes
from grader_gate.model import ClaimKind, Purpose
from grader_gate.report.escape import log_line
from grader_gate.result import Change, Estimate
from grader_gate.runs.cache import Cache
from grader_gate.runs.estimate import estimate
from grader_gate.runs.plan import SideExam, passes
from grader_gate.suite.mutators.registry import registry, resolve


def describe_check(prepared: Prepared, options: CheckOptions) -> str:
    """What of a comparison is affected, by which changes, and the calls that takes."""
    from grader_gate.flow.work import estimate_of, find_work

    cache = None if options.cache is None else Cache(options.cache, readable=("local",), writes=None)
    try:
        work = find_work(prepared)
        asked = options.second_family or prepared.base.config.policy.second_family == "always"
        seconds, _ = second_exams(work.comparisons, prepared.base, prepared.head)
        further = {name: second_calls(exam) for name, exam in seconds.items()}
        price = estimate_of(work, prepared, cache, [c for calls in further.values() for c in calls] if asked else ())
    finally:
        asyncio.run(_close(prepared))
        if cache is not None:
            cache.close()
    lines = []
    for comparison in work.comparisons:
        assert comparison.head is not None
        kinds = Counter(c.kind.value for c in comparison.affected.claims.values())
        lines.append(
            f"suite {comparison.suite}: {len(comparison.affected.items)} of {len(comparison.base.exam.items)} items "
            f"affected; {', '.join(f'{n} {kind}' for kind, n in kinds.items())} claims to compare"
        )
        changes = [
            *grader_changes(
                prepared.base, prepared.head, comparison.base.name, comparison.head.name, options.config_path
            ),
            *case_changes(prepared.base, prepared.head, comparison.suite),
        ]
        lines += [f"  because of {_change(change)}" for change in changes]
        lines.append(
            f"  base side: {comparison.from_baseline} items from the baseline, {len(comparison.live)} to measure"
        )
    for name, new in work.novelties.items():
        lines.append(f"suite {name}: {len(new.head.exam.claims)} new claims ({len(new.items)} items)")
    lines += [f"suite {name}: nothing affected" for name in work.unaffected if name not in work.novelties]
    lines += [f"suite {name}: head has no grader for it" for name in work.gone]
    for name, calls in further.items():
        how = "is asked for" if asked else "is not asked for; --second-family would add it"
        lines.append(f"suite {name}: second family {seconds[name].name} with {len(calls)} calls {how}")
    for goalpost in prepared.goalposts:
        lines.append(f"goalpost: {goalpost.what}: {goalpost.detail}")
    if work.empty and not prepared.goalposts:
        lines.append("nothing is affected: not applicable")
    lines.append(price_words(price))
    return "\n".join("  " * line.startswith("  ") + log_line(line.strip(), 400) for line in lines)


def describe_plan(root: Path, revision: str, options: SingleOptions) -> str:
    """The suites of a revision: items and claims by kind, mutants under the default budget and under the full
    catalogue, with the calls and the price of one pass of each."""
    rows = []
    totals: list[Estimate] = []
    catalogue: list[Estimate] = []
    seconds: list[str] = []
    plain: list[tuple[str, int]] = []
    with single_run(root, revision, replace(options, cache=None), "plan") as run:
        side = run.side
        for name, exam in run.exams.items():
            kinds = Counter(c.kind for c in exam.exam.claims.values())
            config = side.config.suites[name]
            contract = side.config.graders[config.grader].contract
            everything = suite_exam(
                side.config,
                side.suites[name],
                side.texts(config.grader),
                mutators=resolve(Mutators(use="all")),
                per_mutator=10_000,
                role_for=contract.role_for,
            )
            planned = list(passes(exam, list(exam.exam.items), Purpose.SCREEN, range(1)))
            assert run.session.tariff is not None
            unspoiled = [c for c in exam.exam.claims.values() if c.kind in (ClaimKind.GOLDEN, ClaimKind.RUNGS)]
            plain.append((name, len({item for claim in unspoiled for item in claim.items})))
            totals.append(estimate(planned, run.session.tariff))
            whole = SideExam(exam.side, name, exam.name, exam.grader, everything)
            every = passes(whole, list(everything.items), Purpose.SCREEN, range(1))
            catalogue.append(estimate(every, run.session.tariff))
            if name in run.seconds:
                more = estimate(second_calls(run.seconds[name]), run.session.tariff)
                seconds.append(
                    f"{name}: second family {run.seconds[name].name}, in `run` and `audit`: {price_words(more)}"
                )
            rows.append(
                [
                    name,
                    exam.name,
                    kinds[ClaimKind.GOLDEN],
                    kinds[ClaimKind.MUTANT],
                    kinds[ClaimKind.CONTROL],
                    kinds[ClaimKind.ATTACK],
                    kinds[ClaimKind.RUNGS],
                    len(exam.exam.items),
                    len(everything.items),
                ]
            )
        asyncio.run(side.aclose())
    headers = [
        "suite",
        "grader",
        "golden",
        "mutants",
        "controls",
        "attacks",
        "rung pairs",
        "calls a pass",
        "full catalogue",
    ]
    lines = [tabulate(rows, headers, tablefmt="simple", disable_numparse=True), ""]
    lines += [f"{row[0]}: one pass: {price_words(total)}" for row, total in zip(rows, totals, strict=True)]
    lines += [f"{row[0]}: full catalogue: {price_words(total)}" for row, total in zip(rows, catalogue, strict=True)]
    lines += seconds
    lines += [
        f"{name}: `run` grades {n} items, golden cases and rungs; `audit`, `freeze` and a changed prompt take passes"
        for name, n in plain
    ]
    lines.append(f"{len(registry())} mutators are known; `mutators:` of a suite chooses among them")
    return "\n".join(lines)


def price_words(price: Estimate) -> str:
    """An estimate in one line."""
    said = f"{price.calls} calls"
    if price.confirm_calls_high:
        said += f", and at most {price.confirm_calls_high} more to confirm flips"
    if price.tokens_high:
        said += f"; {price.tokens_low:,} to {price.tokens_high:,} tokens"
    if price.usd_low is not None and price.usd_high is not None:
        said += f"; ${price.usd_low:.2f} to ${price.usd_high:.2f}" if price.usd_high else "; no model is paid"
    elif price.tokens_high:
        said += "; price unknown: add `prices` to the provider"
    return said


def _change(change: Change) -> str:
    where = ""
    if change.location is not None:
        where = change.location.path + (f":{change.location.line}" if change.location.line else "")
    return " ".join(part for part in (change.what, where, change.detail) if part)


async def _close(prepared: Prepared) -> None:
    await prepared.base.aclose()
    await prepared.head.aclose()
