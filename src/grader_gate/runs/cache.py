"""Grades of earlier runs, by what was sent: a SQLite file that may be lost, shared or old without harm.

Only screening reads and writes it, errors are never kept, and each row belongs to a trust domain: rows of base runs are
readable by all, rows of a pull request only by that pull request.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from grader_gate.model import Grade, LedgerRow, Purpose

APPLICATION_ID = 0x67726761
"""Marks the file as ours (``PRAGMA application_id``): "grga"."""

SCHEMA_VERSION = 1
"""``PRAGMA user_version``. A file of an older version is set aside, one of a newer version is left alone."""

BUSY_TIMEOUT_S = 2.0
"""How long to wait for another process's write; calls in flight wait with it, but a row is written in microseconds."""

_SCHEMA = """
CREATE TABLE grades (
    domain TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    judgement_digest TEXT NOT NULL,
    grade TEXT NOT NULL,
    model TEXT,
    characters INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (request_digest, repeat, domain, judgement_digest)
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Cached:
    """A stored grade and the judgement it was made under."""

    grade: Grade
    judgement_digest: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What a model's stored calls were like.

    :ivar calls: how many they are.
    :ivar chars_per_token: characters of input per input token, over all of them.
    :ivar output_low: fewest output tokens of a call. :ivar output_high: most.
    """

    calls: int
    chars_per_token: float
    output_low: int
    output_high: int


class Cache:
    """The cache file. It never ends a run: what goes wrong with it is told and the run goes on without.

    :param path: the file; made where missing. A corrupt or foreign file is renamed to ``NAME.set-aside[-N]``.
    :param readable: trust domains whose rows may be read, the preferred one first, e.g. ``("pr-12", "base")``.
    :param writes: the domain this run's rows are written to; None writes nothing.
    :param tell: called with one line on each trouble.
    """

    def __init__(
        self, path: Path, *, readable: Sequence[str], writes: str | None, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self.path, self._readable, self._writes, self._tell = path, tuple(readable), writes, tell
        self._db: sqlite3.Connection | None = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get(self, request_digest: str, judgement_digest: str, repeat: int) -> Cached | None:
        """The stored grade of a request: one of this judgement if there is one, else one to be judged anew."""
        if self._db is None or not self._readable:
            return None
        marks = ",".join("?" * len(self._readable))
        found = self._try(
            f"SELECT domain, judgement_digest, grade FROM grades "  # noqa: S608 - only question marks are put in
            f"WHERE request_digest = ? AND repeat = ? AND domain IN ({marks}) ORDER BY at DESC",
            (request_digest, repeat, *self._readable),
        )
        ranked = sorted(found, key=lambda row: (row[1] != judgement_digest, self._readable.index(row[0])))
        for _, judged, text in ranked:
            try:
                return Cached(Grade.model_validate_json(text), judged)
            except ValidationError:
                continue  # A row that another version wrote: a miss, not an error.
        return None

    def put(self, row: LedgerRow, *, model: str | None, characters: int) -> None:
        """Keep a screening grade, unless it is an error. The newer of two grades of one key stays.

        :param characters: characters of input that were sent.
        """
        if self._db is None or self._writes is None or row.grade.error is not None or row.purpose is not Purpose.SCREEN:
            return
        usage = row.grade.usage
        self._try(
            "INSERT OR REPLACE INTO grades VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._writes,
                row.request_digest,
                row.repeat,
                row.judgement_digest,
                row.grade.model_dump_json(exclude_defaults=True),
                model,
                characters,
                usage.input_tokens,
                usage.output_tokens,
                row.at,
            ),
        )

    def observed(self, model: str | None) -> Observed | None:
        """What the readable calls of a model were like; None where there are none."""
        if self._db is None or model is None or not self._readable:
            return None
        marks = ",".join("?" * len(self._readable))
        found = self._try(
            f"SELECT count(*), sum(characters), sum(input_tokens), min(output_tokens), max(output_tokens) "  # noqa: S608
            f"FROM grades WHERE model = ? AND input_tokens > 0 AND characters > 0 AND domain IN ({marks})",
            (model, *self._readable),
        )
        if not found or not found[0][0]:
            return None
        calls, characters, tokens, low, high = found[0]
        return Observed(calls, characters / tokens, low, high)

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _try(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        assert self._db is not None
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            # Another try may block for the whole timeout again: for this run it is over.
            self._tell(f"{self.path}: the cache failed: {error}; this run goes on without it")
            self.close()
        return []

    def _open(self) -> sqlite3.Connection | None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            trouble, usable = self._inspect()
            if trouble and usable:
                self._tell(f"{self.path}: {trouble}; it is set aside as {self._set_aside().name} and begun anew")
            elif trouble:
                self._tell(f"{self.path}: {trouble}; this run goes on without a cache")
                return None
            return _connect(self.path)
        except (OSError, sqlite3.Error) as error:
            self._tell(f"{self.path}: the cache cannot be opened: {error}; this run goes on without one")
            return None

    def _inspect(self) -> tuple[str, bool]:
        """What is wrong with the file ('' if nothing), and whether to put it out of the way for a new one."""
        if not self.path.exists() or not self.path.stat().st_size:
            return "", True
        db = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S)
        try:
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and application != APPLICATION_ID:
                return "the file is another program's", True
            if version > SCHEMA_VERSION:
                return f"a newer grader-gate (cache schema {version}, here {SCHEMA_VERSION}) wrote it", False
            if tables and version < SCHEMA_VERSION:
                return f"an older grader-gate (cache schema {version}, here {SCHEMA_VERSION}) wrote it", True
            damage = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            return ("", True) if damage == "ok" else (f"the cache is damaged ({damage.splitlines()[0]})", True)
        except sqlite3.OperationalError as error:  # Locked or unreadable: it may be whole, so it stays where it is.
            return f"the cache cannot be read: {error}", False
        except sqlite3.DatabaseError as error:
            return f"the file is no cache: {error}", True
        finally:
            db.close()

    def _set_aside(self) -> Path:
        number = 0
        while (target := self.path.with_name(f"{self.path.name}.set-aside{f'-{number}' if number else ''}")).exists():
            number += 1
        self.path.rename(target)
        for suffix in ("-wal", "-shm"):
            # They belong to the old file, and would be taken for the new one's.
            beside = self.path.with_name(self.path.name + suffix)
            if beside.exists():
                beside.rename(target.with_name(target.name + suffix))
        return target


def _connect(path: Path) -> sqlite3.Connection:
    """The file ready for use: rows survive a killed process; a power cut may lose the last ones, which is no harm."""
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'grades'").fetchone()[0]:
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            db.execute(_SCHEMA)
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db
