"""The command line: its commands and options, and the one map from errors to exit codes."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grader_gate import __version__
from grader_gate import commands as do
from grader_gate.errors import ExitCode, GateError

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
    _print_anything()
    try:
        return command(arguments, os.environ)
    except GateError as error:
        _complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`| head`). A command that measures has not said its verdict then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.ERROR if hasattr(arguments, "max_calls") else ExitCode.OK
    except KeyboardInterrupt:
        _complain("interrupted; what was graded is kept: run the same command again to go on")
        return ExitCode.ERROR
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
        where = error.filename or "the system"
        _complain(f"{where}: {error.strerror or error}; name another file or folder, or mend it")
        return ExitCode.ERROR if full else ExitCode.USAGE
    except Exception as error:
        # Python ends with 1 on its own, which here means that the grader got worse.
        import traceback

        traceback.print_exc()
        _complain(f"a bug of grader-gate, please report it: {type(error).__name__}; nothing was decided")
        return ExitCode.ERROR


def _print_anything() -> None:
    """Terminals that cannot show a character show a substitute instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


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

    check = _command(commands, "check", do.run_check, "compare a change's graders with the base branch's: the main job")
    check.add_argument("--base", required=True, metavar="REV", help="what the merge would land on, e.g. origin/main")
    check.add_argument(
        "--head", default="WORKTREE", metavar="REV", help="the change; WORKTREE (default) for your files"
    )
    check.add_argument("--dry-run", action="store_true", help="say what is affected, why and the cost; call nothing")
    check.add_argument("--second-family", action="store_true", help="grade with the suites' second families as well")
    _common(check)

    run = _command(commands, "run", do.run_run, "grade a suite at one revision, compare nothing")
    audit = _command(commands, "audit", do.run_audit, "kill rate of the mutants, controls and attacks at one revision")
    for one in (run, audit):
        one.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
        one.add_argument(
            "--repeats", type=_positive, default=1, metavar="N", help="grade each item N times (default 1)"
        )
        _common(one)

    ladder = _command(commands, "ladder", do.run_ladder, "are better answers graded no lower than worse ones?")
    ladder.add_argument(
        "file", nargs="?", help="a ladder file, with --grade; `new` for a skeleton; else the configuration's ladders"
    )
    ladder.add_argument("case", nargs="?", metavar="CASE", help="with `new`: the golden case to make a ladder for")
    ladder.add_argument(
        "--grade", metavar="MODULE:FUNCTION", help="a callable to try on the file, no configuration needed"
    )
    ladder.add_argument("--revision", default="WORKTREE", help="default: WORKTREE")
    ladder.add_argument("--repeats", type=_positive, default=3, metavar="N", help="grade each rung N times (default 3)")
    _common(ladder)

    diff = _command(commands, "diff", do.run_diff, "compare two ledgers or revisions; exit 1 on confirmed regressions")
    diff.add_argument("a", metavar="A", help="a ledger file or a revision")
    diff.add_argument("b", metavar="B", help="a ledger file or a revision")
    _common(diff)

    freeze = _command(commands, "freeze", do.run_freeze, "measure the baseline of a revision and write its record")
    noise = _command(commands, "noise", do.run_noise, "measure how much verdicts flip on their own, into the baseline")
    for one in (freeze, noise):
        one.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
        one.add_argument("--repeats", type=_positive, default=None, metavar="N", help="repeats of each item")
        one.add_argument("--again", action="store_true", help="measure items that a record covers, too")
        one.add_argument("--by", default=None, help="who freezes, for the record (default: your user name)")
        _common(one)

    calibrate = _command(commands, "calibrate", do.run_calibrate, "how far the graders agree with people's labels")
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

    plan = _command(commands, "plan", do.run_plan, "what the suites hold and what a run takes; calls nothing")
    plan.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
    _common(plan)

    lint = _command(commands, "lint", do.run_lint, "what is doubtful about golden cases and ladders; calls nothing")
    lint.add_argument("revision", nargs="?", default="WORKTREE", help="default: WORKTREE")
    lint.add_argument("--strict", action="store_true", help="exit 1 where there is a remark")
    lint.add_argument("--suite", action="append", default=[], metavar="NAME", help="only this suite; may be repeated")
    lint.add_argument("--config", default=CONFIG, metavar="PATH", help=f"default: {CONFIG}")
    lint.add_argument("-C", dest="root", default=".", metavar="DIR", help="the repository (default: here)")

    init = _command(commands, "init", do.run_init, "write a configuration, a workflow and a first ladder to edit")
    init.add_argument("--force", action="store_true", help="overwrite files that are there")
    init.add_argument("-C", dest="root", default=".", metavar="DIR", help="the repository (default: here)")

    schema = _command(commands, "schema", do.run_schema, "print the JSON Schema of a file format, or write all of them")
    schema.add_argument("name", nargs="?", help="config, cases, ladders, ledger, result, …; none lists them")
    schema.add_argument("--out", type=Path, default=None, metavar="DIR", help="write every schema into DIR")

    importing = _command(commands, "import", do.run_import, "turn another tool's file into golden cases (JSON Lines)")
    importing.add_argument("format", metavar="FORMAT", help="promptfoo, deepeval, openai-evals, inspect, langfuse, …")
    importing.add_argument("file", type=Path, metavar="FILE")
    importing.add_argument("--out", type=Path, default=None, metavar="FILE", help="where to write (default: print)")

    _command(commands, "mutators", do.run_mutators, "list the catalogue of mutators")

    publish = _command(commands, "publish", do.run_publish, "post an earlier run's results (token from GITHUB_TOKEN)")
    publish.add_argument("dir", type=Path, metavar="DIR", help="the folder a check wrote")

    action = _command(commands, "action", do.run_action, "what the container runs: inputs from the environment")
    action.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, run: Command, help_: str
) -> argparse.ArgumentParser:
    stop = "" if help_.endswith("?") else "."
    made = commands.add_parser(name, help=help_, description=help_[0].upper() + help_[1:] + stop)
    made.set_defaults(run=run)
    return made


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default=CONFIG, metavar="PATH", help=f"default: {CONFIG}")
    parser.add_argument("--suite", action="append", default=[], metavar="NAME", help="only this suite; may be repeated")
    parser.add_argument(
        "--out", type=Path, default=None, metavar="PATH", help=f"folder of results (default: {do.DEFAULT_OUT})"
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


if __name__ == "__main__":
    sys.exit(main())
