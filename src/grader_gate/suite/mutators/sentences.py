"""Sentences: the segmenter of a library, with its blind spots (markers, code, quotes, abbreviations) repaired."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from grader_gate.suite.mutators.lexicon import lexicon
from grader_gate.suite.mutators.spans import covering, masked, protected

# A line that begins something new: a list item, a heading, a quotation or a table row.
_NEW_BLOCK = re.compile(r"^[ \t]*(?:[-*+•–]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s|\d{1,3}、|#{1,6}\s|>|\|)")
_MARKER = re.compile(r"^\W*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]\s*$")
_CLOSERS = re.compile(r"^(?:[*_]{1,3}|[\"”’»)\]」』】]+|'(?=\s|$))(?=\s|$)")


@lru_cache(maxsize=8192)
def sentences(text: str, language: str = "en") -> tuple[tuple[int, int], ...]:
    """Start and end (exclusive, without the whitespace around) of each sentence.

    List items, headings and fenced code are sentences of their own; a list marker belongs to its item.

    :param language: ISO 639-1 code, for the abbreviations.
    """
    cover = masked(text)
    found: list[tuple[int, int]] = []
    for start, end in _blocks(text):
        found += _repair(cover, _segment(cover, start, end, language), language)
    trimmed = (_trim(text, start, end) for start, end in found)
    return tuple((start, end) for start, end in trimmed if start < end)


def sentence_at(text: str, position: int, language: str = "en") -> tuple[int, int]:
    """Start and end of the sentence around a position; the whole text where none is found."""
    return next(((s, e) for s, e in sentences(text, language) if s <= position < e), (0, len(text)))


def _blocks(text: str) -> list[tuple[int, int]]:
    """Paragraphs, list items, headings and fences: no sentence crosses their ends."""
    fences = [span for span in protected(text) if span.kind == "fence"]
    cuts = {0, len(text)} | {edge for span in fences for edge in (span.start, span.end)}
    if "\n" in text or "\r" in text:
        blank = True
        for line in re.finditer(r"[^\n]*\n?", text):
            inside = covering(text, line.start(), line.start() + 1)
            if inside is not None and inside.kind == "fence" and inside.start < line.start():
                blank = False
                continue
            if blank or not line[0].strip() or _NEW_BLOCK.match(line[0]):
                cuts.add(line.start())
            blank = not line[0].strip() or line[0].lstrip().startswith("#")
    ordered = sorted(cuts)
    return list(pairwise(ordered))


def _segment(cover: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    from sentencex import segment

    pieces: list[tuple[int, int]] = []
    position = start
    for piece in segment(language, cover[start:end]):
        pieces.append((position, position + len(piece)))
        position += len(piece)
    if position != end:  # The library dropped something: one sentence is the safe reading.
        return [(start, end)]
    return pieces


def _repair(cover: str, pieces: list[tuple[int, int]], language: str) -> list[tuple[int, int]]:
    """Join what the library cuts apart, and move closing quotes and markup to the sentence they close."""
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        if joined:
            before = cover[joined[-1][0] : joined[-1][1]]
            if closing := _CLOSERS.match(cover[start:end]):
                joined[-1] = (joined[-1][0], start + closing.end())
                start += closing.end()
                if not cover[start:end].strip():
                    continue
                if re.match(r"\s*[a-z]", cover[start:end]):  # "Can you?" and I said yes.
                    joined[-1] = (joined[-1][0], end)
                    continue
            elif _belongs_to_next(before, cover[start:end], language) or not re.search(r"\w", cover[start:end]):
                joined[-1] = (joined[-1][0], end)
                continue
        joined.append((start, end))
    return joined


def _belongs_to_next(before: str, after: str, language: str) -> bool:
    """Whether the full stop at the end of ``before`` ends a marker or an abbreviation, not a sentence."""
    if not before.strip():
        return False
    if _MARKER.match(before):
        return True
    stripped = before.rstrip()
    if re.search(r"[\"”’»'][^\w\s]*$", stripped) and re.match(r"\s*[a-z]", after):
        return True
    last = re.search(r"(?:^|[\s(\[])((?:[^\W\d_]\.)+|[^\W\d_]+\.)$", stripped)
    if last is None:
        return False
    known = lexicon(language)
    word = last[1].casefold()
    if known is None or word.rstrip(".") not in known.abbreviations:
        return word.rstrip(".") in (known.abbreviations_before_number if known else ()) and after[:1].isdigit()
    return True


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
