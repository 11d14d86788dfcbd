"""Claims of a grader that executes answers: a dirty environment must not help a wrong one. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader_gate.model import Claim, ClaimKind, GoldenCase, GradeVerdict, Role
from grader_gate.suite.items import Examination

DIRTY = "dirty_environment"
"""Stands where a mutator's name stands: what is changed is not the answer but what it finds."""
MAX_DIRTY = 3
"""Wrong answers that are tried; one grader that does not look at the environment passes any of them."""


def add_dirty(
    made: Examination, cases: Sequence[GoldenCase], role_for: Callable[[tuple[str, ...]], Role]
) -> Examination:
    """Add claims that wrong answers gain nothing from a dirtied environment; the wrong answers are chosen by hash.

    A grader that only looks whether the wanted state is there accepts what an earlier run has left.
    """
    wrong = [case for case in cases if case.expected is GradeVerdict.INCORRECT and f"golden/{case.id}" in made.items]
    wrong.sort(key=lambda case: hashlib.sha256(case.content_digest.encode()).hexdigest())
    for case in wrong[:MAX_DIRTY]:
        clean = made.items[f"golden/{case.id}"]
        item = f"dirty/{case.id}"
        made.items[item] = replace(clean, id=item, dirty=True)
        made.before[item] = case.answer
        made.claims[item] = Claim(
            id=item,
            kind=ClaimKind.ATTACK,
            case_id=case.id,
            items=(item, clean.id),
            tags=case.tags,
            mutator=DIRTY,
            property="environment",
            gating=role_for(case.tags) is Role.GATE,
            location=case.location,
        )
    return made
