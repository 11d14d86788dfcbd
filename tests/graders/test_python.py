"""Python callables in worker processes: what they get, what they may return, and how they end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from grader_gate.errors import LocatedError, UsageError
from grader_gate.graders.base import Call
from grader_gate.model import ErrorKind, GradeVerdict

from .parts import graded, grader, item

SCALE = {"min": 0, "max": 1, "thresholds": {"correct": 0.7, "partial": 0.4}}
CORRECT, PARTIAL, INCORRECT = GradeVerdict.CORRECT, GradeVerdict.PARTIAL, GradeVerdict.INCORRECT


def python(folder: Path, code: str, function: str = "judge", **config: Any) -> Any:
    (folder / "graders").mkdir(exist_ok=True)
    (folder / "graders" / "mine.py").write_text(code)
    environ = config.pop("environ", {**os.environ, "SECRET_TOKEN": "very-secret-token"})
    block = {"kind": "python", "callable": f"mine:{function}", "path": "graders", "workers": 1, **config}
    files = {"graders/mine.py": code}
    return grader(block, files=files, code_dir=folder, environ=environ)


async def test_it_gets_the_inputs_it_names_and_its_arguments(tmp_path: Path) -> None:
    code = """
def judge(answer, reference, *, strict, seed, sources=None):
    return {"verdict": answer == reference, "reason": f"{answer} {reference} {strict} {seed} {sources}"}
"""
    built = python(tmp_path, code, arguments={"strict": "very"})
    (grade,) = await graded(built, item("42"), seed=5)
    assert (grade.verdict, grade.reason) == (CORRECT, "42 42 very 5 None")


async def test_it_never_sees_what_its_contract_does_not_name(tmp_path: Path) -> None:
    code = "def judge(**everything):\n    return {'verdict': 'correct', 'reason': ' '.join(sorted(everything))}\n"
    (grade,) = await graded(python(tmp_path, code, contract={"inputs": ["answer", "question"]}), item())
    assert grade.reason == "answer question seed"


@pytest.mark.parametrize(
    ("returned", "verdict", "score"),
    [
        ("'Partial'", PARTIAL, None),
        ("True", CORRECT, None),
        ("False", INCORRECT, None),
        ("0.5", PARTIAL, 0.5),
        ("1", CORRECT, 1.0),
        ("{'score': 0.1}", INCORRECT, 0.1),
        ("{'verdict': 'correct', 'score': 0.9}", CORRECT, 0.9),
        ("__import__('fractions').Fraction and {'verdict': True}", CORRECT, None),
        ("__import__('collections').namedtuple('G', 'verdict reason')('incorrect', 'no')._asdict()", INCORRECT, None),
    ],
)
async def test_return_forms(tmp_path: Path, returned: str, verdict: GradeVerdict, score: float | None) -> None:
    built = python(tmp_path, f"def judge(answer):\n    return {returned}\n", contract={"scale": SCALE})
    (grade,) = await graded(built, item())
    assert (grade.verdict, grade.score, grade.error) == (verdict, score, None)
    assert built.judge(grade.raw).verdict is verdict


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        ("None", "no grade came back"),
        ("''", "no grade came back"),
        ("[]", "no grade came back"),
        ("{}", "no grade came back"),
        ("'good'", "none of correct"),
        ("2.0", "outside the scale"),
        ("float('nan')", "not a finite number"),
        ("{'verdict': 'correct', 'score': 0.1}", "contradiction"),
        ("{'abstained': True}", "does not allow"),
        ("{'verdict': 'correct', 'checks': [1]}", "`checks`"),
        ("{'verdict': 'correct', 'citations': 5}", "`citations`"),
        ("object()", "no plain value"),
        ("1 / 0", "raised at mine.py:2: ZeroDivisionError: division by zero"),
        ("exit(0)", "SystemExit"),
        ("__import__('os').environ['NO_SUCH']", "KeyError: 'NO_SUCH'"),
    ],
)
async def test_what_cannot_be_used_is_malformed(tmp_path: Path, returned: str, why: str) -> None:
    built = python(
        tmp_path, f"def judge(answer):\n    return {returned}\n", contract={"scale": SCALE, "deterministic": True}
    )
    (grade,) = await graded(built, item())
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.MALFORMED
    assert why in grade.error.message


async def test_a_full_record(tmp_path: Path) -> None:
    code = """
from dataclasses import dataclass, field

@dataclass
class Check:
    name: str
    passed: bool
    detail: str = ""

async def judge(answer):
    print("this must not disturb")
    checks = [Check("units", False, "no unit")]
    return {"verdict": "incorrect", "reason": "no unit", "citations": ("42",), "checks": checks}
"""
    (grade,) = await graded(python(tmp_path, code), item())
    assert (grade.verdict, grade.reason, grade.citations) == (INCORRECT, "no unit", ("42",))
    assert [(c.name, c.passed, c.detail) for c in grade.checks] == [("units", False, "no unit")]


async def test_abstaining(tmp_path: Path) -> None:
    code = "def judge(answer):\n    return {'abstained': True, 'reason': 'too little'}\n"
    (grade,) = await graded(python(tmp_path, code, contract={"abstains": True}), item())
    assert (grade.abstained, grade.verdict, grade.reason) == (True, None, "too little")


async def test_prints_and_subprocesses_do_not_disturb_the_protocol(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys
def judge(answer):
    print('{"value": "correct"}')
    sys.stdout.write("x" * 100000)
    os.write(1, b'{"value": "correct"}\\n')
    subprocess.run(["sh", "-c", "echo '{\\"value\\": \\"correct\\"}'; cat"], check=True)
    return "incorrect"
"""
    grades = await graded(python(tmp_path, code), item(), item("b"))
    assert [grade.verdict for grade in grades] == [INCORRECT, INCORRECT]


async def test_one_worker_serves_many_calls(tmp_path: Path) -> None:
    code = "import os\ndef judge(answer):\n    return {'verdict': True, 'reason': str(os.getpid())}\n"
    grades = await graded(python(tmp_path, code), *(item(str(n)) for n in range(5)))
    assert len({grade.reason for grade in grades}) == 1


async def test_the_environment_is_scrubbed(tmp_path: Path) -> None:
    code = """
import os, sys
def judge(answer):
    home = os.environ["HOME"] != os.path.expanduser("~root") and os.path.isdir(os.environ["HOME"])
    return {"verdict": home, "reason": " ".join(sorted(os.environ)) + "|" + os.environ.get("DECLARED", "")}
"""
    environ = {"PATH": os.environ["PATH"], "GITHUB_TOKEN": "t", "MODEL_KEY": "k", "DECLARED": "yes"}
    (grade,) = await graded(python(tmp_path, code, environ=environ, env=["DECLARED"]), item())
    names, _, declared = grade.reason.partition("|")
    assert set(names.split()) - {"LC_CTYPE"} == {"DECLARED", "HOME", "LANG", "PATH", "TMPDIR"}
    assert (declared, grade.verdict) == ("yes", CORRECT)


async def test_a_declared_secret_does_not_come_back_in_an_error(tmp_path: Path) -> None:
    code = "import os\ndef judge(answer):\n    raise ValueError(os.environ['SECRET_TOKEN'])\n"
    (grade,) = await graded(python(tmp_path, code, env=["SECRET_TOKEN"], contract={"deterministic": True}), item())
    assert grade.error is not None
    assert grade.error.message == "the callable raised at mine.py:3: ValueError: [hidden]"


# ---------------------------------------------------------------- ends


def gone(pid: int) -> bool:
    """Whether a process has ended (a zombie has)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_a_timeout_ends_the_worker_and_what_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    code = f"""
import os, subprocess, time
def judge(answer):
    if answer == "hang":
        child = subprocess.Popen(["sleep", "600"])
        with open({str(note)!r}, "a") as file:
            file.write(f"{{os.getpid()}} {{child.pid}}\\n")
        while True:
            try:
                time.sleep(600)
            except BaseException:
                pass
    return True
"""
    built = python(tmp_path, code, timeout_s=1)
    hung, fine = await graded(built, item("hang"), item("fine"))
    assert hung.error is not None
    assert hung.error.kind is ErrorKind.UNMEASURED
    assert hung.error.message == "graders.judge: no answer within 1 s; the worker was ended"
    assert hung.usage.calls == 2
    assert fine.verdict is CORRECT
    pids = [int(pid) for pid in note.read_text().split()]
    assert len(pids) == 4
    for _ in range(500):
        if all(gone(pid) for pid in pids):
            break
        await asyncio.sleep(0.01)
    assert all(gone(pid) for pid in pids)


async def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    note = tmp_path / "died"
    code = f"""
import os
def judge(answer):
    if answer == "always" or (answer == "once" and not os.path.exists({str(note)!r})):
        open({str(note)!r}, "w").close()
        os._exit(3)
    return True
"""
    once, always, fine = await graded(python(tmp_path, code), item("once"), item("always"), item("fine"))
    assert (once.verdict, once.usage.calls) == (CORRECT, 2)
    assert always.error is not None
    assert always.error.kind is ErrorKind.UNMEASURED
    assert always.error.message == "graders.judge: the worker died (exit 3)"
    assert fine.verdict is CORRECT


async def test_the_last_words_of_a_dead_worker_are_kept(tmp_path: Path) -> None:
    code = """
import os, sys
def judge(answer):
    print("out of memory", os.environ["SECRET_TOKEN"], file=sys.stderr, flush=True)
    os._exit(4)
"""
    (grade,) = await graded(python(tmp_path, code, env=["SECRET_TOKEN"]), item())
    assert grade.error is not None
    assert grade.error.message == "graders.judge: the worker died (exit 4): out of memory [hidden]"


async def test_workers_run_at_once_from_the_root_and_leave_nothing_behind(tmp_path: Path) -> None:
    code = """
import os, time
def judge(answer):
    mine, other = ("a", "b") if answer == "a" else ("b", "a")
    open(f"graders/{mine}.flag", "w").close()
    while not os.path.exists(f"graders/{other}.flag"):
        time.sleep(0.005)
    return {"verdict": True, "reason": str(os.getpid())}
"""
    built = python(tmp_path, code, workers=2)
    one, two = item("a"), item("b")
    grades = await asyncio.gather(*(built.grade(each, built.request(each), Call()) for each in (one, two)))
    await built.aclose()
    assert len({grade.reason for grade in grades}) == 2
    assert sorted(path.name for path in (tmp_path / "graders").iterdir()) == ["a.flag", "b.flag", "mine.py"]


async def test_a_cancelled_call_does_not_answer_the_next(tmp_path: Path) -> None:
    flag = tmp_path / "started"
    code = f"""
import time
def judge(answer):
    if answer == "slow":
        open({str(flag)!r}, "w").close()
        time.sleep(600)
    return answer == "right"
"""
    built = python(tmp_path, code)
    slow = item("slow")
    task = asyncio.create_task(built.grade(slow, built.request(slow), Call()))
    while not flag.exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    right, wrong = await graded(built, item("right"), item("wrong"))
    assert (right.verdict, wrong.verdict) == (CORRECT, INCORRECT)


# ---------------------------------------------------------------- problems said at once


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "def judge(answer)\n    pass\n",
            r"^graders/mine\.py:1: graders\.judge\.callable: mine:judge cannot be used: Synt",
        ),
        ("import nothing_like_this\n", r"^graders/mine\.py:1: .*No module named 'nothing_like_this'"),
        ("x = 1\n", r"mine has no judge"),
        ("judge = 5\n", r"mine:judge is not callable"),
        (
            "def judge(answer, colour):\n    pass\n",
            r"the parameter `colour` gets no value; it can have answer, question",
        ),
        ("import os\nos._exit(9)\n", r"ended while importing: the worker died \(exit 9\)"),
    ],
)
async def test_a_callable_that_cannot_work(tmp_path: Path, code: str, message: str) -> None:
    built = python(tmp_path, code)
    with pytest.raises(LocatedError, match=message):
        await built.prepare()
    with pytest.raises(LocatedError, match=message):
        await built.grade(item(), built.request(item()), Call())
    await built.aclose()


async def test_arguments_must_fit(tmp_path: Path) -> None:
    built = python(tmp_path, "def judge(answer):\n    return True\n", arguments={"strict": 1})
    with pytest.raises(UsageError, match="takes no `strict`"):
        await built.prepare()
    await built.aclose()
    with pytest.raises(UsageError, match=r"graders\.judge\.arguments\.answer: is an input"):
        python(tmp_path, "", arguments={"answer": 1})


async def test_code_needs_a_checkout_and_stays_inside(tmp_path: Path) -> None:
    for config, message in (
        ({"code_dir": None}, "may not run here"),
        ({"path": ".."}, "leads outside the repository"),
        ({"path": "nowhere"}, "there is no folder 'nowhere'"),
    ):
        built = grader(
            {"kind": "python", "callable": "m:f", **{k: v for k, v in config.items() if k == "path"}},
            code_dir=config.get("code_dir", tmp_path),  # type: ignore[arg-type]
        )
        with pytest.raises(UsageError, match=message):
            await built.prepare()  # type: ignore[attr-defined]


def test_the_digest_follows_the_source(tmp_path: Path) -> None:
    one = python(tmp_path, "def judge(answer): return True")
    assert one.request(item()).digest == python(tmp_path, "def judge(answer): return True").request(item()).digest
    others = [
        python(tmp_path, "def judge(answer): return False"),
        python(tmp_path, "def judge(answer): return True", arguments={"a": 1}),
        python(tmp_path, "def judge(answer): return True", version="2"),
        python(tmp_path, "def judge(answer): return True", contract={"inputs": ["answer"]}),
    ]
    assert len({built.request(item()).digest for built in [one, *others]}) == 5
    assert len({built.identity for built in [one, *others]}) == 5
    timed = python(tmp_path, "def judge(answer): return True", timeout_s=5, workers=4)
    assert timed.identity == one.identity
    assert timed.concurrency == 4
