"""Changes of what is measured instead of what measures. Pure: two configurations and their suites in, findings out.

Raising or adding is no goalpost; neither is renaming a case or editing its text, whose old text is still judged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from grader_gate.changes import loosened
from grader_gate.changes.loosened import Catalogue, Keys
from grader_gate.changes.matching import compare_rungs, content, match_cases, match_ladders
from grader_gate.changes.workflows import WorkflowChange, workflow_goalposts
from grader_gate.config import DEFAULT_PATH, ChatGrader, Config, GraderBase, HttpGrader
from grader_gate.model import GoldenCase, Ladder, Location, Suite
from grader_gate.result import Goalpost, Notice

SINGLY = 10
"""Cases of one suite that are listed one by one under the same reason; the rest share one row."""

ANSWERS = ("wire", "base_url", "headers", "query", "api_version")
"""Keys of a provider that decide who answers a request; the others say how often, how long and at what price."""

LineOf = Callable[[Keys], int | None]


def goalposts(
    base: Config,
    head: Config | None,
    base_suites: Mapping[str, Suite],
    head_suites: Mapping[str, Suite],
    *,
    workflows: Sequence[WorkflowChange] = (),
    config_path: str = DEFAULT_PATH,
    line_of: LineOf | None = None,
    catalogue: Catalogue | None = None,
) -> list[Goalpost]:
    """Every goalpost of a change, in a stable order: policy, graders, suites, cases, ladders, workflows.

    Suites whose grader cannot fail a pull request on base have none of their own: they gate nothing.

    :param head: None where the configuration is deleted.
    :param line_of: line of a key in head's configuration, for the location.
    :param catalogue: which mutators a suite's settings choose; without it, what may be lost counts as lost.
    """

    def make(what: str, detail: str, keys: Keys) -> Goalpost:
        line = line_of(keys) if line_of is not None else None
        return Goalpost(what=what, detail=detail, location=Location(path=config_path, line=line))

    if head is None:
        gone = Goalpost(what="configuration removed", detail=config_path, location=Location(path=config_path))
        return [gone, *workflow_goalposts(workflows)]
    found = [*loosened.top_level(base, head, make), *_graders(base, head, base_suites, make)]
    found += _providers(base, head, make)
    elsewhere = _Elsewhere(head_suites)
    for name, settings in base.suites.items():
        if not loosened.gating(base.graders[settings.grader].contract):
            continue
        if name not in head.suites:
            found.append(make("suite removed", f"suites.{name}", ("suites",)))
            continue
        found += loosened.suite_settings(name, settings, head.suites[name], make, catalogue)
        old, new = base_suites.get(name, Suite(name)), head_suites.get(name, Suite(name))
        found += _cases(name, old, new, elsewhere, config_path)
        found += _ladders(name, old, new, elsewhere, config_path)
    return [*found, *workflow_goalposts(workflows)]


def notices(base: Config, head: Config) -> list[Notice]:
    """Changes that loosen nothing and that a reviewer should still see: spending, trust, what a grader may see."""
    found: list[str] = []
    for key in ("max_calls", "max_cost_usd", "max_seconds"):
        old, new = getattr(base.policy.budget, key), getattr(head.policy.budget, key)
        if old is not None and (new is None or new > old):
            found.append(f"policy.budget.{key}: {old:g} → {'no cap' if new is None else f'{new:g}'}")
    for name in sorted({*base.providers, *head.providers}):
        if base.providers.get(name) != head.providers.get(name):
            what = "removed" if name not in head.providers else "added" if name not in base.providers else "changed"
            found.append(f"providers.{name} is {what}; it takes effect once merged")
    if base.policy.second_family == "always" and head.policy.second_family != "always":
        found.append("policy.second_family: always → on_request; checks no longer ask the second families")
    for name in sorted(base.suites.keys() & head.suites.keys()):
        old_second, new_second = base.suites[name].second_family, head.suites[name].second_family
        if old_second is not None and old_second != new_second:
            found.append(f"suites.{name}.second_family: {old_second} → {new_second or 'none'}")
    for old_name, new_name in _same_graders(base, head):
        before, after = base.graders[old_name].contract, head.graders[new_name].contract
        if before.inputs != after.inputs:
            seen = f"{', '.join(before.inputs)} → {', '.join(after.inputs)}"
            found.append(f"graders.{new_name}.contract.inputs: {seen}; what it was validated for may no longer hold")
        if after.abstains and not before.abstains:
            found.append(f"graders.{new_name}.contract.abstains: the grader may now decline to judge")
        if before.served_model is not None and after.served_model is None:
            found.append(f"graders.{new_name}.contract.served_model is no longer pinned")
    return [Notice(message=message) for message in found]


# ---------------------------------------------------------------- graders


def _graders(base: Config, head: Config, suites: Mapping[str, Suite], make: loosened.Make) -> Iterator[Goalpost]:
    """A gating grader that is gone, and weaker contracts of those that stay."""
    replaced: dict[tuple[str, str], list[str]] = {}
    for name, settings in base.suites.items():
        if name in head.suites and loosened.gating(base.graders[settings.grader].contract):
            now = head.suites[name].grader
            if now != settings.grader and head.graders[now].formerly != settings.grader:
                replaced.setdefault((settings.grader, now), []).append(name)
    for (old, new), names in replaced.items():
        kept = f"it no longer grades {', '.join(names)}; {new} does, without `formerly: {old}`"
        yield make("gating grader gone", f"graders.{old}: {kept}", ("graders", new))
    tags: dict[str, set[tuple[str, ...]]] = {}
    for name, settings in base.suites.items():
        suite = suites.get(name, Suite(name))
        known = tags.setdefault(settings.grader, set())
        known.update(case.tags for case in suite.cases)
        known.update(ladder.tags for ladder in suite.ladders)
    for old, new in _same_graders(base, head):
        yield from loosened.contract(
            new, base.graders[old].contract, head.graders[new].contract, make, tags.get(old, set())
        )
        yield from loosened.fixtures(new, base.graders[old], head.graders[new], make)
        if head.graders[new].kind == "replay" != base.graders[old].kind and loosened.gating(base.graders[old].contract):
            kept = f"{base.graders[old].kind} → replay, a recording: what grades from now on is not measured"
            yield make("grader replaced by a recording", f"graders.{new}: {kept}", ("graders", new, "kind"))


def _providers(base: Config, head: Config, make: loosened.Make) -> Iterator[Goalpost]:
    """Another host, wire or version behind a gating grader: base's block is used until it is merged, so that what will
    answer then was never measured."""
    used = {
        grader.provider
        for settings in base.suites.values()
        if isinstance(grader := base.graders[settings.grader], ChatGrader | HttpGrader)
        and loosened.gating(grader.contract)
    }
    for name in sorted(used & set(head.providers)):
        old, new = base.providers[name], head.providers[name]
        moved = [key for key in ANSWERS if getattr(old, key) != getattr(new, key)]
        if new.max_output_tokens < old.max_output_tokens:
            moved.append("max_output_tokens")
        if moved:
            detail = f"providers.{name}: {', '.join(moved)}; it takes effect once merged and cannot be measured before"
            yield make("provider changed", detail, ("providers", name, moved[0]))


def _same_graders(base: Config, head: Config) -> list[tuple[str, str]]:
    """Graders of base's suites under their name on head, renamed ones included.

    What head's suites use comes first: a grader that only says it was ``formerly`` another one may stand beside it.
    """
    used = dict.fromkeys(settings.grader for settings in base.suites.values())
    formerly = {grader.formerly: name for name, grader in head.graders.items() if _is_rename(grader, base)}
    named = [(old, formerly.get(old, old)) for old in used]
    kept = [
        (settings.grader, now)
        for name, settings in base.suites.items()
        if name in head.suites
        and ((now := head.suites[name].grader) == settings.grader or head.graders[now].formerly == settings.grader)
    ]
    return list(dict.fromkeys(pair for pair in (*kept, *named) if pair[1] in head.graders))


def _is_rename(grader: GraderBase, base: Config) -> bool:
    return grader.formerly is not None and grader.formerly in base.graders


# ---------------------------------------------------------------- cases and ladders


class _Elsewhere:
    """In which of head's suites a content stands; looked up only when a case is missed."""

    def __init__(self, suites: Mapping[str, Suite]) -> None:
        self._suites = suites
        self._found: dict[Hashable, dict[str, None]] | None = None

    def __call__(self, one: GoldenCase | Ladder, suite: str) -> list[str]:
        if self._found is None:
            self._found = {}
            for name, held in self._suites.items():
                for key in (*map(content, held.cases), *map(content, held.ladders)):
                    self._found.setdefault(key, {})[name] = None
        return [name for name in self._found.get(content(one), {}) if name != suite]


def _cases(suite: str, base: Suite, head: Suite, elsewhere: _Elsewhere, config_path: str) -> Iterator[Goalpost]:
    matches = match_cases(base.cases, head.cases)
    relabelled = ((f"{_who(o, n)}: {o.expected} → {n.expected}", n.location) for o, n in matches.relabelled)
    yield from _rows("case relabelled", suite, relabelled)
    yield from _rows("case re-tagged", suite, (_tags(old, new) for old, new in matches.retagged))
    yield from _missing("case", suite, matches.deleted, elsewhere, config_path)
    tolerance = (
        (f"{_who(old, new)}: tolerance {old.tolerance or 0:g} → {new.tolerance:g}", new.location)
        for old, new in matches.pairs
        if new.tolerance is not None and new.tolerance > (old.tolerance or 0)
    )
    yield from _rows("tolerance widened", suite, tolerance)
    for key in ("evidence", "facts", "entities"):
        lost = (
            (f"{_who(old, new)}: {', '.join(sorted(gone))[:200]}", new.location)
            for old, new in matches.pairs
            if (gone := set(getattr(old, key)) - set(getattr(new, key)))
        )
        yield from _rows(f"{key} removed", suite, lost)


def _ladders(suite: str, base: Suite, head: Suite, elsewhere: _Elsewhere, config_path: str) -> Iterator[Goalpost]:
    matches = match_ladders(base.ladders, head.ladders)
    dropped = (
        (f"{_who(old, new)}: {len(lost)} of {len(old.rungs)} rungs", new.location) for old, new, lost in matches.dropped
    )
    yield from _rows("rung dropped", suite, dropped)
    reordered = (
        (f"{_who(old, new)}: level {low.level:g} no longer below {high.level:g}", new.location)
        for old, new, ((low, high), *_) in matches.reordered
    )
    yield from _rows("levels reordered", suite, reordered)
    yield from _rows("ladder re-tagged", suite, (_tags(old, new) for old, new in matches.retagged))
    yield from _missing("ladder", suite, matches.deleted, elsewhere, config_path)
    lost = (
        (f"{_who(old, new)}: {', '.join(sorted(gone))[:200]}", new.location)
        for old, new in matches.pairs
        if (gone := {e for a, b in compare_rungs(old.rungs, new.rungs)[2] for e in set(a.evidence) - set(b.evidence)})
    )
    yield from _rows("evidence removed", suite, lost)


def _missing(
    noun: str, suite: str, gone: Sequence[GoldenCase | Ladder], elsewhere: _Elsewhere, config_path: str
) -> Iterator[Goalpost]:
    """Deleted, or moved out: still judged in this change, lost with the next."""
    deleted, moved = [], []
    for one in gone:
        # The line it had means nothing on head.
        location = Location(path=one.location.path if one.location is not None else config_path)
        if names := elsewhere(one, suite):
            moved.append((f"{one.id}: now only in {', '.join(names)}", location))
        else:
            deleted.append((one.id, location))
    yield from _rows(f"{noun} deleted", suite, deleted)
    yield from _rows(f"{noun} moved out", suite, moved)


def _rows(what: str, suite: str, found: Iterable[tuple[str, Location | None]]) -> Iterator[Goalpost]:
    listed = list(found)
    for detail, location in listed[:SINGLY]:
        yield Goalpost(what=what, detail=f"{suite}: {detail}", location=location)
    if rest := listed[SINGLY:]:
        yield Goalpost(what=what, detail=f"{suite}: {len(rest)} more", location=rest[0][1])


def _tags(old: GoldenCase | Ladder, new: GoldenCase | Ladder) -> tuple[str, Location | None]:
    marks = [f"-{tag}" for tag in sorted(set(old.tags) - set(new.tags))]
    marks += [f"+{tag}" for tag in sorted(set(new.tags) - set(old.tags))]
    return f"{_who(old, new)}: {' '.join(marks)}", new.location


def _who(old: GoldenCase | Ladder, new: GoldenCase | Ladder) -> str:
    return old.id if old.id == new.id else f"{old.id} (now {new.id})"
