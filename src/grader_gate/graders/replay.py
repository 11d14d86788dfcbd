"""The ``replay`` kind: recorded grades from a ledger file, so that past runs can be audited without a key."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from grader_gate.config import ReplayGrader as ReplayConfig
from grader_gate.errors import LocatedError
from grader_gate.graders.base import Call, Request
from grader_gate.graders.judgement import unmeasured
from grader_gate.model import Grade, Item, LedgerRow, Purpose, Tree, Usage, digest

MAX_LEDGER_BYTES = 400_000_000
PURPOSES = (Purpose.SCREEN, Purpose.FREEZE, Purpose.NOISE, Purpose.FRESH, Purpose.CONFIRM)


class LedgerProblem(LocatedError):
    """A ledger that cannot be replayed."""


class ReplayGrader:
    """Plays the rows of a ledger back, by item and repeat.

    Rows that name this grader win over rows that do not: a ledger of several graders is replayed for the one meant, a
    foreign ledger of one grader under whatever name this one has.

    :param rows: the rows, where the caller has read them; else the ledger is read from ``tree`` on first use.
    """

    kind = "replay"
    repeatable = False
    model = None
    concurrency = 1000

    def __init__(self, name: str, config: ReplayConfig, tree: Tree, rows: Iterable[LedgerRow] | None) -> None:
        self.name, self._config, self._tree = name, config, tree
        self._given = None if rows is None else list(rows)

    @cached_property
    def _rows(self) -> dict[str, list[LedgerRow]]:
        rows = self._read() if self._given is None else self._given
        by_item: dict[str, list[LedgerRow]] = {}
        for row in rows:
            by_item.setdefault(row.item, []).append(row)
        for item, recorded in by_item.items():
            own = [row for row in recorded if row.grader == self.name]
            by_item[item] = _by_repeat(own or recorded, self._config.ledger, item)
        return by_item

    def _read(self) -> list[LedgerRow]:
        path = self._config.ledger
        key = f"graders.{self.name}.ledger"
        if not self._tree.exists(path):
            raise LedgerProblem(f"there is no such file at {self._tree.label}", path=path, key=key)
        data = self._tree.read(path)
        if len(data) > MAX_LEDGER_BYTES:
            raise LedgerProblem(f"has {len(data):,} bytes; the limit is {MAX_LEDGER_BYTES:,}", path=path, key=key)
        rows = []
        for number, line in enumerate(data.splitlines(), 1):
            if not line.strip():
                continue
            try:
                rows.append(LedgerRow.model_validate_json(line))
            except ValueError as error:
                raise LedgerProblem(f"is no ledger row: {_first(error)}", path=path, line=number) from None
        if not rows:
            raise LedgerProblem("holds no recorded grade", path=path, line=1)
        return rows

    @property
    def judgement_digest(self) -> str:
        """Recorded grades are not judged again."""
        return digest("replay")

    @cached_property
    def identity(self) -> str:
        """Digest of all recorded grades."""
        grades = {
            item: [[row.repeat, _said(row.grade)] for row in recorded] for item, recorded in sorted(self._rows.items())
        }
        return digest("replay", self._config.version, grades)

    def request(self, item: Item) -> Request:
        """What is recorded of the item: changed recordings are changed requests."""
        recorded = [[row.repeat, _said(row.grade)] for row in self._rows.get(item.id, ())]
        return Request(
            payload={"kind": self.kind, "item": item.id, "recorded": recorded, "version": self._config.version}
        )

    async def prepare(self) -> None:
        """Read the ledger.

        :raises LedgerProblem: it is missing, empty or broken.
        """
        _ = self._rows

    async def grade(self, item: Item, request: Request, call: Call) -> Grade:
        """The recorded repeat; unmeasured where none was recorded."""
        recorded = self._rows.get(item.id)
        if not recorded:
            return _nothing(f"{self._config.ledger} holds no grade of {item.id}")
        for row in recorded:
            if row.repeat == call.repeat:
                return row.grade.model_copy(update={"usage": Usage(calls=0)})
        return _nothing(
            f"{self._config.ledger} holds {len(recorded)} grades of {item.id}, none of repeat {call.repeat}"
        )

    def judge(self, raw: str) -> Grade | None:
        """None: the recording says what came of the reply."""
        return None

    async def aclose(self) -> None:
        """Nothing is open."""


def _nothing(message: str) -> Grade:
    return unmeasured(message).model_copy(update={"usage": Usage(calls=0)})


def _by_repeat(rows: list[LedgerRow], path: str, item: str) -> list[LedgerRow]:
    """One row per repeat, of the purpose that says most of the grader on its own: screening before confirmation.

    :raises LedgerProblem: rows of several sides or suites hold different grades of one repeat.
    """
    found: dict[int, LedgerRow] = {}
    purpose = min((row.purpose for row in rows), key=PURPOSES.index)
    for row in rows:
        if row.purpose is not purpose:
            continue
        other = found.setdefault(row.repeat, row)
        if _said(other.grade) != _said(row.grade):
            raise LedgerProblem(
                f"holds two different grades of {item}, repeat {row.repeat} ({_whose(other)} and {_whose(row)}); "
                "keep the rows of one run and side",
                path=path,
            )
    return [found[repeat] for repeat in sorted(found)]


def _whose(row: LedgerRow) -> str:
    return f"{row.suite}/{row.grader} {row.side} {row.purpose}"


def _said(grade: Grade) -> list[object]:
    """What a grade says, without what it cost."""
    error = None if grade.error is None else [grade.error.kind.value, grade.error.message]
    checks = [[check.name, check.passed] for check in grade.checks]
    said: list[object] = [
        grade.verdict,
        grade.score,
        grade.abstained,
        error,
        grade.reason,
        list(grade.citations),
        checks,
    ]
    return said if grade.preference is None else [*said, grade.preference]


def _first(error: ValueError) -> str:
    details = getattr(error, "errors", None)
    if details is None:
        return str(error)
    first = details()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
