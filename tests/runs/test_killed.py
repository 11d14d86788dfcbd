"""A real process killed without warning, and the run that goes on after it."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from grader_gate.model import Side
from grader_gate.runs.engine import run
from grader_gate.runs.ledger import Ledger
from tests.runs.support import NOON, PlainGrader, plan

NAMES = [f"{n}" for n in range(30)]
CHILD = """
import asyncio, sys
from pathlib import Path
from grader_gate.errors import GateError
from grader_gate.model import Side
from grader_gate.runs.engine import run
from grader_gate.runs.ledger import Ledger
from tests.runs.support import NOON, PlainGrader, plan

started = 0

async def gate(item):
    # The calls after the twelfth never end: the parent strikes while they are in flight.
    global started
    started += 1
    if started > 12:
        if started == 15:
            print("ready", flush=True)
        await asyncio.get_running_loop().create_future()

async def main():
    with Ledger(Path(sys.argv[1])) as ledger:
        grader = PlainGrader(gate=gate)
        await run([plan(f"{n}") for n in range(30)], {(Side.HEAD, "g"): grader}, ledger=ledger, concurrency=3,
                  now=lambda: NOON, grace_s=0)

try:
    asyncio.run(main())
except GateError as error:
    sys.exit(str(error))
"""


def killed_by(number, path):
    command = [sys.executable, "-c", CHILD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        os.kill(child.pid, number)
        return child.stderr.read(), child.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_goes_on_where_it_was(tmp_path, number):
    path = tmp_path / "ledger.jsonl"
    said, code = killed_by(number, path)
    if number is signal.SIGKILL:
        assert (said, code) == ("", -signal.SIGKILL)
    else:
        assert said.startswith(f"stopped by {number.name} with 12 of 30 grades; they are kept in {path}: run the same")
        assert code == 1

    async def again():
        grader = PlainGrader()
        with Ledger(path) as ledger:
            outcome = await run([plan(n) for n in NAMES], {(Side.HEAD, "g"): grader}, ledger=ledger, now=lambda: NOON)
        return grader, outcome

    grader, outcome = asyncio.run(again())
    assert (outcome.resumed, outcome.made) == (12, 18)
    assert sorted(name for name, _ in grader.calls) == sorted(f"golden/{n}" for n in NAMES[12:])
    assert len(outcome.rows) == 30
