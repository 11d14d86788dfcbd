"""`make demo`: the gate at work on a support bot's judge, in a real git repository, without a key or a network.

The repository's main branch holds a judge in code that follows a written rubric, and golden cases, ladders and a frozen
baseline for it. A branch shortens one line of the rubric. Nothing below knows what that breaks: the gate finds it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
IDENTITY = ["-c", "user.name=Demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgsign=false"]


def main() -> int:
    """Build the repository, freeze, change the rubric, check; returns 0 where the gate found the breakage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, default=None, help="where to build the repository (default: a new folder)")
    repository = parser.parse_args().dir or Path(tempfile.mkdtemp(prefix="grader-gate-demo-"))
    repository.mkdir(parents=True, exist_ok=True)
    say(f"A repository of a support bot, in {repository}")
    git(repository, "init", "-q", "-b", "main")
    shutil.copytree(HERE / "support-bot" / "base", repository, dirs_exist_ok=True)
    commit(repository, "Add the support judge, its rubric and its golden cases")

    say("Freeze the baseline: every item three times, then commit the record")
    gate(repository, "freeze", "HEAD", "--by", "demo", expect=0)
    commit(repository, "Freeze the baseline")

    say("A branch tidies the rubric; a person would call it harmless:")
    git(repository, "switch", "-q", "-c", "tidy-rubric")
    shutil.copytree(HERE / "support-bot" / "change", repository, dirs_exist_ok=True)
    commit(repository, "Shorten the rubric")
    git(repository, "--no-pager", "diff", "-U0", "main", "HEAD", "--", "rubrics")

    say("The gate, as it runs on the pull request:")
    code = gate(repository, "check", "--base", "main", "--head", "HEAD", expect=1)
    out = repository / ".grader-gate-out"
    say(f"The check ended with exit code {code}: the pull request is blocked. Look at:")
    for name in ("comment.md", "report.html", "result.json", "ledger.jsonl"):
        print(f"  {out / name}")
    return 0


def say(text: str) -> None:
    """A heading."""
    print(f"\n== {text}", flush=True)


def git(repository: Path, *arguments: str) -> None:
    """Run git in the repository."""
    subprocess.run(["git", *IDENTITY, *arguments], cwd=repository, check=True)


def commit(repository: Path, message: str) -> None:
    """Commit everything."""
    ignore = repository / ".gitignore"
    ignore.write_text(".grader-gate-out/\n.grader-gate-cache/\n__pycache__/\n", "utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message)


def gate(repository: Path, *arguments: str, expect: int) -> int:
    """Run the real command line; any other exit code than the expected one ends the demo with an error."""
    command = [sys.executable, "-m", "grader_gate", *arguments, "-C", str(repository), "--quiet"]
    code = subprocess.run(command, cwd=repository, check=False).returncode
    if code != expect:
        sys.exit(f"demo: grader-gate {arguments[0]} ended with {code}, expected {expect}")
    return code


if __name__ == "__main__":
    sys.exit(main())
