"""What the tests read from Markdown: fenced blocks with the comment above them, inline code, links and anchors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
COMMENT = re.compile(r"<!--\s*(.*?)\s*-->")


@dataclass(frozen=True)
class Block:
    """A fenced block. ``marks`` is the comment right above it, or empty."""

    page: Path
    line: int
    language: str
    text: str
    mark: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))


def blocks(page: Path) -> list[Block]:
    found = []
    before: Token | None = None
    for token in tokens(page):
        if token.type == "fence":
            comment = COMMENT.fullmatch(before.content.strip()) if before and before.type == "html_block" else None
            line = (token.map or [0])[0] + 1
            found.append(Block(page, line, token.info.split(" ")[0], token.content, comment[1] if comment else ""))
        before = token
    return found


def inline(page: Path) -> Iterator[Token]:
    """Every inline token of running text, headings and tables."""
    for token in tokens(page):
        yield from token.children or ()


def anchors(page: Path) -> set[str]:
    """What a link may point to in a page, as GitHub makes it of headings, and explicit anchors."""
    found: list[str] = []
    parsed = tokens(page)
    for opening, content in pairwise(parsed):
        if opening.type == "heading_open":
            text = "".join(child.content for child in content.children or () if child.type in ("text", "code_inline"))
            slug = slug_of(text)
            found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return {*found, *re.findall(r'<a id="([^"]+)"', page.read_text("utf-8"))}


def slug_of(heading: str) -> str:
    kept = "".join(c for c in heading.lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
    return kept.replace(" ", "-")
