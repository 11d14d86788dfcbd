"""The zoo's repository: every grader is put up as a pull request, and the real command line looks at it.

One git repository holds the suite, the graders and a frozen baseline for each base. A grader is a branch that changes
one line of ``judge.py``. What the program says of it is read from its ``result.json``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader_gate.cli import main
from grader_gate.suite.mutators.registry import registry
from tests.zoo.table import Entry

HERE = Path(__file__).resolve().parent
PROMISE = "deterministic: true"
PATIENCE = "timeout_s: 20"
ONE_ANSWER = "rubric, answer, sources]"
TWO_ANSWERS = "rubric, answer_a, answer_b, sources]\n      compares: true"
SCALE = re.compile(r"^ +scale: .*\n", re.MULTILINE)
SAID = ("confirmed", "absolute", "not re-run", "unconfirmed")
"""Statuses of findings that accuse; what was dismissed as noise or is undecided does not."""
SILENT = ("improvement", "provider drift", "standing debt", "new case")
UNUSABLE = "unusable reply"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one command said of one grader.

    :ivar spoke: names of the audits that accuse, e.g. ``golden``, ``mutants: numeric``, ``attacks: injection``.
    :ivar blocked: whether the exit code was anything but 0.
    :ivar result: the whole ``result.json``.
    """

    spoke: frozenset[str]
    blocked: bool
    result: dict[str, Any] = field(repr=False, default_factory=dict)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All findings that accuse."""
        return [f for suite in self.result["suites"] for f in suite["findings"] if accuses(f)]


def accuses(finding: dict[str, Any]) -> bool:
    """Whether a finding says that the grader is worse than it should be."""
    return finding["status"] in SAID and finding["kind"] not in SILENT


def audit_of(finding: dict[str, Any]) -> str:
    """The audit that speaks in a finding, under the name the table uses."""
    kind = finding["kind"]
    if UNUSABLE in (finding["head"] or ""):
        return "malformed"
    if kind in ("regression", "wrong verdict"):
        return "abstention" if finding["head"] == "abstained" else "golden"
    if kind in ("survivor", "control", "attack"):
        mutator = registry()[finding["mutator"]]
        return f"{'mutants' if kind == 'survivor' else kind + 's'}: {mutator.property}"
    return {"inversion": "ladders", "inversion rate": "ladders"}.get(kind, kind)


def seen(result: dict[str, Any]) -> Seen:
    """What a result says."""
    spoke = {audit_of(f) for suite in result["suites"] for f in suite["findings"] if accuses(f)}
    if result["verdict"] == "error":
        spoke.add("unmeasured")
    return Seen(frozenset(spoke), result["exit_code"] != 0, result)


class Kennel:
    """A repository with one branch per grader; bases are built when they are first asked for."""

    def __init__(self, root: Path) -> None:
        self.root, self.out = root / "repository", root / "out"
        self.root.mkdir(parents=True)
        shutil.copytree(HERE / "suite", self.root, dirs_exist_ok=True)
        shutil.copytree(HERE / "graders", self.root / "zoo", ignore=shutil.ignore_patterns("__pycache__"))
        self._git("init", "-q", "-b", "empty")
        self._commit("the suite and the graders")
        self._bases: set[str] = set()

    def base(self, target: str, *, deterministic: bool = True, timeout_s: float = 20, compares: bool = False) -> str:
        """The branch whose judge is ``target``, with a frozen baseline: one repeat of each item where the contract
        promises equal grades for equal calls, else three."""
        promise = "steady" if deterministic else "unsteady"
        branch = f"base-{target.replace(':', '-')}-{promise}-{timeout_s:g}s"
        if branch not in self._bases:
            self._git("switch", "-q", "-f", "-C", branch, "empty")
            config = (HERE / "suite" / ".grader-gate.yml").read_text("utf-8")
            assert PROMISE in config
            assert PATIENCE in config
            if not deterministic:
                config = config.replace(PROMISE, "deterministic: false")
            config = config.replace(PATIENCE, f"timeout_s: {timeout_s:g}")
            if compares:
                assert ONE_ANSWER in config
                config = SCALE.sub("", config.replace(ONE_ANSWER, TWO_ANSWERS))
            (self.root / ".grader-gate.yml").write_text(config, "utf-8")
            self._write(target)
            self._commit(f"{target} is the judge")
            code, said = self._gate(
                "freeze", "HEAD", "--by", "keeper", "--repeats", "1" if deterministic else "3", out="freeze-" + branch
            )
            assert code == 0, f"freezing {target} ended with {code}: {said}"
            self._commit("freeze")
            self._bases.add(branch)
        return branch

    def examine(self, entry: Entry) -> Seen:
        """Everything the table asks to be done with a grader; the audits of all commands together."""
        base = self.base(
            entry.base, deterministic=entry.deterministic, timeout_s=entry.timeout_s, compares=entry.compares
        )
        found = self.check(base, entry.target)
        if not entry.alone:
            return found
        more = self.alone(base, entry.target, *entry.alone)
        result = {**found.result, "suites": [*found.result["suites"], *more.result["suites"]]}
        return Seen(found.spoke | more.spoke, found.blocked, result)

    def check(self, base: str, target: str) -> Seen:
        """Put ``target`` up against ``base`` as a pull request."""
        head = self._branch(base, target)
        out = "check-" + head
        self._gate("check", "--base", base, "--head", head, out=out)
        return self._read(out)

    def alone(self, base: str, target: str, command: str, *more: str) -> Seen:
        """Look at ``target`` on its own: ``run``, ``audit`` or ``ladder``."""
        head = self._branch(base, target)
        out = f"{command}-{head}"
        where = ["--revision", head] if command == "ladder" else [head]
        self._gate(command, *where, *more, out=out)
        return self._read(out)

    def _branch(self, base: str, target: str) -> str:
        head = f"{base}-{target.replace(':', '-')}"
        known = self._git("branch", "--list", head)
        if not known:
            self._git("switch", "-q", "-c", head, base)
            self._write(target)
            self._commit(f"{target} takes over")
        return head

    def _write(self, target: str) -> None:
        module, _, name = target.partition(":")
        text = f'"""The judge in office."""\n\nfrom zoo.{module} import {name} as grade\n\n__all__ = ["grade"]\n'
        (self.root / "judge.py").write_text(text, "utf-8")

    def _read(self, out: str) -> Seen:
        return seen(json.loads((self.out / out / "result.json").read_text("utf-8")))

    def _gate(self, *arguments: str, out: str) -> tuple[int, str]:
        """Run the command line; its exit code and all it says."""
        said = io.StringIO()
        where = ["-C", str(self.root), "--out", str(self.out / out), "--no-cache", "--quiet"]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = int(main([*arguments, *where]))
        return code, said.getvalue()

    def _commit(self, message: str) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", message)

    def _git(self, *arguments: str) -> str:
        who = ["-c", "user.name=Keeper", "-c", "user.email=keeper@example.com", "-c", "commit.gpgsign=false"]
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.root, check=True, capture_output=True, text=True, env=env
        )
        return done.stdout.strip()
