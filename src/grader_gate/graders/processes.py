"""Child processes that end when they are told to, see no secret, and cannot fill our memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader_gate.errors import UsageError
from grader_gate.graders.redaction import MIN_SECRET, Redactor
from grader_gate.model import Tree, digest

KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
"""Variables every child sees; all others must be declared in ``env``."""
STDERR_TAIL = 4000
"""Bytes of a child's error output that are kept, the last ones."""


class NoCodeHere(UsageError):
    """A grader that runs code, where code may not run or is not checked out."""


class Scratch:
    """A child's home: an empty folder, removed at the end, or with this object where the end is never called."""

    def __init__(self) -> None:
        self._remove: weakref.finalize[Any, Any] | None = None
        self._path = ""

    @property
    def path(self) -> str:
        """The folder, made on first use."""
        if self._remove is None:
            self._path = tempfile.mkdtemp(prefix="grader-")
            self._remove = weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        return self._path

    def remove(self) -> None:
        """Remove it."""
        if self._remove is not None:
            self._remove()
            self._remove = None


def code_folder(code_dir: Path | None, grader: str, path: str = ".") -> Path:
    """A folder inside the checked out code.

    :raises NoCodeHere: there is no checkout, no such folder, or the path leads outside.
    """
    if code_dir is None:
        raise NoCodeHere(f"graders.{grader}: runs code, which may not run here (fork, or policy.head_code: never)")
    root = code_dir.resolve()
    folder = (root / path).resolve()
    if not folder.is_relative_to(root):
        raise NoCodeHere(f"graders.{grader}.path: {path!r} leads outside the repository")
    if not folder.is_dir():
        raise NoCodeHere(f"graders.{grader}.path: there is no folder {path!r}")
    return folder


def scrubbed(environ: Mapping[str, str], declared: Sequence[str], home: str) -> dict[str, str]:
    """The variables a child may see."""
    seen = {name: environ[name] for name in (*KEPT, *declared) if name in environ}
    seen.setdefault("PATH", os.defpath)
    return {"LANG": "C.UTF-8", **seen, "HOME": home, "TMPDIR": home}


def redactor(environ: Mapping[str, str], declared: Sequence[str]) -> Redactor:
    """Hides the values of declared variables that look like secrets: eight characters or more."""
    return Redactor([environ[name] for name in declared if len(environ.get(name, "")) >= MIN_SECRET])


async def start(command: Sequence[str], folder: Path, env: Mapping[str, str], limit: int) -> asyncio.subprocess.Process:
    """Start a child as the head of its own process group, with three pipes. No shell is involved.

    :param limit: longest line of its output, bytes.
    :raises OSError: it cannot be started.
    """
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=dict(env),
        start_new_session=True,
        limit=limit,
    )


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill a child and all it started, and collect it."""
    kill_group(process)
    with contextlib.suppress(ProcessLookupError):
        await process.wait()
    transport: Any = getattr(process, "_transport", None)
    if transport is not None:
        # A grandchild that left the group may hold the pipes open; ours are closed all the same.
        transport.close()


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Send SIGKILL to the child's whole group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class Tail:
    """Reads a stream to its end and keeps the last bytes."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._kept = bytearray()
        self.task = asyncio.ensure_future(self._read(stream))

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(65536):
            self._kept += chunk
            del self._kept[:-STDERR_TAIL]

    async def last_line(self) -> str:
        """The last line of a child that has ended; empty where it said nothing.

        A child of its own may hold the stream open; what that would still say is not waited for.
        """
        await asyncio.wait([self.task], timeout=0.2)
        lines = self._kept.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    async def stop(self) -> None:
        """Stop reading."""
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


def source_identity(tree: Tree, patterns: Sequence[str], given: str | None) -> str:
    """The code's content address: the caller's closure, else a digest of every file the patterns find.

    Without a closure this widens: a file that is not used counts as well.
    """
    if given is not None:
        return given
    paths = sorted({path for pattern in patterns for path in tree.glob(pattern)})
    return digest("files", [[path, tree.read(path).hex()] for path in paths])
