"""The root of every error a user can cause, and the exit codes they end in."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ends; documented in the README and stable."""

    OK = 0
    FAIL = 1
    USAGE = 2
    ERROR = 3


class GateError(Exception):
    """An error that ends a command with one clear line.

    The message says what is wrong, where (file, line, key) and how to mend it. Subclasses stand beside the code
    that raises them, one class per reason.
    """

    exit_code: ExitCode = ExitCode.ERROR


class UsageError(GateError):
    """The command line or a file of the user's cannot be used as it is."""

    exit_code = ExitCode.USAGE


class LocatedError(UsageError):
    """A usage error in a file: rendered as ``path:line: key: message``.

    :param message: what is wrong and how to mend it, one sentence.
    :param path: the file, relative to the repository.
    :param line: 1-based line, where known.
    :param key: dotted key inside the file, where known.
    """

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        self.path, self.line, self.key, self.detail = path, line, key, message
        where = "" if path is None else path if line is None else f"{path}:{line}"
        # One problem is one line, also where a key or a value of the file holds line ends: it must not pass for two.
        super().__init__(" ".join(": ".join(part for part in (where, key or "", message) if part).splitlines()))
