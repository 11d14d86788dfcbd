"""What the runner takes from a step: outputs, the job summary, and a log in which foreign text commands nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from grader_gate.github.text import cap_bytes

SUMMARY_LIMIT = 1024 * 1024
"""Bytes of a step's summary; the runner drops a longer one whole."""

COMMAND_LIMIT = 4_096
"""Characters of a command's message that the runner keeps."""

_SUMMARY_CUT = "\n\n*(cut: a job summary holds 1 MiB; the full report is in the artifact)*\n"


def set_outputs(
    path: Path, values: Mapping[str, str], *, token: Callable[[], str] = lambda: secrets.token_hex(16)
) -> None:
    """Append step outputs to the file ``GITHUB_OUTPUT``.

    Each value stands between lines of a random delimiter that does not occur in it, so that no value can end early and
    set another output.
    """
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for name, value in values.items():
            file.write(output_block(name, value, token))


def output_block(name: str, value: str, token: Callable[[], str]) -> str:
    """One output in the form the runner reads; ends with a line feed, without which the step would fail."""
    safe = value.encode("utf-8", "replace").decode()
    delimiter = f"grader-gate-{token()}"
    while delimiter in safe or delimiter in name:
        delimiter = f"grader-gate-{token()}"
    return f"{name}<<{delimiter}\n{safe}\n{delimiter}\n"


def append_summary(path: Path, markdown: str, *, limit: int = SUMMARY_LIMIT) -> None:
    """Append to the file ``GITHUB_STEP_SUMMARY``, which may hold at most ``limit`` bytes in all."""
    written = path.stat().st_size if path.exists() else 0
    text = cap_bytes(markdown.rstrip() + "\n", max(0, limit - written), _SUMMARY_CUT)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


class Log:
    """Lines to the step's log. Every line is neutralised and every secret replaced.

    :param secrets_: texts that must never appear; short ones are ignored, for they would blot out words.
    :param commands: whether a runner reads the log; False outside Actions, where commands are noise.
    """

    def __init__(self, stream: TextIO, *, secrets_: Iterable[str] = (), commands: bool = True) -> None:
        self._stream, self._commands = stream, commands
        self._secrets = sorted({s for s in secrets_ if len(s) >= 6}, key=len, reverse=True)

    def line(self, text: str) -> None:
        """One line, of ours or with foreign words in it."""
        self._write(self.clean(text))

    def error(self, text: str) -> None:
        """One line that the runner shows as an error of the job."""
        self._command("error", text)

    def warning(self, text: str) -> None:
        """One line that the runner shows as a warning of the job."""
        self._command("warning", text)

    def clean(self, text: str) -> str:
        """``text`` as one harmless line without secrets."""
        from grader_gate.report.escape import log_line

        for secret in self._secrets:
            text = text.replace(secret, "***")
        return log_line(text, limit=2_000)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Lines that the runner folds under ``title``."""
        self._write(f"::group::{_data(self.clean(title))}" if self._commands else self.clean(title))
        try:
            yield
        finally:
            if self._commands:
                self._write("::endgroup::")

    def foreign(self, text: str, *, token: Callable[[], str] = lambda: secrets.token_hex(16)) -> None:
        """Many foreign lines as they are, between marks that stop the runner from taking any for a command."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        mark = token()
        while mark in text:
            mark = token()
        if self._commands:
            self._write(f"::stop-commands::{mark}")
        try:
            for line in text.splitlines():
                self._write(self.clean(line))
        finally:
            if self._commands:
                self._write(f"::{mark}::")

    def _command(self, name: str, text: str) -> None:
        line = self.clean(text)
        self._write(
            f"::{name} title=grader-gate::{_data(line)[:COMMAND_LIMIT]}" if self._commands else f"{name}: {line}"
        )

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


def _data(text: str) -> str:
    """A command's message as the runner decodes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
