"""Every kind that can compare, asked for one pair; the model's words and what cannot be used."""

from __future__ import annotations

import json
import stat
import sys

import pytest

from grader_gate.config import Config
from grader_gate.graders.base import Call
from grader_gate.graders.pairwise import NoPreferenceWord
from grader_gate.graders.templates import TemplateProblem
from grader_gate.model import Item
from tests.graders.parts import grader
from tests.servers.model_server import ModelServer

PAIR = Item("rungs/x/0<1/1", {"question": "Q?", "reference": None, "rubric": "R", "sources": [],
                              "answer_a": "the first text", "answer_b": "the second text"}, "x")  # fmt: skip
CONTRACT = {"compares": True}
PROMPT = "{{ question }} A: {{ answer_a }} B: {{ answer_b }}"


def chat(**more):
    return {
        "kind": "chat", "provider": "local", "model": "m", "prompt": [{"role": "user", "text": PROMPT}],
        "contract": CONTRACT, **more,
    }  # fmt: skip


async def ask(made, item=PAIR):
    try:
        await made.prepare()
        return await made.grade(item, made.request(item), Call())
    finally:
        await made.aclose()


async def asked(reply: str, **more):
    async with ModelServer(lambda messages, fields, n: reply) as server:
        grade = await ask(grader(chat(**more), provider={"base_url": server.base_url}))
        return grade, server.received


@pytest.mark.parametrize(
    ("reply", "preference"),
    [
        ('{"reason": "r", "verdict": "a"}', "a"),
        ('{"reason": "r", "verdict": "B"}', "b"),
        ('{"reason": "r", "verdict": "tie"}', "tie"),
        ('```json\n{"reason": "a is good, b is better", "verdict": "b"}\n```', "b"),
    ],
)
async def test_a_model_says_which_is_better(reply, preference):
    grade, received = await asked(reply)
    assert (grade.preference, grade.verdict, grade.error) == (preference, None, None)
    body = received[0].body
    assert body["messages"][0]["content"] == "Q? A: the first text B: the second text"
    schema = json.dumps(body)
    assert '["a", "b", "tie"]' in schema
    assert "rungs/x" not in schema


async def test_own_words_for_the_two():
    words = {"Output (a)": "a", "Output (b)": "b"}
    grade, _ = await asked("I compare both.\nVerdict: Output (b)", output={"mode": "text", "preferences": words})
    assert grade.preference == "b"
    grade, _ = await asked('{"reason": "r", "verdict": "tie"}', output={"preferences": words})
    assert grade.malformed  # a forced choice: no word means a tie


@pytest.mark.parametrize(
    "reply", ['{"reason": "r", "verdict": "correct"}', '{"verdict": "a"} {"verdict": "b"}', "a tie"]
)
async def test_what_is_no_preference_is_malformed(reply):
    grade, received = await asked(reply)
    assert grade.malformed
    assert len(received) == 2  # asked once more


async def test_a_stored_reply_is_read_alike():
    made = grader(chat(), provider={"base_url": "http://127.0.0.1:9"})
    assert made.judge('{"reason": "r", "verdict": "b"}').preference == "b"
    await made.aclose()


async def test_a_prompt_that_hides_one_answer_is_refused():
    made = grader(
        chat(prompt=[{"role": "user", "text": "{{ answer_a }}"}]), provider={"base_url": "http://127.0.0.1:9"}
    )
    with pytest.raises(TemplateProblem, match="never shows the `answer_b`"):
        await ask(made)


@pytest.mark.parametrize(
    ("output", "said"), [({"preferences": {"x": "a"}}, "no word means `b`"), ({"score": "score"}, "no `score`")]
)
def test_an_output_that_cannot_choose_is_refused(output, said):
    with pytest.raises(NoPreferenceWord, match=said):
        grader(chat(output=output), provider={"base_url": "http://127.0.0.1:9"})


async def test_a_program_compares(tmp_path):
    path = tmp_path / "judge"
    path.write_text(
        f"#!{sys.executable}\nimport json, sys\nseen = json.load(sys.stdin)['inputs']\n"
        "assert set(seen) == {'question', 'reference', 'rubric', 'answer_a', 'answer_b'}, seen\n"
        "print(json.dumps({'verdict': 'a' if len(seen['answer_a']) > len(seen['answer_b']) else 'b'}))\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    grade = await ask(grader({"kind": "command", "command": ["./judge"], "contract": CONTRACT}, code_dir=tmp_path))
    assert grade.preference == "b", grade


@pytest.mark.parametrize(
    ("value", "preference"),
    [
        ("a", "a"),
        ({"verdict": "tie"}, "tie"),
        (True, None),
        (0.5, None),
        ({"verdict": "a", "score": 1}, None),
        (None, None),
    ],
)
async def test_an_endpoint_compares(value, preference):
    from aiohttp import web

    async def answer(request):
        assert set((await request.json())["inputs"]) == {"question", "reference", "rubric", "answer_a", "answer_b"}
        return web.json_response(value)

    app = web.Application()
    app.router.add_post("/judge", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    try:
        config = {"kind": "http", "provider": "local", "path": "/judge", "version": "1", "contract": CONTRACT}
        made = grader(config, provider={"base_url": f"http://127.0.0.1:{port}", "wire": "json"})
        grade = await ask(made)
    finally:
        await runner.cleanup()
    assert grade.preference == preference
    assert grade.malformed is (preference is None)


def test_checks_do_not_compare():
    with pytest.raises(ValueError, match="checks look at one answer"):
        Config.model_validate(
            {
                "graders": {"c": {"kind": "checks", "checks": [{"type": "length", "min": 1}], "contract": CONTRACT}},
                "suites": {"s": {"grader": "c", "cases": "x.yaml"}},
            }
        )
