"""Chat completions: OpenAI, Azure OpenAI, vLLM, Ollama, llama.cpp, OpenRouter and the many that speak alike.

Fields as in OpenAI's API reference, "Create chat completion".
"""

from __future__ import annotations

import json
from typing import Any

from grader_gate.config import OutputMode
from grader_gate.graders.wires.base import REPLY_NAME, Answer, Ask, WireError, count, mapping

TOKEN_CAPS = ("max_tokens", "max_completion_tokens")
"""The cap's older and newer name: OpenAI's reasoning models refuse the first, many other servers the second."""


class OpenAIWire:
    """``POST {base}/chat/completions``."""

    def path(self) -> str:
        """Path below the base URL."""
        return "/chat/completions"

    def headers(self, api_version: str | None) -> dict[str, str]:
        """None beside the key's."""
        return {}

    def key_header(self, key: str, name: str | None) -> tuple[str, str]:
        """A bearer token, or the bare key in the header the provider names (Azure: ``api-key``)."""
        if name is None or name.casefold() == "authorization":
            return "Authorization", f"Bearer {key}"
        return name, key

    def body(self, ask: Ask) -> dict[str, Any]:
        """The request; nothing is sent that was not configured, the token cap and the output form apart."""
        cap = ask.dialect.get("cap", TOKEN_CAPS[0])
        body: dict[str, Any] = {
            "model": ask.model,
            "messages": [dict(message) for message in ask.messages],
            cap: ask.max_output_tokens,
            **ask.parameters,
        }
        if ask.mode is OutputMode.JSON_SCHEMA:
            schema = {"name": REPLY_NAME, "strict": True, "schema": dict(ask.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif ask.mode is OutputMode.TOOL:
            function = {"name": REPLY_NAME, "description": "Give the grade.", "parameters": dict(ask.schema)}
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": REPLY_NAME}}
        elif ask.mode is OutputMode.JSON_OBJECT:
            body["response_format"] = {"type": "json_object"}
        return body

    def read(self, reply: Any) -> Answer:
        """Content, or the arguments of the tool call, of the first choice."""
        if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list) or not reply["choices"]:
            raise WireError("the reply has no `choices`")
        choice = reply["choices"][0]
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise WireError("the reply's first choice has no `message`")
        usage = mapping(reply.get("usage"))
        text = _text(message.get("content"))
        if isinstance(calls := message.get("tool_calls"), list) and calls:
            text = _arguments(calls[0]) or text
        finish = choice.get("finish_reason")
        problem = {"length": "truncated", "content_filter": "filtered"}.get(finish) if isinstance(finish, str) else None
        if isinstance(refusal := message.get("refusal"), str) and refusal:
            text, problem = text or refusal, problem or "refused"
        model = reply.get("model")
        return Answer(
            text, problem, model if isinstance(model, str) and model else None,
            count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")),
        )  # fmt: skip

    def adapt(self, ask: Ask, error: str) -> dict[str, str] | None:
        """The other name of the token cap, where the server refuses the one sent."""
        sent = ask.dialect.get("cap", TOKEN_CAPS[0])
        if "settled" in ask.dialect or sent not in error:
            return None
        return {**ask.dialect, "cap": TOKEN_CAPS[1 - TOKEN_CAPS.index(sent)], "settled": "by the server"}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return ""


def _arguments(call: Any) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return arguments if isinstance(arguments, str) else ""
