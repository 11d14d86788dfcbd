"""The one interface of all grader kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from grader_gate.model import Grade, Item, digest


@dataclass(frozen=True, slots=True)
class Request:
    """What would be sent to grade one item.

    :ivar payload: plain JSON value holding all that can change the reply: rendered messages, model, parameters, host,
        API version, output schema; for code the source closure and arguments. No key is in it.
    :ivar characters: how many characters of input are sent, for the estimate.
    """

    payload: dict[str, Any]
    characters: int = 0
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest("request", self.payload))


@dataclass(frozen=True, slots=True)
class Call:
    """Which call this is: tells repeats of one request apart.

    :ivar seed: differs between repeats and purposes, equal between runs of the program; for callables that take a
        seed, never sent to a model on its own.
    :ivar repeat: which repeat of the request, from 0; for ``replay``, which plays the recorded one.
    """

    seed: int = 0
    repeat: int = 0


class Grader(Protocol):
    """A grader of one side, ready to grade. Built once, used for many items, closed at the end."""

    @property
    def kind(self) -> str:
        """One of the configuration's kinds."""
        ...

    @property
    def repeatable(self) -> bool:
        """False where a second call can bring nothing new (``replay``)."""
        ...

    @property
    def identity(self) -> str:
        """Digest of everything but the item that decides what is sent: equal identities send equal requests."""
        ...

    @property
    def judgement_digest(self) -> str:
        """Digest of what turns a raw reply into a grade: parser version, scale, thresholds, words."""
        ...

    @property
    def model(self) -> str | None:
        """Name of the model asked, where there is one: for prices."""
        ...

    @property
    def concurrency(self) -> int:
        """Most calls this grader should have in flight."""
        ...

    def request(self, item: Item) -> Request:
        """Render what would be sent; pure, and shows the grader only the inputs its contract names.

        :raises grader_gate.errors.UsageError: an unknown or unfilled variable, an input the item lacks.
        """
        ...

    async def prepare(self) -> None:
        """Find what would fail every call, before the first: a broken prompt, a missing key, a callable not found.

        :raises grader_gate.errors.UsageError: what is wrong and how to mend it.
        """
        ...

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """Grade once, with the kind's own retries. Never raises for what the network or the model does:
        that is a grade with an ``error``.
        """
        ...

    def judge(self, raw: str) -> Grade | None:
        """Judge a stored raw reply again without a call; None where the kind keeps no raw replies."""
        ...

    async def aclose(self) -> None:
        """Release connections and workers."""
        ...
