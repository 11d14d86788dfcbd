"""SIGINT and SIGTERM as a request to end well: no call is begun, those in flight may come home."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def signals_set(stop: asyncio.Event) -> Iterator[list[str]]:
    """While inside, the first SIGINT or SIGTERM sets ``stop``; a second one has its usual effect.

    Where the event loop cannot do it (Windows, not the main thread) the signals keep their usual effect.

    :returns: the names of the signals that came, in their order.
    """
    caught: list[str] = []
    loop = asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}

    def on_signal(number: signal.Signals) -> None:
        caught.append(number.name)
        stop.set()
        restore()

    def restore() -> None:
        while before:
            number, handler = before.popitem()
            loop.remove_signal_handler(number)
            # None: installed outside Python; the default is the closest thing to it.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            old = signal.getsignal(number)
            loop.add_signal_handler(number, on_signal, number)
            before[number] = old
    except (NotImplementedError, ValueError, RuntimeError):
        restore()
    try:
        yield caught
    finally:
        restore()
