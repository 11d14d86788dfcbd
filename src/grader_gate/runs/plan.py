"""What a change affects, by digest, and which grades that takes. Pure but for rendering requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader_gate.audits.claims import needed_items
from grader_gate.graders.base import Grader, Request
from grader_gate.model import Claim, PlannedGrade, Purpose, Side
from grader_gate.suite.items import Examination


@dataclass(slots=True)
class SideExam:
    """One side of a suite: its grader and what it is asked.

    :ivar name: the grader's name in this side's configuration.
    """

    side: Side
    suite: str
    name: str
    grader: Grader
    exam: Examination
    _requests: dict[str, tuple[str, int]] = field(default_factory=dict)

    def request_digest(self, item: str) -> str:
        """Content address of what this side would send for an item; rendered once."""
        return self._rendered(item)[0]

    def characters(self, item: str) -> int:
        """Characters this side would send for an item."""
        return self._rendered(item)[1]

    def _rendered(self, item: str) -> tuple[str, int]:
        if item not in self._requests:
            request: Request = self.grader.request(self.exam.items[item])
            self._requests[item] = (request.digest, request.characters)
        return self._requests[item]

    def planned(self, item: str, purpose: Purpose, repeat: int) -> PlannedGrade:
        """One call for an item of this side."""
        return PlannedGrade(
            suite=self.suite,
            grader=self.name,
            item=self.exam.items[item],
            side=self.side,
            purpose=purpose,
            request_digest=self.request_digest(item),
            judgement_digest=self.grader.judgement_digest,
            repeat=repeat,
            facts=self.exam.facts.get(item),
        )


@dataclass(slots=True)
class Affected:
    """What differs between the sides.

    :ivar items: items whose request or judgement digest differs, in the order of the suite.
    :ivar rejudged: those of them whose request is the same: stored raw replies can be judged again without a call.
    :ivar claims: claims that need one of them.
    """

    items: list[str] = field(default_factory=list)
    rejudged: set[str] = field(default_factory=set)
    claims: dict[str, Claim] = field(default_factory=dict)


def affected(base: SideExam, head: SideExam) -> Affected:
    """Compare both sides by digest; claims that only one side can make are not comparable and left out.

    Rendering is skipped where it cannot matter: equal identities send equal requests for equal inputs.
    """
    found = Affected()
    same_identity = base.grader.identity == head.grader.identity
    same_judgement = base.grader.judgement_digest == head.grader.judgement_digest
    # A recording is one run: where it was replaced, all of it is compared, for that costs nothing and the paired test
    # needs what stayed the same beside what moved.
    whole = not (base.grader.repeatable and head.grader.repeatable)
    for item_id, item in base.exam.items.items():
        other = head.exam.items.get(item_id)
        if other is None:
            continue
        same = (same_identity and item.inputs == other.inputs) or (
            not whole and base.request_digest(item_id) == head.request_digest(item_id)
        )
        if same and same_judgement:
            continue
        found.items.append(item_id)
        if same:
            found.rejudged.add(item_id)
    moved = set(found.items)
    found.claims = {
        claim.id: claim
        for claim in base.exam.claims.values()
        if claim.id in head.exam.claims and moved.intersection(needed_items(claim))
    }
    return found


def needed(claims: Iterable[Claim]) -> list[str]:
    """Items the claims need, each once, in order; identities of mutants too, for they condition the kill rate."""
    return list(dict.fromkeys(item for claim in claims for item in claim.items))


def passes(side: SideExam, items: Sequence[str], purpose: Purpose, repeats: range) -> Iterator[PlannedGrade]:
    """Whole passes: repeat by repeat, so that a run which stops early has even coverage."""
    for repeat in repeats:
        for item in items:
            yield side.planned(item, purpose, repeat)


def interleaved(
    wanted: Mapping[tuple[str, Side], range], base: SideExam, head: SideExam, purpose: Purpose
) -> list[PlannedGrade]:
    """Calls of both sides in pairs: repeat by repeat, item by item, head and base next to each other, so that a
    provider that changes during the run changes for both.

    :param wanted: repeats per item and side.
    """
    rows = []
    for (item, side), repeats in wanted.items():
        where = base if side is Side.BASE else head
        rows += [(repeat, item, side, where) for repeat in repeats]
    order = {item: index for index, item in enumerate(dict.fromkeys(item for item, _ in wanted))}
    rows.sort(key=lambda row: (row[0], order[row[1]], row[2] is Side.BASE))
    return [where.planned(item, purpose, repeat) for repeat, item, _, where in rows]
