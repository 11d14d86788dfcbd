"""The ledger: the grades of a run as JSON Lines, on disk the moment they come.

A killed run resumes from it without paying twice: every complete line is kept, a line torn by the kill is dropped.
The file is a history; of several lines with one key the last one counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from grader_gate.errors import GateError, LocatedError
from grader_gate.model import LedgerRow, PlannedGrade
from grader_gate.runs.cleaning import cleaned

Key = tuple[str, str, str, str, str, str, int]
"""See :attr:`grader_gate.model.PlannedGrade.key`."""

SYNC_EVERY = 100
"""Paid rows between two ``fsync`` calls: each is in the kernel at once, so that only a power cut can lose some."""

_LINE_START = b'{"suite":'
"""How every line written by :class:`Ledger` starts; tells a torn line from a foreign file."""


class LedgerFormatError(LocatedError):
    """A ledger file that cannot be read as one."""


class LedgerBusyError(GateError):
    """Another run is writing to the same ledger."""


class LedgerWriteError(GateError):
    """The ledger cannot be written, so that no further call may be made: its grade would be lost."""


class Ledger:
    """The ledger file of one run, open for appending.

    :param path: the file; made with its folders where missing.
    :param redact: takes secrets out of every string that came from a grader, before it is kept or written.
    :raises LedgerFormatError: the file is no ledger; nothing in it has been changed.
    :raises LedgerBusyError: another process has it open.
    :raises LedgerWriteError: the folder or the file cannot be written.
    """

    def __init__(self, path: Path, *, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self._redact = redact
        self._rows: dict[Key, LedgerRow] = {}
        self._since_sync = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            binary = getattr(os, "O_BINARY", 0)  # Windows would turn line ends into its own.
            self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | binary, 0o644)
        except OSError as error:
            raise LedgerWriteError(f"{path}: the ledger cannot be opened for writing: {error.strerror}") from error
        try:
            _lock(self._fd, path)
            self._load()
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _load(self) -> None:
        data = self.path.read_bytes()
        whole, torn = _split_torn(data, str(self.path))
        for row in _parse(whole, str(self.path)):
            self._rows[row.key] = row
        if torn:
            os.ftruncate(self._fd, len(whole))
        elif whole and not whole.endswith(b"\n"):
            self._write(b"\n")

    def get(self, planned: PlannedGrade) -> LedgerRow | None:
        """The row that makes this call needless; None where there is none or where it was not measured."""
        row = self._rows.get(planned.key)
        return None if row is None or row.grade.unmeasured else row

    def rows(self) -> Sequence[LedgerRow]:
        """The rows that count, one per key, in the order in which the keys first came."""
        return tuple(self._rows.values())

    def append(self, row: LedgerRow) -> LedgerRow:
        """Write one row, in one system call, and return it as it was written: without secrets.

        :raises LedgerWriteError: the disk is full or gone.
        """
        row = row.model_copy(update={"grade": cleaned(row.grade, self._redact)})
        self._write(row.model_dump_json(exclude_defaults=True).encode() + b"\n")
        self._rows[row.key] = row
        self._since_sync += row.reused is None
        if self._since_sync >= SYNC_EVERY:
            self.sync()
        return row

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            raise LedgerWriteError(
                f"{self.path}: the ledger cannot be written: {error.strerror}; make room and run again, "
                "the grades so far are kept"
            ) from error

    def sync(self) -> None:
        """Have all rows so far survive a power cut, where the file system can promise it."""
        self._since_sync = 0
        try:
            os.fsync(self._fd)
        except OSError:
            # Pipes and some network mounts cannot; the rows are written all the same.
            return

    def close(self) -> None:
        """Sync and close; closing twice does nothing."""
        if self._fd >= 0:
            self.sync()
            os.close(self._fd)
            self._fd = -1


def read_ledger(source: Path | bytes, *, name: str | None = None) -> list[LedgerRow]:
    """All lines of a ledger in their order, history included.

    :param source: the file, or its bytes (e.g. from a git object).
    :param name: what to call the file in errors; defaults to the path.
    :raises LedgerFormatError: no such file, or a line that is no ledger row; says which.
    """
    if isinstance(source, Path):
        label = name or str(source)
        try:
            data = source.read_bytes()
        except OSError as error:
            raise LedgerFormatError(f"the ledger cannot be read: {error.strerror}", path=label) from error
    else:
        label, data = name or "ledger", source
    return list(_parse(data, label))


def latest(rows: Iterable[LedgerRow]) -> dict[Key, LedgerRow]:
    """Of each key the last row, which is the one that counts."""
    return {row.key: row for row in rows}


def _parse(data: bytes, label: str) -> Iterator[LedgerRow]:
    start, number = 3 if data.startswith(b"\xef\xbb\xbf") else 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        line, start = (data[start:], len(data)) if end < 0 else (data[start:end], end + 1)
        number += 1
        if line.strip():
            try:
                yield LedgerRow.model_validate_json(line)
            except ValidationError as error:
                raise LedgerFormatError(_explain(error), path=label, line=number, key=_key_of(error)) from error


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return "this line is no complete JSON object; a ledger holds one grade per line"
    return f"this is no ledger row: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _key_of(error: ValidationError) -> str | None:
    return ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"]) or None


def _split_torn(data: bytes, label: str) -> tuple[bytes, bytes]:
    """The complete lines, and what a killed writer left of a last one.

    :raises LedgerFormatError: the last line is not the beginning of a row: a foreign file, better left alone.
    """
    end = data.rfind(b"\n") + 1
    tail = data[end:]
    if not tail.strip(b"\0"):  # A power cut may leave zeros where the line was to be.
        return data[:end], tail
    try:
        json.loads(tail)
    except ValueError:
        head = tail[: len(_LINE_START)]
        if not _LINE_START.startswith(head):
            raise LedgerFormatError(
                "this is no ledger; name another file, it would be overwritten",
                path=label,
                line=data.count(b"\n") + 1,
            ) from None
        return data[:end], tail
    return data, b""


def _lock(fd: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: two runs on one folder are the user's to avoid.
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LedgerBusyError(
            f"{path}: another run is writing to this ledger; wait for it or name another --out"
        ) from error
    except OSError:
        # A file system without locks: go on as on Windows.
        return
