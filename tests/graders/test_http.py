"""JSON endpoints as graders, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from grader_gate.errors import UsageError
from grader_gate.model import ErrorKind, GradeVerdict

from .parts import KEY, graded, grader, item


@asynccontextmanager
async def endpoint(answer: Callable[[int], Any]) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers ``answer(number)``: a JSON value, or a response."""
    received: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received.append({"path": request.path, "body": await request.json(), "headers": headers})
        said = answer(len(received) - 1)
        return said if isinstance(said, web.Response) else web.json_response(said)

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/api", received
    finally:
        await runner.cleanup()


def http(base_url: str, **config: Any) -> Any:
    provider = {"wire": "json", "base_url": base_url, "key_env": "MODEL_KEY", "max_retries": 0}
    provider |= config.pop("provider", {})
    return grader({"kind": "http", "provider": "local", "version": "3", **config}, provider=provider)


async def test_inputs_and_arguments_go_out_and_a_grade_comes_back() -> None:
    async with endpoint(lambda _: {"verdict": "incorrect", "reason": "no", "checks": {"units": False}}) as (url, got):
        built = http(url, path="/grade", arguments={"strict": True}, contract={"inputs": ["answer", "reference"]})
        (grade,) = await graded(built, item("41"))
    assert got[0]["path"] == "/api/grade"
    assert got[0]["body"] == {"inputs": {"answer": "41", "reference": "42"}, "arguments": {"strict": True}}
    assert got[0]["headers"]["authorization"] == f"Bearer {KEY}"
    assert (grade.verdict, grade.reason, grade.checks[0].passed) == (GradeVerdict.INCORRECT, "no", False)
    assert built.judge(grade.raw).verdict is GradeVerdict.INCORRECT


async def test_unusable_answers_are_malformed_and_outages_unmeasured() -> None:
    async with endpoint(lambda _: {"grade": "A"}) as (url, got):
        (grade,) = await graded(http(url), item())
    assert len(got) == 2
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.MALFORMED
    async with endpoint(lambda _: web.Response(status=503, text="busy")) as (url, got):
        (grade,) = await graded(http(url), item())
    assert len(got) == 1
    assert grade.error is not None
    assert grade.error.kind is ErrorKind.UNMEASURED
    assert grade.error.message.endswith("answers 503: busy")


async def test_an_unusable_answer_is_asked_for_again() -> None:
    async with endpoint(lambda number: "correct" if number else "what?") as (url, _):
        (grade,) = await graded(http(url), item())
    assert (grade.verdict, grade.usage.calls) == (GradeVerdict.CORRECT, 2)


async def test_a_refused_key_stops_the_grader() -> None:
    async with endpoint(lambda _: web.Response(status=401, text=f"bad {KEY}")) as (url, got):
        first, second = await graded(http(url), item(), item("b"))
    assert len(got) == 1
    assert first.error is not None
    assert "the key in MODEL_KEY is wrong or expired" in first.error.message
    assert KEY not in first.error.message
    assert second.error == first.error


@pytest.mark.parametrize(
    "path",
    ["@evil.example/x", "grade", "//evil.example", "/../admin", "/a?b=c", "/a#b", "/%2e%2e/x", "\\evil", "/a b", ":80"],
)
def test_a_path_cannot_lead_the_key_elsewhere(path: str) -> None:
    with pytest.raises(UsageError, match=r"graders\.judge\.path"):
        http("http://127.0.0.1:1", path=path)


def test_the_digest_follows_the_declared_version() -> None:
    one = http("http://127.0.0.1:1")
    others = [
        http("http://127.0.0.1:1", **more) for more in ({"version": "4"}, {"path": "/x"}, {"arguments": {"a": 1}})
    ]
    assert len({built.identity for built in [one, *others]}) == 4
    assert len({built.request(item()).digest for built in [one, *others]}) == 4
    assert KEY not in str(one.request(item()).payload)
