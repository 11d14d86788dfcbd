"""How close the engine comes to what the latency allows: 1,000 chat calls of 200 ms on the loopback.

``python benchmarks/engine.py [--quick] [--json FILE] [--peer [FOLDER]]``

The real engine calls through the real chat grader, with ledger and cache on disk; the model server is a process of
its own. The ratio is wall time ÷ (calls × latency ÷ concurrency): 1 is perfect. ``--peer`` gives promptfoo from npm
the same work. ``--quick`` measures once instead of three times (the median counts).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader_gate.config import ChatGrader, Message, Provider
from grader_gate.graders.base import Grader
from grader_gate.graders.build import build_grader
from grader_gate.model import Item, PlannedGrade, Purpose, Side
from grader_gate.runs.cache import Cache
from grader_gate.runs.engine import run
from grader_gate.runs.ledger import Ledger
from grader_gate.runs.progress import QuietProgress

HERE = Path(__file__).parent
CALLS = 1000
LATENCY_S = 0.2
LIMITS = {20: 1.1, 100: 1.25}
"""Concurrency → highest ratio allowed."""
RSS_LIMIT_MB = 150
PROMPT = (
    "You grade answers against a reference.\n\nQuestion: {{ question }}\nReference: {{ reference }}\n"
    "Answer: {{ answer }}\n\nSay whether the answer is correct, with a short reason."
)
FACT = "The committee met on {n} occasions between March and June, heard witnesses, and reported to the council. "


class NoFiles:
    """A tree without files: the prompt stands in the configuration."""

    label = "benchmark"

    def read(self, path: str) -> bytes:
        """There is nothing to read."""
        raise FileNotFoundError(path)

    def exists(self, path: str) -> bool:
        """Nothing is."""
        return False

    def glob(self, pattern: str) -> list[str]:
        """Nothing matches."""
        return []


@dataclass
class ModelServer:
    """The server process: its address, and how to ask what it has served."""

    process: subprocess.Popen[str]
    base_url: str

    def counts(self) -> dict[str, float]:
        """Since the last question: replies, most in flight, seconds from the first request to the last reply."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        counts: dict[str, float] = json.loads(self.process.stdout.readline())
        return counts


@contextlib.contextmanager
def model_server(latency_s: float) -> Any:
    """Run the model server while inside."""
    command = [sys.executable, str(HERE / "model_server.py"), "--latency-ms", str(latency_s * 1000)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield ModelServer(process, f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
        assert process.stdin is not None
        process.stdin.close()


def items(count: int) -> list[Item]:
    """Items of a usual size: about 1,000 characters each."""
    return [
        Item(
            id=f"golden/{n}",
            case_id=str(n),
            inputs={
                "question": f"How often did committee {n} meet?",
                "reference": FACT.format(n=n) * 3,
                "answer": FACT.format(n=n) * 5,
            },
        )
        for n in range(count)
    ]


def grader_at(base_url: str, concurrency: int) -> Grader:
    """The real chat grader."""
    provider = Provider(base_url=base_url, concurrency=concurrency, max_retries=0)
    config = ChatGrader(
        kind="chat",
        provider="local",
        model="benchmark-1",
        prompt=(Message(text=PROMPT),),
        contract={"inputs": ("question", "reference", "answer")},
    )
    return build_grader("judge", config, providers={"local": provider}, tree=NoFiles(), code_dir=None, environ={})


def load_libraries() -> None:
    """Import what the first call would import; loading a library is not a call."""
    for name in ("httpx", "httpx_aiohttp", "tenacity", "jinja2.sandbox"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


async def measure(base_url: str, calls: int, concurrency: int, folder: Path) -> float:
    """Seconds of one run of ``calls`` calls; all of them must come back with the verdict that was served."""
    grader = grader_at(base_url, concurrency)
    judgement = grader.judgement_digest
    plan = [
        PlannedGrade("bench", "judge", item, Side.HEAD, Purpose.SCREEN, grader.request(item).digest, judgement)
        for item in items(calls)
    ]
    with Ledger(folder / "ledger.jsonl") as ledger:
        cache = Cache(folder / "cache.sqlite", readable=("base",), writes="base", tell=print)
        started = time.perf_counter()
        outcome = await run(
            plan,
            {(Side.HEAD, "judge"): grader},
            ledger=ledger,
            cache=cache,
            concurrency=concurrency,
            progress=QuietProgress(),
        )
        seconds = time.perf_counter() - started
        cache.close()
    await grader.aclose()
    good = sum(row.grade.verdict == "correct" for row in outcome.rows.values())
    if good != calls:
        bad = next(row.grade for row in outcome.rows.values() if row.grade.verdict != "correct")
        raise SystemExit(f"only {good} of {calls} grades came as served; the first other one: {bad}")
    return seconds


def main() -> int:
    """Measure, print, and return 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure once, not three times (under a minute)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument(
        "--peer",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="give promptfoo the same work; FOLDER has it installed (npm install promptfoo node@22), else npm does it",
    )
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    passed = True
    load_libraries()
    with model_server(LATENCY_S) as server:
        for concurrency, limit in LIMITS.items():
            ideal = CALLS * LATENCY_S / concurrency
            ratios = []
            for _ in range(1 if options.quick else 3):
                with tempfile.TemporaryDirectory(prefix="grader-gate-benchmark-") as folder:
                    seconds = asyncio.run(measure(server.base_url, CALLS, concurrency, Path(folder)))
                counts = server.counts()
                if counts["served"] != CALLS or counts["most_in_flight"] > concurrency:
                    raise SystemExit(f"the server saw {counts}, not {CALLS} calls with at most {concurrency} in flight")
                ratios.append(seconds / ideal)
            ratio = statistics.median(ratios)
            passed &= ratio <= limit
            figures[f"c{concurrency}"] = {"ratio": round(ratio, 3), "ratios": [round(r, 3) for r in ratios]}
            print(
                f"grader-gate: {CALLS} calls of {LATENCY_S * 1000:g} ms, {concurrency} in flight: "
                f"{ratio * ideal:.2f} s, ratio {ratio:.3f} (at most {limit})"
            )
        rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
        passed &= rss_mb < RSS_LIMIT_MB
        figures["peak_rss_mb"] = round(rss_mb, 1)
        print(f"grader-gate: peak memory {rss_mb:.0f} MB (below {RSS_LIMIT_MB})")
        if options.peer is not None:
            from peer.promptfoo import measure_peer

            installed = Path(options.peer).resolve() if options.peer else None
            figures["peer"] = measure_peer(server, items(CALLS), LATENCY_S, list(LIMITS), PROMPT, installed)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
