"""What the decision is set to and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from grader_gate.model import ClaimKind, GateVerdict
from grader_gate.result import Certainty, Tally


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers of the rule. The defaults are those that ``benchmarks/decision.py`` calibrates; see docs/decision.md.

    :ivar alpha_flip: most that noise may confirm any flip of a run, over all flips together.
    :ivar again_p_suite: p of the screen from which the suite, or a large tag, gets one more run of head.
    :ivar screen_p_suite: p of all of head's runs so far from which fresh passes of both sides look into the drop.
    :ivar again_p_tag: the same two for a small tag. All four cost calls and block nothing.
    :ivar screen_p_tag: see ``again_p_tag``.
    :ivar clear_p: p of the screen so low that no second run of head is needed.
    :ivar small_tag: most claims of a small tag.
    :ivar tag_passes: most fresh passes of both sides over a tag's claims.
    :ivar suite_passes: most fresh passes of both sides over the suite.
    :ivar confirm_p: most that noise may confirm as a drop of the suite, and as a drop of any tag.
    :ivar max_confirmed: confirmed flips that end the confirmation; the rest is not re-run.
    :ivar flip_share_for_fresh_pass: share of claims that flip beyond what the stored repeats foresee, above which one
        fresh pass of both sides replaces the screen; never for ``max_confirmed`` flips or fewer.
    :ivar unconfirmed_p: p of the screen alone that fails a suite whose grades cannot be repeated.
    :ivar doubtful_p: p of the screen alone from which such a suite is undecided.
    :ivar gray_rate: flip rate from which a claim does not gate.
    :ivar min_stored: base runs a claim needs to be compared with; measured live where there are none.
    :ivar base_obtainable: False where base cannot be run at all: only stored runs speak for it.
    :ivar fallback_runs: without a base: fails of head and passes stored that confirm a flip.
    """

    alpha_flip: float = 0.01
    again_p_suite: float = 0.06
    screen_p_suite: float = 0.03
    again_p_tag: float = 0.25
    screen_p_tag: float = 0.10
    clear_p: float = 0.01
    small_tag: int = 12
    tag_passes: int = 6
    suite_passes: int = 3
    confirm_p: float = 0.005
    max_confirmed: int = 5
    flip_share_for_fresh_pass: float = 0.1
    unconfirmed_p: float = 0.001
    doubtful_p: float = 0.05
    gray_rate: float = 0.4
    min_stored: int = 1
    base_obtainable: bool = True
    fallback_runs: int = 5


class ClaimStatus(StrEnum):
    """What became of one claim."""

    UPHELD = "upheld"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    DRIFT = "drift"
    NOT_RERUN = "not_rerun"
    UNDECIDED = "undecided"
    IMPROVED = "improved"
    UNCONFIRMED = "unconfirmed"
    GRAY = "gray"


@dataclass(frozen=True, slots=True)
class ClaimDecision:
    """What became of one claim.

    :ivar base_runs: runs of base that upheld the claim: of the re-runs where there were any, else of the stored ones.
    :ivar head_runs: the same for head: of the re-runs where there were any, else of the screen.
    :ivar sentence: the two tallies in words; holds no name and no text of the claim.
    """

    status: ClaimStatus
    base_runs: Tally
    head_runs: Tally
    sentence: str


@dataclass(frozen=True, slots=True)
class DropDecision:
    """A drop of the suite or of a tag that the screen raised.

    :ivar scope: ``suite``, or the tag; tags that hold the same claims are one scope, joined by a comma.
    :ivar tags: the tags of the scope; empty for the suite.
    :ivar p_screen: exact p of the screen.
    :ivar p_confirm: exact p of the fresh passes alone; None where there were none.
    :ivar blocked: whether it fails the suite.
    :ivar undecided: whether fresh passes are missing.
    :ivar base_rate: share of base's runs that upheld their claim: of the fresh passes, else of screen and store.
    :ivar worse: claims that head upholds less often than base, over the same runs. ``better``: more often.
    """

    scope: str
    tags: tuple[str, ...]
    p_screen: float
    p_confirm: float | None
    blocked: bool
    undecided: bool
    base_rate: float
    head_rate: float
    worse: int
    better: int
    passes: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of one suite, and all that led to it.

    :ivar verdict: ``pass``, ``fail`` or ``error``.
    :ivar claims: one entry for each claim that was given.
    :ivar calls_needed: grades that would at most be needed to decide what is undecided; 0 where calls cannot help.
    :ivar why: the reasons for the verdict, most important first.
    :ivar broken_promises: claims of a grader called deterministic whose equal runs differed.
    """

    verdict: GateVerdict
    claims: dict[str, ClaimDecision]
    drops: list[DropDecision]
    certainty: Certainty
    calls_needed: int = 0
    why: list[str] = field(default_factory=list)
    broken_promises: tuple[str, ...] = ()


_WORDS = {
    ClaimKind.GOLDEN: "passes",
    ClaimKind.MUTANT: "is caught",
    ClaimKind.CONTROL: "holds",
    ClaimKind.ATTACK: "is resisted",
    ClaimKind.RUNGS: "is in order",
}


def sides(kind: ClaimKind, reference: int, base: Tally, head: Tally) -> str:
    """Both tallies in words: ``passes 8 of 8 times on base, 0 of 8 on this pull request``.

    :param reference: the base majority's distance; above 0 the claim only has to be no worse than that.
    """
    word = _WORDS[kind] if reference == 0 else "is no worse than frozen"
    on_base = f"{base.k} of {base.n} times on base" if base.n else "not measured on base"
    on_head = f"{head.k} of {head.n} on this pull request" if head.n else "not measured on this pull request"
    return f"{word} {on_base}, {on_head}"


@lru_cache(maxsize=1024)
def tally(k: int, n: int) -> Tally:
    """A shared :class:`Tally`: most claims of a large suite have one of few."""
    return Tally(k=k, n=n)
