"""Programs as graders: JSON in, JSON out, and an end to all of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from grader_gate.errors import UsageError
from grader_gate.model import ErrorKind, GradeVerdict

from .parts import graded, grader, item
from .test_python import gone


def command(folder: Path, script: str, *arguments: str, **config: Any) -> Any:
    (folder / "grade.py").write_text(script)
    environ = config.pop("environ", {"PATH": os.environ["PATH"], "TOKEN": "very-secret-token"})
    block = {"kind": "command", "command": [sys.executable, "grade.py", *arguments], **config}
    return grader(block, files={"grade.py": script}, code_dir=folder, environ=environ)


ECHO = """
import json, os, sys
call = json.load(sys.stdin)
print("noise for the log", file=sys.stderr)
print(json.dumps({"verdict": call["inputs"]["answer"], "reason": " ".join([
    *sorted(call["inputs"]), str(call["seed"]), *sys.argv[1:], *sorted(os.environ)])}))
"""


async def test_json_in_json_out(tmp_path: Path) -> None:
    built = command(tmp_path, ECHO, "--strict; $(x)", contract={"inputs": ["answer"]})
    (grade,) = await graded(built, item("partial"), seed=3)
    assert grade.verdict is GradeVerdict.PARTIAL
    assert grade.reason.replace(" LC_CTYPE", "") == "answer 3 --strict; $(x) HOME LANG PATH TMPDIR"
    assert built.judge(grade.raw).verdict is GradeVerdict.PARTIAL


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('true or so')", "not one JSON value"),
        ("", "not one JSON value"),
        ("print('{}')", "no grade came back"),
        ("import sys; print('true'); sys.exit('it broke')", "the program ended with 1: it broke"),
        ("import os, sys; sys.exit(os.environ['TOKEN'])", "the program ended with 1: [hidden]"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("while True: print('x' * 100000)", "wrote more than 4,000,000 bytes"),
    ],
)
async def test_what_cannot_be_used_is_malformed(tmp_path: Path, script: str, why: str) -> None:
    built = command(tmp_path, script, contract={"deterministic": True}, env=["TOKEN"])
    (grade,) = await graded(built, item())
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.MALFORMED
    assert why in grade.error.message


async def test_a_program_that_reads_nothing_and_a_large_answer(tmp_path: Path) -> None:
    (grade,) = await graded(command(tmp_path, "print('true')"), item("x" * 3_000_000))
    assert grade.verdict is GradeVerdict.CORRECT


async def test_a_timeout_ends_the_program_and_its_children(tmp_path: Path) -> None:
    script = """
import os, subprocess, time
child = subprocess.Popen(["sleep", "600"])
open("pids", "a").write(f"{os.getpid()} {child.pid}\\n")
time.sleep(600)
"""
    (grade,) = await graded(command(tmp_path, script, timeout_s=0.5), item())
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.UNMEASURED
    assert grade.error.message == "graders.judge: no answer within 0.5 s; it was ended"
    assert grade.usage.calls == 2
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(gone(pid) for pid in pids[::2])


async def test_an_unusable_answer_is_asked_for_again(tmp_path: Path) -> None:
    script = """
import os
print("true" if os.path.exists("flag") else "oops")
open("flag", "w").close()
"""
    (grade,) = await graded(command(tmp_path, script), item())
    assert (grade.verdict, grade.usage.calls) == (GradeVerdict.CORRECT, 2)


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("no program")
    for name, message in (
        ("no-such-program-here", r"graders\.judge\.command: there is no program 'no-such-program-here' on PATH"),
        ("./plain.txt", r"there is no program '\./plain\.txt' in"),
    ):
        built: Any = grader({"kind": "command", "command": [name]}, code_dir=tmp_path, environ={"PATH": "/usr/bin"})
        with pytest.raises(UsageError, match=message):
            await built.prepare()
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(UsageError, match="cannot be started"):
        await graded(grader({"kind": "command", "command": ["./broken"]}, code_dir=tmp_path, environ={}), item())
    nowhere: Any = grader({"kind": "command", "command": ["true"]})
    with pytest.raises(UsageError, match="may not run here"):
        await nowhere.prepare()


def test_the_digest_follows_the_program(tmp_path: Path) -> None:
    one = command(tmp_path, "print('true')")
    others = [
        command(tmp_path, "print('false')"),
        command(tmp_path, "print('true')", "--strict"),
        command(tmp_path, "print('true')", version="2"),
        command(tmp_path, "print('true')", env=["TOKEN"]),
    ]
    assert len({built.identity for built in [one, *others]}) == 5
    assert command(tmp_path, "print('true')", timeout_s=9).identity == one.identity
