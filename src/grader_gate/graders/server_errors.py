"""What a server's refusal says: its words, and how long it asks to wait. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


def message_of(data: Any) -> str:
    """The human part of an error body, in the shapes that are in use."""
    while isinstance(data, dict):
        inner = next((data[key] for key in ("error", "message", "detail", "msg") if data.get(key)), None)
        if inner is None:
            return json.dumps(data, ensure_ascii=False)
        code = data.get("code")
        if isinstance(inner, str):
            param = data.get("param")
            extra = [str(v) for v in (code, param) if isinstance(v, str) and v not in inner]
            return inner + (f" [{', '.join(extra)}]" if extra else "")
        data = inner
    return "" if data is None else json.dumps(data, ensure_ascii=False)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait by ``retry-after-ms`` (OpenAI, Azure) or ``Retry-After``, seconds or date (RFC 9110 §10.2.3)."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            return max(0.0, min(float(value) * scale, 1e6))
        except ValueError:
            pass
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            continue
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (when - now).total_seconds())
    return None
