"""The pull request comment: a verdict in ten seconds, the rest below, never longer than GitHub takes.

A comment over its limit is first told shorter (fewer entries, shorter quotes), then loses whole sections in the order
of :data:`DROP_ORDER`, and says which. Header, verdict, counts and footer always stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader_gate.model import GateVerdict
from grader_gate.report import figures, textdiff, view
from grader_gate.report.marker import header
from grader_gate.result import Result

DEFAULT_LIMIT = 60_000
"""UTF-16 units. GitHub takes 65,536 characters; the rest is room for what its own escaping may add."""

BYTE_LIMIT = 250_000
"""UTF-8 bytes. GitHub's column is said to hold 262,144."""

MIN_LIMIT = 20_000
"""The parts that always stay fit into this."""

DROP_ORDER = (
    "standing",
    "improvements",
    "checks",
    "drift",
    "unstable",
    "dismissed",
    "new_cases",
    "certainty",
    "warnings",
    "not_rerun",
    "mutators",
    "notices",
    "ladders",
    "survivors",
    "goalposts",
    "next",
    "errors",
    "regressions",
    "suites",
)
"""Sections in the order in which they give way, least needed first."""

_NAMES = {
    **view.GROUP_TITLES,
    "unstable": "Gray list",
    "standing": "Standing debt",
    "checks": "Mutants killed per check",
    "certainty": "How sure this is",
    "mutators": "Kill rate per mutator",
    "notices": "Notices",
    "goalposts": "Goalposts moved",
    "next": "What to do next",
    "suites": "Suites",
}
_LINK = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]{1,500}")


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is told. ``reason`` and ``diff`` are graphemes quoted of a text; 0 quotes nothing."""

    main: int
    rest: int
    suites: int
    tables: int
    goalposts: int
    reason: int
    diff: int
    context: int


_SHORT = Detail(main=20, rest=30, suites=10, tables=40, goalposts=30, reason=200, diff=800, context=60)
_FULL = Detail(main=20, rest=30, suites=10, tables=40, goalposts=30, reason=2_000, diff=4_000, context=1_000)
_TIGHT = Detail(main=8, rest=10, suites=5, tables=20, goalposts=15, reason=120, diff=300, context=30)
_BARE = Detail(main=5, rest=5, suites=3, tables=12, goalposts=10, reason=0, diff=0, context=0)
_SUMMARY = Detail(main=200, rest=200, suites=50, tables=200, goalposts=200, reason=2_000, diff=4_000, context=200)
_SUMMARY_SHORT = Detail(main=200, rest=200, suites=50, tables=200, goalposts=200, reason=200, diff=800, context=60)


def render_comment(result: Result, *, run: Mapping[str, str | int] | None = None, limit: int = DEFAULT_LIMIT) -> str:
    """The Markdown of the sticky comment, its hidden header first.

    :param run: what the caller adds to the header: ``run_id``, ``attempt``, ``key``.
    :param limit: most UTF-16 units; at least :data:`MIN_LIMIT`.
    :raises ValueError: a limit below :data:`MIN_LIMIT`.
    """
    levels = (_FULL if result.quote == "full" else _SHORT, _TIGHT, _BARE)

    def fits(text: str) -> bool:
        return _utf16(text) <= limit and len(text.encode()) <= BYTE_LIMIT

    if limit < MIN_LIMIT:
        raise ValueError(f"limit ({limit}) must be at least {MIN_LIMIT}")
    return _fit(result, levels, fits, first=f"{header(result, run or {})}\n")


def render_body(result: Result, *, limit: int) -> str:
    """The same text without the hidden header and with longer lists, for a page of ``limit`` UTF-8 bytes.

    :raises ValueError: a limit below three times :data:`MIN_LIMIT`: a UTF-16 unit takes at most three bytes.
    """
    if limit < 3 * MIN_LIMIT:
        raise ValueError(f"limit ({limit}) must be at least {3 * MIN_LIMIT} bytes")
    usual = _FULL if result.quote == "full" else _SHORT
    levels = (_SUMMARY if result.quote == "full" else _SUMMARY_SHORT, usual, _TIGHT, _BARE)
    return _fit(result, levels, lambda text: len(text.encode()) <= limit, first="")


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _fit(result: Result, levels: tuple[Detail, ...], fits: Callable[[str], bool], *, first: str) -> str:
    writer = _Writer(result, first)
    for detail in levels[:-1]:
        if fits(text := writer.write(detail, ())):
            return text
    tight, bare = levels[-2], levels[-1]
    main_from = DROP_ORDER.index("ladders")
    text = ""
    for count in range(1, len(DROP_ORDER) + 1):
        gone = DROP_ORDER[:count]
        detail = tight if count < main_from else bare
        # A section that was empty anyway makes no difference and is no step of its own.
        if writer.has(gone[-1], detail) and fits(text := writer.write(detail, gone)):
            return text
    return text or writer.write(bare, DROP_ORDER)


class _Writer:
    """Renders sections of one result, each at most once per level of detail."""

    def __init__(self, result: Result, first: str) -> None:
        from grader_gate.report.templating import markdown

        self._result, self._first = result, first
        self._brief = result.verdict is GateVerdict.NOT_APPLICABLE and not result.goalposts
        self._groups = view.groups(result)
        link = result.report_url if result.report_url and _LINK.fullmatch(result.report_url) else None
        from markupsafe import Markup

        baselines = figures.distinct(s.baseline or "" for s in result.suites)
        self._module = (
            markdown()
            .get_template("comment.md.j2")
            .make_module(
                {
                    "groups": self._groups,
                    "group_titles": view.GROUP_TITLES,
                    "counts": view.counts(result),
                    "ordered": view.suites_by_weight(result),
                    "many": view.several(result),
                    "quote": result.quote,
                    "brief": self._brief,
                    "full_report": link is not None,
                    "link": Markup(link) if link else None,  # noqa: S704  matched by _LINK: no bracket, quote or space
                    "baseline": "; ".join(baselines[:3]) + ("; …" if len(baselines) > 3 else "") or "none",
                    "diff": _diff,
                    "reason": _first_line if result.quote == "short" else str,
                }
            )
        )
        self._done: dict[tuple[str, Detail], str] = {}

    def has(self, name: str, detail: Detail) -> bool:
        return bool(self._section(name, detail))

    def write(self, detail: Detail, gone: tuple[str, ...]) -> str:
        order = ("notices", "suites", "regressions", "survivors", "ladders", "goalposts", "errors", "next")
        if self._result.verdict is GateVerdict.ERROR:
            order = ("notices", "errors", "next", "suites", "regressions", "survivors", "ladders", "goalposts")
        rest = ("not_rerun", "warnings", "new_cases", "dismissed", "unstable", "improvements", "drift", "mutators",
                "checks", "certainty", "standing")  # fmt: skip
        kept = [self._section(name, detail) for name in (*order, *rest) if name not in gone]
        dropped = [_NAMES[name] for name in (*order, *rest) if name in gone and self._section(name, detail)]
        top = self._clean(self._module.verdict(self._result))  # type: ignore[attr-defined]
        foot = self._clean(self._module.footer(self._result, "; ".join(dropped)))  # type: ignore[attr-defined]
        return self._first + "\n\n".join([top, *(part for part in kept if part), foot]) + "\n"

    def _section(self, name: str, detail: Detail) -> str:
        if (name, detail) not in self._done:
            self._done[name, detail] = self._clean(self._render(name, detail)) if self._wanted(name) else ""
        return self._done[name, detail]

    def _wanted(self, name: str) -> bool:
        result = self._result
        if self._brief:
            return name in ("notices", "next") and bool(result.notices if name == "notices" else result.next_steps)
        match name:
            case "notices":
                return any(n.level != "error" for n in result.notices)
            case "errors":
                return bool(self._groups["errors"]) or any(n.level == "error" for n in result.notices)
            case "suites":
                return bool(result.suites)
            case "certainty":
                return any(s.verdict is not GateVerdict.NOT_APPLICABLE for s in result.suites)
            case "goalposts":
                return bool(result.goalposts)
            case "next":
                return bool(result.next_steps)
            case "mutators":
                return any(s.mutators for s in result.suites)
            case "checks":
                return any(s.checks for s in result.suites)
        return bool(self._groups[name])

    def _render(self, name: str, detail: Detail) -> str:
        if name in ("regressions", "survivors", "ladders"):
            return str(self._module.main_group(name, detail))  # type: ignore[attr-defined]
        if name in self._groups and name != "errors":
            return str(self._module.detail_group(name, detail))  # type: ignore[attr-defined]
        return str(getattr(self._module, name)(self._result, detail))

    @staticmethod
    def _clean(text: str) -> str:
        """No blank line at the ends, never two in a row; lines of quoted blocks are never blank."""
        return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _diff(before: str, after: str, detail: Detail) -> str:
    return "\n".join(textdiff.diff_lines(before, after, context=detail.context))
