"""Loads the golden cases and ladders of a suite from the files its globs name."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from grader_gate.config import DEFAULT_PATH, Config, SuiteConfig
from grader_gate.configfile import line_of
from grader_gate.documents import Document, Keys, dotted
from grader_gate.errors import UsageError
from grader_gate.explain import suggestion
from grader_gate.model import GoldenCase, Ladder, Suite, Tree
from grader_gate.suite.cases import CASE_KEYS, parse_case
from grader_gate.suite.entry import METADATA_KEYS, Defaults, Entry, Files, SuiteError, SuiteFiles
from grader_gate.suite.ladders import LADDER_KEYS, parse_ladder

TOP_KEYS = frozenset({"cases", "ladders", "defaults", "version", "source", "$schema"} | METADATA_KEYS)
"""Keys of a file whose top level is a mapping."""

SECTIONS = ("cases", "ladders")
_T = TypeVar("_T", GoldenCase, Ladder)


def load_suites(tree: Tree, config: Config, *, config_path: str = DEFAULT_PATH) -> dict[str, Suite]:
    """Every suite of a configuration, by name; each file is read once. Errors as :func:`load_suite`."""
    files = Files(tree)
    return {
        name: load_suite(tree, name, suite, config_path=config_path, files=files)
        for name, suite in config.suites.items()
    }


def load_suite(
    tree: Tree, name: str, config: SuiteConfig, *, config_path: str = DEFAULT_PATH, files: Files | None = None
) -> Suite:
    """One suite.

    A file is a list, or a mapping with ``cases:``, ``ladders:`` or both, and ``defaults:`` for the fields its entries
    share. A list holds cases or ladders as the glob that names it says; where both do, an entry with ``rungs`` is a
    ladder.

    :param config_path: where the globs stand, for messages.
    :param files: shared between suites, so that a file is read once.
    :raises SuiteError: a glob that matches nothing, a file, case or ladder that cannot be used, an id that stands
        twice, or a suite without a case and a ladder.
    """
    reader = SuiteFiles(files or Files(tree))
    with _collector_paused():
        return _load(tree, name, config, config_path, reader)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nothing that is loaded is garbage or a cycle; searching it again and again takes half of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _load(tree: Tree, name: str, config: SuiteConfig, config_path: str, reader: SuiteFiles) -> Suite:
    cases: dict[str, GoldenCase] = {}
    ladders: dict[str, Ladder] = {}
    for path, sections in _paths(tree, name, config, config_path).items():
        document = reader.document(path)
        for section, keys, raw, defaults in _entries(document, sections):
            if section == "cases":
                entry = Entry(document, keys, raw, CASE_KEYS, reader, defaults)
                _add(cases, entry, parse_case, "case")
            else:
                entry = Entry(document, keys, raw, LADDER_KEYS, reader, defaults)
                _add(ladders, entry, parse_ladder, "ladder")
    if not cases and not ladders:
        raise _config_error(tree, config_path, ("suites", name), "the suite is empty: its files hold no case")
    return Suite(name=name, cases=tuple(cases.values()), ladders=tuple(ladders.values()), files=tuple(reader.paths))


def _add(found: dict[str, _T], entry: Entry, parse: Callable[[Entry], _T], noun: str) -> None:
    one = parse(entry)
    other = found.setdefault(one.id, one)
    if other is not one:
        where = other.location
        place = "elsewhere" if where is None else f"{where.path}:{where.line}"
        raise entry.error(f"the {noun} id `{one.id}` stands twice, first in {place}: rename one", "id")


# ---------------------------------------------------------------- which files


def _config_error(tree: Tree, path: str, keys: Keys, message: str) -> SuiteError:
    return SuiteError(message, path=path, line=line_of(tree, path, keys), key=dotted(keys))


def _paths(tree: Tree, name: str, config: SuiteConfig, config_path: str) -> dict[str, set[str]]:
    """The files of the globs in order → the sections whose globs name them."""
    found: dict[str, set[str]] = {}
    for section in SECTIONS:
        patterns: tuple[str, ...] = getattr(config, section)
        for index, pattern in enumerate(patterns):
            problem = None
            try:
                paths = tree.glob(pattern)
                if not paths and not any(sign in pattern for sign in "*?[{"):
                    tree.read(pattern)  # a plain name: the tree says why it is no file
            except UsageError as error:
                paths, problem = [], str(error)
            if not paths:
                keys: Keys = ("suites", name, section)
                raise _config_error(
                    tree,
                    config_path,
                    (*keys, index) if len(patterns) > 1 else keys,
                    problem or f"`{pattern}` matches no file: paths count from the top of the repository",
                )
            for path in paths:
                found.setdefault(path, set()).add(section)
    return found


# ---------------------------------------------------------------- what a file holds


def _entries(document: Document, wanted: set[str]) -> Iterator[tuple[str, Keys, Any, Defaults | None]]:
    """Section, place, raw value and defaults of every entry of a file."""
    top = document.value
    if isinstance(top, list):
        for index, raw in enumerate(top):
            yield _section(document, index, raw, wanted), (index,), raw, None
        return
    if not isinstance(top, dict):
        what = "is empty" if top is None else "must be a list, or a mapping with `cases:` or `ladders:`"
        raise SuiteError(f"the file {what}", path=document.path, line=1)
    _check_top(document, top)
    for section in SECTIONS:
        value = top.get(section)
        if value is None:
            continue
        if not isinstance(value, list):
            raise _file_error(document, (section,), f"must be a list of {section}")
        defaults = _defaults(document, top, CASE_KEYS if section == "cases" else LADDER_KEYS)
        for index, raw in enumerate(value):
            yield section, (section, index), raw, defaults


def _file_error(document: Document, keys: Keys, message: str) -> SuiteError:
    return SuiteError(message, path=document.path, line=document.line(keys), key=dotted(keys))


def _section(document: Document, index: int, raw: Any, wanted: set[str]) -> str:
    is_ladder = isinstance(raw, dict) and "rungs" in raw
    if len(wanted) == 2:
        return "ladders" if is_ladder else "cases"
    (section,) = wanted
    if is_ladder and section == "cases":
        raise _file_error(
            document, (index, "rungs"), "this is a ladder, not a case: name the file under `ladders` in the suite"
        )
    return section


def _check_top(document: Document, top: Mapping[str, Any]) -> None:
    for key in top:
        if key not in TOP_KEYS:
            hint = suggestion(key, TOP_KEYS)
            if key in CASE_KEYS or key in LADDER_KEYS:
                hint = "one entry still needs a list: begin it with `- `, or put it below `cases:`"
            raise _file_error(document, (key,), f"unknown key at the top of the file; {hint}")
    if not any(section in top for section in SECTIONS):
        raise SuiteError("the file has neither `cases:` nor `ladders:`", path=document.path, line=1)


def _defaults(document: Document, top: Mapping[str, Any], names: Mapping[str, str]) -> Defaults | None:
    """The file's defaults for one section; its ``source`` and licence count as defaults too."""
    raw = top.get("defaults")
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise _file_error(document, ("defaults",), "must be a mapping of keys to values")
    values: dict[str, Any] = {} if top.get("source") is None else {"source": top["source"]}
    metadata: dict[str, Any] = {key: top[key] for key in ("licence", "license") if top.get(key) is not None}
    for key, value in raw.items():
        if key in ("id", "rungs", "answer") or not (key in CASE_KEYS or key in LADDER_KEYS or key in METADATA_KEYS):
            known = (set(CASE_KEYS) | METADATA_KEYS) - {"id", "answer"}
            message = "belongs to each entry" if key in CASE_KEYS else f"unknown key; {suggestion(key, known)}"
            raise _file_error(document, ("defaults", key), message)
        if value is None:
            continue
        if key == "metadata":
            if not isinstance(value, dict):
                raise _file_error(document, ("defaults", key), "must be a mapping of keys to values")
            metadata.update(value)
        elif key in names:
            values[names[key]] = value
        elif key in METADATA_KEYS:
            metadata[key] = value
    return Defaults(values, metadata) if values or metadata else None
