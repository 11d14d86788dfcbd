"""Writes docs/reference.md from the command line's parser and from the JSON Schemas, so that it is never behind them.

python docs/make_reference.py            write the page
python docs/make_reference.py --check    exit code 1 where the page is not up to date
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader_gate.cli import build_parser
from grader_gate.errors import ExitCode
from grader_gate.graders.checks import TYPES
from grader_gate.schemas import schemas
from grader_gate.suite.importers.registry import FORMATS

PAGE = Path(__file__).with_name("reference.md")

HEAD = """\
# Reference

This page is written by `python docs/make_reference.py` from the program itself. Do not edit it by hand.
Words and reasons stand in [Configuration](configuration.md), [Cases and ladders](cases-and-ladders.md) and
[Graders](graders.md).
"""

Anchors = Mapping[str, str]
"""Definition → where it stands on the page."""

WRITTEN_BY_HAND = ("config", "cases", "ladders")
"""Formats that people write; all others are the program's."""

SHARED_FROM = 5
"""Commands that must take an option alike for it to be listed once."""

EXIT_WORDS = {
    ExitCode.OK: "pass or not applicable; also: nothing to do, and everything in report mode",
    ExitCode.FAIL: "fail",
    ExitCode.USAGE: "usage or configuration",
    ExitCode.ERROR: "error: could not measure or not decide",
}


def render() -> str:
    """The whole page."""
    known = schemas()
    parts = [HEAD, "## Commands\n", *_commands(build_parser()), "## Exit codes\n", _exit_codes()]
    parts += [
        "## Configuration\n",
        "`.grader-gate.yml`. Unknown keys are errors.\n",
        *_schema(known["config"], "config", {}),
    ]
    parts += ["### Keys by type of check\n", _checks()]
    parts += ["## Golden cases and ladders\n", *_suite_files(known["cases"], known["ladders"])]
    parts += ["## Formats of `grader-gate import`\n", ", ".join(f"`{name}`" for name in sorted(FORMATS)) + ".\n"]
    parts.append("## Files the program writes\n")
    written: dict[str, str] = {}
    for name in [name for name in known if name not in WRITTEN_BY_HAND]:
        parts += [f"### {name}\n", f"{known[name]['description']} JSON Schema: `grader-gate schema {name}`.\n"]
        parts += _schema(known[name], name, written)
    return "\n".join(parts)


# ---------------------------------------------------------------- commands


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    choices: Mapping[str, argparse.ArgumentParser] = next(
        action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    arguments = {name: _arguments(command) for name, command in choices.items()}
    counts = Counter(_row(a) for some in arguments.values() for a in some if a.option_strings)
    shared = [row for row, count in counts.items() if count >= SHARED_FROM]
    for name, command in choices.items():
        takes_shared = {_row(a) for a in arguments[name]}.issuperset(shared)
        own = [a for a in arguments[name] if not takes_shared or _row(a) not in shared]
        words = [*map(_usage, own), *(["[shared options]"] if takes_shared else [])]
        yield f"### {name}\n"
        yield f"{command.description}\n"
        yield f"```text\n{' '.join(['grader-gate', name, *words])}\n```\n"
        if own:
            yield _table(["argument", "meaning"], [list(_row(a)) for a in own])
        if takes_shared:
            yield "Takes the [shared options](#shared-options).\n"
    yield "### Shared options\n"
    yield _table(["argument", "meaning"], [list(row) for row in shared])


def _arguments(command: argparse.ArgumentParser) -> list[argparse.Action]:
    """Positional arguments first, as people read them."""
    shown = [a for a in command._actions if a.help is not argparse.SUPPRESS and a.dest != "help"]
    return sorted(shown, key=lambda a: bool(a.option_strings))


def _row(action: argparse.Action) -> tuple[str, str]:
    return f"`{_spelling(action)}`", _help(action)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    return action.dest if not action.option_strings else action.dest.upper()


def _spelling(action: argparse.Action) -> str:
    if not action.option_strings:
        return _value(action)
    name = ", ".join(action.option_strings)
    return name if action.nargs == 0 else f"{name} {_value(action)}"


def _usage(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"[{_value(action)}]" if action.nargs == "?" else _value(action)
    text = action.option_strings[0] + ("" if action.nargs == 0 else f" {_value(action)}")
    return text if action.required else f"[{text}]"


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%")
    return text[:1].upper() + text[1:] + ("" if not action.required or not action.option_strings else " (required)")


def _exit_codes() -> str:
    return _table(["code", "meaning"], [[f"`{code.value}`", EXIT_WORDS[code]] for code in ExitCode])


def _checks() -> str:
    rows = []
    for name, (_, keys) in TYPES.items():
        reads = sorted(key.rstrip("_") for key in keys)
        rows.append([f"`{name}`", ", ".join(f"`{key}`" for key in reads) or "none"])
    return "Every check also reads `name`, `type` and `on_fail`.\n\n" + _table(["type", "reads"], rows)


# ---------------------------------------------------------------- schemas


def _schema(schema: Mapping[str, Any], prefix: str, written: dict[str, str]) -> Iterator[str]:
    """A schema's own keys, then those of each definition, in the order in which they are first met.

    :param written: anchor of every definition that stands on the page, by its content; an equal one is linked.
    """
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    met: list[str] = []
    _collect(schema, definitions, met)
    anchors: dict[str, str] = {}
    own = []
    for name in met:
        content = json.dumps([name, definitions[name]], sort_keys=True)
        if content not in written:
            written[content] = f"{prefix}-{name.lower()}"
            own.append(name)
        anchors[name] = written[content]
    if "properties" in schema:
        yield _keys(schema, anchors)
    for name in own:
        one = definitions[name]
        yield f'<a id="{anchors[name]}"></a>\n\n#### {name}\n'
        if one.get("description"):
            yield _flat(one["description"]) + "\n"
        if "properties" in one:
            yield _keys(one, anchors)
        elif "enum" in one:
            yield "One of " + ", ".join(f"`{value}`" for value in one["enum"]) + ".\n"


def _collect(node: Any, definitions: Mapping[str, Any], seen: list[str]) -> None:
    if isinstance(node, Mapping):
        if isinstance(reference := node.get("$ref"), str):
            name = reference.rsplit("/", 1)[-1]
            if name not in seen:
                seen.append(name)
                _collect(definitions[name], definitions, seen)
        for key, part in node.items():
            if key != "$defs":
                _collect(part, definitions, seen)
    elif isinstance(node, list):
        for part in node:
            _collect(part, definitions, seen)


def _keys(schema: Mapping[str, Any], anchors: Anchors) -> str:
    required = schema.get("required", [])
    rows = [
        [f"`{name}`", _type(part, anchors), _default(name, part, required), _flat(part.get("description", ""))]
        for name, part in schema["properties"].items()
    ]
    return _table(["key", "value", "default", "meaning"], rows)


def _default(name: str, part: Mapping[str, Any], required: list[str]) -> str:
    if name in required:
        return "required"
    value = part.get("default")
    if value is None or value in ({}, [], "") or isinstance(value, dict):
        return ""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _type(part: Mapping[str, Any], anchors: Anchors) -> str:
    """A schema in words: kinds, limits and links to other tables."""
    if "$ref" in part:
        name = str(part["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{anchors[name]})"
    for key in ("anyOf", "oneOf"):
        if key in part:
            found = dict.fromkeys(_type(one, anchors) for one in part[key] if one.get("type") != "null")
            return " or ".join(found)
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    match part.get("type"):
        case "array":
            return _array(part, anchors)
        case "object":
            inner = part.get("additionalProperties") or next(iter(part.get("patternProperties", {}).values()), None)
            return f"mapping of names to {_type(inner, anchors)}" if isinstance(inner, Mapping) else "mapping"
        case "string":
            return "text" + (f" like `{part['pattern'].replace('|', chr(92) + '|')}`" if "pattern" in part else "")
        case "integer" | "number" as kind:
            return {"integer": "whole number", "number": "number"}[kind] + _limits(part)
        case "boolean":
            return "true or false"
        case _:
            return "any value"


def _array(part: Mapping[str, Any], anchors: Anchors) -> str:
    if "prefixItems" in part:
        return "list of " + " and ".join(_type(one, anchors) for one in part["prefixItems"])
    inner = part.get("items")
    return f"list of {_type(inner, anchors)}" if inner else "list"


def _limits(part: Mapping[str, Any]) -> str:
    low, high = part.get("minimum"), part.get("maximum")
    above = part.get("exclusiveMinimum")
    words = [f"{low:g} or more"] if low is not None else [f"above {above:g}"] if above is not None else []
    words += [f"at most {high:g}"] if high is not None else []
    return f" ({', '.join(words)})" if words else ""


# ---------------------------------------------------------------- cases and ladders


def _suite_files(cases: Mapping[str, Any], ladders: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "JSON Schemas: `grader-gate schema cases` and `grader-gate schema ladders`. "
        "Every name in a row means the same field.\n"
    )
    for title, schema, name in (("Case", cases, "case"), ("Ladder", ladders, "ladder"), ("Rung", ladders, "rung")):
        yield f"### {title}\n"
        yield _fields(schema["$defs"][name])


def _fields(entry: Mapping[str, Any]) -> str:
    """One row for each field, its other names beside it."""
    names: dict[str, list[str]] = {}
    meanings: dict[str, str] = {}
    kept: list[str] = []
    for spelling, part in entry["properties"].items():
        text = part.get("description", "")
        if text.startswith("Another name of `"):
            names.setdefault(text.split("`")[1], []).append(spelling)
        elif text == "Kept below `metadata`":
            kept.append(spelling)
        else:
            meanings[spelling] = text
    rows = [
        [f"`{field}`", ", ".join(f"`{other}`" for other in names.get(field, [])), text]
        for field, text in meanings.items()
    ]
    table = _table(["field", "other names", "meaning"], rows)
    return table + (f"\nKept below `metadata`: {', '.join(f'`{key}`' for key in kept)}.\n" if kept else "")


# ---------------------------------------------------------------- Markdown


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(headers: list[str], rows: list[list[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write docs/reference.md.")
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    text = render()
    if not parser.parse_args().check:
        PAGE.write_text(text, "utf-8", newline="\n")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    print(f"{PAGE}: not up to date; run `python docs/make_reference.py`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
