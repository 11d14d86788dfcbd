"""The chat kind over real sockets: both wires, every fault, and what may never leave or come back."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from grader_gate.errors import UsageError
from grader_gate.graders.base import Call
from grader_gate.model import ErrorKind, GradeVerdict
from tests.servers.model_server import Fault, ModelServer

from .parts import KEY, graded, grader, item

GOOD = '{"reason": "It agrees.", "verdict": "correct"}'
BAD = '{"reason": "It does not.", "verdict": "incorrect"}'
FILES = {"judge.md": "Q: {{ question }} R: {{ reference }} {{ rubric }} A: {{ answer }}"}


class Naps:
    """Stands in for sleeping; remembers how long."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def chat(server: ModelServer | str, naps: Naps | None = None, **config: Any) -> Any:
    provider = {"base_url": server if isinstance(server, str) else server.base_url, "key_env": "MODEL_KEY"}
    provider |= config.pop("provider", {})
    environ = config.pop("environ", {"MODEL_KEY": KEY})
    block = {"kind": "chat", "provider": "local", "model": "judge-1", "prompt": "judge.md", **config}
    built: Any = grader(block, provider=provider, files=FILES, environ=environ)
    built._connection.sleep = naps or Naps()
    built._connection.jitter = lambda: 0.5
    return built


def says(*replies: str | Fault) -> Any:
    """One reply after the other; the last one for ever."""
    return lambda messages, fields, number: replies[min(number, len(replies) - 1)]


# ---------------------------------------------------------------- wires


async def test_openai_wire() -> None:
    async with ModelServer(says(GOOD)) as server:
        built = chat(server, parameters={"temperature": 0, "seed": 7})
        (grade,) = await graded(built, item("41"))
    (sent,) = server.received
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    schema = sent.body.pop("response_format")
    assert sent.body == {
        "model": "judge-1",
        "messages": [{"role": "user", "content": "Q: What is six times seven? R: 42 Be exact. A: 41"}],
        "max_tokens": 2048,
        "temperature": 0,
        "seed": 7,
    }
    assert schema["json_schema"]["strict"] is True
    assert schema["json_schema"]["schema"] == {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "description": "Why, in one to three sentences."},
            "verdict": {"type": "string", "enum": ["correct", "partial", "incorrect"]},
        },
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    }
    assert (grade.verdict, grade.reason, grade.raw) == (GradeVerdict.CORRECT, "It agrees.", GOOD)
    assert (grade.served_model, grade.usage.calls, grade.usage.input_tokens > 0) == ("judge-1", 1, True)
    assert grade.usage.output_tokens == len(GOOD) // 4 + 1


async def test_azure_sends_its_own_header_and_query() -> None:
    azure = {"key_header": "api-key", "query": {"api-version": "2024-10-21"}, "headers": {"X-Team": "evals"}}
    async with ModelServer(says(GOOD)) as server:
        await graded(chat(server, provider=azure), item())
    (sent,) = server.received
    assert sent.headers["api-key"] == KEY
    assert sent.headers["x-team"] == "evals"
    assert "authorization" not in sent.headers
    assert sent.query == {"api-version": "2024-10-21"}


async def test_anthropic_wire() -> None:
    prompt = [{"role": "system", "text": "Judge {{ question }}"}, {"role": "user", "text": "{{ answer }}"}]
    async with ModelServer(says(GOOD)) as server:
        built = chat(server, prompt=prompt, provider={"wire": "anthropic"}, parameters={"max_tokens": 300})
        (grade,) = await graded(built, item("41"))
    (sent,) = server.received
    assert sent.path == "/v1/messages"
    assert (sent.headers["x-api-key"], sent.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert sent.body["system"] == "Judge What is six times seven?"
    assert sent.body["messages"] == [{"role": "user", "content": "41"}]
    assert sent.body["max_tokens"] == 300
    assert sent.body["tool_choice"] == {"type": "tool", "name": "grade"}
    assert "temperature" not in sent.body
    assert grade.verdict is GradeVerdict.CORRECT
    assert json.loads(grade.raw) == json.loads(GOOD)


@pytest.mark.parametrize("mode", ["tool", "json_object", "text"])
async def test_openai_output_modes(mode: str) -> None:
    async with ModelServer(says(BAD)) as server:
        (grade,) = await graded(chat(server, output={"mode": mode}), item())
    body = server.received[0].body
    assert grade.verdict is GradeVerdict.INCORRECT
    assert ("tools" in body) == (mode == "tool")
    assert body.get("response_format") == ({"type": "json_object"} if mode == "json_object" else None)


# ---------------------------------------------------------------- digests


def test_the_digest_holds_what_can_change_the_reply_and_no_key() -> None:
    base = chat("http://127.0.0.1:1/v1")
    same = chat("http://127.0.0.1:1/v1/", environ={"MODEL_KEY": "another"})
    assert base.request(item()).digest == same.request(item()).digest
    assert base.identity == same.identity
    assert KEY not in json.dumps(base.request(item()).payload)
    others = [
        chat("http://127.0.0.1:2/v1"),
        chat("http://127.0.0.1:1/v2"),
        chat("http://127.0.0.1:1/v1", model="judge-2"),
        chat("http://127.0.0.1:1/v1", parameters={"temperature": 1}),
        chat("http://127.0.0.1:1/v1", parameters={"max_tokens": 5}),
        chat("http://127.0.0.1:1/v1", output={"mode": "text"}),
        chat("http://127.0.0.1:1/v1", version="2"),
        chat("http://127.0.0.1:1/v1", contract={"served_model": "judge-1-2026"}),
        chat("http://127.0.0.1:1/v1", provider={"query": {"api-version": "3"}}),
        chat("http://127.0.0.1:1/v1", provider={"wire": "anthropic"}),
    ]
    digests = {built.request(item()).digest for built in [base, *others]}
    assert len(digests) == 11
    assert len({built.identity for built in [base, *others]}) == 11
    assert base.request(item("41")).digest != base.request(item("42")).digest


# ---------------------------------------------------------------- malformed replies


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("", "empty"),
        ("I cannot say.", "no verdict"),
        ('{"reason": "no verdict"}', "`verdict`"),
        (Fault(finish="length", text='{"reason": "so", "verdict": "correct"}'), "cut off"),
        (Fault(finish="content_filter"), "content filter"),
        (Fault(finish="refusal"), "refused"),
        (Fault(status=400, code="content_filter", message="The response was filtered"), "content filter"),
    ],
)
async def test_an_unusable_reply_is_asked_again_once(bad: str | Fault, why: str) -> None:
    async with ModelServer(says(bad, GOOD)) as server:
        (grade,) = await graded(chat(server), item())
    assert (grade.verdict, grade.usage.calls, server.calls) == (GradeVerdict.CORRECT, 2, 2)
    async with ModelServer(says(bad)) as server:
        built = chat(server)
        (grade,) = await graded(built, item())
    assert server.calls == 2
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.MALFORMED
    assert grade.error.message.startswith("unusable twice: ")
    assert why in grade.error.message
    assert grade.raw == grade.earlier_raw
    assert built.judge(grade.raw).malformed
    assert grade.usage.calls == 2


async def test_anthropic_truncation_and_refusal() -> None:
    for finish, why in (("length", "cut off"), ("refusal", "refused")):
        async with ModelServer(says(Fault(finish=finish, text=GOOD))) as server:
            (grade,) = await graded(chat(server, provider={"wire": "anthropic"}), item())
        assert grade.error is not None
        assert why in grade.error.message


async def test_both_raws_are_kept_and_the_tokens_of_both_count() -> None:
    async with ModelServer(says("first", "second")) as server:
        (grade,) = await graded(chat(server, provider={"prices": {"judge-1": {
            "input_per_million": 1e6, "output_per_million": 0}}}), item())  # fmt: skip
    assert (grade.earlier_raw, grade.raw) == ("first", "second")
    assert grade.usage.cost_usd == grade.usage.input_tokens
    assert grade.usage.output_tokens == 2 * 2


async def test_stored_replies_are_judged_again_without_a_call() -> None:
    built = chat("http://127.0.0.1:1/v1", output={"verdicts": {"correct": "partial"}})
    assert built.judge(GOOD).verdict is GradeVerdict.PARTIAL
    assert built.judgement_digest != chat("http://127.0.0.1:1/v1").judgement_digest


# ---------------------------------------------------------------- outages


@pytest.mark.parametrize(
    "fault",
    [Fault(status=500), Fault(status=503), Fault(status=408), Fault(status=409), Fault(status=425), Fault(status=429),
     Fault(drop=True), Fault(body=b"<html>gateway"), Fault(body=b'{"error": {"code": 502, "message": "upstream"}}')],
)  # fmt: skip
async def test_outages_are_retried(fault: Fault) -> None:
    naps = Naps()
    async with ModelServer(says(fault, fault, GOOD)) as server:
        (grade,) = await graded(chat(server, naps), item())
    assert grade.verdict is GradeVerdict.CORRECT
    assert grade.usage.calls == 3
    assert naps.taken == [0.5, 1.0]


async def test_an_outage_that_stays_is_unmeasured() -> None:
    naps = Naps()
    async with ModelServer(says(Fault(status=503, message="overloaded"))) as server:
        (grade,) = await graded(chat(server, naps, provider={"max_retries": 3, "max_retry_wait_s": 0.8}), item())
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.UNMEASURED
    assert grade.error.message.endswith("answers 503: overloaded (4 tries)")
    assert (server.calls, naps.taken) == (4, [0.5, 0.8, 0.8])


async def test_no_retries_means_none() -> None:
    naps = Naps()
    async with ModelServer(says(Fault(status=429))) as server:
        (grade,) = await graded(chat(server, naps, provider={"max_retries": 0}), item())
    assert (grade.unmeasured, server.calls, naps.taken) == (True, 1, [])


async def test_retry_after_in_all_its_forms() -> None:
    now = datetime(2026, 1, 5, 12, tzinfo=UTC)
    forms = [
        {"Retry-After": "7"},
        {"Retry-After": format_datetime(now + timedelta(seconds=20), usegmt=True)},
        {"retry-after-ms": "1500", "Retry-After": "9"},
        {"Retry-After": "900"},
        {"Retry-After": format_datetime(now - timedelta(hours=1), usegmt=True)},
        {"Retry-After": "soon"},
    ]
    naps = Naps()
    async with ModelServer(says(*(Fault(status=429, headers=form) for form in forms), GOOD)) as server:
        built = chat(server, naps, provider={"max_retries": 9})
        built._connection.now = lambda: now
        (grade,) = await graded(built, item())
    assert grade.verdict is GradeVerdict.CORRECT
    assert naps.taken == [7, 20, 1.5, 60, 0, 16]


async def test_a_server_that_never_answers_times_out() -> None:
    async with ModelServer(says(Fault(hang=True, status=500))) as server:
        built = chat(server, provider={"timeout_s": 0.05, "max_retries": 0})
        (grade,) = await graded(built, item())
    assert grade.error is not None
    assert grade.error.message.endswith("no reply within 0.05 s")
    assert grade.unmeasured


async def test_nobody_listens() -> None:
    (grade,) = await graded(chat("http://127.0.0.1:1/v1", provider={"max_retries": 0}), item())
    assert grade.error is not None
    assert grade.unmeasured
    assert grade.error.message.startswith("local (127.0.0.1:1): the connection failed")


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("status", "mend"),
    [
        (401, "the key in MODEL_KEY is wrong or expired; replace it"),
        (402, "the account has no credit"),
        (403, "the key in MODEL_KEY may not do this"),
        (404, "no such model or path; check `model` and `base_url`"),
    ],
)
async def test_a_closed_door_is_knocked_at_once(status: int, mend: str) -> None:
    async with ModelServer(says(Fault(status=status, message="no"))) as server:
        first, second, third = await graded(chat(server), item(), item("b"), item("c"))
    assert server.calls == 1
    assert first.error is not None
    assert mend in first.error.message
    assert first.unmeasured
    assert second.error == third.error == first.error
    assert (first.usage.calls, second.usage.calls) == (1, 0)


async def test_a_bad_request_fails_one_item_only() -> None:
    replies = says(Fault(status=400, message="temperature is not supported"), GOOD)
    async with ModelServer(replies) as server:
        first, second = await graded(chat(server), item(), item("b"))
    assert first.error is not None
    assert "check `parameters`, `model` and the prompt (it says: temperature is not supported)" in first.error.message
    assert first.unmeasured
    assert second.verdict is GradeVerdict.CORRECT


async def test_a_used_up_quota_is_not_waited_for() -> None:
    naps = Naps()
    async with ModelServer(says(Fault(status=429, code="insufficient_quota"))) as server:
        first, _ = await graded(chat(server, naps), item(), item("b"))
    assert (server.calls, naps.taken) == (1, [])
    assert first.error is not None
    assert "the quota is used up" in first.error.message


async def test_redirects_are_not_followed() -> None:
    async with ModelServer(says(Fault(status=307, headers={"Location": "http://127.0.0.1:9/"}))) as server:
        (grade,) = await graded(chat(server), item())
    assert server.calls == 1
    assert grade.error is not None
    assert "redirects are not followed" in grade.error.message


async def test_the_key_never_comes_back() -> None:
    import base64
    import urllib.parse

    key = "sk/te+st==" + "Zq8Lw3Xr9Tn5"
    echoes = [
        "bad key {key}",
        f"bad key {urllib.parse.quote(key, safe='')}",
        f"bad key {base64.b64encode(b'user:' + key.encode()).decode()}",
        f"bad key {key[:12]}...{key[-9:]}",
    ]
    for echo in echoes:
        async with ModelServer(says(Fault(status=401, message=echo))) as server:
            (grade,) = await graded(chat(server, environ={"MODEL_KEY": key}), item())
        assert grade.error is not None
        assert "bad key" in grade.error.message
        for start in range(len(key) - 8):
            assert key[start : start + 8] not in grade.error.message
        assert base64.b64encode(key.encode()).decode()[4:12] not in grade.error.message


async def test_foreign_error_text_is_short_and_on_one_line() -> None:
    async with ModelServer(says(Fault(status=400, message="a\n::error::\x1b[31m" + "x" * 5000))) as server:
        (grade,) = await graded(chat(server), item())
    assert grade.error is not None
    assert "\n" not in grade.error.message
    assert "\x1b" not in grade.error.message
    assert len(grade.error.message) < 500


async def test_a_missing_key_is_said_before_any_call() -> None:
    async with ModelServer(says(GOOD)) as server:
        built = chat(server, environ={})
        with pytest.raises(UsageError, match=r"providers\.local: the variable MODEL_KEY is not set"):
            await built.prepare()
        (grade,) = await graded(built, item())
    assert (grade.unmeasured, server.calls, grade.usage.calls) == (True, 0, 0)
    with pytest.raises(UsageError, match="the variable MODEL_KEY holds spaces, line ends") as caught:
        await chat("http://127.0.0.1:1", environ={"MODEL_KEY": "sk-first\nsk-second"}).prepare()
    assert "sk-" not in str(caught.value)


async def test_an_outage_is_given_up_after_many_failures_in_a_row() -> None:
    async with ModelServer(says(Fault(status=500))) as server:
        built = chat(server, provider={"max_retries": 0, "concurrency": 1})
        grades = await graded(built, *(item(str(number)) for number in range(60)))
    assert server.calls == 50
    assert all(grade.unmeasured for grade in grades)
    last = grades[-1].error
    assert last is not None
    assert last.message.startswith("given up after 50 failed calls in a row; the last: local (127.0.0.1:")
    assert grades[-1].usage.calls == 0


async def test_one_success_ends_a_row_of_failures() -> None:
    def reply(messages: Any, fields: dict[str, Any], number: int) -> str | Fault:
        return GOOD if number == 40 else Fault(status=500)

    async with ModelServer(reply) as server:
        built = chat(server, provider={"max_retries": 0, "concurrency": 1})
        await graded(built, *(item(str(number)) for number in range(60)))
    assert server.calls == 60


# ---------------------------------------------------------------- falling back


async def test_a_refused_output_form_is_stepped_down_once_and_remembered() -> None:
    def reply(messages: Any, fields: dict[str, Any], number: int) -> str | Fault:
        if fields.get("response_format", {}).get("type") == "json_schema":
            return Fault(status=400, message="response_format json_schema is not supported")
        return GOOD

    async with ModelServer(reply) as server:
        first, second = await graded(chat(server), item(), item("b"))
    assert [first.verdict, second.verdict] == [GradeVerdict.CORRECT] * 2
    assert [first.usage.calls, second.usage.calls] == [2, 1]
    assert [("tools" in r.body) for r in server.received] == [False, True, True]


async def test_a_server_of_bare_text_still_grades() -> None:
    def reply(messages: Any, fields: dict[str, Any], number: int) -> str | Fault:
        for word in ("response_format", "tools"):
            if word in fields:
                return Fault(status=400, message=f"unknown field {word}")
        return "Good work.\nVerdict: correct"

    async with ModelServer(reply) as server:
        (grade,) = await graded(chat(server), item())
    assert (grade.verdict, grade.usage.calls) == (GradeVerdict.CORRECT, 4)


async def test_the_token_cap_changes_its_name_on_request() -> None:
    def reply(messages: Any, fields: dict[str, Any], number: int) -> str | Fault:
        if "max_tokens" in fields:
            return Fault(status=400, message="'max_tokens' is not supported; use 'max_completion_tokens'")
        return GOOD

    async with ModelServer(reply) as server:
        first, second = await graded(chat(server), item(), item("b"))
    assert [first.usage.calls, second.usage.calls] == [2, 1]
    assert server.received[1].body["max_completion_tokens"] == 2048
    assert second.verdict is GradeVerdict.CORRECT


# ---------------------------------------------------------------- what is allowed


async def test_the_served_model_is_pinned() -> None:
    contract = {"served_model": "judge-1-2026-01-05"}
    async with ModelServer(says(GOOD), model="judge-1-2026-02-02") as server:
        grade, _ = await graded(chat(server, contract=contract), item(), item("b"))
    assert server.calls == 1
    assert grade.error is not None
    assert grade.unmeasured
    assert grade.error.message.startswith("served model judge-1-2026-02-02, pinned judge-1-2026-01-05")
    async with ModelServer(says(GOOD), model="judge-1-2026-01-05") as server:
        (grade,) = await graded(chat(server, contract=contract), item())
    assert grade.verdict is GradeVerdict.CORRECT


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"provider": {"models": ["safe"]}}, r"graders\.judge\.model: 'judge-1' is not allowed by providers\.local"),
        ({"provider": {"parameters": ["seed"]}, "parameters": {"top_p": 1}}, r"parameters\.top_p: is not allowed"),
        ({"parameters": {"max_tokens": 9999}}, r"max_tokens: 9999 is over providers\.local\.max_output_tokens"),
        ({"parameters": {"max_tokens": "many"}}, r"max_tokens: must be a whole number"),
        ({"parameters": {"stream": True}}, r"parameters\.stream: is set by the program itself"),
        ({"parameters": {"response_format": {}}}, r"response_format: is set by the program itself"),
        ({"provider": {"base_url": "http://me:pw@127.0.0.1/v1"}}, r"providers\.local\.base_url must be"),
        ({"provider": {"base_url": "http://127.0.0.1/v1?key=x"}}, r"put the rest in `query`"),
        ({"provider": {"wire": "json"}}, r"a chat grader needs `wire: openai`"),
    ],
)
def test_what_the_base_branch_does_not_allow(config: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chat("http://127.0.0.1:1/v1", **config)


def test_the_anthropic_wire_needs_a_user_message() -> None:
    prompt = [{"role": "system", "text": "{{ answer }}"}]
    with pytest.raises(UsageError, match="needs a `user` message"):
        chat("http://127.0.0.1:1", provider={"wire": "anthropic"}, prompt=prompt).request(item())


def test_an_unknown_provider() -> None:
    block = {"kind": "chat", "provider": "evil", "model": "m", "prompt": "judge.md"}
    with pytest.raises(
        UsageError, match=r"no provider 'evil' \(known: local\); providers are always read from the base"
    ):
        grader(block, provider={"base_url": "http://127.0.0.1:1"}, files=FILES)


async def test_many_calls_share_a_bounded_number_of_connections() -> None:
    arrived = 0

    def reply(messages: Any, fields: dict[str, Any], number: int) -> str | Fault:
        nonlocal arrived
        arrived += 1
        if arrived == 8:
            server.release()
        return Fault(hang=True, text=GOOD, finish="stop")

    async with ModelServer(reply) as server:
        built = chat(server, provider={"concurrency": 8})
        assert built.concurrency == 8
        items = [item(str(number)) for number in range(20)]
        grades = await asyncio.gather(*(built.grade(one, built.request(one), Call()) for one in items))
        await built.aclose()
    assert server.max_in_flight == 8
    assert {grade.verdict for grade in grades} == {GradeVerdict.CORRECT}
