"""Anthropic's messages. Fields as in Anthropic's API reference, "Messages"."""

from __future__ import annotations

import json
from typing import Any

from grader_gate.config import OutputMode
from grader_gate.graders.wires.base import REPLY_NAME, Answer, Ask, WireError, count, mapping

DEFAULT_VERSION = "2023-06-01"
"""The ``anthropic-version`` every client sends today."""


class AnthropicWire:
    """``POST {base}/messages``; system text apart, structured output through a tool."""

    def path(self) -> str:
        """Path below the base URL."""
        return "/messages"

    def headers(self, api_version: str | None) -> dict[str, str]:
        """The API version."""
        return {"anthropic-version": api_version or DEFAULT_VERSION}

    def key_header(self, key: str, name: str | None) -> tuple[str, str]:
        """``x-api-key``, or the header the provider names."""
        if name is not None and name.casefold() == "authorization":
            return "Authorization", f"Bearer {key}"
        return name or "x-api-key", key

    def body(self, ask: Ask) -> dict[str, Any]:
        """The request. Both JSON modes use a tool: its input is checked against the schema by the server."""
        system = [m["content"] for m in ask.messages if m["role"] in ("system", "developer")]
        body: dict[str, Any] = {
            "model": ask.model,
            "messages": [dict(m) for m in ask.messages if m["role"] not in ("system", "developer")],
            "max_tokens": ask.max_output_tokens,
            **ask.parameters,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if ask.mode in (OutputMode.JSON_SCHEMA, OutputMode.TOOL):
            body["tools"] = [{"name": REPLY_NAME, "description": "Give the grade.", "input_schema": dict(ask.schema)}]
            # Extended thinking only goes with a free choice of tools.
            choice = "auto" if ask.parameters.get("thinking") or ask.dialect.get("choice") == "auto" else "tool"
            body["tool_choice"] = {"type": "auto"} if choice == "auto" else {"type": "tool", "name": REPLY_NAME}
        return body

    def read(self, reply: Any) -> Answer:
        """The tool's input, else the text blocks."""
        if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
            raise WireError("the reply has no `content`")
        blocks = [block for block in reply["content"] if isinstance(block, dict)]
        tools = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
        if tools and isinstance(tools[-1], dict):
            text = json.dumps(tools[-1], ensure_ascii=False)
        else:
            text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
        stop = reply.get("stop_reason")
        problems = {"max_tokens": "truncated", "model_context_window_exceeded": "truncated", "refusal": "refused"}
        usage = mapping(reply.get("usage"))
        cached = count(usage.get("cache_read_input_tokens")) + count(usage.get("cache_creation_input_tokens"))
        model = reply.get("model")
        return Answer(
            text, problems.get(stop) if isinstance(stop, str) else None,
            model if isinstance(model, str) and model else None,
            count(usage.get("input_tokens")) + cached, count(usage.get("output_tokens")),
        )  # fmt: skip

    def adapt(self, ask: Ask, error: str) -> dict[str, str] | None:
        """A free choice of tools, where the server refuses a forced one."""
        if "tool_choice" in error and "choice" not in ask.dialect:
            return {**ask.dialect, "choice": "auto"}
        return None
