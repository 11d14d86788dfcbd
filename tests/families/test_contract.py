"""The contract held to, end to end: the served model, the scale, abstentions, and what has to be validated anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.flow.repository import CASES, CONFIG, JUDGE, Repository, base_files, case_file
from tests.servers.model_server import ModelServer

CHAT = """
version: 1
providers:
  local: {{wire: openai, base_url: "{url}", max_retries: 0}}
graders:
  judge:
    kind: chat
    provider: local
    model: judge-1
    prompt: prompt.md
    contract: {{inputs: [question, answer], abstains: true{more}}}
suites:
  main: {{grader: judge, cases: "cases/*.yaml", mutators: none}}
"""


def reply(messages, fields, number):
    word = messages[-1]["content"].rsplit(" ", 1)[-1].strip(".")
    verdict = {"good": "correct", "half": "partial", "bad": "incorrect"}[word]
    return f'{{"reason": "it ends so", "verdict": "{verdict}"}}'


@contextmanager
def serving(answer=reply, model: str | None = None) -> Iterator[ModelServer]:
    """A model server in a loop of its own, for the command line brings its own loop as well."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = ModelServer(answer, model=model)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def start(repo: Repository, url: str, more: str = "") -> None:
    files = {".grader-gate.yml": CHAT.format(url=url, more=more), "prompt.md": "Judge. {{ question }} {{ answer }}\n"}
    repo.commit({**files, "cases/all.yaml": case_file(CASES)}, "base")
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"prompt.md": "Judge well. {{ question }} {{ answer }}\n"})


def test_a_served_model_that_is_not_the_pinned_one_holds_the_gate(repo: Repository):
    with serving(model="judge-1-2026-09") as server:
        start(repo, server.base_url, ", served_model: judge-1-2026-05")
        run = repo.check()
    assert run.code == 3
    assert run.result["verdict"] == "error"
    assert "served model judge-1-2026-09, pinned judge-1-2026-05" in " ".join(run.suite["why"])
    assert not [f for f in run.findings() if f["blocking"]]


def test_the_pinned_model_lets_the_gate_work(repo: Repository):
    with serving(model="judge-1-2026-05") as server:
        start(repo, server.base_url, ", served_model: judge-1-2026-05")
        run = repo.check()
    assert run.code == 0, run.err
    assert run.suite["served_models"] == ["judge-1-2026-05"]


def test_abstentions_have_their_own_rate_and_go_to_review(repo: Repository):
    def shy(messages, fields, number):
        said = messages[-1]["content"]
        if "well" in said and "half" in said:
            return '{"reason": "the question is not clear", "verdict": "insufficient context"}'
        return reply(messages, fields, number)

    with serving(shy) as server:
        start(repo, server.base_url)
        run = repo.check()
    assert run.suite["abstained"] == {"k": 1, "n": 4, "planned": 4}
    assert run.suite["abstained_base"] == {"k": 0, "n": 4, "planned": 4}
    (item,) = run.suite["review"]
    assert (item["item"], item["case"], item["reason"]) == ("golden/two", "two", "the question is not clear")
    assert item["location"]["path"] == "cases/all.yaml"
    # An expected `partial` that is declined is one rank off: a regression like any other, told as an abstention.
    assert [f["head"] for f in run.findings("regression")] == ["abstained"]


SCALED = CONFIG.replace("answer]}", "answer], scale: {min: 0, max: 10, thresholds: {correct: 7, partial: 4}}}")
SCORES = """
SCORES = {"good": 9, "half": 5, "bad": 1}


def grade(question, reference, rubric, answer):
    score = SCORES[answer.rsplit(" ", 1)[-1].strip(".")]
    return score * 10 if rubric.startswith("percent") else score
"""


def test_a_score_outside_the_scale_is_malformed_and_breaks_the_claim(repo: Repository):
    repo.commit(base_files(config=SCALED, judge=SCORES), "base")
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"rubric.md": "percent: from 0 to 100\n"})
    run = repo.check()
    assert run.code == 1
    broken = {f["case"] for f in run.findings("regression") if f["head"] == "unusable reply"}
    assert broken == {"one", "two", "four"}  # 1 becomes 10, which is on the scale and counts as correct
    outside = [r for r in run.ledger() if r["side"] == "head" and r["grade"].get("error")]
    assert all("outside the scale 0 to 10" in r["grade"]["error"]["message"] for r in outside)


CALIBRATE, NOISE, FREEZE, AUDIT = (
    "grader-gate calibrate",
    "grader-gate noise",
    "grader-gate freeze",
    "grader-gate audit",
)


@pytest.mark.parametrize(
    ("change", "named", "commands"),
    [
        ({"rubric.md": "strict: look at the very last word\n"}, "rubric changed", {CALIBRATE, FREEZE}),
        ({"code/judge.py": JUDGE + "\n# more\n"}, "code changed", {CALIBRATE, NOISE, FREEZE}),
        (
            {".grader-gate.yml": CONFIG.replace("[question, reference, rubric, answer]", "[reference, rubric, answer]"),
             "code/judge.py": JUDGE.replace("grade(question, ", "grade(")},
            "code and visible inputs changed", {CALIBRATE, NOISE, FREEZE},
        ),
        ({"cases/all.yaml": case_file({**CASES, "five": ("It is good", "correct")})}, "task distribution changed",
         {CALIBRATE, FREEZE}),
        ({"cases/all.yaml": case_file(CASES).replace("id: one,", 'id: one, reference: "All good.",')},
         "references changed", {AUDIT, FREEZE}),
        ({".grader-gate.yml": CONFIG + "policy: {kill_rate: {default: 0.5}}\n"}, "policy changed", {AUDIT}),
    ],
)  # fmt: skip
def test_a_change_names_what_has_to_be_validated_anew(repo: Repository, change, named, commands):
    repo.commit(base_files(), "base")
    repo.git("switch", "-q", "-c", "topic")
    repo.commit(change)
    run = repo.check()
    (said,) = [n["message"] for n in run.result["notices"] if "revalidate with" in n["message"]]
    assert named in said
    assert {c for c in (CALIBRATE, NOISE, FREEZE, AUDIT) if f"`{c}`" in said} == commands
    assert said in (run.folder / "comment.md").read_text("utf-8").replace("\\", "")


def test_a_changed_model_or_prompt_is_named(repo: Repository):
    with serving() as server:
        start(repo, server.base_url)
        repo.commit({".grader-gate.yml": CHAT.format(url=server.base_url, more="").replace("judge-1", "judge-2")})
        run = repo.check()
    (said,) = [n["message"] for n in run.result["notices"] if "revalidate with" in n["message"]]
    assert "model and prompt changed" in said


def test_a_comment_in_the_workflow_calls_for_nothing(repo: Repository):
    repo.commit(base_files(), "base")
    repo.git("switch", "-q", "-c", "topic")
    repo.commit({"README.md": "hello\n", ".grader-gate.yml": "# a comment\n" + CONFIG})
    assert not [n for n in repo.check().result["notices"] if "revalidate" in n["message"]]
