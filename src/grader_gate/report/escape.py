"""One escaper per sink. Every string that comes from a model, a case or a pull request goes through exactly one.

What GitHub does to a comment happens in two passes: CommonMark with tables, strikethrough and autolinks, then filters
over the text of the rendered page that link ``@name``, ``#1``, ``GH-1``, commit SHAs and ``:emoji:``. Entities stop the
first pass only. The second looks at one text node at a time and skips ``<code>``, so :func:`md_text` puts the
character that would start a link into a ``<span>`` of its own, and :func:`md_code` uses code spans.
"""

from __future__ import annotations

import html as _html
import re

import regex  # type: ignore[import-untyped,unused-ignore]

_INVISIBLE = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFFFE\uFFFF\u2800]")
"""Controls, bidirectional and zero-width characters, lone surrogates, blank fillers: what hides or reorders text."""

_EMOJI_JOIN = regex.compile(
    r"(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})"
)
_VARIATION = regex.compile(r"(?<=[\p{Extended_Pictographic}0-9#*])\uFE0F")
_OWN_MARKER = re.compile(r"<!--\s*grader-gate", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_HEX_RUN = re.compile(r"[0-9a-fA-F]{7,}")
_POINTS_PER_GRAPHEME = 8
"""Most code points a grapheme may take, on average, before a text is cut: stacked accents must not defeat the cut."""


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Show what would be invisible as ``⟨U+202E⟩``. Astral characters and joined emoji stay as they are.

    :param keep: control characters left alone.
    """
    if text.isascii() and text.isprintable():
        return text
    kept = {m.start() for pattern in (_EMOJI_JOIN, _VARIATION) for m in pattern.finditer(text)}

    def show(found: re.Match[str]) -> str:
        char = found[0]
        return char if char in keep or found.start() in kept else f"⟨U+{ord(char):04X}⟩"

    return str(_INVISIBLE.sub(show, text))


def cut(text: str, limit: int) -> str:
    """At most ``limit`` graphemes, then how many characters are missing: ``… (+1,204 characters)``."""
    if len(text) <= limit:
        return text
    end = count = 0
    for found in regex.finditer(r"\X", text):
        if count == limit or found.end() > limit * _POINTS_PER_GRAPHEME:
            break
        end, count = found.end(), count + 1
    rest = len(text) - end
    return text if rest == 0 else f"{text[:end]}… (+{rest:,} character{'' if rest == 1 else 's'})"


def one_line(text: str, limit: int) -> str:
    """Whitespace and line ends as single spaces, hidden characters shown, our own marker removed, cut to length."""
    # The cut comes first so that a megabyte on one line costs no more than its beginning.
    head = cut(text.strip(), 4 * limit) if len(text) > 4 * limit else text
    return cut(_OWN_MARKER.sub("(marker)", _SPACE.sub(" ", visible(head, keep="\r\n\t\v\f")).strip()), limit)


# ---------------------------------------------------------------- Markdown

_MD_ENTITIES = {
    **{c: f"&#{ord(c)};" for c in "\\`*_~[]|"},
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    **{c: f"<span>{c}</span>" for c in "@#$"},
}
_MD_CHARS = re.compile("[" + re.escape("".join(_MD_ENTITIES)) + "]")
_COLON = re.compile(r":(?=\S)")
_WWW = re.compile(r"(www|ftp)\.", re.IGNORECASE)
_REFERENCE = re.compile(r"(?<=GH)-(?=\d)|(?<=GHSA)-", re.IGNORECASE)
_BLOCK_START = re.compile(r"^([-+=])(?=[\s=-]|$)|^(\d{1,9})([.)])(?=\s|$)")
_TICKS = re.compile(r"(?<!`)`([^`]*[^`\s][^`]*)`(?!`)")


def md_text(text: str, limit: int = 500) -> str:
    """Foreign text as plain words inside a Markdown paragraph, list item, table cell or ``<summary>``.

    The result is one line; it has no markup, links, mentions or references in it, wherever in a line it stands.
    """
    return _inline(one_line(text, limit))


def _inline(line: str) -> str:
    """Escape a single line. Breaks are placeholders first, so that one rule cannot undo another.

    The placeholders are control characters, of which :func:`one_line` leaves none.
    """
    line = _HEX_RUN.sub(lambda m: re.sub(r"(.{5})(.)", "\\1\x00\\2\x01", m[0]), line)
    line = _COLON.sub("\x02", line)
    line = _WWW.sub("\\1\x03", line)
    line = _REFERENCE.sub("\x00-\x01", line)
    line = _MD_CHARS.sub(lambda m: _MD_ENTITIES[m[0]], line)
    line = _BLOCK_START.sub(lambda m: f"&#{ord(m[1])};" if m[1] else f"{m[2]}&#{ord(m[3])};", line)
    return (
        line.replace("\x00", "<span>")
        .replace("\x01", "</span>")
        .replace("\x02", "<span>:</span>")
        .replace("\x03", "<span>.</span>")
    )


def md_cell(text: str, limit: int = 200) -> str:
    """Foreign text in a table cell: as :func:`md_text`, shorter, and never empty, so that the row keeps its shape."""
    return md_text(text, limit) or "–"


def md_code(text: str, limit: int = 120) -> str:
    """A foreign name in code type, safe in running text and in table cells.

    A backtick span cannot carry ``|`` in a table, nor a backslash before it, in every renderer; names with such
    characters become ``<code>`` with entities.
    """
    line = one_line(text, limit)
    if not line:
        return "(empty)"
    if not set(line) & set("`|\\"):
        return f"`{line}`"
    return f"<code>{_inline(line)}</code>"


def md_prose(text: str, limit: int = 500) -> str:
    """A sentence of ours that may hold foreign names: as :func:`md_text`, with `backticked` parts in code type."""
    out = []
    for index, part in enumerate(_TICKS.split(one_line(text, limit))):
        if index % 2:
            out.append(md_code(part, limit))
        elif part:
            # Spaces beside code are part of the sentence; md_text would strip them.
            lead, trail = " " * part.startswith(" "), " " * part.endswith(" ")
            out.append(lead + _inline(part.strip()) + trail if part.strip() else " ")
    return "".join(out).strip()


def md_block(text: str, language: str = "text", *, limit: int = 2_000, line_limit: int = 300) -> str:
    """Foreign text as a fenced block; the fence is longer than any run of its character inside.

    :param language: ours, never foreign. The block must start at the beginning of a line, between blank lines.
    :param limit: most graphemes in all.
    :param line_limit: most graphemes in a line.
    """
    flat = cut(text, 2 * limit).replace("\r\n", "\n")
    flat = _OWN_MARKER.sub("(marker)", visible(flat))
    body = cut("\n".join(cut(line, line_limit) for line in flat.split("\n")), limit)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


# ---------------------------------------------------------------- other sinks


def html_text(text: str, limit: int = 20_000) -> str:
    """Foreign text for HTML, before Jinja's autoescape: hidden characters shown, cut; **not** escaped here."""
    return cut(visible(cut(text, 2 * limit).replace("\r\n", "\n")), limit)


def html(text: str, limit: int = 20_000) -> str:
    """Foreign text as HTML text or a quoted attribute value, for code that does not go through a template."""
    return _html.escape(html_text(text, limit), quote=True)


def html_prose(text: str, limit: int = 2_000) -> str:
    """A sentence of ours that may hold foreign names, as HTML, with `backticked` parts in code type."""
    pieces = _TICKS.split(html_text(text, limit))
    return "".join(f"<code>{_html.escape(p)}</code>" if i % 2 else _html.escape(p) for i, p in enumerate(pieces))


_COMMAND = re.compile(r":(?=:)|#(?=#\[)")


def log_line(text: str, limit: int = 500) -> str:
    """Foreign text as one line of a log or terminal.

    A GitHub runner takes ``::name`` at the start of a line and the older ``##[name]`` anywhere in it for a command;
    a space breaks both. ANSI sequences lose their escape character.
    """
    return _COMMAND.sub(lambda m: f"{m[0]} ", one_line(text, limit))


def log_verbatim(text: str, limit: int = 400) -> str:
    """As :func:`log_line` for one line of a diff, where every space counts."""
    flat = visible(cut(text, limit), keep="")
    return _COMMAND.sub(lambda m: f"{m[0]} ", _OWN_MARKER.sub("(marker)", flat))


def xml(text: str, limit: int = 20_000) -> str:
    """Foreign text that XML 1.0 can carry; the writer still escapes ``<``, ``&`` and quotes.

    Characters outside the ``Char`` production (https://www.w3.org/TR/xml/#charsets) are shown as code points.
    """
    return html_text(text, limit)
