"""The only module that runs git. Judges by exit codes, trusts nothing a repository's own configuration says.

A checkout may be foreign-owned (a container), shallow (depth 1) or hostile (``.git/config`` that names programs).
Every call therefore names the repository as safe, for this process only, and switches off hooks, pagers, file-system
monitors, replaced objects and lazy fetches. No connection is opened unless the caller says ``network=True``.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from grader_gate.errors import GateError, UsageError

WORKTREE = "WORKTREE"
"""What people write instead of a revision for the files on disk."""

TIMEOUT_S = 300.0
"""Seconds after which a git command counts as hung; a fetch over a slow line needs minutes, nothing else does."""

_KEPT = frozenset(
    {"PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"}
    | {"http_proxy", "https_proxy", "no_proxy", "all_proxy"}
)
"""Variables git may see: what it needs to start and to reach a host. No token and no ``GIT_*`` of the caller's."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_HEX = re.compile(r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")


class GitError(GateError):
    """A git command failed; one line with the command's name and git's own first words."""


class GitMissing(GitError):
    """There is no ``git`` program."""


class NotARepository(GitError, UsageError):
    """The folder is not the root of a git repository."""


class UnknownRevision(GitError, UsageError):
    """A revision that names no commit of this clone."""


class ObjectMissing(GitError):
    """A commit's file is not in this clone: it is shallow, partial or damaged."""


class Git:
    """Git in one repository. Holds one ``cat-file`` process for all reads; close it, or use ``with``.

    :param root: top folder of the repository: where ``.git`` is.
    :param env: environment to take :data:`_KEPT` from.
    :raises NotARepository: no ``.git`` in ``root``.
    """

    def __init__(self, root: Path, *, env: Mapping[str, str], program: str = "git") -> None:
        self.root = root.resolve()
        self._program = program
        self._env = {name: value for name, value in env.items() if name in _KEPT}
        self._batch: _Batch | None = None
        self._lock = threading.Lock()
        self._bare = not (self.root / ".git").exists()
        if self._bare and not ((self.root / "HEAD").is_file() and (self.root / "objects").is_dir()):
            raise NotARepository(
                f"{printable(str(root))}: not the top folder of a git repository; check the repository out with git, "
                "or run from its top folder"
            )

    @classmethod
    def find(cls, start: Path, *, env: Mapping[str, str]) -> Git:
        """Git in the repository that holds ``start``.

        :raises NotARepository: none of its parents has a ``.git``.
        """
        start = start.resolve()
        for folder in (start, *start.parents):
            if (folder / ".git").exists():
                return cls(folder, env=env)
        return cls(start, env=env)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the reading process. The object stays usable: the next read starts another."""
        with self._lock:
            if self._batch is not None:
                self._batch.close()
                self._batch = None

    # ------------------------------------------------------------ running

    def environment(self, *, config: Sequence[tuple[str, str]] = (), network: bool = False) -> dict[str, str]:
        """Environment of a git child. ``config`` adds settings that must not stand on a command line."""
        settings = [
            # A foreign-owned workspace is usual in a container; no glob works here (git 2.39).
            ("safe.directory", str(self.root)),
            ("core.fsmonitor", "false"),
            ("core.hooksPath", os.devnull),
            ("core.quotePath", "false"),
            ("core.attributesFile", os.devnull),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("submodule.recurse", "false"),
            *config,
        ]
        env = self._env | {
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            # Older git knows no GIT_NO_LAZY_FETCH; without a protocol a promised object is simply missing.
            "GIT_ALLOW_PROTOCOL": "https:http:file" if network else "",
            "GIT_CEILING_DIRECTORIES": str(self.root.parent),
            "GIT_PAGER": "cat",
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        if not self._bare:
            env["GIT_WORK_TREE"] = str(self.root)  # whatever `core.worktree` says
        for index, (key, value) in enumerate(settings):
            env[f"GIT_CONFIG_KEY_{index}"], env[f"GIT_CONFIG_VALUE_{index}"] = key, value
        return env

    def run(
        self,
        *args: str,
        ok: Sequence[int] = (0,),
        config: Sequence[tuple[str, str]] = (),
        network: bool = False,
        timeout_s: float = TIMEOUT_S,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run ``git ARGS`` in the repository.

        :param ok: exit codes that are answers, not failures.
        :param network: whether git may open a connection (``https``, ``http``, ``file``).
        :raises GitError: any other exit code, or no end within ``timeout_s`` seconds.
        :raises GitMissing: no git.
        """
        try:
            done = subprocess.run(
                [self._program, "--no-pager", *args],
                cwd=self.root,
                env=self.environment(config=config, network=network),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise self._not_found() from error
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {args[0]}: no answer within {timeout_s:g} s") from error
        if done.returncode not in ok:
            raise GitError(f"git {args[0]} failed ({done.returncode}): {_first_words(done.stderr)}")
        return done

    def _not_found(self) -> GitError:
        if not self.root.is_dir():
            return NotARepository(f"{printable(str(self.root))}: the folder is gone")
        return GitMissing("git is not installed, or not on PATH; install git 2.32 or newer")

    # ------------------------------------------------------------ commits

    def resolve(self, revision: str) -> str:
        """Full SHA of the commit that ``revision`` names.

        :raises UnknownRevision: no such commit in this clone, or no revision at all (an option, a control character).
        """
        shown = printable(revision)
        if not revision.strip() or revision.startswith("-") or _CONTROL.search(revision):
            raise UnknownRevision(f"revision {shown!r}: not a revision; name a branch, a tag or a commit SHA")
        done = self.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}", ok=(0, 1, 128)
        )  # fmt: skip
        sha = done.stdout.decode("ascii", "replace").strip()
        if done.returncode == 0 and _HEX.match(sha):
            return sha
        if done.returncode == 128:
            # Quiet git still says 128 where the repository itself cannot be read: that is not the revision's fault.
            self.run("rev-parse", "--git-dir")
        mend = (
            "this clone is shallow: set `fetch-depth: 2` (or 0) in actions/checkout, or run `git fetch --unshallow`"
            if self.is_shallow
            else f"check the spelling, or run `git fetch origin {shown.removeprefix('origin/')}` where a remote has it"
        )
        raise UnknownRevision(f"revision {shown!r}: no such commit in this clone; {mend}")

    def parents(self, sha: str) -> tuple[str, ...]:
        """Parents as the commit object names them, present or not: right even in a clone of depth 1.

        :raises ObjectMissing: the commit itself is missing.
        """
        kind, data = self.read_object(sha)
        if kind != "commit":
            raise GitError(f"{sha[:12]}: a {kind}, not a commit")
        header = data.split(b"\n\n", 1)[0].decode("utf-8", "replace")
        return tuple(line[7:] for line in header.split("\n") if line.startswith("parent "))

    def merge_base(self, a: str, b: str) -> str | None:
        """Best common ancestor of two commits given by SHA; None where this clone knows none."""
        done = self.run("merge-base", "--end-of-options", a, b, ok=(0, 1))
        return done.stdout.decode().split("\n", 1)[0] or None

    def has_commit(self, sha: str) -> bool:
        """Whether the commit and its tree are in this clone."""
        return self.run("cat-file", "-e", f"{sha}^{{tree}}", ok=(0, 1, 128)).returncode == 0

    @property
    def is_shallow(self) -> bool:
        """Whether history is cut off. Not cached: a fetch may change it."""
        return self.run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    @cached_property
    def object_format(self) -> str:
        """``sha1`` or ``sha256``."""
        return self.run("rev-parse", "--show-object-format").stdout.decode().strip()

    # ------------------------------------------------------------ objects

    def read_object(self, oid: str, *, limit: int | None = None) -> tuple[str, bytes]:
        """Type and bytes of one object, through the one reading process.

        :param limit: bytes; a larger object gives its type and no more than ``limit`` + 1 bytes.
        :raises ObjectMissing: not in this clone.
        """
        if not _HEX.match(oid):
            raise ObjectMissing(f"{printable(oid)}: not an object id")
        with self._lock:
            if self._batch is None:
                try:
                    self._batch = _Batch([self._program, "cat-file", "--batch"], self.root, self.environment())
                except FileNotFoundError as error:
                    raise self._not_found() from error
            try:
                found = self._batch.read(oid, limit)
            except BaseException:
                # Whatever ended the exchange half-way (a broken pipe, Ctrl-C), the next reply would be read askew.
                self._batch.close()
                self._batch = None
                raise
        if found is None:
            raise ObjectMissing(
                f"object {oid[:12]} is not in this clone; it is partial or damaged: fetch without `filter`, "
                f"or run `git fetch origin` for its commit"
            )
        return found


class _Batch:
    """A running ``git cat-file --batch``: one request, one reply."""

    def __init__(self, command: list[str], cwd: Path, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for us to handle: the child ends when its input does.
            process_group=0 if os.name == "posix" else None,
        )
        # A caller that forgets to close leaves no process behind.
        self._end = weakref.finalize(self, _end_process, self._process)

    def read(self, oid: str, limit: int | None) -> tuple[str, bytes] | None:
        """Type and content, or None where git does not have the object (or dies of the question)."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(oid.encode() + b"\n")
            stdin.flush()
        except BrokenPipeError as error:
            raise ObjectMissing(f"object {oid[:12]}: git ended while reading it") from error
        header = stdout.readline().decode().split()
        if not header:
            raise ObjectMissing(f"object {oid[:12]}: git ended while reading it; the clone is partial or damaged")
        if len(header) != 3:
            return None
        size = int(header[2])
        wanted = size if limit is None else min(size, limit + 1)
        data = _exactly(stdout, wanted)
        left = size - wanted + 1  # and the line feed after the content
        while left:
            left -= len(_exactly(stdout, min(left, 1 << 20)))
        return header[1], data

    def close(self) -> None:
        self._end()


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise ObjectMissing("git ended in the middle of an object; the clone is damaged: run `git fsck`")
    return data


def _end_process(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def printable(text: str, limit: int = 200) -> str:
    """Foreign text as it may stand in a one-line message: no control characters, no lone surrogates, bounded."""
    flat = _CONTROL.sub(" ", text).encode("utf-8", "backslashreplace").decode()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _first_words(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return printable(told[0] if told else "no message")
