"""Environments of programs that execute answers: known before, queried after, gone at the end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from grader_gate.graders.base import Call
from grader_gate.graders.fixtures import FixtureProblem
from grader_gate.model import ErrorKind, GradeVerdict
from tests.graders.parts import grader, item

TOOL = """
import os, pathlib, sys
place = pathlib.Path(os.environ["FIXTURE_DIR"])
state = place / "state.txt"
what = sys.argv[1]
log = pathlib.Path("log.txt")
log.write_text((log.read_text() if log.exists() else "") + what + "\\n")
if what == "setup":
    state.write_text("table users\\n")
elif what == "reset":
    state.write_text("table users\\n")
elif what == "query":
    print(state.read_text(), end="") if state.exists() else sys.exit("no state")
elif what == "cleanup":
    state.unlink()
elif what == "dirty":
    state.write_text(state.read_text() + "row ann\\n")
elif what == "fail":
    sys.exit("it broke")
elif what == "hang":
    import time
    time.sleep(60)
elif what == "nothing":
    pass
elif what == "random":
    import secrets
    print(secrets.token_hex(4))
"""

GRADE = """
import json, os, pathlib, sys
call = json.load(sys.stdin)
state = pathlib.Path(os.environ["FIXTURE_DIR"]) / "state.txt"
words = call["inputs"]["answer"].split()
before = state.read_text()
if "insert" in words:
    state.write_text(before + "row ann\\n")
if "drop" in words:
    state.write_text("")
if "secretly" in words:
    state.write_text(state.read_text() + "row eve\\n")
effects = ["row ann"] if {"insert", "claim"} & set(words) else []
there = "row ann" in state.read_text().splitlines()
verdict = "correct" if there or "trust" in words else "incorrect"
print(json.dumps({"verdict": verdict, "effects": "many" if "odd" in words else effects, "reason": before}))
"""

LOOK = """
import os, pathlib
state = pathlib.Path(os.environ["FIXTURE_DIR"]) / "state.txt"
print(state.read_text() if state.exists() else "")
print("left" if os.path.exists("outside.txt") else "")
"""

PYTHON = sys.executable


def step(name: str) -> list[str]:
    return [PYTHON, "tool.py", name]


def built(folder: Path, *, grade: str = GRADE, fixtures: dict[str, Any] | None = None, **more: Any) -> Any:
    files = {"grade.py": grade, "tool.py": TOOL}
    for name, text in files.items():
        (folder / name).write_text(text)
    steps = {name: step(name) for name in ("setup", "reset", "query", "cleanup", "dirty")}
    steps |= fixtures or {}
    block = {
        "kind": "command", "command": [PYTHON, "grade.py"], "fixtures": {k: v for k, v in steps.items() if v is not None},
        "contract": {"inputs": ["answer"], "deterministic": True}, **more,
    }  # fmt: skip
    return grader(block, files=files, code_dir=folder, environ={"PATH": os.environ["PATH"], "TOKEN": "very-secret"})


async def grades(made: Any, *answers: Any) -> list[Any]:
    found = []
    try:
        await made.prepare()
        for answer in answers:
            one = answer if not isinstance(answer, str) else item(answer)
            found.append(await made.grade(one, made.request(one), Call()))
    finally:
        await made.aclose()
    return found


async def test_the_environment_is_made_reset_queried_and_cleaned_up(tmp_path):
    made = built(tmp_path, fixtures={"dirty": None})
    first, second = await grades(made, "insert", "nothing")
    assert first.verdict is GradeVerdict.CORRECT
    assert first.environment.committed == ("row ann",)
    assert first.environment.planned == first.environment.unreported == ()
    assert first.environment.before == first.environment.pristine != first.environment.after
    assert first.environment.cleaned is True
    # What the first call left is not there for the second.
    assert second.verdict is GradeVerdict.INCORRECT
    assert second.environment.before == second.environment.after == first.environment.pristine
    log = (tmp_path / "log.txt").read_text().split()
    call = ["query", "setup", "reset", "query", "query", "cleanup", "query"]
    assert log[-len(call) :] == call
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("fixture-")]


async def test_effects_that_were_only_planned_are_no_ground_to_accept(tmp_path):
    trusting, honest = await grades(built(tmp_path), "claim trust", "claim")
    assert trusting.malformed
    assert "only planned: row ann" in trusting.error.message
    assert trusting.environment.planned == ("row ann",)
    # Saying that the effect is missing is what a grader is for.
    assert honest.verdict is GradeVerdict.INCORRECT
    assert honest.environment.planned == ("row ann",)


async def test_changes_nobody_reported_are_evidence(tmp_path):
    (grade,) = await grades(built(tmp_path), "insert secretly")
    assert grade.environment.unreported == ("row eve",)
    (grade,) = await grades(built(tmp_path), "drop")
    assert grade.environment.unreported == ("-table users",)


async def test_effects_must_be_texts(tmp_path):
    (grade,) = await grades(built(tmp_path), "odd")
    assert grade.malformed
    assert "list of at most 200 texts" in grade.error.message


async def test_a_dirtied_environment_shows_who_looks_only_at_the_end(tmp_path):
    dirty = item("nothing")
    dirty = type(dirty)(id="dirty/one", inputs=dirty.inputs, case_id="one", dirty=True)
    made = built(tmp_path)
    clean = item("nothing")
    assert made.request(clean).digest != made.request(dirty).digest
    bare, fooled = await grades(made, clean, dirty)
    assert bare.verdict is GradeVerdict.INCORRECT
    assert fooled.verdict is GradeVerdict.CORRECT  # this program looks at the end state only
    assert fooled.environment.dirtied is True
    assert fooled.environment.before == fooled.environment.pristine
    assert fooled.environment.committed == ()


@pytest.mark.parametrize(
    ("fixtures", "said"),
    [
        ({"setup": step("fail")}, r"fixtures\.setup: ended with 1: it broke"),
        ({"reset": step("fail")}, r"fixtures\.reset: ended with 1"),
        ({"query": step("random")}, r"fixtures\.query: the same state is told differently"),
        ({"query": ["no-such-program"]}, r"fixtures\.query: there is no program 'no-such-program'"),
        ({"cleanup": step("fail")}, r"fixtures\.cleanup: ended with 1"),
        (
            {"cleanup": step("nothing"), "fresh_dir": False},
            r"fixtures\.cleanup: the environment is not as before the setup",
        ),
        ({"dirty": step("nothing")}, r"fixtures\.dirty: changes nothing"),
        ({"setup": step("hang"), "timeout_s": 0.2}, r"fixtures\.setup: did not end within 0\.2 s"),
    ],
)
async def test_fixtures_that_do_not_work_are_found_before_the_first_call(tmp_path, fixtures, said):
    with pytest.raises(FixtureProblem, match=said):
        await grades(built(tmp_path, fixtures=fixtures))


async def test_a_reset_that_does_not_reset_is_no_measurement(tmp_path):
    # One folder for all and neither setup nor reset brings the state back: the first call's row stays.
    keep = "import os, pathlib\np = pathlib.Path(os.environ['FIXTURE_DIR']) / 'state.txt'\np.touch()\n"
    (tmp_path / "keep.py").write_text(keep)
    made = built(
        tmp_path,
        fixtures={"setup": [PYTHON, "keep.py"], "reset": None, "cleanup": None, "dirty": None, "fresh_dir": False},
    )
    first, second = await grades(made, "insert", "nothing")
    assert first.verdict is GradeVerdict.CORRECT
    assert first.environment.cleaned is False
    assert second.error.kind is ErrorKind.UNMEASURED
    assert "was not reset: row ann" in second.error.message


async def test_a_clean_up_that_leaves_something_is_no_measurement(tmp_path):
    # The tool's clean-up works for the trial rounds, and not once the program has written elsewhere.
    made = built(
        tmp_path,
        grade=GRADE + "\npathlib.Path('outside.txt').write_text('left')\n",
        fixtures={
            "query": [PYTHON, "-c", LOOK],
            "dirty": None,
        },
    )
    (grade,) = await grades(made, "insert")
    assert grade.error.kind is ErrorKind.UNMEASURED
    # The second try finds what the first has left.
    assert "fixtures.reset: the environment was not reset: left" in grade.error.message


async def test_the_environment_is_scrubbed_and_the_clean_up_follows_a_timeout(tmp_path):
    spy = "import json,os,sys\njson.load(sys.stdin)\nprint(json.dumps({'verdict':'correct','reason':' '.join(sorted(os.environ))}))"
    (grade,) = await grades(built(tmp_path, grade=spy), "x")
    assert grade.reason.replace(" LC_CTYPE", "") == "FIXTURE_DIR HOME LANG PATH TMPDIR"
    slow = "import time\ntime.sleep(60)\n"
    (grade,) = await grades(built(tmp_path, grade=slow, timeout_s=0.2), "x")
    assert grade.error.kind is ErrorKind.UNMEASURED
    assert (tmp_path / "log.txt").read_text().split()[-2:] == ["cleanup", "query"]


def test_one_environment_for_all_is_used_in_turn(tmp_path):
    assert built(tmp_path, workers=4).concurrency == 4
    assert built(tmp_path, workers=4, fixtures={"fresh_dir": False}).concurrency == 1


def test_a_changed_fixture_is_another_request(tmp_path):
    plain, other = built(tmp_path), built(tmp_path, fixtures={"reset": None})
    assert plain.request(item("x")).digest != other.request(item("x")).digest
    assert plain.identity != other.identity
