"""What each command does with its arguments. Thin: it calls, prints and returns the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from grader_gate.errors import ExitCode

if TYPE_CHECKING:
    from grader_gate.flow.single import SingleOptions
    from grader_gate.model import ClaimKind, Purpose
    from grader_gate.result import Result
    from grader_gate.runs.progress import Progress

DEFAULT_OUT = ".grader-gate-out"
DEFAULT_CACHE = ".grader-gate-cache/cache.sqlite"


def run_check(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate check``."""
    from grader_gate.check import check, dry_run

    root, out = Path(arguments.root), _out(arguments)
    options = {
        "out": out,
        "environ": environ,
        "progress": _progress(arguments),
        "config_path": arguments.config,
        "suites": arguments.suite,
        "max_calls": arguments.max_calls,
        "cache": _cache(arguments),
        "second_family": arguments.second_family,
    }
    if arguments.dry_run:
        print(dry_run(root, arguments.base, arguments.head, **options))
        return ExitCode.OK
    result = check(root, arguments.base, arguments.head, **options)
    _show(result, sys.stdout, environ)
    _say_where(out)
    return result.exit_code


def run_run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate run``."""
    from grader_gate.model import ClaimKind

    return _single(arguments, environ, "run", frozenset({ClaimKind.GOLDEN, ClaimKind.RUNGS}), gate=False)


def run_audit(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate audit``."""
    from grader_gate.model import ClaimKind

    kinds = frozenset({ClaimKind.GOLDEN, ClaimKind.MUTANT, ClaimKind.CONTROL, ClaimKind.ATTACK})
    return _single(arguments, environ, "audit", kinds, gate=True)


def run_ladder(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate ladder``."""
    from grader_gate.errors import UsageError
    from grader_gate.model import ClaimKind

    if arguments.file == "new" and arguments.grade is None:
        return _new_ladder(arguments, environ)
    if arguments.case is not None or (arguments.file is None) != (arguments.grade is None):
        raise UsageError("a ladder file and --grade module:function go together; give both or neither")
    if arguments.grade is not None:
        from grader_gate.flow.bare import try_ladders

        ledger = arguments.out or Path("ladder-ledger.jsonl")
        result = try_ladders(
            Path(arguments.file),
            arguments.grade,
            repeats=arguments.repeats,
            ledger=ledger,
            environ=environ,
            progress=_progress(arguments),
        )
        _show(result, sys.stdout, environ)
        print(f"Grades: {ledger}", file=sys.stderr)
        return result.exit_code
    arguments.revision = arguments.revision or "WORKTREE"
    return _single(arguments, environ, "ladder", frozenset({ClaimKind.RUNGS}), gate=True)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"  # a container whose user has no name


def _new_ladder(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from grader_gate.errors import UsageError
    from grader_gate.flow.authoring import ladder_skeleton

    if arguments.case is None:
        raise UsageError("ladder new: name the golden case to make a ladder for")
    text = ladder_skeleton(Path(arguments.root), arguments.case, environ=environ, config_path=arguments.config)
    if arguments.out is None:
        sys.stdout.write(text)
        return ExitCode.OK
    if arguments.out.exists():
        raise UsageError(f"{arguments.out}: exists already; name a new file")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(text, "utf-8", newline="\n")
    print(f"wrote {arguments.out}: edit it by hand", file=sys.stderr)
    return ExitCode.OK


def run_diff(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate diff``."""
    a, b = Path(arguments.a), Path(arguments.b)
    if a.is_file() and b.is_file():
        from grader_gate.flow.ledger_diff import diff_ledgers

        result = diff_ledgers(a, b)
    else:
        from grader_gate.check import check

        result = check(
            Path(arguments.root),
            arguments.a,
            arguments.b,
            out=_out(arguments),
            environ=environ,
            progress=_progress(arguments),
            config_path=arguments.config,
            suites=arguments.suite,
            max_calls=arguments.max_calls,
            cache=_cache(arguments),
        )
    _show(result, sys.stdout, environ)
    return result.exit_code


def run_freeze(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate freeze``."""
    from grader_gate.model import Purpose

    return _freeze(arguments, environ, Purpose.FREEZE, None)


def run_noise(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate noise``."""
    from grader_gate.model import Purpose

    return _freeze(arguments, environ, Purpose.NOISE, 10)


def _freeze(arguments: argparse.Namespace, environ: Mapping[str, str], purpose: Purpose, repeats: int | None) -> int:
    import asyncio

    from grader_gate.flow.freezing import freeze
    from grader_gate.model import Purpose

    root = Path(arguments.root)
    by = arguments.by or environ.get("GITHUB_ACTOR") or _user()
    done = asyncio.run(
        freeze(
            root,
            arguments.revision,
            _single_options(arguments, environ),
            by=by,
            purpose=purpose,
            again=arguments.again,
            default_repeats=repeats,
            tell=lambda said: print(f"grader-gate: {said}", file=sys.stderr),
        )
    )
    word = "noise repeats of" if purpose is Purpose.NOISE else "frozen"
    print(f"{word} {done.items} items with {done.calls} calls; {done.kept} were covered already")
    print(f"expected flips from noise alone in one screen: {done.expected_flips:.1f}")
    for claim, share, count in done.gray[:20]:
        print(f"  unstable: {claim} flips in {share:.0%} of {count}")
    if len(done.gray) > 20:
        print(f"  … and {len(done.gray) - 20} more unstable claims")
    for claim in done.not_gating:
        print(f"  does not gate (flips in 40 % or more of 10 or more repeats): {claim}")
    if done.path is not None:
        print(f"record: {done.path}\nCommit it: a baseline counts once it is merged.")
    return ExitCode.OK


def run_calibrate(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate calibrate``."""
    import asyncio
    import shutil

    from grader_gate.flow.calibrating import Split, calibrate
    from grader_gate.report.calibration import render_calibration_terminal

    split = Split(arguments.split, arguments.holdout)
    options = _single_options(arguments, environ)
    made = asyncio.run(calibrate(Path(arguments.root), arguments.revision, options, split, arguments.write))
    print(render_calibration_terminal(made, width=shutil.get_terminal_size((100, 40)).columns))
    _say_where(options.out)
    if arguments.write is not None:
        print(f"  {arguments.write}", file=sys.stderr)
    return made.exit_code


def run_plan(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate plan``."""
    from grader_gate.flow.planning import describe_plan

    print(describe_plan(Path(arguments.root), arguments.revision, _single_options(arguments, environ)))
    return ExitCode.OK


def run_lint(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate lint``: remarks are notices; with ``--strict`` one of them is enough to fail."""
    from grader_gate.flow.hygiene import lint
    from grader_gate.report.escape import log_line
    from grader_gate.report.figures import place, plural

    found = lint(
        Path(arguments.root),
        arguments.revision,
        config_path=arguments.config,
        environ=environ,
        suites=arguments.suite,
    )
    for suite, remarks in found.items():
        for remark in remarks:
            where = place(remark.location) or f"suite {suite}"
            print(log_line(f"{where}: {remark.kind}: {remark.message}", 2000))
    count = sum(len(remarks) for remarks in found.values())
    print(f"{plural(count, 'remark')} on {plural(len(found), 'suite')}")
    return ExitCode.FAIL if count and arguments.strict else ExitCode.OK


def run_init(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate init``."""
    from grader_gate.flow.starting import start

    for line in start(Path(arguments.root), environ=environ, force=arguments.force):
        print(line)
    return ExitCode.OK


def run_schema(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate schema``."""
    import json

    from grader_gate.errors import UsageError
    from grader_gate.schemas import schemas

    known = schemas()
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, schema in known.items():
            path = arguments.out / f"{name}.schema.json"
            path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", "utf-8")
            print(path)
        return ExitCode.OK
    if arguments.name is None:
        print("\n".join(known))
        return ExitCode.OK
    if arguments.name not in known:
        raise UsageError(f"schema {arguments.name!r}: not known; one of {', '.join(known)}")
    print(json.dumps(known[arguments.name], indent=2, ensure_ascii=False))
    return ExitCode.OK


def run_import(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate import``: what has no answer or no label is left out and said, never guessed."""
    from grader_gate.errors import UsageError
    from grader_gate.report.escape import log_line
    from grader_gate.suite.importers.base import to_jsonl
    from grader_gate.suite.importers.registry import importer

    read = importer(arguments.format)
    if not arguments.file.is_file():
        raise UsageError(f"{arguments.file}: no such file")
    found = read(arguments.file.read_bytes(), arguments.file.name)
    text = to_jsonl([*found.cases, *found.ladders])
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        arguments.out.write_text(text, "utf-8", newline="\n")
    for skipped in found.skipped:
        print(log_line(f"skipped row {skipped.row}: {skipped.reason}"), file=sys.stderr)
    print(f"{len(found.cases)} cases, {len(found.ladders)} ladders, {len(found.skipped)} skipped", file=sys.stderr)
    return ExitCode.OK if found.cases or found.ladders else ExitCode.USAGE


def run_mutators(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate mutators``."""
    from tabulate import tabulate

    from grader_gate.suite.mutators.registry import registry

    rows = [
        [m.name, m.polarity.value, m.property, "yes" if m.default else "", m.description] for m in registry().values()
    ]
    headers = ["name", "polarity", "property", "default", "what it does"]
    print(tabulate(rows, headers, tablefmt="simple", disable_numparse=True, maxcolwidths=[None, None, None, None, 60]))
    return ExitCode.OK


def run_publish(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate publish``."""
    from grader_gate.action import publish_folder

    return publish_folder(arguments.dir, environ)


def run_action(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """``grader-gate action``."""
    from grader_gate.action import main as action_main

    return action_main(environ, arguments.rest)


# ---------------------------------------------------------------- shared


def _out(arguments: argparse.Namespace) -> Path:
    out: Path = arguments.out or Path(arguments.root) / DEFAULT_OUT
    return out


def _cache(arguments: argparse.Namespace) -> Path | None:
    if arguments.no_cache:
        return None
    path = Path(arguments.root) / DEFAULT_CACHE
    path.parent.mkdir(parents=True, exist_ok=True)
    ignore = path.parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
    return path


def _single_options(arguments: argparse.Namespace, environ: Mapping[str, str]) -> SingleOptions:
    from grader_gate.flow.single import SingleOptions

    return SingleOptions(
        out=_out(arguments),
        environ=environ,
        progress=_progress(arguments),
        config_path=arguments.config,
        suites=tuple(arguments.suite),
        max_calls=arguments.max_calls,
        cache=_cache(arguments),
        repeats=getattr(arguments, "repeats", None),
    )


def _single(
    arguments: argparse.Namespace, environ: Mapping[str, str], label: str, kinds: frozenset[ClaimKind], *, gate: bool
) -> int:
    import asyncio
    from dataclasses import replace

    from grader_gate.flow.outputs import write_reports
    from grader_gate.flow.seconds import add_seconds
    from grader_gate.flow.single import grade_all, single_result, single_run
    from grader_gate.model import Purpose

    options = replace(_single_options(arguments, environ), kinds=kinds)

    async def go() -> Result:
        with single_run(Path(arguments.root), arguments.revision, options, label) as run:
            try:
                complete = await grade_all(run, Purpose.SCREEN, lambda _: options.repeats or 1)
                return await add_seconds(run, single_result(run, complete, gate=gate))
            finally:
                await run.side.aclose()

    result = asyncio.run(go())
    write_reports(result, options.out)
    _show(result, sys.stdout, environ)
    _say_where(options.out)
    return result.exit_code


def _progress(arguments: argparse.Namespace) -> Callable[[str], Progress]:
    from grader_gate.runs.progress import progress_for

    return lambda label: progress_for(sys.stderr, quiet=arguments.quiet, label=label)


def _show(result: Result, stream: TextIO, environ: Mapping[str, str]) -> None:
    import shutil

    from grader_gate.report.terminal import render_terminal

    color = stream.isatty() and "NO_COLOR" not in environ
    try:
        print(render_terminal(result, width=shutil.get_terminal_size((100, 40)).columns, color=color), file=stream)
        stream.flush()
    except BrokenPipeError:
        # The reader went away (`| head`): the verdict still counts, and ends the command with its code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say_where(out: Path) -> None:
    for name in (
        "comment.md",
        "report.html",
        "result.json",
        "junit.xml",
        "calibration.md",
        "calibration.json",
        "ledger.jsonl",
    ):
        if (out / name).exists():
            print(f"  {out / name}", file=sys.stderr)
