"""A local model server that speaks both chat wires and fails on request.

Tests give it a function from messages to a reply or a fault; run as a script it answers at a fixed latency, for
benchmarks: ``python -m tests.servers.model_server --latency-ms 200 --port 0``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Fault:
    """How a call goes wrong.

    :ivar status: HTTP status; 200 with a ``finish`` or a broken body.
    :ivar message: the error's text; ``{key}`` becomes the key that was sent.
    :ivar code: the error's code, e.g. ``content_filter``.
    :ivar drop: close the connection without an answer.
    :ivar hang: wait until :meth:`ModelServer.release` is called, or the client leaves.
    :ivar finish: ``length``, ``content_filter`` or ``refusal`` beside ``text``.
    :ivar body: send these bytes instead of JSON.
    """

    status: int = 200
    message: str = "a fault"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    hang: bool = False
    finish: str | None = None
    text: str = ""
    body: bytes | None = None


Reply = Callable[[Messages, dict[str, Any], int], "str | Fault"]


@dataclass
class Received:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    query: dict[str, str]
    body: dict[str, Any]


class ModelServer:
    """``async with ModelServer(reply) as server: server.base_url``.

    :param reply: ``(messages, the request's other fields, number of the call from 0) → text or Fault``. A system text
        sent apart comes as the first message.
    :param latency_s: seconds before every answer.
    :ivar received: every request, in order.
    :ivar max_in_flight: most requests open at once.
    """

    def __init__(self, reply: Reply, *, latency_s: float = 0.0, model: str | None = None, keep: bool = True) -> None:
        self.reply, self.latency_s, self.model, self.keep = reply, latency_s, model, keep
        self.received: list[Received] = []
        self.calls = 0
        self.in_flight = self.max_in_flight = 0
        self.released = asyncio.Event()
        self.arrived = asyncio.Event()
        self.base_url = ""
        self._runner: web.AppRunner | None = None

    def release(self) -> None:
        """Let hanging calls answer."""
        self.released.set()

    async def start(self, port: int = 0) -> str:
        """Listen on 127.0.0.1 and say where."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{prefix:.*?}chat/completions", self._openai)
        app.router.add_post("/{prefix:.*?}messages", self._anthropic)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        host, bound = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{bound}/v1"
        return self.base_url

    async def __aenter__(self) -> ModelServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()
        assert self._runner is not None
        await self._runner.cleanup()

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        key = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("api-key", "")

        def shape(text: str, finish: str | None) -> dict[str, Any]:
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if body.get("tools") and finish is None:
                call = {"id": "call_1", "type": "function", "function": {"name": "grade", "arguments": text}}
                message = {"role": "assistant", "content": None, "tool_calls": [call]}
            if finish == "refusal":
                message = {"role": "assistant", "content": None, "refusal": text or "I cannot help with that."}
            reason = finish if finish in ("length", "content_filter") else "stop"
            return {
                "id": "c1",
                "object": "chat.completion",
                "model": self.model or body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": _tokens(body["messages"]), "completion_tokens": len(text) // 4 + 1},
            }

        return await self._answer(request, body, body["messages"], key, shape)

    async def _anthropic(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        messages = body["messages"]
        if "system" in body:
            messages = [{"role": "system", "content": body["system"]}, *messages]

        def shape(text: str, finish: str | None) -> dict[str, Any]:
            block: dict[str, Any] = {"type": "text", "text": text}
            if body.get("tools") and finish is None:
                block = {"type": "tool_use", "id": "t1", "name": "grade", "input": json.loads(text)}
            stop = {"length": "max_tokens", "refusal": "refusal"}.get(finish or "", "end_turn")
            return {
                "id": "m1",
                "type": "message",
                "role": "assistant",
                "model": self.model or body["model"],
                "content": [block],
                "stop_reason": stop,
                "usage": {"input_tokens": _tokens(messages), "output_tokens": len(text) // 4 + 1},
            }

        return await self._answer(request, body, messages, request.headers.get("x-api-key", ""), shape)

    async def _answer(
        self,
        request: web.Request,
        body: dict[str, Any],
        messages: Messages,
        key: str,
        shape: Callable[[str, str | None], dict[str, Any]],
    ) -> web.StreamResponse:
        number, self.calls = self.calls, self.calls + 1
        if self.keep:
            headers = {name.lower(): value for name, value in request.headers.items()}
            self.received.append(Received(request.path, headers, dict(request.query), body))
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.arrived.set()
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            said = self.reply(messages, {k: v for k, v in body.items() if k != "messages"}, number)
            if isinstance(said, str):
                return web.json_response(shape(said, None))
            if said.hang:
                await self.released.wait()
            if said.drop:
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            if said.body is not None:
                return web.Response(body=said.body, status=said.status, content_type="application/json")
            if said.status == 200:
                return web.json_response(shape(said.text, said.finish))
            error = {"message": said.message.replace("{key}", key), "code": said.code, "type": "a_type"}
            return web.json_response({"error": error}, status=said.status, headers=said.headers)
        finally:
            self.in_flight -= 1


def _tokens(messages: Messages) -> int:
    return sum(len(str(message["content"])) for message in messages) // 4


async def _serve(port: int, latency_s: float, text: str) -> None:
    server = ModelServer(lambda *_: text, latency_s=latency_s, keep=False)
    print(await server.start(port), flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve one fixed reply until stopped; the first line printed is the base URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--text", default='{"reason": "It agrees with the reference.", "verdict": "correct"}')
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options.port, options.latency_ms / 1000, options.text))


if __name__ == "__main__":
    main()
