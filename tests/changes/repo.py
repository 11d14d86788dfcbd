"""Real repositories for the tests, made without the tester's own git configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENV = {"PATH": os.environ["PATH"], "HOME": os.devnull}


class Repo:
    """A repository in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *args: str, stdin: bytes | None = None) -> str:
        env = ENV | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _WHO},
        }
        done = subprocess.run(["git", *args], cwd=self.root, env=env, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, data in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else data)

    def commit(self, files: dict[str, str | bytes] | None = None, *, message: str = "change") -> str:
        """Write, add everything, commit; the new commit's SHA."""
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def clone(self, to: Path, *, depth: int, branch: str = "main") -> Path:
        """A shallow clone over ``file://``, as a runner's checkout makes it."""
        self.git("clone", "-q", f"--depth={depth}", "-b", branch, f"file://{self.root}", str(to))
        return to


_WHO = (("NAME", "T"), ("EMAIL", "t@example.org"), ("DATE", "2026-01-01T00:00:00Z"))
