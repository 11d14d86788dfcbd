"""Protected spans: code, addresses, links and formulas, which no mutator edits."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["fence", "code", "link", "url", "email", "latex"]

# Models open fences in the middle of a line and close them after the last one, which CommonMark would not allow.
_FENCE = re.compile(r"^(?P<lead>(?:(?!```|~~~)[^\n])*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)$", re.M)

# The lengths bound the work on hostile texts; no formula or inline code is longer.
# Later alternatives are tried only where no earlier one matches, so code hides a link and a link hides its address.
_INLINE = re.compile(
    r"""
    (?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).){1,2000}?(?<!`)(?P=ticks)(?!`))
  | (?P<link>!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]
      (?: \((?:[^()\s]|\([^()\s]*\))+(?:\s+["'(][^\n]*?["')])?\) | \[[^\[\]\n]*[^\W\d][^\[\]\n]*\] ))
  | (?P<auto><(?:https?|ftp|mailto):[^<>\s]+>)
  | (?P<latex>
        \$\$(?:(?!\n\s*\n).){1,2000}?\$\$
      | \\\((?:(?!\n\s*\n).){1,2000}?\\\) | \\\[(?:(?!\n\s*\n).){1,2000}?\\\]
      | \\begin\{(?P<env>[A-Za-z]+\*?)\}.{0,4000}?\\end\{(?P=env)\}
      | (?<![\\$\w])\$(?=[^\s$])(?P<formula>[^$\n]{1,300}?)(?<![\s\\])\$(?![\w$]) )
  | (?P<email>(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+)
  | (?P<url>(?:\b(?:https?|ftp|file|s?ftp)://|\bwww\.)[^\s<>"'“”‘’`，。；！？）】」]+
      | (?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}
        [a-z]{2,24}(?::\d+)?/[^\s<>"'“”‘’`，。；！？）】」]*
      | (?<![\w@./-])(?:[a-z0-9-]{1,63}\.){1,10}(?:com|org|net|edu|gov|io|dev|ai|app|co\.uk|de|fr|eu|info)\b(?![\w-]))
    """,
    re.X | re.S | re.I,
)


_KINDS: tuple[Kind, ...] = ("code", "link", "latex", "email")


@dataclass(frozen=True, slots=True, order=True)
class Protected:
    """A span of text that must stay as it is. ``end`` is exclusive."""

    start: int
    end: int
    kind: Kind


@lru_cache(maxsize=8192)
def protected(text: str) -> tuple[Protected, ...]:
    """The protected spans of a text, in order and without overlap. An unclosed fence reaches to the end."""
    fences = _fences(text)
    found = list(fences)
    position = 0
    for fence in (*fences, None):
        stop = fence.start if fence else len(text)
        found += _inline(text, position, stop)
        position = fence.end if fence else stop
    return tuple(sorted(found))


def _fences(text: str) -> list[Protected]:
    found: list[Protected] = []
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if opening is None:
            # After other text only a fence with nothing or a language behind it opens code.
            opens = re.fullmatch(r"\s*(?:(?:[-*+>]|\d{1,3}[.)])\s+)*", line["lead"]) or re.fullmatch(
                r"[\w+#-]*", line["info"]
            )
            opening = line if opens else None
        elif line["mark"].startswith(opening["mark"]) and not line["info"].strip():
            found.append(Protected(opening.start("mark"), line.end("mark"), "fence"))
            opening = None
    if opening is not None:
        found.append(Protected(opening.start("mark"), len(text), "fence"))
    return found


def _inline(text: str, start: int, stop: int) -> list[Protected]:
    if not any(mark in text for mark in "`[<$\\@./"):
        return []
    found: list[Protected] = []
    position = start
    while (match := _INLINE.search(text, position, stop)) is not None:
        end = match.end()
        kind: Kind = next((kind for kind in _KINDS if match[kind] is not None), "url")
        if match["formula"] is not None and not _is_formula(match["formula"]):
            position = match.start() + 1
            continue
        if match["url"] is not None:
            end = _trim_address(text, match.start(), end)
        found.append(Protected(match.start(), end, kind))
        position = max(end, match.start() + 1)
    return found


def _is_formula(content: str) -> bool:
    """Whether text between two dollar signs is mathematics rather than two prices."""
    if content[0].isdigit():
        return bool(re.search(r"[\\^_={}<>]", content)) or re.fullmatch(r"[\d.,]+", content) is not None
    return " " not in content or bool(re.search(r"[\\^_={}<>+*/]", content))


def _trim_address(text: str, start: int, end: int) -> int:
    """Punctuation after an address belongs to the sentence, as does a bracket that it does not open."""
    while end > start + 1 and (
        text[end - 1] in ".,;:!?*_~|"
        or any(
            text[end - 1] == close and text.count(close, start, end) > text.count(open_, start, end)
            for open_, close in ("()", "[]", "{}")
        )
    ):
        end -= 1
    return end


def covering(text: str, start: int, end: int) -> Protected | None:
    """The first protected span that shares a character with ``[start, end)``."""
    spans = protected(text)
    index = bisect.bisect_right(spans, start, key=lambda span: span.end)
    return spans[index] if index < len(spans) and spans[index].start < max(end, start + 1) else None


def is_protected(text: str, start: int, end: int) -> bool:
    """Whether any character of ``[start, end)`` is protected."""
    return covering(text, start, end) is not None


def has_code(text: str) -> bool:
    """Whether the text holds fenced or inline code."""
    return any(span.kind in ("fence", "code") for span in protected(text))


def outside(text: str) -> list[tuple[int, int]]:
    """The ranges between protected spans."""
    ranges: list[tuple[int, int]] = []
    position = 0
    for span in protected(text):
        if span.start > position:
            ranges.append((position, span.start))
        position = span.end
    return [*ranges, (position, len(text))] if position < len(text) else ranges


def masked(text: str, filler: str = "x") -> str:
    """The text with every protected character replaced by a letter: same length, no punctuation of theirs."""
    parts: list[str] = []
    position = 0
    for span in protected(text):
        parts += [text[position : span.start], filler * (span.end - span.start)]
        position = span.end
    return "".join([*parts, text[position:]])


def tokens(text: str) -> list[str]:
    """Whitespace-separated tokens; a protected span and what touches it is one token, its spaces kept."""
    return [text[start:end] for start, end in token_spans(text)]


def token_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each of :func:`tokens`."""
    return [match.span() for match in re.finditer(r"\S+", masked(text))]
