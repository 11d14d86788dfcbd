"""The catalogue as a page: the table of ``docs/mutators.md``, generated so that it cannot drift from the code."""

from __future__ import annotations

import re
from collections.abc import Iterable

from grader_gate.suite.mutators.api import Mutator, Polarity

BEGIN, END = "<!-- catalogue: generated -->", "<!-- catalogue: end -->"
_HEADINGS = {
    Polarity.DEGRADE: ("Degrade: must be rejected", "best fair verdict"),
    Polarity.BENIGN: ("Benign: must change nothing", "twin of"),
    Polarity.ATTACK: ("Attack: must gain nothing", "benign twin"),
}
_LONGEST = 70


def tables(mutators: Iterable[Mutator]) -> str:
    """One Markdown table per polarity, in the order of the catalogue."""
    listed = list(mutators)
    attacked_by = {m.twin: m.name for m in listed if m.twin}
    parts = []
    for polarity, (title, column) in _HEADINGS.items():
        rows = [m for m in listed if m.polarity is polarity]
        lines = [f"### {title}", "", f"| name | attacks | {column} | what it does | example |", "|---|---|---|---|---|"]
        for m in rows:
            twin = m.twin if polarity is Polarity.ATTACK else attacked_by.get(m.name)
            special = m.best.value if polarity is Polarity.DEGRADE else f"`{twin}`" if twin else ""
            name = f"**`{m.name}`**" if m.default else f"`{m.name}`"
            lines.append(f"| {name} | {m.property} | {special} | {_cell(m.description)} | {_example(m)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def refreshed(page: str, mutators: Iterable[Mutator]) -> str:
    """The page with the text between its two markers written anew."""
    block = f"{BEGIN}\n\n{tables(mutators)}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, page, flags=re.S)


def _example(mutator: Mutator) -> str:
    before, after = (_quoted(text) for text in mutator.example)
    return f"{before} → {after}"


def _quoted(text: str) -> str:
    """A text as inline code on one line; what cannot be seen is escaped, what is long is cut."""
    shown = "".join(c if c.isprintable() else "⏎" if c == "\n" else f"\\u{{{ord(c):x}}}" for c in text)
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
    return f"`` {_cell(shown)} ``" if "`" in shown else f"`{_cell(shown)}`" if shown else "*nothing*"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(path: str) -> None:
    """Write the tables of a page anew: ``python -m grader_gate.suite.mutators.document docs/mutators.md``."""
    from pathlib import Path

    from grader_gate.suite.mutators.catalogue import builtin

    page = Path(path)
    page.write_text(refreshed(page.read_text(encoding="utf-8"), builtin()), encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
