"""What the whole program blocks, end to end: simulated pull requests through `grader-gate check` against a model server
whose verdicts flip at a rate of their own for each case.

    python benchmarks/end_to_end.py [--quick] [--same N] [--broken N] [--json FILE]

Each pull request edits the prompt of a chat grader in a real git repository. In the kind "same" the edit means nothing to
the model; in the others it breaks something: one case (fails 98 %), three cases, a case that fails 80 %, a whole tag of
six (each fails 40 %). Every repository has its own cases, flip rates and frozen baseline of three repeats.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from grader_gate.cli import main as gate

CASES = 72
TAGS = 12
KINDS = ("same", "one case", "three cases", "one case, 80 %", "tag of six, 40 % each")
PER_REPOSITORY = 10
PROMPT = """Edit {edit}. Case {{{{ question }}}}.
<answer>{{{{ answer }}}}</answer>
Reference: {{{{ reference }}}}
"""
CONFIG = """
version: 1
providers:
  local: {{base_url: "{url}", concurrency: 16}}
graders:
  judge:
    kind: chat
    provider: local
    model: simulated-1
    prompt: judge.md
    contract: {{inputs: [question, reference, answer]}}
suites:
  main: {{grader: judge, cases: cases.jsonl, mutators: none}}
"""


class Model:
    """A judge with a flip rate per case, and a set of cases that an edit of the prompt breaks.

    :ivar rates: chance of a wrong verdict per case, the mix of the decision page: most cases are firm, a few are gray.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.rates = [self._rate(draw) for _ in range(CASES)]
        self.breaks: dict[int, float] = {}
        self._draw = random.Random(seed + 1)
        self._lock = threading.Lock()
        self.calls = 0

    @staticmethod
    def _rate(draw: random.Random) -> float:
        sort = draw.random()
        return 0.002 if sort < 0.85 else draw.uniform(0.02, 0.1) if sort < 0.96 else draw.uniform(0.15, 0.45)

    def verdict(self, edit: int, case: int) -> str:
        """One verdict; an even case is right as ``correct``, an odd one as ``incorrect``."""
        with self._lock:
            self.calls += 1
            rate = self.breaks.get(case, self.rates[case]) if edit else self.rates[case]
            wrong = self._draw.random() < rate
        return ("correct", "incorrect")[(case % 2) ^ wrong]


class Handler(BaseHTTPRequestHandler):
    """OpenAI's chat completions, as far as the grader needs them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model: Model

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = body["messages"][-1]["content"]
        edit, case = int(text.split("Edit ")[1].split(".")[0]), int(text.split("Case ")[1].split(".")[0])
        content = json.dumps({"reason": "It seems so.", "verdict": self.model.verdict(edit, case)})
        reply: dict[str, Any] = {
            "id": "x", "object": "chat.completion", "created": 0, "model": "simulated-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 12, "total_tokens": 62},
        }  # fmt: skip
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> int:
    """Simulate and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 pull requests without a change, 5 of each break")
    parser.add_argument("--same", type=int, default=200)
    parser.add_argument("--broken", type=int, default=50)
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    arguments = parser.parse_args()
    same, broken = (20, 5) if arguments.quick else (arguments.same, arguments.broken)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    rows = []
    started = time.perf_counter()
    for kind in KINDS:
        rows.append(simulate(kind, same if kind == "same" else broken, url))
        print(
            "{kind}: blocked {blocked} of {n}, errors {errors}, {passes:.2f} passes each".format(**rows[-1]), flush=True
        )
    print(f"{sum(r['n'] for r in rows)} pull requests in {time.perf_counter() - started:.0f} s")
    server.shutdown()
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n", "utf-8")
    return 0


def simulate(kind: str, count: int, url: str) -> dict[str, Any]:
    """Pull requests of one kind, over as many repositories as they need."""
    blocked = errors = calls = 0
    for start in range(0, count, PER_REPOSITORY):
        model = Model(seed=hash_of(kind, start))
        Handler.model = model
        with tempfile.TemporaryDirectory(prefix="grader-gate-e2e-") as folder:
            root = Path(folder) / "repo"
            build(root, url)
            run(root, "freeze", "HEAD", expect=(0,))
            git(root, "add", "-A")
            git(root, "commit", "-q", "-m", "freeze")
            for number in range(start, min(count, start + PER_REPOSITORY)):
                draw = random.Random(hash_of(kind, number, "what"))
                model.breaks = breaks(kind, draw)
                (root / "judge.md").write_text(PROMPT.format(edit=number + 1), "utf-8")
                before = model.calls
                code = run(root, "check", "--base", "HEAD", "--head", "WORKTREE", expect=(0, 1, 3))
                calls += model.calls - before
                blocked += code == 1
                errors += code == 3
    return {"kind": kind, "n": count, "blocked": blocked, "errors": errors, "passes": calls / CASES / count}


def breaks(kind: str, draw: random.Random) -> dict[int, float]:
    """Cases an edit breaks, with the rate at which they then fail."""
    if kind == "one case":
        return {draw.randrange(CASES): 0.98}
    if kind == "three cases":
        return dict.fromkeys(draw.sample(range(CASES), 3), 0.98)
    if kind == "one case, 80 %":
        return {draw.randrange(CASES): 0.8}
    if kind.startswith("tag"):
        tag = draw.randrange(TAGS)
        return {case: 0.4 for case in range(CASES) if case % TAGS == tag}
    return {}


def build(root: Path, url: str) -> None:
    """A repository with a chat grader and its cases."""
    root.mkdir()
    (root / ".grader-gate.yml").write_text(CONFIG.format(url=url), "utf-8")
    (root / "judge.md").write_text(PROMPT.format(edit=0), "utf-8")
    (root / ".gitignore").write_text(".grader-gate-out/\n.grader-gate-cache/\n", "utf-8")
    rows = [
        {"id": f"c{n}", "question": str(n), "reference": f"Reference {n}", "answer": f"Answer {n}",
         "expected": ("correct", "incorrect")[n % 2], "tags": [f"t{n % TAGS}"]}
        for n in range(CASES)
    ]  # fmt: skip
    (root / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "base")


def run(root: Path, *arguments: str, expect: tuple[int, ...]) -> int:
    """The real entry point, in this process; its output is only shown where it ends unexpectedly."""
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        code = gate([*arguments, "-C", str(root), "--no-cache", "--quiet"])
    if code not in expect:
        sys.exit(f"grader-gate {arguments[0]} ended with {code}:\n{said.getvalue()}\n{wrong.getvalue()}")
    return code


def git(root: Path, *arguments: str) -> None:
    """Run git in the repository."""
    subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *arguments], cwd=root, check=True)


def hash_of(*parts: object) -> int:
    """A seed that is the same in every run."""
    import zlib

    return zlib.crc32("/".join(map(str, parts)).encode())


if __name__ == "__main__":
    sys.exit(main())
