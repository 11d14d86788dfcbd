"""The interface of the stores of frozen records. A store takes whole records and never changes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from grader_gate.baselines.record import BaselineRecord


@dataclass(frozen=True, slots=True)
class Held:
    """What a store could be trusted to hold.

    :ivar records: whole, unchanged since they were written, and written by a workflow.
    :ivar refused: one line for each record that is not taken, with the reason. Base is measured live in its place.
    """

    records: tuple[BaselineRecord, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a record went.

    :ivar where: in words, for people.
    :ivar commit: the commit that holds it; None where that is up to whoever commits.
    """

    where: str
    commit: str | None = None


class Store(Protocol):
    """Keeps records."""

    def read(self) -> Held:
        """All records, none of them trusted on its own word."""
        ...

    def append(self, record: BaselineRecord) -> Stored:
        """Add one record. The same record twice is one."""
        ...
