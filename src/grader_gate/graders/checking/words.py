"""Checks of wording: parts of text, identifiers, names, patterns, citations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader_gate.graders.checking.base import Ask, Building, Finding, compiled, listed, regex_engine, search, text_of

IDENTIFIER = (
    r"(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_./:#-]*[\p{N}_])(?=[\p{L}\p{N}_./:#-]*\p{L})"
    r"[\p{L}\p{N}_]+(?:[-./:#][\p{L}\p{N}_]+)*"
)
"""What counts as an identifier in a reference: one token with a letter and a digit or underscore (``INV-2041``,
``max_tokens``, ``v1.2``, ``B12``)."""
NAME = r"(?<![\p{L}\p{N}_])\p{Lu}[\p{L}\p{M}’'-]*\p{L}(?![\p{L}\p{N}_])"
"""What counts as a word of a name: a capitalised word of two letters or more."""
SENTENCE_START = r"(?:^|[.!?:;\n•*–—-]|[.!?][\"'”’)\]])[\s\"'“‘(\[*_#>-]*$"
CITATION = r"[\[【]([^\[\]【】\n]{1,200})[\]】](?!\()"
"""A citation: ``[id]``, ``[id, id]`` or ``【id】``, but no Markdown link."""

Holds = Callable[[str, str], bool]


def contains(building: Building) -> Ask:
    """The answer holds the values as they are written (``expect``: all, any, none), or the whole ``reference``."""
    fold = str.casefold if building.check.ignore_case else str
    return _presence(building, lambda text, value: fold(value) in fold(text), lambda reference: [reference.strip()])


def identifiers(building: Building) -> Ask:
    """The answer holds the values as whole tokens; without values, every identifier of the reference."""
    pattern = regex_engine().compile(IDENTIFIER)
    return _presence(building, whole(building.check.ignore_case), lambda text: _unique(pattern.findall(text)))


def names(building: Building) -> Ask:
    """The answer holds the values as whole names; or with ``expect: reference``, it names nobody new.

    Nobody new: each capitalised word inside a sentence stands in the question, the reference, the sources (as far as
    they are visible) or the values.
    """
    if building.check.expect != "reference" and building.check.values:
        return _presence(building, whole(building.check.ignore_case), lambda text: [])
    building.needs("reference")
    word, start = regex_engine().compile(NAME), regex_engine().compile(SENTENCE_START)

    def ask(inputs: Mapping[str, Any]) -> Finding:
        known = " \n".join([*building.check.values, *(_all_text(inputs, name) for name in KNOWN_FROM)])
        allowed = {_bare(match.group()) for match in word.finditer(known)}
        answer = text_of(inputs, "answer")
        new = [
            match.group()
            for match in word.finditer(answer)
            if _bare(match.group()) not in allowed
            and not start.search(answer[max(0, match.start() - 40) : match.start()])
        ]
        return (True, "") if not new else (False, f"names {listed(_unique(new))}, which nothing given names")

    return ask


KNOWN_FROM = ("question", "reference", "sources")


def pattern(building: Building) -> Ask:
    """A regular expression is found in the answer (with ``absent``, is not), within a time limit."""
    if not building.check.pattern:
        raise building.problem("needs `pattern`")
    wanted = compiled(building, building.check.pattern, ignore_case=building.check.ignore_case)
    absent = building.check.absent

    def ask(inputs: Mapping[str, Any]) -> Finding:
        found = search(wanted, text_of(inputs, "answer")) is not None
        if found != absent:
            return True, ""
        return False, "matches what it must not" if absent else "does not match the pattern"

    return ask


def citations(building: Building) -> Ask:
    """The answer cites sources, at least ``min`` (1) times, and only such as exist.

    ``pattern`` says what a citation looks like; its first group holds one id or several with commas.
    """
    building.needs("sources")
    check = building.check
    form = compiled(building, check.pattern or CITATION, ignore_case=check.ignore_case)
    if form.groups < 1:
        raise building.problem("needs a group around the source's id", "pattern")
    least = 1 if check.min is None else check.min

    def ask(inputs: Mapping[str, Any]) -> Finding:
        answer = text_of(inputs, "answer")
        found: list[str] = []
        position = 0
        while (match := search(form, answer[position:])) is not None and len(found) < 10_000:
            found += [part.strip() for part in (match.group(1) or "").replace(";", ",").split(",") if part.strip()]
            position += max(match.end(), match.start() + 1)
        known = {str(source.get("id")) for source in inputs.get("sources") or () if isinstance(source, Mapping)}
        missing = [cited for cited in _unique(found) if cited not in known]
        if missing:
            return False, f"cites {listed(missing)}, which is no source"
        if len(found) < least:
            return False, f"has {len(found)} citations, fewer than {least}"
        if check.max is not None and len(found) > check.max:
            return False, f"has {len(found)} citations, more than {check.max}"
        return True, ""

    return ask


def whole(ignore_case: bool) -> Holds:
    """Whether a text holds a value as a whole token: ``B1`` is not in ``B12``, ``INV-2`` not in ``INV-20`` or
    ``INV-2-b``.
    """
    regex = regex_engine()

    def holds(text: str, value: str) -> bool:
        flags = regex.IGNORECASE if ignore_case else 0
        # A hyphen, dot or slash joins two tokens only where a letter or digit follows on.
        edge = r"[\p{L}\p{N}_]"
        before = rf"(?<!{edge})(?<!{edge}[-./:#])"
        after = rf"(?!{edge})(?![-./:#]{edge})"
        return regex.search(before + regex.escape(value) + after, text, flags) is not None

    return holds


def _presence(building: Building, holds: Holds, from_reference: Callable[[str], list[str]]) -> Ask:
    check = building.check
    expect = check.expect or ("all" if check.values else "reference")
    if expect == "reference":
        building.needs("reference")
    elif not check.values:
        raise building.problem(f"needs `values` for `expect: {expect}`")
    if any(not value for value in check.values):
        raise building.problem("holds an empty value", "values")

    def ask(inputs: Mapping[str, Any]) -> Finding:
        answer = text_of(inputs, "answer")
        wanted = list(check.values)
        if expect == "reference":
            wanted += from_reference(text_of(inputs, "reference"))
        present = [value for value in wanted if holds(answer, value)]
        absent = [value for value in wanted if value not in present]
        match expect:
            case "any":
                return bool(present), "" if present else f"has none of {listed(wanted)}"
            case "none":
                return not present, f"has {listed(present)}" if present else ""
            case _:
                return not absent, f"lacks {listed(absent)}" if absent else ""

    return ask


def _unique(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _bare(word: str) -> str:
    """A word of a name without the genitive."""
    for ending in ("'s", "’s", "'", "’"):
        if word.endswith(ending):
            return word.removesuffix(ending)
    return word


def _all_text(inputs: Mapping[str, Any], name: str) -> str:
    value = inputs.get(name)
    if isinstance(value, str):
        return value
    return " \n".join(str(part.get("text", "")) for part in value or () if isinstance(part, Mapping))
