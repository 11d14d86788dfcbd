"""How each built-in kind is put together; imports a kind only when it is asked for."""

from __future__ import annotations

from grader_gate.graders.base import Grader
from grader_gate.graders.build import Parts


def chat(parts: Parts) -> Grader:
    """See :mod:`grader_gate.graders.chat`."""
    from grader_gate.graders.chat import ChatGrader
    from grader_gate.graders.connection import BadProvider, Connection
    from grader_gate.graders.wires.anthropic import AnthropicWire
    from grader_gate.graders.wires.base import Wire
    from grader_gate.graders.wires.openai import OpenAIWire

    provider = parts.provider()
    wires: dict[str, type[Wire]] = {"openai": OpenAIWire, "anthropic": AnthropicWire}
    if provider.wire not in wires:
        raise BadProvider(
            f"graders.{parts.name}.provider: {parts.config.provider!r} speaks `{provider.wire}`; "
            "a chat grader needs `wire: openai` or `wire: anthropic`"
        )
    wire = wires[provider.wire]()
    connection = Connection(
        parts.config.provider,
        provider,
        parts.environ,
        wire.key_header,
        wire.headers(provider.api_version),
        ca_file=parts.environ.get("SSL_CERT_FILE"),
    )
    return ChatGrader(parts.name, parts.config, provider, parts.tree, wire, connection)


def python(parts: Parts) -> Grader:
    """See :mod:`grader_gate.graders.python`."""
    from grader_gate.graders.python import PythonGrader

    return PythonGrader(parts.name, parts.config, parts.tree, parts.code_dir, parts.environ, parts.source_digest)


def replay(parts: Parts) -> Grader:
    """See :mod:`grader_gate.graders.replay`."""
    from grader_gate.graders.replay import ReplayGrader

    return ReplayGrader(parts.name, parts.config, parts.tree, parts.ledger_rows)


def checks(parts: Parts) -> Grader:
    """See :mod:`grader_gate.graders.checks`."""
    from grader_gate.graders.checks import ChecksGrader

    return ChecksGrader(parts.name, parts.config, parts.tree)


def command(parts: Parts) -> Grader:
    """See :mod:`grader_gate.graders.command`."""
    from grader_gate.graders.command import CommandGrader

    return CommandGrader(parts.name, parts.config, parts.tree, parts.code_dir, parts.environ, parts.source_digest)


def http(parts: Parts) -> Grader:
    """See :mod:`grader_gate.graders.http`."""
    from grader_gate.graders.connection import Connection
    from grader_gate.graders.http import HttpGrader
    from grader_gate.graders.wires.openai import OpenAIWire

    provider = parts.provider()
    # The key goes where chat completions carry it: a bearer token, or the header the provider names.
    connection = Connection(
        parts.config.provider,
        provider,
        parts.environ,
        OpenAIWire().key_header,
        ca_file=parts.environ.get("SSL_CERT_FILE"),
    )
    return HttpGrader(parts.name, parts.config, provider, parts.tree, connection)
