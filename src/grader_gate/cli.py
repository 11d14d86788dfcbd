"""The command line. Thin: it reads arguments and the environment, calls, prints and maps errors to exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from grader_gate import __version__
from grader_gate.errors import ExitCode, GateError

if TYPE_CHECKING:
    from grader_gate.flow.single import SingleOptions
    from grader_gate.model import ClaimKind, Purpose
    from grader_gate.result import Result
    from grader_gate.runs.progress import Progress

DEFAULT_OUT = ".grader-gate-out"
DEFAULT_CACHE = ".grader-gate-cache/cache.sqlite"
CONFIG = ".grader-gate.yml"

Command = Callable[[argparse.Namespace, Mapping[str, str]], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is the process's.

    0 pass or not applicable, 1 fail, 2 usage or configuration, 3 could not measure or not decide.
    """
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if not hasattr(arguments, "run"):
        parser.print_help()
        return ExitCode.USAGE
    command: Command = arguments.run
    try:
        return command(arguments, os.environ)
    except GateError as error:
        _complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`| head`); nothing of the measurement is lost, it is on disk.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except KeyboardInterrupt:
        _complain("interrupted; what was graded is kept: run the same command again to go on")
        return ExitCode.ERROR


def _complain(message: str) -> None:
    from grader_gate.report.escape import log_line

    for line in message.splitlines() or [""]:
        print(f"grader-gate: {log_line(line, 2000)}", file=sys.stderr)


def build_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = argparse.ArgumentParser(
        prog="grader-gate",
        description="Gate pull requests that change an LLM grader.",
        epilog="Exit codes: 0 pass or not applicable, 1 fail, 2 usage or configuration, 3 could not measure or decide.",
    )
    parser.add_argument("--version", action="version", version=f"grader-gate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    check = _command(commands, "check", run_check, "compare a change's graders with the base branch's: the main job")
    check.add_argument("--base", required=True, metavar="REV", help="what the merge would land on, e.g. origin/main")
    check.add_argument(
        "--head", default="WORKTREE", metavar="REV", help="the change; WORKTREE (default) for your files"
    )
    check.add_argument("--dry-run", action="store_true", help="say what is affected, why and the cost; call nothing")
    _common(check)

    run = _command(commands, "run", run_run, "grade a suite at one revision, compare nothing")
    audit = _command(commands, "audit", run_audit, "kill rate of the mutants, controls and attacks at one revision")
    for one in (run, audit):
        one.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
        one.add_argument(
            "--repeats", type=_positive, default=1, metavar="N", help="grade each item N times (default 1)"
        )
        _common(one)

    ladder = _command(commands, "ladder", run_ladder, "are better answers graded no lower than worse ones?")
    ladder.add_argument("file", nargs="?", help="a ladder file, with --grade; else the ladders of the configuration")
    ladder.add_argument(
        "--grade", metavar="MODULE:FUNCTION", help="a callable to try on the file, no configuration needed"
    )
    ladder.add_argument("--revision", default="WORKTREE", help="default: WORKTREE")
    ladder.add_argument("--repeats", type=_positive, default=3, metavar="N", help="grade each rung N times (default 3)")
    _common(ladder)

    diff = _command(commands, "diff", run_diff, "compare two ledgers or two revisions; exit 1 on confirmed regressions")
    diff.add_argument("a", metavar="A", help="a ledger file or a revision")
    diff.add_argument("b", metavar="B", help="a ledger file or a revision")
    _common(diff)

    freeze = _command(commands, "freeze", run_freeze, "measure the baseline of a revision and write its record")
    noise = _command(commands, "noise", run_noise, "measure how much verdicts flip on their own, into the baseline")
    for one in (freeze, noise):
        one.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
        one.add_argument("--repeats", type=_positive, default=None, metavar="N", help="repeats of each item")
        one.add_argument("--again", action="store_true", help="measure items that a record covers, too")
        one.add_argument("--by", default=None, help="who freezes, for the record (default: your user name)")
        _common(one)

    calibrate = _command(commands, "calibrate", run_calibrate, "how far the graders agree with people's labels")
    calibrate.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
    calibrate.add_argument("--split", default="tune", metavar="NAME", help="tune (default), holdout, or a cases' split")
    calibrate.add_argument(
        "--holdout", type=_share, default=0.0, metavar="SHARE", help="hold out this share of the questions, by hash"
    )
    calibrate.add_argument(
        "--repeats", type=_positive, default=1, metavar="N", help="grade each case N times (default 1)"
    )
    calibrate.add_argument("--write", type=Path, default=None, metavar="FILE", help="write the suggested contract")
    _common(calibrate)

    plan = _command(commands, "plan", run_plan, "what the suites hold, what a full run takes and costs; calls nothing")
    plan.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
    _common(plan)

    init = _command(commands, "init", run_init, "write a configuration, a workflow and a first ladder to edit")
    init.add_argument("--force", action="store_true", help="overwrite files that are there")
    init.add_argument("-C", dest="root", default=".", metavar="DIR", help="the repository (default: here)")

    schema = _command(commands, "schema", run_schema, "print the JSON Schema of a file format, or write all of them")
    schema.add_argument("name", nargs="?", help="config, cases, ladders, ledger, result, …; none lists them")
    schema.add_argument("--out", type=Path, default=None, metavar="DIR", help="write every schema into DIR")

    importing = _command(commands, "import", run_import, "turn another tool's file into golden cases (JSON Lines)")
    importing.add_argument("format", metavar="FORMAT", help="promptfoo, deepeval, openai-evals, inspect, langfuse, …")
    importing.add_argument("file", type=Path, metavar="FILE")
    importing.add_argument("--out", type=Path, default=None, metavar="FILE", help="where to write (default: print)")

    _command(commands, "mutators", run_mutators, "list the catalogue of mutators")

    publish = _command(commands, "publish", run_publish, "post the results of an earlier run (token from GITHUB_TOKEN)")
    publish.add_argument("dir", type=Path, metavar="DIR", help="the folder a check wrote")

    action = _command(commands, "action", run_action, "what the container runs: inputs and event from the environment")
    action.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, run: Command, help_: str
) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=help_, description=help_[0].upper() + help_[1:] + ".")
    made.set_defaults(run=run)
    return made


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default=CONFIG, metavar="PATH", help=f"default: {CONFIG}")
    parser.add_argument("--suite", action="append", default=[], metavar="NAME", help="only this suite; may be repeated")
    parser.add_argument(
        "--out", type=Path, default=None, metavar="PATH", help=f"folder of results (default: {DEFAULT_OUT})"
    )
    parser.add_argument(
        "--max-calls", type=_count, default=None, metavar="N", help="most calls; a lower cap than the policy's"
    )
    parser.add_argument("--no-cache", action="store_true", help="neither read nor write the cache of earlier replies")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("-C", dest="root", default=".", metavar="DIR", help="the repository (default: here)")


def _positive(text: str) -> int:
    value = _count(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if value < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to below 1")
    return value


# ---------------------------------------------------------------- commands


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

    if (arguments.file is None) != (arguments.grade is None):
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
    by = arguments.by or next((environ[n] for n in ("GITHUB_ACTOR", "USER", "LOGNAME") if environ.get(n)), "unknown")
    done = asyncio.run(
        freeze(
            root,
            arguments.revision,
            _single_options(arguments, environ),
            by=by,
            purpose=purpose,
            again=arguments.again,
            default_repeats=repeats,
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
    from grader_gate.flow.single import grade_all, single_result, single_run
    from grader_gate.model import Purpose

    options = replace(_single_options(arguments, environ), kinds=kinds)

    async def go() -> Result:
        with single_run(Path(arguments.root), arguments.revision, options, label) as run:
            try:
                complete = await grade_all(run, Purpose.SCREEN, lambda _: options.repeats or 1)
                return single_result(run, complete, gate=gate)
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
    print(render_terminal(result, width=shutil.get_terminal_size((100, 40)).columns, color=color), file=stream)


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


if __name__ == "__main__":
    sys.exit(main())
