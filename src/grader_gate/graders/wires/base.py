"""What a wire does: builds a request body, reads a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from grader_gate.config import OutputMode


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a model.

    :ivar max_output_tokens: cap on the reply, in tokens.
    :ivar schema: JSON Schema of the reply, for the modes that send one.
    :ivar dialect: names a server turned out to want otherwise (see :meth:`Wire.adapt`).
    """

    messages: Sequence[Mapping[str, str]]
    model: str
    parameters: Mapping[str, Any]
    max_output_tokens: int
    mode: OutputMode
    schema: Mapping[str, Any]
    dialect: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said.

    :ivar problem: why the reply is no verdict though the server answered: ``truncated``, ``refused``, ``filtered``,
        or None.
    """

    text: str
    problem: str | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class WireError(ValueError):
    """A reply whose form is not the wire's; the message says what is missing."""


class Wire(Protocol):
    """One provider family's way of speaking."""

    def path(self) -> str:
        """Path below the provider's base URL."""
        ...

    def body(self, ask: Ask) -> dict[str, Any]:
        """The JSON body of the request."""
        ...

    def read(self, reply: Any) -> Answer:
        """The model's text and the counts.

        :raises WireError: the reply has another form.
        """
        ...

    def headers(self, api_version: str | None) -> dict[str, str]:
        """Headers beside the key's."""
        ...

    def key_header(self, key: str, name: str | None) -> tuple[str, str]:
        """Name and value of the header that carries the key."""
        ...

    def adapt(self, ask: Ask, error: str) -> dict[str, str] | None:
        """A dialect that a 400 with this text asks for, or None."""
        ...


REPLY_NAME = "grade"
"""What the schema or tool of the reply is called."""


def count(value: Any) -> int:
    """A token count as sent, 0 where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}
