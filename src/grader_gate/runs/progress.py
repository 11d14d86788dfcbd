"""How far a run is: a bar on a terminal, a line per tenth elsewhere, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

STEPS = 10
"""Lines of a long pass where there is no terminal."""

LONG = 100
"""Grades from which a pass is long. A shorter one, such as a round of confirmation, is one line."""


class Progress(Protocol):
    """What the engine tells. One object may see several passes, one after the other."""

    def start(self, total: int) -> None:
        """A pass over ``total`` grades begins."""
        ...

    def advance(self, *, reused: bool, failed: bool) -> None:
        """One grade came: from a store instead of a call, with an error instead of a verdict."""
        ...

    def finish(self) -> None:
        """The pass is over, complete or not."""
        ...


class QuietProgress:
    """Says nothing."""

    def start(self, total: int) -> None:
        """See :class:`Progress`."""

    def advance(self, *, reused: bool, failed: bool) -> None:
        """See :class:`Progress`."""

    def finish(self) -> None:
        """See :class:`Progress`."""


class LineProgress:
    """One plain line per tenth of a long pass, for logs: how many lines there are depends on counts, never on time.

    :param stream: where to; normally standard error.
    :param label: what is counted.
    """

    def __init__(self, stream: TextIO, label: str = "grades") -> None:
        self._stream, self._label = stream, label
        self._total = self._done = self._reused = self._failed = self._step = 0

    def start(self, total: int) -> None:
        """See :class:`Progress`."""
        self._total, self._done, self._reused, self._failed, self._step = total, 0, 0, 0, 0

    def advance(self, *, reused: bool, failed: bool) -> None:
        """See :class:`Progress`."""
        self._done += 1
        self._reused += reused
        self._failed += failed
        step = self._steps * self._done // self._total if self._total else 0
        if step > self._step:
            self._step = step
            self._say()

    def finish(self) -> None:
        """See :class:`Progress`."""
        if 0 < self._done < self._total and self._steps * self._done % self._total:
            self._say()

    @property
    def _steps(self) -> int:
        return STEPS if self._total >= LONG else 1

    def _say(self) -> None:
        more = [f"{count} {word}" for count, word in ((self._reused, "reused"), (self._failed, "failed")) if count]
        tail = f" ({', '.join(more)})" if more else ""
        share = 100 * self._done // self._total
        print(f"{self._label}: {self._done} of {self._total}, {share} %{tail}", file=self._stream, flush=True)


class BarProgress:
    """A bar with the time to go.

    :param stream: a terminal; normally standard error.
    :param label: what is counted.
    """

    def __init__(self, stream: TextIO, label: str = "grades") -> None:
        self._stream, self._label = stream, label
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._reused = self._failed = 0

    def start(self, total: int) -> None:
        """See :class:`Progress`."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._reused = self._failed = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(file=self._stream),
        )
        self._task = self._bar.add_task(self._label, total=total, note="")
        self._bar.start()

    def advance(self, *, reused: bool, failed: bool) -> None:
        """See :class:`Progress`."""
        if self._bar is None or self._task is None:
            return
        self._reused += reused
        self._failed += failed
        notes = [f"{count} {word}" for count, word in ((self._reused, "reused"), (self._failed, "failed")) if count]
        self._bar.update(self._task, advance=1, note=", ".join(notes))

    def finish(self) -> None:
        """See :class:`Progress`."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def progress_for(stream: TextIO, *, quiet: bool = False, label: str = "grades") -> Progress:
    """The progress that fits a stream: a bar on a terminal, lines elsewhere, nothing if ``quiet``."""
    if quiet:
        return QuietProgress()
    return BarProgress(stream, label) if stream.isatty() else LineProgress(stream, label)
