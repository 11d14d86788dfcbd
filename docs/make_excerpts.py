"""Refreshes what README.md and reading-the-report.md quote from the demo, so that a quotation is never made up.

python docs/make_excerpts.py            run the demo and write the pages
python docs/make_excerpts.py --check    exit code 1 where a page quotes something else
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {ROOT / "README.md": "> ", ROOT / "docs" / "reading-the-report.md": ""}
"""Pages that quote, and what stands before a quoted line."""

QUOTED = re.compile(
    r"\*\*This change |\| (?:golden cases right|mutants caught|controls unchanged|attacks resisted|rungs in order) \|"
    r"|- case damaged-wrong-days: "
)
"""How the quoted lines of a comment begin; each begins differently."""


def comment_of_the_demo() -> list[str]:
    """The lines of the comment that the demo writes."""
    with tempfile.TemporaryDirectory(prefix="grader-gate-docs-") as folder:
        demo = Path(folder) / "demo"
        script = str(ROOT / "examples" / "demo.py")
        subprocess.run([sys.executable, script, "--dir", str(demo)], check=True, capture_output=True)
        return (demo / ".grader-gate-out" / "comment.md").read_text("utf-8").splitlines()


def refreshed(text: str, prefix: str, comment: Sequence[str]) -> str:
    """A page with each quoted line as the comment has it.

    :raises KeyError: the page quotes a line that the comment does not have any more.
    """
    lines: dict[str, str] = {}
    for line in comment:
        if match := QUOTED.match(line):
            lines.setdefault(match[0], line)

    def fresh(line: str) -> str:
        quoted = line.removeprefix(prefix)
        match = QUOTED.match(quoted) if line.startswith(prefix) else None
        return line if match is None else prefix + lines[match[0]]

    return "\n".join(fresh(line) for line in text.split("\n"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Refresh what the pages quote from the demo.")
    parser.add_argument("--check", action="store_true", help="only say whether the pages are up to date")
    check = parser.parse_args().check
    comment = comment_of_the_demo()
    old = False
    for page, prefix in PAGES.items():
        text = page.read_text("utf-8")
        new = refreshed(text, prefix, comment)
        if new != text and check:
            print(f"{page}: quotes an older demo; run `python docs/make_excerpts.py`", file=sys.stderr)
            old = True
        elif new != text:
            page.write_text(new, "utf-8", newline="\n")
    return int(old)


if __name__ == "__main__":
    sys.exit(main())
