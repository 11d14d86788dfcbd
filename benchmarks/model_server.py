"""A model server for benchmarks: OpenAI's chat completions over HTTP/1.1 on the loopback, each reply after a set time.

Small and fast, so that what is measured is the client. It prints its port on the first line of standard output and
ends when its standard input does, so that it never outlives the program that started it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys

REPLY = {
    "id": "chatcmpl-benchmark",
    "object": "chat.completion",
    "created": 0,
    "model": "benchmark-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": '{"reason": "Same facts as the reference.", "verdict": "correct", "pass": true, "score": 1}',
            },
        }
    ],
    "usage": {"prompt_tokens": 120, "completion_tokens": 24, "total_tokens": 144},
}
BODY = json.dumps(REPLY).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    + str(len(BODY)).encode()
    + b"\r\n\r\n"
    + BODY
)


class Server(asyncio.Protocol):
    """One connection: whole requests in, one reply each, ``latency_s`` later."""

    served = 0
    in_flight = 0
    most_in_flight = 0

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request once its body is complete."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            length = 0
            for line in bytes(self._buffer[:end]).split(b"\r\n")[1:]:
                name, _, value = line.partition(b":")
                if name.strip().lower() == b"content-length":
                    length = int(value)
            if len(self._buffer) < end + 4 + length:
                return
            del self._buffer[: end + 4 + length]
            Server.in_flight += 1
            Server.most_in_flight = max(Server.most_in_flight, Server.in_flight)
            asyncio.get_running_loop().call_later(self._latency_s, self._reply)

    def _reply(self) -> None:
        Server.served += 1
        Server.in_flight -= 1
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(RESPONSE)


async def serve(latency_s: float) -> None:
    """Serve until standard input ends; each line that comes in is answered with the counts so far, then reset."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(latency_s), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        print(json.dumps({"served": Server.served, "most_in_flight": Server.most_in_flight}), flush=True)
        Server.served = Server.most_in_flight = 0
    server.close()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=200.0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().latency_ms / 1000))


if __name__ == "__main__":
    main()
