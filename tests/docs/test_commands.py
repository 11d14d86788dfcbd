"""Every `grader-gate …` line that a reader may copy is one that the program takes."""

import re
import shlex
from pathlib import Path

import pytest

from grader_gate.cli import build_parser
from tests.docs.markdown import PAGES, ROOT, blocks, inline

SHELL = {"console", "bash", "sh", "shell", "yaml"}
COMMAND = re.compile(r"^(?:\$ |(?:- )?run: )?(?:[A-Z][A-Z0-9_]*=\S+ )*(grader-gate(?: .*)?)$")
CHECK_NAME = re.compile(r"grader-gate(?: \(\w+\))?")
"""The name of the program and of its check, alone or with a key, is no command line."""


def commands(page: Path) -> list[tuple[str, str]]:
    """(place, command) of each command line in a page: in shell blocks, and in code within the text."""
    found = []
    for block in blocks(page):
        if block.language in SHELL:
            for number, line in enumerate(block.text.splitlines(), block.line + 1):
                for part in re.split(r"\s+&&\s+|\s+\|\s+", line.split("  #")[0].strip()):
                    if match := COMMAND.match(part):
                        found.append((f"{page.name}:{number}", match[1]))
    for token in inline(page):
        match = COMMAND.match(token.content) if token.type == "code_inline" else None
        if match and not CHECK_NAME.fullmatch(match[1]):
            found.append((page.name, match[1]))
    return found


def choices():
    """The commands there are, by name."""
    return next(action.choices for action in build_parser()._actions if isinstance(action.choices, dict))


ALL = [one for page in PAGES for one in commands(page)]


@pytest.mark.parametrize(("place", "command"), ALL, ids=[f"{place} {command}" for place, command in ALL])
def test_the_program_takes_it(place, command, capsys):
    words = shlex.split(command)
    if len(words) == 2 and ":" not in place:
        # Within a text this names the command; it is not a line to copy.
        assert words[1] in choices()
        return
    try:
        parsed = build_parser().parse_args(words[1:])
    except SystemExit as end:
        pytest.fail(f"{place}: `{command}`: {capsys.readouterr().err.splitlines()[-1]} ({end.code})")
    assert callable(parsed.run)


def test_readme_shows_the_way_to_a_first_gate():
    shown = [command for place, command in commands(ROOT / "README.md")]
    for command in ("init", "plan", "run", "freeze HEAD", "check --base origin/main", "action"):
        assert f"grader-gate {command}" in shown


def test_every_command_is_documented():
    pages = [page for page in PAGES if page.name != "reference.md"]
    used = {command.split()[1] for page in pages for _, command in commands(page) if " " in command}
    assert set(choices()) - used == set()


def test_scripts_and_targets_are_there():
    """`python FOLDER/SCRIPT.py --flag` and `make TARGET`, wherever a page names them."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    scripts = re.findall(r"python ((?:benchmarks|docs|examples)/\w+\.py)((?: --?\w+)*)", text)
    assert {path for path, _ in scripts} >= {"benchmarks/noop.py", "benchmarks/engine.py", "docs/make_reference.py"}
    for path, flags in scripts:
        source = (ROOT / path).read_text("utf-8")
        assert [flag for flag in flags.split() if f'add_argument("{flag}"' not in re.sub(r"\(\s+", "(", source)] == []
    targets = set(re.findall(r"`make ([a-z-]+)`|^\$ make ([a-z-]+)$", text, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in {one or other for one, other in targets}:
        assert f"\n{target}: " in makefile, target
    assert len(targets) >= 3


def test_command_lines_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Run `grader-gate plan`, the check is `grader-gate` or `grader-gate (KEY)`.\n\n"
        "```console\n$ cd x && grader-gate chek --base main\noutput of grader-gate\n```\n\n"
        "```text\n$ grader-gate not-shell\n```\n\n"
        "```yaml\nsteps:\n  - run: grader-gate action\n```\n"
        "Post with `GITHUB_TOKEN=… grader-gate publish out`.\n",
        "utf-8",
    )
    assert [command for _, command in commands(page)] == [
        "grader-gate chek --base main",
        "grader-gate action",
        "grader-gate plan",
        "grader-gate publish out",
    ]
