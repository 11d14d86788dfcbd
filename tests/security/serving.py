"""A model server in a thread of its own, for tests that start the program the way people do."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tests.servers.model_server import ModelServer


class Threaded:
    """An event loop in a thread; starts coroutines there and waits for them."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def do(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


@contextlib.contextmanager
def model_server(reply: Any, **options: Any) -> Iterator[ModelServer]:
    """A running :class:`ModelServer`; ``reply`` is called in its thread."""
    threaded = Threaded()
    server = ModelServer(reply, **options)
    try:
        threaded.do(server.start())
        yield server
    finally:
        server.release = lambda: None  # its event belongs to the other loop
        threaded.do(_stop(server))
        threaded.end()


async def _stop(server: ModelServer) -> None:
    server.released.set()
    assert server._runner is not None
    await server._runner.cleanup()
