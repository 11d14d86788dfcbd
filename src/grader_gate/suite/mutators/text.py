"""Small questions about a text: words, graphemes, scripts, likeness and a stable order."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Character class of the scripts written without spaces between words (Unicode block chart)."""
GLUED = UNSPACED + "\uac00-\ud7a3"
"""Those and Hangul, whose particles and counters follow digits without a space."""


@lru_cache(maxsize=16_384)
def fold(text: str) -> str:
    """The text with every run of whitespace as one space, none at the ends: what makes two texts the same."""
    return " ".join(text.split())


def unspaced_share(text: str) -> float:
    """Share of the letters that belong to a script without spaces."""
    letters = sum(character.isalpha() for character in text)
    return len(re.findall(f"[{UNSPACED}]", text)) / letters if letters else 0.0


def graphemes(text: str) -> list[str]:
    """What a reader sees as single characters (extended grapheme clusters, Unicode annex 29)."""
    if text.isascii() and "\r" not in text:
        return list(text)
    import regex  # type: ignore[import-untyped, unused-ignore]

    return [str(cluster) for cluster in regex.findall(r"\X", text)]


@lru_cache(maxsize=16_384)
def terms(text: str) -> frozenset[str]:
    """Distinct words without case, numbers among them; each character for scripts without spaces."""
    return frozenset(re.findall(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+", unicodedata.normalize("NFKC", text).casefold()))


def jaccard(left: str, right: str) -> float:
    """Shared over all distinct terms of two texts, 0 to 1; 0 where neither has a term."""
    one, other = terms(left), terms(right)
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def overlap(left: str, right: str) -> float:
    """Shared terms over those of the smaller text, 0 to 1: high where one text is contained in the other."""
    one, other = terms(left), terms(right)
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def hash_order(tokens: Iterable[str], salt: str) -> list[str]:
    """The tokens in an order that looks random and never changes: by SHA-256 of salt, token and position."""
    keyed = [
        (hashlib.sha256(f"{salt}\0{token}\0{index}".encode("utf-8", "surrogatepass")).digest(), token)
        for index, token in enumerate(tokens)
    ]
    return [token for _, token in sorted(keyed)]


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text as whole tokens, whatever the case and spacing."""
    return find_phrase(text, phrase) is not None


def find_phrase(text: str, phrase: str, start: int = 0) -> tuple[int, int] | None:
    """Start and end of the first occurrence of the phrase as whole tokens: ``14 days`` is not in ``114 days``."""
    words = phrase.split()
    if not words:
        return None
    before = rf"(?<![^\W{GLUED}])" if re.match(r"\w", words[0]) else ""
    before += r"(?<!\d[.,])" if words[0][0].isdigit() else ""
    after = rf"(?![^\W{GLUED}])" if re.search(r"\w$", words[-1]) else ""
    after += r"(?![.,]?\d)" if words[-1][-1].isdigit() else ""
    pattern = before + r"\s+".join(map(re.escape, words)) + after
    found = re.compile(pattern, re.IGNORECASE).search(text, start)
    return found.span() if found else None


def match_case(word: str, model: str) -> str:
    """The word in the letter case of the model: ``UPPER``, ``Capitalised`` or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with each (start, end) replaced; the edits must not overlap, their order does not matter."""
    parts: list[str] = []
    position = 0
    for start, end, replacement in sorted(edits):
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])
