"""A run of the real command line, killed after a number of graded calls: the next run finishes, and nothing is paid twice.

When to strike is decided by what the model server has answered, never by the clock. Fifty moments where
``GRADER_GATE_NIGHTLY`` is set, eight otherwise.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter

import pytest

from tests.action.job import TOKEN, make_job, make_origin
from tests.flow.repository import Repository
from tests.security.serving import model_server
from tests.servers.github_server import GitHubServer
from tests.servers.model_server import Fault

CASES = 14
CONFIG = """
version: 1
concurrency: {concurrency}
graders:
  judge: {{kind: chat, provider: local, model: m, prompt: judge.md, output: {{mode: text}}}}
suites:
  main: {{grader: judge, cases: cases.yaml, mutators: none}}
providers:
  local: {{base_url: "{url}", key_env: JUDGE_KEY, max_retries: 0, concurrency: 8}}
"""
CASE_FILE = "cases:\n" + "".join(
    f"  - {{id: c{n}, question: 'Q{n}?', answer: 'A{n}.', expected: correct}}\n" for n in range(CASES)
)
CALLS = 2 * CASES + 6
"""Base and head of every case, and confirmations of two flips, at least."""


def moments():
    """(signal, calls answered before it comes, calls in flight at once), from a fixed seed."""
    rng = random.Random(20261130)
    every = [
        (rng.choice([signal.SIGTERM, signal.SIGKILL]), rng.randrange(1, CALLS), rng.choice([1, 3, 8]))
        for _ in range(50)
    ]
    every[:2] = [(signal.SIGKILL, 1, 1), (signal.SIGTERM, CALLS - 1, 1)]
    return every if os.environ.get("GRADER_GATE_NIGHTLY") else every[:8]


class Provider:
    """Answers; before answer number ``stop`` it says so and holds all further calls, so that they are in flight."""

    def __init__(self):
        self.stop = None
        self.struck = threading.Event()
        self.paid = Counter()
        self.lock = threading.Lock()
        self.answered = 0

    def __call__(self, messages, body, number):
        text = messages[0]["content"]
        with self.lock:
            if self.stop is not None and self.answered >= self.stop:
                self.struck.set()
                return Fault(hang=True)
            self.answered += 1
            self.paid[text] += 1
        wrong = text.startswith("Grade") and ("Q1?" in text or "Q2?" in text)
        return json.dumps({"verdict": "incorrect" if wrong else "correct", "reason": "because"})


def files(url, concurrency):
    return {
        ".grader-gate.yml": CONFIG.format(url=url, concurrency=concurrency),
        "cases.yaml": CASE_FILE,
        "judge.md": "Judge {{ question }} {{ answer }}",
    }


def strike(command, cwd, env, provider, number):
    """Start, kill once the provider says so, and wait; the exit code and what was said."""
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        while not provider.struck.wait(0.05):
            if child.poll() is not None:
                return child.returncode, child.stdout.read(), False
        child.send_signal(number)
        said, _ = child.communicate(timeout=120)
        return child.returncode, said, True


def graded(folder):
    """How often each key of the ledger has a row of its own."""
    rows = [
        json.loads(line) for line in (folder / "ledger.jsonl").read_text("utf-8").splitlines() if line.endswith("}")
    ]
    return Counter((r["item"], r["side"], r["purpose"], r["repeat"]) for r in rows if not r["grade"].get("error"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an undisturbed run pays: how often each prompt is sent."""
    folder = tmp_path_factory.mktemp("whole")
    provider = Provider()
    with model_server(provider) as server:
        base, env = prepared(folder, server.base_url, 3)
        done = subprocess.run(gate(base), cwd=folder / "repo", env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    return provider.paid


def prepared(folder, url, concurrency):
    repo = Repository(folder / "repo", None)
    base = repo.commit(files(url, concurrency))
    repo.commit({"judge.md": "Grade {{ question }} {{ answer }}"})
    return base, {"PATH": os.environ["PATH"], "HOME": str(folder), "JUDGE_KEY": "sk-killed-0123456789"}


def gate(base, *more):
    return [
        sys.executable,
        "-m",
        "grader_gate",
        "check",
        "--base",
        base,
        "--head",
        "HEAD",
        "--quiet",
        "--no-cache",
        *more,
    ]


@pytest.mark.parametrize(("number", "after", "concurrency"), moments())
def test_the_next_run_finishes_and_pays_for_nothing_twice(tmp_path, whole, number, after, concurrency):
    provider = Provider()
    with model_server(provider) as server:
        base, env = prepared(tmp_path, server.base_url, concurrency)
        provider.stop = after
        code, said, killed = strike(gate(base), tmp_path / "repo", env, provider, number)
        out = tmp_path / "repo" / ".grader-gate-out"
        if killed and number is signal.SIGTERM:
            assert code == 3, said
            assert "run the same command again to go on" in said
        elif killed:
            assert code == -signal.SIGKILL
        else:
            assert after > sum(whole.values()) - 1
        # An answer that had left the server and not reached the ledger may be asked for again, no other.
        written = sum(graded(out).values()) if (out / "ledger.jsonl").exists() else 0
        assert after - concurrency <= written <= after or not killed
        provider.stop = None
        again = subprocess.run(gate(base), cwd=tmp_path / "repo", env=env, capture_output=True, text=True, timeout=120)
    assert again.returncode == 1, again.stderr
    assert set(graded(out).values()) == {1}
    assert set(provider.paid) == set(whole)
    lost = after - written if killed else 0
    assert sum(provider.paid.values()) <= sum(whole.values()) + lost
    if concurrency == 1 and number is signal.SIGTERM and killed:
        assert provider.paid == whole
    result = json.loads((out / "result.json").read_text("utf-8"))
    assert result["verdict"] == "fail"
    assert {f["case"] for s in result["suites"] for f in s["findings"] if f["blocking"]} == {"c1", "c2"}


ACTION_MOMENTS = [(signal.SIGTERM, 5), (signal.SIGKILL, 9), (signal.SIGTERM, CALLS - 2), (signal.SIGKILL, CALLS - 2)]


@pytest.mark.parametrize(("number", "after"), ACTION_MOMENTS)
def test_a_job_killed_and_run_again_posts_once(tmp_path, number, after):
    """The action in its own process against the stand-in of GitHub: one comment and one green-or-red check at the end."""
    provider = Provider()
    with model_server(provider) as model, GitHubServer() as server:
        template = make_origin(tmp_path / "template")
        template.repo.git("checkout", "-q", "main")
        base = template.repo.commit(files(model.base_url, 2))
        template.repo.git("checkout", "-q", "-B", "feature", base)
        head = template.repo.commit({"judge.md": "Grade {{ question }} {{ answer }}"})
        template.repo.git("checkout", "-q", "--detach", base)
        template.repo.git("merge", "-q", "--no-ff", "-m", "Merge", head)
        merge = template.repo.git("rev-parse", "HEAD")
        template.repo.git("update-ref", "refs/pull/1/merge", merge)
        template.repo.git("checkout", "-q", "main")
        template.main, template.head, template.merge = base, head, merge
        job = make_job(server, template, tmp_path)
        job.payload["pull_request"]["base"]["sha"] = base
        (job.files / "event.json").write_text(json.dumps(job.payload))
        env = {**job.env, "JUDGE_KEY": "sk-killed-0123456789", "GITHUB_TOKEN": TOKEN}
        command = [sys.executable, "-m", "grader_gate", "action"]
        provider.stop = after
        code, said, killed = strike(command, job.workspace, env, provider, number)
        assert killed, said
        assert server.comments.get(1, []) == [] or number is signal.SIGTERM
        if number is signal.SIGTERM:
            # Cancelled: the check does not hang, and is not green.
            assert code == 3, said
            assert [run["status"] for run in server.check_runs] == ["completed"]
            assert "success" not in job.conclusions
        provider.stop = None
        env["GITHUB_RUN_ATTEMPT"] = "2"
        again = subprocess.run(command, cwd=job.workspace, env=env, capture_output=True, text=True, timeout=120)
        assert again.returncode == 1, again.stdout + again.stderr
        assert len(server.comments[1]) == 1
        assert job.conclusions[-1] == "failure"
        assert "success" not in job.conclusions
        assert max(graded(job.workspace / "grader-gate-report").values()) == 1
        assert "sk-killed-0123456789" not in said + again.stdout
    assert server.violations == []
