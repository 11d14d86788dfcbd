"""A chat grader against a local model server, in a repository."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

from tests.servers.model_server import Fault, Messages, ModelServer

PROMPT = "Rubric {{ rubric }}\nQ {{ question }}\nANSWER<<{{ answer }}>>\n"


def judge(messages: Messages, _: dict[str, Any], __: int) -> str:
    """Says what the answer's last word says; ``LENIENT`` anywhere in the prompt accepts halves."""
    text = " ".join(m["content"] for m in messages)
    word = text.split("ANSWER<<")[1].split(">>")[0].rsplit(" ", 1)[-1]
    verdict = {"good": "correct", "half": "correct" if "LENIENT" in text else "partial"}.get(word, "incorrect")
    return json.dumps({"reason": "its last word", "verdict": verdict})


class Model:
    """A server in a thread of its own, for the command line runs its own loop. ``reply`` may be changed at any time."""

    def __init__(self) -> None:
        self.reply: Callable[[Messages, dict[str, Any], int], str | Fault] = judge
        self.server = ModelServer(lambda *asked: self.reply(*asked))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self.server.start(), self._loop).result(10)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self.server.__aexit__(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def config(self, *, provider: str = "", grader: str = "") -> str:
        """A configuration with one chat grader."""
        return (
            f'version: 1\nproviders:\n  p: {{base_url: "{self.url}", max_retries: 0{provider}}}\n'
            "graders:\n  judge:\n    kind: chat\n    provider: p\n    model: m\n    prompt: prompts/main.j2\n"
            f"    rubric: rubric.md\n    contract: {{inputs: [question, rubric, answer]}}\n{grader}"
            'suites:\n  main: {grader: judge, cases: "cases/*.yaml", ladders: "ladders/*.yaml", mutators: none}\n'
        )
