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
from dataclasses import dataclass

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


@dataclass
class Counts:
    """What was seen since the last question.

    :ivar served: replies sent. :ivar most_in_flight: most requests that waited at once.
    :ivar first: time of the first request, :ivar last: of the last reply, seconds on one clock.
    """

    served: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    first: float | None = None
    last: float = 0.0

    def report(self) -> str:
        """One line of JSON."""
        span_s = 0.0 if self.first is None else self.last - self.first
        return json.dumps({"served": self.served, "most_in_flight": self.most_in_flight, "span_s": span_s})


class Connection(asyncio.Protocol):
    """Whole requests in, one reply each, ``latency_s`` later."""

    def __init__(self, latency_s: float, counts: Counts) -> None:
        self._latency_s, self._counts = latency_s, counts
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
            loop, counts = asyncio.get_running_loop(), self._counts
            counts.first = loop.time() if counts.first is None else counts.first
            counts.in_flight += 1
            counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
            loop.call_later(self._latency_s, self._reply)

    def _reply(self) -> None:
        self._counts.served += 1
        self._counts.in_flight -= 1
        self._counts.last = asyncio.get_running_loop().time()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(RESPONSE)


async def serve(latency_s: float) -> None:
    """Serve until standard input ends; each line that comes in is answered with the counts so far, then reset."""
    loop = asyncio.get_running_loop()
    counts = Counts()
    server = await loop.create_server(lambda: Connection(latency_s, counts), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        print(counts.report(), flush=True)
        counts.served, counts.most_in_flight, counts.first = 0, 0, None
    server.close()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=200.0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().latency_ms / 1000))


if __name__ == "__main__":
    main()
