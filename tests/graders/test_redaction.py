"""Keys stay hidden, whatever a server does with them."""

from __future__ import annotations

import base64
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from grader_gate.graders.redaction import HIDDEN, MAX_FOREIGN, Redactor

KEYS = st.text(alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=", min_size=16, max_size=60)


def leaks(text: str, secret: str) -> bool:
    """Whether eight characters in a row of the secret stand in the text."""
    return any(secret[i : i + 8] in text.replace(HIDDEN, "\0") for i in range(len(secret) - 7))


@given(KEYS, st.text(max_size=40), st.text(max_size=40), st.integers(0, 8), st.integers(0, 8))
def test_no_long_piece_of_a_key_comes_through(key: str, before: str, after: str, head: int, tail: int) -> None:
    echoed = f"{before}{key}{after} {key[head:]} {key[: len(key) - tail]}"
    assert not leaks(Redactor([key]).hide(echoed), key)


@given(KEYS, st.binary(max_size=9), st.binary(max_size=9))
def test_encoded_keys_are_hidden(key: str, before: bytes, after: bytes) -> None:
    redactor = Redactor([key])
    encoded = base64.b64encode(before + key.encode() + after).decode()
    inner = encoded[len(encoded) // 2 - 4 : len(encoded) // 2 + 4]
    assert HIDDEN in redactor.hide(encoded)
    assert len(redactor.hide(encoded).replace(HIDDEN, "")) <= len(encoded) - 16, inner
    assert redactor.hide(f"key={quote(key, safe='')}&x=1") == f"key={HIDDEN}&x=1"
    assert redactor.hide(key.encode().hex()) == HIDDEN


def test_other_text_is_left_alone() -> None:
    assert Redactor(["sk-0123456789abcdef"]).hide("nothing to see: sk-01, 9abc") == "nothing to see: sk-01, 9abc"
    assert Redactor([]).hide("all of it") == "all of it"
    assert Redactor(["", "abc"]).hide("abcdef") == f"{HIDDEN}def"


@given(st.text(max_size=2000))
def test_foreign_text_is_one_short_line(text: str) -> None:
    shown = Redactor([]).foreign(text)
    assert len(shown) <= MAX_FOREIGN
    assert len(shown.splitlines()) <= 1
