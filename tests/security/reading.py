"""How others read what a run writes: a Markdown renderer and GitHub's second pass, a runner, a terminal, an XML reader."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
"""GitHub's flavour as far as it is a grammar; what it links in plain text is :data:`LINKED`."""

LINKED = re.compile(
    r"@[A-Za-z0-9]|(?<![\w&])#\d|\bGH-\d|\b[0-9a-f]{7,40}\b|://[A-Za-z]|\bwww\.[a-z]|(?<!\w):[a-z0-9_+-]+:(?!\w)|GHSA-\w|\$[^$\s][^$]*\$"
    r"|[\w.+-]+@[\w-]+\.[\w.]",
    re.IGNORECASE,
)
"""What GitHub makes of a text node: mentions, references, commits, addresses, emoji, mathematics."""

HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e007f\ud800-\udfff\ufffe\uffff\u2800]"
)
"""Characters that hide or reorder text. The joiner of emoji and tag sequences of flags are judged by the escaper's own tests."""

VOID = {"br", "hr", "img", "input", "meta", "link", "base", "source", "col"}


class _Page(HTMLParser):
    """Tags with their attributes, and text nodes outside of code and comments."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag if tag != "a" else f"a {dict(attrs).get('href')}")
        self.tags += [f"{tag}.{name}" for name, _ in attrs if name not in ("href", "class", "style")]
        if tag not in VOID:
            self._open.append(tag)
        self.texts.append("")

    def handle_endtag(self, tag):
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        self.tags.append(f"/{tag}")
        self.texts.append("")

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        if not {"code", "pre"} & set(self._open):
            self.texts[-1:] = [(self.texts[-1] if self.texts else "") + data]


def page_of(markdown: str) -> _Page:
    """The Markdown as a page."""
    page = _Page()
    page.feed(GFM.render(markdown))
    page.close()
    return page


def skeleton(markdown: str) -> list[str]:
    """The page's tags in their order, without ``<span>``, which is how a text node is parted, and ``<code>``: words of
    ours may hold names in backticks, and code is where nothing is linked."""
    return [tag for tag in page_of(markdown).tags if tag not in ("span", "/span", "code", "/code")]


def linked(markdown: str) -> list[str]:
    """What GitHub would link in the page's text nodes."""
    return [found[0] for text in page_of(markdown).texts for found in LINKED.finditer(text)]


COMMAND = re.compile(r"^\s*::([A-Za-z][\w-]*)(?: ([^:]*))?::(.*)$|##\[([A-Za-z-]+)")


def commands(log: str, *, own: tuple[str, ...] = ()) -> list[str]:
    """Commands that a runner would take from a log, other than those in ``own``; knows ``stop-commands``."""
    found: list[str] = []
    stopped: str | None = None
    for line in re.split(r"\r\n|\r|\n", log):
        for match in COMMAND.finditer(line):
            name = match[1] or match[4]
            if stopped is not None:
                if match[1] == stopped:
                    stopped = None
                continue
            if name == "stop-commands" and "stop-commands" in own:
                stopped = match[3]
            elif name not in own:
                found.append(name)
        if stopped is not None and line.strip() == f"::{stopped}::":
            stopped = None
    return found


def outputs(path: Path) -> dict[str, str]:
    """A step's outputs as the runner reads the file."""
    values: dict[str, str] = {}
    lines = path.read_bytes().decode().split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if not line:
            continue
        heredoc, equals = line.find("<<"), line.find("=")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            values[line[:equals]] = line[equals + 1 :]
            continue
        assert heredoc >= 0, f"the runner refuses the line {line!r}"
        name, delimiter = line[:heredoc], line[heredoc + 2 :]
        end = lines.index(delimiter, index)
        values[name] = "\n".join(lines[index:end])
        index = end + 1
    return values


def elements(xml: str) -> list[tuple[str, tuple[str, ...]]]:
    """Names of elements and of their attributes, in order."""
    return [(element.tag, tuple(element.attrib)) for element in ET.fromstring(xml.encode("utf-8")).iter()]
