"""Which case or ladder of head is which of base: by content first, by name second. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from grader_gate.model import GoldenCase, Ladder, Rung

T = TypeVar("T", GoldenCase, Ladder)


@dataclass(frozen=True, slots=True)
class CaseMatches:
    """Every case of base stands in exactly one of ``unchanged``, ``changed`` or ``deleted``; the other fields pick from
    ``changed``. Pairs are (base, head).

    :ivar edited: same id, other content: the old text is still judged, the new one is new.
    :ivar relabelled: another expected verdict.
    :ivar retagged: another set of tags.
    :ivar renamed: same content under another id: the same case.
    :ivar added: cases of head that are none of base's.
    """

    unchanged: tuple[tuple[GoldenCase, GoldenCase], ...] = ()
    changed: tuple[tuple[GoldenCase, GoldenCase], ...] = ()
    edited: tuple[tuple[GoldenCase, GoldenCase], ...] = ()
    relabelled: tuple[tuple[GoldenCase, GoldenCase], ...] = ()
    retagged: tuple[tuple[GoldenCase, GoldenCase], ...] = ()
    renamed: tuple[tuple[GoldenCase, GoldenCase], ...] = ()
    added: tuple[GoldenCase, ...] = ()
    deleted: tuple[GoldenCase, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[GoldenCase, GoldenCase], ...]:
        """All cases that both sides hold."""
        return self.unchanged + self.changed


@dataclass(frozen=True, slots=True)
class LadderMatches:
    """As :class:`CaseMatches`, for ladders.

    :ivar edited: same id, other content.
    :ivar dropped: (base, head, rungs of base that head has no more).
    :ivar reordered: (base, head, pairs of rungs whose order base claims and head does not).
    """

    unchanged: tuple[tuple[Ladder, Ladder], ...] = ()
    changed: tuple[tuple[Ladder, Ladder], ...] = ()
    edited: tuple[tuple[Ladder, Ladder], ...] = ()
    retagged: tuple[tuple[Ladder, Ladder], ...] = ()
    renamed: tuple[tuple[Ladder, Ladder], ...] = ()
    dropped: tuple[tuple[Ladder, Ladder, tuple[Rung, ...]], ...] = ()
    reordered: tuple[tuple[Ladder, Ladder, tuple[tuple[Rung, Rung], ...]], ...] = ()
    added: tuple[Ladder, ...] = ()
    deleted: tuple[Ladder, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[Ladder, Ladder], ...]:
        """All ladders that both sides hold."""
        return self.unchanged + self.changed


def match_cases(base: Sequence[GoldenCase], head: Sequence[GoldenCase]) -> CaseMatches:
    """Match the cases of two versions of a suite. Ids are unique on each side; contents need not be."""
    pairs, added, deleted = _match(base, head, lambda case: case.expected)
    edited, relabelled, retagged, renamed, changed, unchanged = (
        list[tuple[GoldenCase, GoldenCase]]() for _ in range(6)
    )
    for pair in pairs:
        old, new = pair
        differs = False
        for found, holds in (
            (edited, content(old) != content(new)),
            (relabelled, old.expected is not new.expected),
            (retagged, set(old.tags) != set(new.tags)),
            (renamed, old.id != new.id),
        ):
            if holds:
                found.append(pair)
                differs = True
        (changed if differs else unchanged).append(pair)
    return CaseMatches(
        tuple(unchanged), tuple(changed), tuple(edited), tuple(relabelled), tuple(retagged), tuple(renamed),
        tuple(added), tuple(deleted),
    )  # fmt: skip


def match_ladders(base: Sequence[Ladder], head: Sequence[Ladder]) -> LadderMatches:
    """Match the ladders of two versions of a suite."""
    pairs, added, deleted = _match(base, head, lambda ladder: len(ladder.rungs))
    unchanged, changed, edited, retagged, renamed = (list[tuple[Ladder, Ladder]]() for _ in range(5))
    dropped, reordered = [], []
    for old, new in pairs:
        lost, turned, _ = compare_rungs(old.rungs, new.rungs)
        is_edited = content(old) != content(new)
        is_retagged, is_renamed = set(old.tags) != set(new.tags), old.id != new.id
        if lost:
            dropped.append((old, new, lost))
        if turned:
            reordered.append((old, new, turned))
        for found, holds in ((edited, is_edited), (retagged, is_retagged), (renamed, is_renamed)):
            if holds:
                found.append((old, new))
        (changed if is_edited or is_retagged or is_renamed else unchanged).append((old, new))
    return LadderMatches(
        tuple(unchanged), tuple(changed), tuple(edited), tuple(retagged), tuple(renamed), tuple(dropped),
        tuple(reordered), tuple(added), tuple(deleted),
    )  # fmt: skip


RungPairs = tuple[tuple[Rung, Rung], ...]


def compare_rungs(base: Sequence[Rung], head: Sequence[Rung]) -> tuple[tuple[Rung, ...], RungPairs, RungPairs]:
    """Rungs of base that head lacks; pairs of base's rungs (lower, higher) whose order head no longer claims; and
    which rung of base is which of head.

    A rung is known by its answer, then by its id, then by its level: one whose text was edited is not dropped.
    """
    partner: dict[int, Rung] = {}
    free = list(range(len(head)))
    keys: tuple[Callable[[Rung], Hashable | None], ...] = (
        lambda rung: rung.answer,
        lambda rung: rung.id,
        lambda rung: rung.level,
    )
    for key in keys:
        for index, rung in enumerate(base):
            wanted = key(rung)
            if index in partner or wanted is None:
                continue
            at = next((i for i in free if key(head[i]) == wanted), None)
            if at is not None:
                partner[index] = head[at]
                free.remove(at)
    lost = tuple(rung for index, rung in enumerate(base) if index not in partner)
    kept = sorted(partner, key=lambda index: base[index].level)
    # Neighbours suffice: where head keeps the order of every two neighbouring levels, it keeps it of all.
    turned = tuple(
        (base[low], base[high])
        for low, high in _neighbours(kept, lambda index: base[index].level)
        if partner[low].level >= partner[high].level
    )
    return lost, turned, tuple((base[index], partner[index]) for index in sorted(partner))


def _neighbours(order: Sequence[int], level: Callable[[int], float]) -> list[tuple[int, int]]:
    """Pairs of members of adjacent distinct levels, of an order sorted by level."""
    groups: list[list[int]] = []
    for index in order:
        if groups and level(groups[-1][0]) == level(index):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [(low, high) for a, b in pairwise(groups) for low in a for high in b]


def content(one: GoldenCase | Ladder) -> Hashable:
    """What makes a case or ladder the same one under any name, compared without hashing: most are unchanged.

    A rubric in a file belongs to the grader's side, so that an edit of the file edits no case.
    """
    rubric = one.rubric and (one.rubric.path or one.rubric.render())
    graded = one.answer if isinstance(one, GoldenCase) else tuple((r.level, r.answer) for r in one.rungs)
    return one.question, one.reference, rubric, graded, tuple((s.id, s.text) for s in one.sources)


def _match(
    base: Sequence[T], head: Sequence[T], tie: Callable[[T], Hashable]
) -> tuple[list[tuple[T, T]], list[T], list[T]]:
    """Pairs in base's order, what only head has, what only base has.

    In turn: same id and content; same content (those that also agree in ``tie`` first); same id.
    """
    by_id = {one.id: one for one in head}
    partner: dict[int, T] = {}
    taken: set[int] = set()

    def pair(index: int, found: T | None) -> None:
        if found is not None:
            partner[index] = found
            taken.add(id(found))

    for index, old in enumerate(base):
        new = by_id.get(old.id)
        pair(index, new if new is not None and content(new) == content(old) else None)
    if len(partner) < len(base):
        by_content: dict[Hashable, list[T]] = {}
        for new in head:
            if id(new) not in taken:
                by_content.setdefault(content(new), []).append(new)
        for strict in (True, False):
            for index, old in enumerate(base):
                if index not in partner:
                    like = by_content.get(content(old), [])
                    pair(
                        index,
                        next((n for n in like if id(n) not in taken and (not strict or tie(n) == tie(old))), None),
                    )
        for index, old in enumerate(base):
            new = by_id.get(old.id)
            if index not in partner and new is not None and id(new) not in taken:
                pair(index, new)
    pairs = [(old, partner[index]) for index, old in enumerate(base) if index in partner]
    added = [new for new in head if id(new) not in taken]
    return pairs, added, [old for index, old in enumerate(base) if index not in partner]
