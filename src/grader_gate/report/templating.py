"""Jinja environments, one per sink, in which an unescaped foreign string cannot be written by accident.

Both environments escape every expression that is not already markup: Markdown through
:func:`grader_gate.report.escape.md_text`, HTML through :func:`grader_gate.report.escape.html_text` and Jinja's own
escaping. A template asks for another form with a filter.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader_gate.report import escape, figures, view

TEMPLATES = Path(__file__).parent / "templates"


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        auto_reload=False,
    )


def _md_final(value: Any) -> Any:
    return _markup(escape.md_text, value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _html_final(value: Any) -> Any:
    return escape.html_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def trusted(text: str) -> Markup:
    """Text of ours that goes out as it is: a file of the package, or what was made of one. Never foreign text."""
    return Markup(text)  # noqa: S704  see above


def _markup(escaper: Any, value: object, *args: Any, **options: Any) -> Markup:
    return Markup(escaper(str(value), *args, **options))  # noqa: S704  the escaper is the sink's own


def _common(environment: Environment) -> Environment:
    environment.globals.update(view=view, figures=figures)
    return environment


@cache
def markdown() -> Environment:
    """Templates for GitHub-flavoured Markdown.

    Filters, each with an optional limit in graphemes: ``text``, ``prose``, ``cell``, ``code``; ``block(language)``.
    """
    environment = _environment()
    environment.finalize = _md_final
    for name, escaper in (
        ("text", escape.md_text),
        ("prose", escape.md_prose),
        ("cell", escape.md_cell),
        ("code", escape.md_code),
        ("block", escape.md_block),
    ):
        environment.filters[name] = partial(_markup, escaper)
    return _common(environment)


@cache
def html() -> Environment:
    """Templates for HTML; expressions are shown with hidden characters made visible, then escaped by Jinja."""
    environment = _environment()
    environment.finalize = _html_final
    environment.filters["prose"] = partial(_markup, escape.html_prose)
    return _common(environment)
