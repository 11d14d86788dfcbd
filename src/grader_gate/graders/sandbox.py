"""A Jinja environment in which a hostile template ends soon, small, and without having learnt anything.

Jinja's immutable sandbox keeps a template away from Python. It does not keep it from running for ever or from filling
the memory. A thread cannot be ended and a signal works in one thread only, so the template is metered instead: every
loop turn, call, filter and include spends from one :class:`Meter`, which also looks at the clock; whatever could do
much in a single step (string multiplication, padding, formatting) is not offered or is bounded before it runs.
"""

from __future__ import annotations

import functools
import json
import time
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, filters, nodes
from jinja2.environment import Template
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MAX_STEPS = 100_000
"""Loop turns, calls, filters and includes in one rendering; a real prompt needs a few hundred."""
MAX_CHARACTERS = 4_000_000
"""Characters made on the way, captured or not."""
MAX_SECONDS = 5.0
"""Backstop for one rendering; a real prompt takes a millisecond."""
MAX_PAD = 200
"""Widest indentation."""
MAX_INTEGER_BITS = 512

FILTERS = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items", "last", "length",
    "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "select", "selectattr", "sort",
    "string", "title", "trim", "truncate", "unique", "upper", "wordcount",
)  # fmt: skip
METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        (
            "capitalize",
            "casefold",
            "count",
            "endswith",
            "find",
            "isalnum",
            "isalpha",
            "isdigit",
            "isnumeric",
            "isspace",
            "lower",
            "lstrip",
            "partition",
            "removeprefix",
            "removesuffix",
            "rfind",
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "title",
            "upper",
        )
    ),
    dict: frozenset(("get", "items", "keys", "values")),
    list: frozenset(("count", "index")),
    tuple: frozenset(("count", "index")),
}


class TooMuch(SecurityError):
    """A rendering that would take more steps, text or time than a prompt can need."""


class Meter:
    """What one rendering has spent. Steps and characters are exact, so the same template always ends the same way."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Start a rendering."""
        self.steps = self.characters = 0
        self._deadline = self._clock() + MAX_SECONDS

    def spend(self, steps: int = 0, characters: int = 0) -> None:
        """Count work about to be done or just done.

        :raises TooMuch: a limit is passed.
        """
        self.steps += steps
        self.characters += characters
        if self.steps > MAX_STEPS:
            raise TooMuch(f"rendering takes more than {MAX_STEPS:,} steps; loop less")
        if self.characters > MAX_CHARACTERS:
            raise TooMuch(f"rendering makes more than {MAX_CHARACTERS:,} characters; print less")
        if self._clock() > self._deadline:
            raise TooMuch(f"rendering takes longer than {MAX_SECONDS:g} s")


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """Strict, metered, without autoescape; only :data:`FILTERS`, :data:`METHODS` and a few globals."""

    intercepted_binops = frozenset(("+", "*", "**", "%", "-", "//", "/"))

    def __init__(self, loader: BaseLoader) -> None:
        self.meter = Meter()
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            autoescape=False,
            optimized=False,
            cache_size=-1,
            auto_reload=False,
            finalize=self._printed,
        )
        self.globals = {k: self.globals[k] for k in ("range", "dict", "namespace")}
        known = {name: filters.FILTERS[name] for name in FILTERS}
        own: dict[str, Callable[..., Any]] = {
            "replace": self._replace, "join": self._join, "indent": self._indent, "tojson": _tojson, "round": _round,
            "escape": _escape, "e": _escape, "_turns": self._turns, "_concat": self._concat,
        }  # fmt: skip
        self.filters = {name: self._metered(f) for name, f in (known | own).items()}

    # ---- what a template does step by step

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in tree.find_all(nodes.For):
            if loop.recursive:
                raise TooMuch(f"line {loop.lineno}: recursive loops are not offered; write nested loops")
            text = sum(len(data.data) for data in loop.find_all(nodes.TemplateData))
            size = nodes.Const(text, lineno=loop.lineno)
            loop.iter = nodes.Filter(loop.iter, "_turns", [size], [], None, None, lineno=loop.lineno)
        return _ConcatCounter().visit(tree)  # type: ignore[no-any-return]

    def _turns(self, values: Iterable[Any], characters: int) -> Iterator[Any]:
        for value in values:
            self.meter.spend(1, characters)
            yield value

    def _printed(self, value: Any) -> Any:
        if value is None:
            raise NothingToPrint
        text = value if isinstance(value, str) else str(value)
        self.meter.spend(characters=len(text))
        return text

    def _metered(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self.meter.spend(1)
            result = function(*args, **kwargs)
            if isinstance(result, str | list | tuple):
                self.meter.spend(characters=len(result))
            return result

        return wrapper

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call a macro, a method or a global, metered."""
        __self.meter.spend(1)
        result = super().call(__context, __obj, *args, **kwargs)
        if isinstance(result, str | list | tuple):
            __self.meter.spend(characters=len(result))
        return result

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> Template:  # noqa: A002
        """Load an included template, metered by its size."""
        template = super().get_template(name, parent, globals)
        self.meter.spend(1, getattr(self.loader, "size", lambda _: 0)(name))
        return template

    # ---- what could do much in one step

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Plain values offer their own short list of methods, everything else what Jinja calls safe."""
        for kind, names in METHODS.items():
            if isinstance(obj, kind):
                return attr in names
        if isinstance(obj, int | float | bytes | types.FunctionType | types.BuiltinFunctionType):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:
        """No ``str.format``: a width in the format makes text of any size."""
        return

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Arithmetic on small numbers, ``+`` on sequences; nothing that multiplies or formats text."""
        self.meter.spend(1)
        if isinstance(left, int | float) and isinstance(right, int | float):
            if operator == "**" and abs(right) > 64:
                raise TooMuch("powers above 64 are not offered")
            bits = sum(v.bit_length() for v in (left, right) if isinstance(v, int))
            if bits > MAX_INTEGER_BITS:
                raise TooMuch(f"integers of more than {MAX_INTEGER_BITS} bits are not offered")
        elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            self.meter.spend(characters=len(left) + len(right))
        else:
            raise TooMuch(f"`{operator}` works on numbers only")
        return super().call_binop(context, operator, left, right)

    def _concat(self, parts: list[Any]) -> str:
        texts = [str(part) for part in parts]
        self.meter.spend(characters=sum(map(len, texts)))
        return "".join(texts)

    def _replace(self, value: Any, old: str, new: str, count: int = -1) -> str:
        text, old, new = str(value), str(old), str(new)
        found = text.count(old)
        self.meter.spend(characters=(found if count < 0 else min(found, count)) * len(new))
        return text.replace(old, new, count)

    def _join(self, values: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
        get = filters.make_attrgetter(self, attribute) if attribute is not None else lambda value: value
        texts = [self._printed(get(value)) for value in values]
        self.meter.spend(characters=len(d) * len(texts))
        return str(d).join(texts)

    def _indent(self, value: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
        pad = " " * width if isinstance(width, int) and width <= MAX_PAD else width
        if not isinstance(pad, str) or len(pad) > MAX_PAD:
            raise TooMuch(f"indentation wider than {MAX_PAD} is not offered")
        lines = str(value).split("\n")
        self.meter.spend(characters=len(pad) * len(lines))
        return "\n".join(
            pad + line if (line or blank) and (number or first) else line for number, line in enumerate(lines)
        )


class NothingToPrint(SecurityError):
    """A template prints an input that the item does not have."""


class _ConcatCounter(NodeTransformer):
    """Turns ``a ~ b`` into a metered filter."""

    def visit_Concat(self, node: nodes.Concat, *args: Any, **kwargs: Any) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "_concat", [], [], None, None, lineno=node.lineno)


def _round(value: float, precision: int = 0) -> float:
    """Rounding to at most 15 digits; Jinja's own takes any power of ten."""
    if not -15 <= precision <= 15:
        raise TooMuch("rounding beyond 15 digits is not offered")
    return float(round(value, precision))


def _tojson(value: Any, indent: int | None = None) -> str:
    """JSON of plain values, not escaped for HTML: prompts are read by models."""
    return json.dumps(value, ensure_ascii=False, indent=None if indent is None else min(int(indent), 8))


def _escape(value: Any) -> str:
    """XML escaping, so that a text cannot close the tag a prompt puts around it."""
    return str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
