"""Cutting text to a number of bytes, for limits that GitHub counts so or may count so."""

from __future__ import annotations

CUT = "…"


def cap_bytes(text: str, limit: int, note: str = CUT) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8, ending in ``note`` where something was cut.

    Characters are never split; a lone surrogate, which UTF-8 cannot carry, becomes ``?``.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    room = max(0, limit - len(note.encode()))
    return (data[:room].decode("utf-8", "ignore") + note).encode()[:limit].decode("utf-8", "ignore")
