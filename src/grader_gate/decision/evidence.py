"""What the decision reads and asks for: numbers per claim, nothing of texts, files or networks."""

from __future__ import annotations

from dataclasses import dataclass

from grader_gate.model import ClaimKind, Side

Distance = int | None
"""How far one run of a claim was from what it promises: 0 upheld; larger is worse (golden: ranks between verdict and
expected; a malformed reply: :data:`MALFORMED`); None where it was not measured."""

MALFORMED = 3
"""Distance of a run whose reply could not be used: farther than any verdict."""


@dataclass(slots=True)
class Evidence:
    """All runs of one claim so far.

    :ivar stored: base distances from the frozen baseline, one per repeat (or from a live pass of base).
    :ivar screen: head distances of the screening runs.
    :ivar confirm_head: head distances of confirmation run 0, 1, …; entry i pairs with ``confirm_base[i]``.
    :ivar fresh_head: distances of fresh passes, same pairing with ``fresh_base``.
    :ivar noise_flip_rate: share of minority outcomes among 10 or more noise repeats, else None.
    :ivar cluster: claims of one cluster share runs or texts; their passes are drawn together. Empty: its own cluster.
    :ivar gating: False: reported, never fails, never confirmed at cost of others.
    :ivar calls: grades that one run of the claim takes (2 where it compares two items).
    """

    claim: str
    kind: ClaimKind
    stored: tuple[Distance, ...] = ()
    screen: tuple[Distance, ...] = ()
    confirm_head: tuple[Distance, ...] = ()
    confirm_base: tuple[Distance, ...] = ()
    fresh_head: tuple[Distance, ...] = ()
    fresh_base: tuple[Distance, ...] = ()
    tags: tuple[str, ...] = ()
    cluster: str = ""
    severity: float = 1.0
    gating: bool = True
    deterministic: bool = False
    repeatable: bool = True
    noise_flip_rate: float | None = None
    calls: int = 1


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Grade this claim on this side up to and including run ``upto - 1`` of ``purpose``.

    :ivar purpose: ``confirm`` and ``fresh`` fill the fields of those names. ``screen`` fills ``screen`` on head and
        ``stored`` on base; it is asked for only where that field is empty. A run that could not be measured is an
        entry too (None): a request that leaves no trace would be made again.
    """

    claim: str
    side: Side
    purpose: str
    upto: int


@dataclass(frozen=True, slots=True)
class Requests:
    """More runs are needed before a verdict.

    :ivar why: one line for the log, e.g. ``3 flips to confirm``.
    """

    runs: tuple[RunRequest, ...]
    why: str = ""
