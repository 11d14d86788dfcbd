"""A ledger or cache must not come with the change under test: its rows would pass for grades already paid for."""

from __future__ import annotations

from pathlib import Path

from grader_gate.changes.git import Git
from grader_gate.errors import UsageError


class TrackedFiles(UsageError):
    """Git tracks the ledger of this run or the cache."""


def refuse_tracked(git: Git, out: Path, cache: Path | None) -> None:
    """See that git has checked out neither the ledger in ``out`` nor the cache. Outside the repository all is ours.

    :raises TrackedFiles: which one, and how to mend it.
    """
    read = [out / "ledger.jsonl", out / "run.json", *([] if cache is None else [cache])]
    # A tracked link is as bad as a tracked file, whatever it leads to.
    places = {p for path in read for p in (path.resolve(), path.parent.resolve() / path.name)}
    names = sorted(place.relative_to(git.root).as_posix() for place in places if place.is_relative_to(git.root))
    if not names:
        return
    found = git.run("--literal-pathspecs", "ls-files", "-z", "--", *names).stdout.decode("utf-8", "replace")
    if tracked := found.split("\0")[0]:
        raise TrackedFiles(
            f"{tracked}: git tracks it, so a branch could bring grades of its own along; `git rm --cached` it and add "
            "it to .gitignore, or name another place"
        )
