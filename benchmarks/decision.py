"""Operating table of the decision rule, simulated through the program's own ``decide``.

Each simulated pull request has N claims with their own chance to fail, B = 3 stored runs of base and one run of head.
The simulation then makes every run that ``decide`` asks for, until there is a verdict. Other people's rules judge the
same evidence in the same run.

    python benchmarks/decision.py [--quick] [--json FILE] [--noise FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from grader_gate.decision import floors, ladders
from grader_gate.decision.decide import Decision, Settings, decide
from grader_gate.decision.evidence import Evidence, Requests
from grader_gate.decision.outcome import ClaimStatus
from grader_gate.decision.power import detectable_drop
from grader_gate.decision.statistics import mcnemar
from grader_gate.model import ClaimKind, GateVerdict, Side

STORED = 3
TAG = 6
"""Claims of the one small tag; eleven more tags share out the rest."""
BROKEN = 2
"""Distance of a failed run."""
DATA = Path(__file__).parent / "data" / "judge-noise.json"
SIZES = (72, 300, 2000)
Shares = np.ndarray[Any, np.dtype[np.float64]]
Mix = Callable[[np.random.Generator, int], Shares]


# ---------------------------------------------------------------- noise


def typical(rng: np.random.Generator, n: int) -> Shares:
    """Most claims steady, a seventh a little restless, one in twenty in the gray zone: 1.5 flips in 100 runs."""
    u = rng.random(n)
    return np.where(u < 0.05, rng.uniform(0.05, 0.5, n), np.where(u < 0.2, rng.beta(1, 30, n), 0.001))


def quiet(rng: np.random.Generator, n: int) -> Shares:
    """A judge at temperature 0 on clear cases: 0.4 flips in 100 runs."""
    u = rng.random(n)
    return np.where(u < 0.01, rng.uniform(0.05, 0.5, n), np.where(u < 0.1, rng.beta(1, 60, n), 0.0005))


def measured(shares: list[float]) -> Mix:
    """Claims drawn from measured shares of minority verdicts."""
    pool = np.minimum(np.array(shares), 1 - np.array(shares))
    return lambda rng, n: rng.choice(pool, n)


def mixes(noise: Path) -> dict[str, Mix]:
    """All noise mixes, by name."""
    found: dict[str, Mix] = {"typical": typical, "quiet": quiet}
    data = json.loads(noise.read_text())
    for name, key in (("t0_real", "temperature_0"), ("t1_real", "temperature_1")):
        found[name] = measured([share for judge in data[key].values() for share in judge])
    return found


def _shift(shares: Shares, logit: float) -> Shares:
    odds = shares / (1 - shares) * np.exp(logit)
    result: Shares = odds / (1 + odds)
    return result


# ---------------------------------------------------------------- what a pull request does


@dataclass
class World:
    """Chances to fail: ``store`` when the baseline was frozen, ``base`` and ``head`` now.

    ``lean``: standard deviation of a shift that all runs made at one time have in common, on the logit scale.
    """

    store: Shares
    base: Shares
    head: Shares
    lean: float = 0.0


def _break(world: World, rng: np.random.Generator, count: int, chance: float) -> None:
    steady = np.flatnonzero(world.base <= 0.05)
    world.head[rng.choice(steady, count, replace=False)] = chance


def _soft_tag(world: World, chance: float) -> None:
    world.head[:TAG] = np.maximum(world.head[:TAG], chance)


def _nothing(world: World, rng: np.random.Generator) -> None:
    pass


def _drift(world: World, rng: np.random.Generator) -> None:
    world.base = _shift(world.base, 0.5)
    world.head = world.base.copy()


def _together(world: World, rng: np.random.Generator) -> None:
    world.lean = 0.8


def _uniform(points: float) -> Callable[[World, np.random.Generator], None]:
    def change(world: World, rng: np.random.Generator) -> None:
        world.head = np.minimum(1.0, world.head + points)

    return change


def _gray(world: World, rng: np.random.Generator) -> None:
    gray = world.base >= 0.05
    world.head[gray] = _shift(world.head[gray], 1.5)


def _detectable(world: World, rng: np.random.Generator) -> None:
    noise = float(np.sum(world.store * (1 - world.store)))
    drop = detectable_drop(len(world.store), noise, STORED, Settings())
    world.head = np.minimum(1.0, world.head + (drop or 1.0))


SCENARIOS: dict[str, Callable[[World, np.random.Generator], None]] = {
    "nothing changed": _nothing,
    "nothing changed, provider drift": _drift,
    "nothing changed, runs lean together": _together,
    "1 claim fails 98%": lambda w, r: _break(w, r, 1, 0.98),
    "3 claims fail 98%": lambda w, r: _break(w, r, 3, 0.98),
    "1 claim fails 80%": lambda w, r: _break(w, r, 1, 0.80),
    "tag of 6 fails 98%": lambda w, r: _soft_tag(w, 0.98),
    "tag of 6 fails 40%": lambda w, r: _soft_tag(w, 0.40),
    "uniform drop of 2 points": _uniform(0.02),
    "uniform drop of 3 points": _uniform(0.03),
    "drop the report calls detectable": _detectable,
    "gray zone worse": _gray,
}


# ---------------------------------------------------------------- one pull request


def pull_request(world: World, rng: np.random.Generator, tags: list[tuple[str, ...]]) -> list[Evidence]:
    """What is known after the screen."""
    n = len(world.head)
    passes = [_leaning(world.store, world, rng) for _ in range(STORED)]
    stored = (rng.random((n, STORED)) < np.stack(passes, axis=1)).tolist()
    screen = (rng.random(n) < _leaning(world.head, world, rng)).tolist()
    return [
        Evidence(
            claim=f"c{i}",
            kind=ClaimKind.GOLDEN,
            stored=tuple([BROKEN * failed for failed in stored[i]]),
            screen=(BROKEN * screen[i],),
            tags=tags[i],
        )
        for i in range(n)
    ]


def _leaning(chances: Shares, world: World, rng: np.random.Generator) -> Shares:
    return _shift(chances, rng.normal(0, world.lean)) if world.lean else chances


def gate(evidence: list[Evidence], world: World, rng: np.random.Generator, settings: Settings) -> tuple[Decision, int]:
    """Run the program's rule to its verdict; also the calls it took."""
    place = {e.claim: i for i, e in enumerate(evidence)}
    calls = len(evidence)
    sides = {Side.HEAD: world.head, Side.BASE: world.base}
    while True:
        answer = decide(evidence, settings)
        if not isinstance(answer, Requests):
            if answer.verdict is GateVerdict.ERROR:
                raise RuntimeError(f"all was measured, and yet: {answer.why}")
            return answer, calls
        shift = rng.normal(0, world.lean) if world.lean else 0.0
        now = {Side.HEAD: _shift(world.head, shift), Side.BASE: _shift(world.base, shift)} if shift else sides
        for request in answer.runs:
            i = place[request.claim]
            name = f"{request.purpose}_{request.side.value}"
            runs: tuple[int, ...] = getattr(evidence[i], name)
            chance = now[request.side][i]
            new = tuple([BROKEN * bool(rng.random() < chance) for _ in range(request.upto - len(runs))])
            calls += len(new)
            setattr(evidence[i], name, runs + new)


def others(evidence: list[Evidence]) -> dict[str, bool]:
    """What rules in common use say after the screen alone."""
    fails = [bool(e.screen[0]) for e in evidence]
    stored = [[bool(d) for d in e.stored] for e in evidence]
    majority = [sum(runs) * 2 > len(runs) for runs in stored]
    drop = sum(fails) / len(fails) - sum(map(sum, stored)) / (STORED * len(stored))
    worse = sum(f and not s[0] for f, s in zip(fails, stored, strict=True))
    better = sum(s[0] and not f for f, s in zip(fails, stored, strict=True))
    return {
        "any flip": any(f and not m for f, m in zip(fails, majority, strict=True)),
        "drop of 2 points": drop > 0.02,
        "drop of 5 points": drop > 0.05,
        "single McNemar": mcnemar(worse, better) <= 0.05,
    }


def operating_rows(
    mix_name: str, mix: Mix, n: int, scenario: str, requests: int, seed: int, settings: Settings
) -> Iterable[dict[str, Any]]:
    """Rows of the table for one cell: ours first."""
    rng = np.random.default_rng([seed, n, *scenario.encode(), *mix_name.encode()])
    tags = [("small",) if i < TAG else (f"t{i % 11}",) for i in range(n)]
    blocked: dict[str, int] = {"grader-gate": 0}
    passes = 0.0
    for _ in range(requests):
        store = mix(rng, n)
        world = World(store, store.copy(), store.copy())
        SCENARIOS[scenario](world, rng)
        evidence = pull_request(world, rng, tags)
        for rule, says in others(evidence).items():
            blocked[rule] = blocked.get(rule, 0) + says
        answer, calls = gate(evidence, world, rng, settings)
        blocked["grader-gate"] += answer.verdict is GateVerdict.FAIL
        passes += calls / n
    for rule, count in blocked.items():
        yield row(rule, mix_name, n, scenario, count / requests, passes / requests if rule == "grader-gate" else 1.0)


# ---------------------------------------------------------------- floors


def floor_rows(requests: int, seed: int) -> Iterable[dict[str, Any]]:
    """A kill-rate floor of .90 on fixed sets of mutants: by one count, by survivors run again, and by the program."""
    for n in (20, 40):
        for scenario, lost in (("healthy set of .92, nothing changed", 0.0), ("a tenth of a .98 set lost", 0.1)):
            rng = np.random.default_rng([seed, n, int(100 * lost)])
            counts = dict.fromkeys(("one count", "best of 3", "floor", "new survivor"), 0)
            calls = 0
            for _ in range(requests):
                restless = rng.uniform(0.05, 0.7, n) if not lost else np.full(n, 0.08)
                escape = np.where(rng.random(n) < 0.8, 0.005, restless)
                world = World(escape, escape, escape.copy())
                steady = np.flatnonzero(escape < 0.05)
                world.head[rng.choice(steady, round(lost * n), replace=False)] = 0.98
                evidence = [replace(e, kind=ClaimKind.MUTANT) for e in pull_request(world, rng, [()] * n)]
                once = [e.screen[0] == 0 for e in evidence]
                base = [floors.killed([d == 0 for d in e.stored]) for e in evidence]
                answer, taken = gate(evidence, world, rng, Settings())
                fresh = (rng.random((n, 2)) >= world.head[:, None]).tolist()
                head = [floors.killed([first, *more]) for first, more in zip(once, fresh, strict=True)]
                new = sum(c.status is ClaimStatus.CONFIRMED for c in answer.claims.values())
                kills, kept = sum(map(bool, head)), sum(map(bool, base))
                counts["one count"] += floors.below(sum(once), n, 0.9)
                counts["best of 3"] += floors.below(kills, n, 0.9)
                counts["floor"] += floors.judge((kills, n), 0.9, (kept, n), new_survivors=new).breached
                counts["new survivor"] += new > 0
                calls += taken
            for rule, count in counts.items():
                passes = calls / requests / n if rule in ("floor", "new survivor") else 1.0
                yield row(rule, "kills", n, scenario, count / requests, passes)


# ---------------------------------------------------------------- ladders


def ladder_rows(ladders_: int, seed: int) -> Iterable[dict[str, Any]]:
    """Inversions found in ladders of five rungs scored on a 1 to 10 grid, noise .066 of the range a call."""
    for gap in (0.2, 0.1, 0.05, 0.0):
        yield from _ladder(f"clean, rungs {gap:g} apart", gap, None, ladders_, seed)
    for wrong in (0.2, 0.3):
        yield from _ladder(f"one rung {wrong:g} too low", 0.1, wrong, ladders_, seed)


def _ladder(scenario: str, gap: float, wrong: float | None, count: int, seed: int) -> Iterable[dict[str, Any]]:
    rng = np.random.default_rng([seed, *scenario.encode()])
    truth = 0.5 + gap * (np.arange(5) - 2)
    if wrong is not None:
        truth[3] = truth[2] - wrong
    found = dict.fromkeys(("one run", "median of 3", "median of 5", "ladder"), 0)
    calls = 0

    def scores(rung: int, runs: int) -> list[float]:
        return np.clip(1 + np.round(9 * (truth[rung] + rng.normal(0, 0.066, runs))), 1, 10).tolist()  # type: ignore[no-any-return]

    pairs = ladders.adjacent_pairs(list(range(5)))
    for _ in range(count):
        runs = [scores(rung, 5) for rung in range(5)]
        for rule, n in (("one run", 1), ("median of 3", 3), ("median of 5", 5)):
            found[rule] += any(ladders.inverted(runs[a][:n], runs[b][:n]) for a, b in pairs)
        suspects = [(a, b) for a, b in pairs if ladders.inverted(runs[a][:3], runs[b][:3])]
        confirmed = [ladders.confirmed_inversion(scores(a, 5), scores(b, 5)) for a, b in suspects]
        found["ladder"] += any(confirmed)
        calls += 15 + 10 * len(suspects)
    for rule, hits in found.items():
        passes = {"one run": 1.0, "median of 3": 3.0, "median of 5": 5.0}.get(rule, calls / count / 5)
        yield row(rule, "scores", 5, scenario, hits / count, passes)


# ---------------------------------------------------------------- the tables


def row(rule: str, mix: str, n: int, scenario: str, blocked: float, passes: float) -> dict[str, Any]:
    """One row: the share of pull requests blocked, and the passes over the suite that took, the screen included."""
    return {"rule": rule, "mix": mix, "n": n, "scenario": scenario, "blocked": blocked, "passes": passes}


RARE = ("nothing changed", "nothing changed, provider drift", "1 claim fails 98%")
"""Scenarios whose target is a small share: they get more pull requests."""


ELSEWHERE = (*RARE, "nothing changed, runs lean together", "uniform drop of 3 points", "tag of 6 fails 40%")
"""Scenarios that a full run simulates under every noise mix; the others it simulates under `typical` alone."""


def cells(names: Iterable[str], *, quick: bool) -> list[tuple[str, int, str, int]]:
    """Mix, size, scenario and number of pull requests of every cell."""
    found = []
    for mix in names:
        for n in SIZES:
            for scenario in SCENARIOS:
                rare = scenario in RARE
                if quick and mix == "typical":
                    found.append((mix, n, scenario, {72: (1000, 250), 300: (400, 120), 2000: (24, 4)}[n][not rare]))
                elif quick:
                    if n < 2000 and rare:
                        found.append((mix, n, scenario, 200 if n == 72 else 30))
                elif mix == "typical":
                    found.append((mix, n, scenario, {72: (3000, 600), 300: (1200, 240), 2000: (120, 24)}[n][not rare]))
                elif scenario in ELSEWHERE:
                    found.append((mix, n, scenario, {72: (800, 200), 300: (300, 80), 2000: (30, 8)}[n][not rare]))
    return found


def _cell(job: tuple[str, int, str, int, int, str]) -> list[dict[str, Any]]:
    mix, n, scenario, requests, seed, noise = job
    return list(operating_rows(mix, mixes(Path(noise))[mix], n, scenario, requests, seed, Settings()))


def _told(results: Iterable[list[dict[str, Any]]], count: int) -> Iterable[list[dict[str, Any]]]:
    for number, result in enumerate(results, start=1):
        print(
            f"{number} of {count} cells: {result[0]['mix']}, {result[0]['n']}, {result[0]['scenario']}", file=sys.stderr
        )
        yield result


def show(rows: list[dict[str, Any]]) -> str:
    """The rows as tables: a line for each scenario, a column for each rule."""
    lines = []
    for mix, n in dict.fromkeys((r["mix"], r["n"]) for r in rows):
        part = [r for r in rows if (r["mix"], r["n"]) == (mix, n)]
        rules = list(dict.fromkeys(r["rule"] for r in part))
        lines += ["", f"{mix}, N = {n}: % blocked (passes)", " " * 36 + "".join(f"{rule:>20}" for rule in rules)]
        for scenario in dict.fromkeys(r["scenario"] for r in part):
            by_rule = {r["rule"]: r for r in part if r["scenario"] == scenario}
            shown = [f"{100 * by_rule[rule]['blocked']:6.1f} ({by_rule[rule]['passes']:.2f})" for rule in rules]
            lines.append(f"{scenario:36}" + "".join(f"{text:>20}" for text in shown))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer pull requests: less than a minute on two cores")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--noise", type=Path, default=DATA, metavar="FILE", help="measured noise of judges")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the pull requests of each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    names = list(mixes(options.noise))
    jobs = [
        (mix, n, scenario, max(1, round(count * options.scale)), options.seed, str(options.noise))
        for mix, n, scenario, count in cells(names, quick=options.quick)
    ]
    # The longest first, so that no process is left with a long one at the end.
    order = sorted(range(len(jobs)), key=lambda i: -jobs[i][1] * jobs[i][3])
    if options.jobs > 1:
        with ProcessPoolExecutor(options.jobs) as pool:
            results = pool.map(_cell, [jobs[i] for i in order])
            done = dict(zip(order, _told(results, len(jobs)), strict=True))
    else:
        done = dict(zip(order, _told((_cell(jobs[i]) for i in order), len(jobs)), strict=True))
    rows = [r for i in range(len(jobs)) for r in done[i]]
    rows += floor_rows(300 if options.quick else 2000, options.seed)
    rows += ladder_rows(1000 if options.quick else 4000, options.seed)
    print(show(rows))
    print(f"\n{time.perf_counter() - started:.0f} s, seed {options.seed}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
