"""Keeps keys out of everything a provider or a worker sends back."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MAX_FOREIGN = 300
"""Longest piece of foreign error text that is kept, in characters."""
HIDDEN = "[hidden]"
_PART = 8
"""A run of this many characters of a key is as good as hidden: providers echo ``sk-abcd…wxyz``."""
_SEPARATOR = "(?:\\\\(?:[nrt]|u[0-9a-fA-F]{4})|[\\s\\\\\"'`+,;|\u200b-\u200f\u2060\ufeff])"
"""What a server or a program may put between the pieces of a key that it breaks up, also as JSON writes it."""
_BETWEEN = re.compile(f"{_SEPARATOR}+")
MIN_SECRET = 8
"""A declared variable with a shorter value is no secret: hiding it would blot out words."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")


class Redactor:
    """Hides secrets in any of the forms they come back in.

    :param secrets: the keys; short ones (under six characters) are only hidden whole.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._whole: list[str] = []
        self._secrets = [secret for secret in secrets if secret]
        for secret in self._secrets:
            raw = secret.encode()
            forms = {
                *(secret, secret[::-1], secret.lower(), secret.upper(), html.escape(secret)),
                *(quote(secret, safe=""), quote_plus(secret), raw.hex(), raw.hex().upper()),
                *(escaped := json.dumps(secret)[1:-1], escaped.replace("/", "\\/")),
            }
            # Base64 of a text that contains the key shows one of three forms, by the key's place in it.
            for shift in range(3):
                text = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
                inner = text[(0, 2, 3)[shift] : len(text) - 1]
                forms |= {inner, inner.replace("+", "-").replace("/", "_")}
            self._whole += [form for form in forms if len(form) >= 6 or form == secret]
        self._whole.sort(key=len, reverse=True)
        self._squeezed = [(squeezed, form) for form in self._whole if len(squeezed := _BETWEEN.sub("", form)) >= _PART]

    def hide(self, text: str) -> str:
        """The text with every form of every secret, and every long run of one, replaced."""
        for form in self._whole:
            text = text.replace(form, HIDDEN)
        for secret in self._secrets:
            text = _hide_runs(text, secret)
        return self._hide_broken(text)

    def _hide_broken(self, text: str) -> str:
        """Hide forms that come in pieces, with spaces, line ends or quotes between them."""
        if not self._squeezed or not _BETWEEN.search(text):
            return text
        whole = _BETWEEN.sub("", text)
        for squeezed, _ in self._squeezed:
            if squeezed in whole:
                pieces = f"{_SEPARATOR}{{0,24}}".join(map(re.escape, squeezed))
                text = re.sub(pieces, HIDDEN, text)
                whole = _BETWEEN.sub("", text)
        return text

    def foreign(self, text: str) -> str:
        """Foreign text on one line, without secrets or control characters, cut to :data:`MAX_FOREIGN`."""
        text = _CONTROL.sub(" ", self.hide(text[:20_000])).strip()
        return text if len(text) <= MAX_FOREIGN else text[: MAX_FOREIGN - 1] + "…"


def _hide_runs(text: str, secret: str) -> str:
    """Hide every piece of at least :data:`_PART` characters that also stands in the secret."""
    if len(secret) < _PART:
        return text
    pieces = {secret[i : i + _PART] for i in range(len(secret) - _PART + 1)}
    hidden = bytearray(len(text))
    for index in range(len(text) - _PART + 1):
        if text[index : index + _PART] in pieces:
            hidden[index : index + _PART] = b"\1" * _PART
    if not any(hidden):
        return text
    parts: list[str] = []
    for index, char in enumerate(text):
        if not hidden[index]:
            parts.append(char)
        elif index == 0 or not hidden[index - 1]:
            parts.append(HIDDEN)
    return "".join(parts)
