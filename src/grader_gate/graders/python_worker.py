"""The child that runs a Python grader. Runs alone: it imports nothing of the program.

Speaks JSON lines over copies of its standard streams; what the callable prints goes to the error output. The first
line in names the callable, the first line out says whether it was found; then one line out for each line in.
"""

import asyncio
import importlib
import inspect
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any


def main() -> None:
    """Serve until the input ends."""
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def send(message: dict[str, Any]) -> None:
        writer.write(json.dumps(message, default=_plain).encode() + b"\n")
        writer.flush()

    hello = json.loads(reader.readline())
    sys.path.insert(0, hello["path"])
    try:
        function, accepts = _find(hello)
    except BaseException as error:
        send({"failed": _words(error), "where": _where(error, hello["path"])})
        return
    send({"ready": True})
    with asyncio.Runner() as runner:
        for line in reader:
            call = json.loads(line)
            values = {**{k: v for k, v in call["inputs"].items() if accepts(k)}, **hello["arguments"]}
            if accepts("seed") and "seed" not in values:
                values["seed"] = call["seed"]
            try:
                result = function(**values)
                if inspect.isawaitable(result):
                    result = runner.run(_wait(result))
                answer = {"value": result}
                json.dumps(answer, default=_plain)
            except BaseException as error:
                answer = {"error": _words(error), "where": _where(error, hello["path"])}
            sys.stderr.flush()
            send(answer)


async def _wait(result: Awaitable[Any]) -> Any:
    return await result


def _find(hello: dict[str, Any]) -> tuple[Callable[..., Any], Callable[[str], bool]]:
    """The callable and which keywords it takes."""
    module = importlib.import_module(hello["module"])
    function = getattr(module, hello["function"], None)
    if function is None:
        raise LookupError(f"{hello['module']} has no {hello['function']}")
    if not callable(function):
        raise TypeError(f"{hello['module']}:{hello['function']} is not callable")
    parameters = inspect.signature(function).parameters.values()
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    given = {*hello["inputs"], *hello["arguments"], "seed"}
    for p in parameters:
        wanted = p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        if wanted and (p.kind is p.POSITIONAL_ONLY or p.name not in given):
            raise TypeError(
                f"the parameter `{p.name}` gets no value; it can have {', '.join(sorted(given))} "
                "(name an input in contract.inputs or a value in arguments)"
            )
    for name in hello["arguments"]:
        if not anything and name not in named:
            raise TypeError(f"the callable takes no `{name}`, which `arguments` gives")
    return function, lambda name: anything or name in named


def _plain(value: Any) -> Any:
    """Plain values from records and from numbers of numeric libraries."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "_asdict"):
        return value._asdict()
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"a {type(value).__name__} came back, which is no plain value")


def _words(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1][:1000]


def _where(error: BaseException, root: str) -> str:
    """The last place in the user's own code, relative to it."""
    place = ""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(root + os.sep):
        return f"{os.path.relpath(error.filename, root)}:{error.lineno}"
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(root + os.sep):
            place = f"{os.path.relpath(frame.filename, root)}:{frame.lineno}"
    return place


if __name__ == "__main__":
    main()
