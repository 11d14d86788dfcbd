"""Policy, contracts and suite settings that head loosens. Pure: configurations in, goalposts out.

Only what measures less or forgives more counts. Raising a floor, adding a case, lowering a cap does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations

from grader_gate.config import (
    Baseline,
    CommandGrader,
    Config,
    Contract,
    FreezeBy,
    GraderBase,
    Mode,
    Mutators,
    Pairs,
    Policy,
    SuiteConfig,
    Waiver,
)
from grader_gate.model import Role
from grader_gate.result import Goalpost

Keys = tuple[str | int, ...]
Make = Callable[[str, str, Keys], Goalpost]
"""Makes a goalpost of (what, detail, key of head's configuration)."""

Catalogue = Callable[[Mutators], Collection[str]]
"""Names of the mutators that a suite's settings choose."""

_STRENGTH = {Role.ABSTAIN: 0, Role.SCREEN: 1, Role.GATE: 2}
_USE = {"none": 0, "default": 1, "all": 2}
_EXACT_SLICES = 12
"""Slices up to which every combination of them is compared (4,096); beyond, each one and each two of them."""


def top_level(base: Config, head: Config, make: Make) -> Iterator[Goalpost]:
    """Mode, policy and baseline."""
    if base.mode is Mode.BLOCK and head.mode is Mode.REPORT:
        yield make("gate switched to report", "mode: block → report", ("mode",))
    yield from _policy(base.policy, head.policy, make)
    yield from _baseline(base.baseline, head.baseline, make)


def _policy(base: Policy, head: Policy, make: Make) -> Iterator[Goalpost]:
    switches: tuple[tuple[str, str, str, str], ...] = (
        ("regressions", "block", "warn", "regressions no longer block"),
        ("survivors", "block", "warn", "survivors no longer block"),
        ("flat_ladders", "block", "warn", "flat ladders no longer block"),
        ("controls", "block", "warn", "controls no longer block"),
        ("new_cases", "must_pass", "warn", "new cases need not pass"),
        ("head_code", "never", "run", "head's code is run"),
    )
    for key, strict, loose, what in switches:
        if getattr(base, key) == strict and getattr(head, key) == loose:
            yield make(what, f"policy.{key}: {strict} → {loose}", ("policy", key))
    yield from _floors(base, head, make)
    limits: tuple[tuple[str, int, str], ...] = (
        ("max_inversion_rate", 1, "inversion limit raised"),
        ("min_cited_ratio", -1, "citation floor lowered"),
        ("min_spread", -1, "spread floor lowered"),
        ("acceptable_error", 1, "acceptable error raised"),
    )
    for key, looser, what in limits:
        old, new = getattr(base, key), getattr(head, key)
        if old is not None and (new is None or (new - old) * looser > 0):
            yield make(what, f"policy.{key}: {old:g} → {_number(new)}", ("policy", key))
    for index, waiver in enumerate(head.waivers):
        if not any(_covers(old, waiver) for old in base.waivers):
            known = next((old for old in base.waivers if waiver.text.startswith(old.text)), None)
            what = "waiver added" if known is None else "waiver extended"
            until = waiver.expires if known is None else f"{known.expires} → {waiver.expires}"
            yield make(what, f"{waiver.text[:12]} until {until}: {waiver.reason}", ("policy", "waivers", index))
    yield from _freeze(base.freeze, head.freeze, make)


def _floors(base: Policy, head: Policy, make: Make) -> Iterator[Goalpost]:
    """Each name is compared by the floor that holds for it, its own or the default."""

    def holds(floors: dict[str, float], name: str) -> float | None:
        return floors.get(name, floors.get("default"))

    for name in sorted({*base.kill_rate, *head.kill_rate}):
        old, new = holds(base.kill_rate, name), holds(head.kill_rate, name)
        if old and (new is None or new < old):
            what = "floor removed" if new is None else "floor lowered"
            yield make(what, f"policy.kill_rate.{name}: {old:g} → {_number(new)}", ("policy", "kill_rate", name))


def _covers(old: Waiver, new: Waiver) -> bool:
    """Whether base already waives this text for as long. A longer hash waives no more than its beginning."""
    return new.text.startswith(old.text) and new.expires <= old.expires


def _freeze(base: FreezeBy, head: FreezeBy, make: Make) -> Iterator[Goalpost]:
    for key in ("users", "teams"):
        old, new = set(getattr(base, key)), set(getattr(head, key))
        if new - old:
            yield make("more may freeze", f"policy.freeze.{key}: added {_names(new - old)}", ("policy", "freeze", key))
    if (base.users or base.teams) and not (head.users or head.teams):
        yield make("more may freeze", "policy.freeze: the list of people is gone", ("policy", "freeze"))
    if base.permission == "admin" and head.permission == "write":
        yield make("more may freeze", "policy.freeze.permission: admin → write", ("policy", "freeze", "permission"))
    if base.not_author and not head.not_author:
        yield make("authors may freeze", "policy.freeze.not_author: true → false", ("policy", "freeze", "not_author"))


def _baseline(base: Baseline, head: Baseline, make: Make) -> Iterator[Goalpost]:
    key = "path" if base.store == "files" else "branch"
    if base.store != head.store:
        yield make("baseline moved", f"baseline.store: {base.store} → {head.store}", ("baseline", "store"))
    elif getattr(base, key) != getattr(head, key):
        old, new = getattr(base, key), getattr(head, key)
        yield make("baseline moved", f"baseline.{key}: {old} → {new}", ("baseline", key))


# ---------------------------------------------------------------- suites and contracts


def suite_settings(
    name: str, base: SuiteConfig, head: SuiteConfig, make: Make, catalogue: Catalogue | None
) -> Iterator[Goalpost]:
    """Repeats and mutators of one suite."""
    for key in ("screen", "live", "freeze"):
        old, new = getattr(base.repeats, key), getattr(head.repeats, key)
        if new < old:
            detail = f"suites.{name}.repeats.{key}: {old} → {new}"
            yield make("repeats lowered", detail, ("suites", name, "repeats", key))
    at: Keys = ("suites", name, "mutators")
    if gone := _lost_mutators(base.mutators, head.mutators, catalogue):
        yield make("mutators removed", f"suites.{name}.mutators: {gone}", at)
    if head.mutators.per_mutator < base.mutators.per_mutator:
        counts = f"{base.mutators.per_mutator} → {head.mutators.per_mutator}"
        yield make("fewer mutants", f"suites.{name}.mutators.per_mutator: {counts}", (*at, "per_mutator"))
    yield from _pairs(name, base.pairs, head.pairs, make)
    if lost := set(base.mutators.modules) - set(head.mutators.modules):
        yield make("mutators removed", f"suites.{name}.mutators.modules: {_names(lost)}", (*at, "modules"))


def _pairs(name: str, base: Pairs, head: Pairs, make: Make) -> Iterator[Goalpost]:
    """Fewer sampled pairs; which pairs of a ladder are compared is another measure, whichever way it changes."""
    at: Keys = ("suites", name, "pairs")
    if head.per_case < base.per_case:
        yield make("fewer pairs", f"suites.{name}.pairs.per_case: {base.per_case} → {head.per_case}", (*at, "per_case"))
    if head.design != base.design:
        yield make("other pairs", f"suites.{name}.pairs.design: {base.design} → {head.design}", (*at, "design"))


def fixtures(name: str, base: GraderBase, head: GraderBase, make: Make) -> Iterator[Goalpost]:
    """Evidence about the environment that a grader which executes answers no longer gives."""
    old = base.fixtures if isinstance(base, CommandGrader) else None
    new = head.fixtures if isinstance(head, CommandGrader) else None
    if old is None:
        return
    lost = [key for key in ("reset", "cleanup", "dirty") if getattr(old, key) and not (new and getattr(new, key))]
    if old.fresh_dir and new is not None and not new.fresh_dir:
        lost.append("fresh_dir")
    if new is None:
        lost = ["all of them"]
    if lost:
        keys: Keys = ("graders", name, "fixtures") if new is not None else ("graders", name)
        yield make("fixtures weakened", f"graders.{name}.fixtures: gone: {', '.join(lost)}", keys)


def _lost_mutators(base: Mutators, head: Mutators, catalogue: Catalogue | None) -> str:
    """What no longer runs, in words; empty where nothing is lost. Without the catalogue, in doubt it is lost."""
    if catalogue is not None:
        return _names(set(catalogue(base)) - set(catalogue(head)))
    lost: list[str] = []
    if _USE[head.use] < _USE[base.use]:
        lost.append(f"use: {base.use} → {head.use}")
    excluded = set(head.exclude) - set(base.exclude)
    runs_by_use = base.use != "none"
    if gone := {name for name in excluded if runs_by_use or name in base.include}:
        lost.append(f"excluded {_names(gone)}")
    if head.use != "all" and (gone := set(base.include) - set(head.include) - set(base.exclude) - excluded):
        lost.append(f"no longer included {_names(gone)}")
    return "; ".join(lost)


def contract(
    name: str, base: Contract, head: Contract, make: Make, tags: Iterable[Sequence[str]] = ()
) -> Iterator[Goalpost]:
    """Role and promises of one grader, under its name on head.

    :param tags: tag sets of the cases it grades, compared beside those that its slices name.
    """
    weaker: dict[str, str] = {}
    same = (base.role, base.slices) == (head.role, head.slices)
    for tagged in () if same else _tag_sets(base, head, tags):
        old, new = base.role_for(tagged), head.role_for(tagged)
        if _STRENGTH[new] < _STRENGTH[old]:
            # Of each sort the smallest tag set tells it.
            weaker.setdefault(f"{old} → {new}", f" on cases tagged {_names(tagged)}" if tagged else "")
    if weaker:
        told = "; ".join(step + where for step, where in weaker.items())
        yield make("role weakened", f"graders.{name}: {told}", ("graders", name, "contract"))
    if base.deterministic != head.deterministic:
        detail = f"graders.{name}.contract.deterministic: {_yes(base.deterministic)} → {_yes(head.deterministic)}"
        yield make("promise of determinism changed", detail, ("graders", name, "contract", "deterministic"))


def _tag_sets(base: Contract, head: Contract, tags: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Tag sets, smallest first, that show every difference of role: a role depends only on which slices match."""
    slices = list(dict.fromkeys(frozenset(part.tags) for part in (*base.slices, *head.slices)))
    most = len(slices) if len(slices) <= _EXACT_SLICES else 2
    found = {frozenset(one) for one in tags}
    for count in range(most + 1):
        found.update(frozenset().union(*chosen) for chosen in combinations(slices, count))
    return sorted((tuple(sorted(one)) for one in found), key=lambda one: (len(one), one))


def gating(value: Contract) -> bool:
    """Whether the grader can fail a pull request on any slice."""
    return value.strongest_role() is Role.GATE


def _names(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:10]) + (f" and {len(listed) - 10} more" if len(listed) > 10 else "")


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _yes(value: bool) -> str:
    return "true" if value else "false"
