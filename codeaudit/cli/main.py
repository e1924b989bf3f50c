"""The command `codeaudit`: finds the subcommand, and turns every error into one line and an exit code.

Importing it imports no subcommand, so that `codeaudit --help` is fast.
"""

import errno
import io
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import pairwise
from types import FrameType
from typing import Final

import click
from click.core import ParameterSource

from codeaudit.audit.engines.collector import collect_rarely
from codeaudit.cli.streams import silence_stdout, sound_streams
from codeaudit.transforms.distribution import NAME, NAMESAKE, version_of
from codeaudit.transforms.errors import CodeauditError, CorpusError, UsageError, raised_at
from codeaudit.transforms.permission import permit
from codeaudit.transforms.registration import load_target, nearest, one_line

CONFIG: Final = "codeaudit.config"
"""Key of the file of options in `click.Context.meta`."""
INTERRUPTED: Final = 130
CANNOT_AUDIT: Final = 3
USAGE: Final = 2
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of the system that mean: no space left for the output."""

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "init": ("codeaudit.cli.init:init", "Write the options, a model to fill in and a CI job."),
    "run": ("codeaudit.cli.run:run", "Audit one or more models on a perturbed suite."),
    "compare": (
        "codeaudit.cli.run:compare",
        "Compare models or runs: statistics across models and trials.",
    ),
    "gate": ("codeaudit.cli.gate:gate", "Fail CI when invariance regressed."),
    "transform": (
        "codeaudit.cli.transform:transform",
        "Write a perturbed suite, or a perturbed copy of source files.",
    ),
    "verify": ("codeaudit.cli.verify:verify", "Perturb a copy of a project and run its own tests."),
    "explain": (
        "codeaudit.cli.explain:explain",
        "Show the smallest edit that flips a prediction, as a diff.",
    ),
    "report": ("codeaudit.cli.report:report", "Render a run: HTML, Markdown, LaTeX, CSV, JUnit."),
    "view": ("codeaudit.cli.view:view", "Render a run as a page and open it in the browser."),
    "merge": ("codeaudit.cli.merge:merge", "Join the shards of a run."),
    "train": ("codeaudit.cli.train:train", "Train one of the papers' models."),
    "papers": (
        "codeaudit.cli.papers:papers",
        "Make the tables and figures of the five papers.",
    ),
    "seal": ("codeaudit.cli.seal:seal", "Permute or encrypt a checkpoint under a secret key."),
    "unseal": ("codeaudit.cli.seal:unseal", "Restore a sealed checkpoint, bit for bit."),
    "doctor": ("codeaudit.cli.doctor:doctor", "Say what is installed, and what a missing part would add."),
    "list": ("codeaudit.cli.list:listing", "List models, tasks, transforms, corpora."),
}
"""The lazy target and the help line of each command."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `codeaudit --help run` for `codeaudit run --help`."""
        if len(args) == 2 and args[0] in ctx.help_option_names and args[1] in COMMANDS:
            args = args[::-1]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = load_target(COMMANDS[cmd_name][0])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one names the nearest."""
        # Every command reports an unknown name in the same words, with the nearest known one.
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], COMMANDS)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(COMMANDS)}"
            raise click.UsageError(f"unknown command {args[0]!r}; {hint}", ctx)
        resolved = super().resolve_command(ctx, args)
        # A shell that completes a word wants no messages.
        if resolved[1] is not None and not ctx.resilient_parsing:
            _check_not_empty(resolved[2])
            _check_no_secret(resolved[2])
            _note_misspelt(ctx, self, resolved[1])
        return resolved

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _check_not_empty(words: list[str]) -> None:
    """Check that no word of a command is empty, as `--baseline "$UNSET"` is: it would mean something else.

    Raises:
        UsageError: one is.
    """
    for before, word in pairwise(["", *words]):
        if before == "--":
            return
        if word.startswith("--") and word.endswith("="):
            what = word.removesuffix("=")
        elif not word:
            what = before if before.startswith("-") else "an argument"
        else:
            continue
        raise click.UsageError(f"{what} is empty; give a value, or leave it out")


def _check_no_secret(words: list[str]) -> None:
    """Check that no word of a command is an address with a password: it would be printed, and may be kept.

    Raises:
        click.UsageError: one is. The message does not contain it.
    """
    for before, word in pairwise(["", *words]):
        if "//" in word or not word.isascii():
            # Only here: `--help` must stay fast.
            from codeaudit.audit.models.endpoints.urls import has_credentials
            from codeaudit.options import WITH_SECRETS, secret_refused

            option, equals, _ = word.partition("=")
            where = option if word.startswith("--") and equals else before
            name = where.removeprefix("--").replace("-", "_")
            if name not in WITH_SECRETS and has_credentials(word):
                raise click.UsageError(secret_refused(where if where.startswith("-") else "an argument"))


VARIABLE: Final = "CODEAUDIT_"
"""The beginning of the variables that set options."""


def _note_misspelt(ctx: click.Context, group: LazyGroup, command: click.Command) -> None:
    """Tell of variables that are nearly those of an option: nobody sees that a limit does not hold."""
    variables = _variables(command)
    for name in sorted(name for name in os.environ if name.startswith(VARIABLE) and name not in variables):
        if (typed := name.removeprefix(VARIABLE).lower()) in {param.name for param in command.params}:
            named = typed.replace("_", "-")
            click.echo(f"codeaudit: {name} sets no option; --{named} goes on the command line only", err=True)
            continue
        near = get_close_matches(name, variables, n=1, cutoff=0.9)
        # Only then: to ask the other commands takes a second.
        if near and not any(name in _variables(group.get_command(ctx, other)) for other in COMMANDS):
            click.echo(f"codeaudit: {name} sets no option; did you mean {near[0]}?", err=True)


def _words_of_environment() -> Iterator[str]:
    """What the variables that set options name; one may hold several models, quoted as in a shell."""
    for name, value in os.environ.items():
        if name.startswith(VARIABLE):
            yield value
            with suppress(ValueError):  # an open quote: the option will say so
                yield from shlex.split(value)


def _variables(command: click.Command | None) -> frozenset[str]:
    """The variables that set options of a command."""
    variables = (param.envvar for param in (command.params if command is not None else ()))
    return frozenset(variable for variable in variables if isinstance(variable, str))


def _show_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        # The name first: a job of CI asks for it before it trusts this command with a key.
        click.echo(f"{NAME} {version_of() or 'not installed'}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version.",
)
def cli() -> None:
    """Audits code models: does the answer change when the code's meaning does not?"""
    if other := version_of(NAMESAKE):
        click.echo(
            f"codeaudit: another distribution, {NAMESAKE} {other}, is installed here with the same command "
            "and module; codeaudit doctor says how to mend that",
            err=True,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line. Returns its exit code; every error becomes one line on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    permit(words, _words_of_environment())
    if arguments is None:  # else the process belongs to a caller
        collect_rarely()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal with another encoding cannot print `×` or `–`. An escape is better than a traceback.
            stream.reconfigure(errors="backslashreplace")
    # The completion script of the shell sets this variable; the group answers it in bytes, and exits.
    if "_CODEAUDIT_COMPLETE" in os.environ:
        cli.main(words, prog_name="codeaudit")
    with _interruptible(), sound_streams(lasting=arguments is None):
        try:
            return _invoke(words)
        except KeyboardInterrupt as interrupt:
            # The message says how to resume, if there is something to resume.
            _say(str(interrupt) or "interrupted", INTERRUPTED)
            if arguments is None:
                # At once: while the interpreter shuts down a second Ctrl-C would no longer be ours.
                os._exit(INTERRUPTED)
            return INTERRUPTED
        except CodeauditError as error:
            return _say(str(error) + _source(error), error.exit_code)
        # `--help` and `--version` leave by this exception with code 0.
        except click.exceptions.Exit as done:
            return int(done.exit_code)
        except click.UsageError as error:
            hint = f" (try: {error.ctx.command_path} --help)" if error.ctx else ""
            message = _sentence(error.format_message()) + _remedy(error) + _variable(error) + _source(error)
            return _say(message + hint, USAGE)
        except click.ClickException as error:
            return _say(error.format_message(), CANNOT_AUDIT)
        except BrokenPipeError:
            # The reader of stdout closed the pipe, as `head` does.
            silence_stdout()
            return 0
        except ImportError as error:
            if os.environ.get("CODEAUDIT_DEBUG"):
                raise
            from codeaudit.cli.doctor import what_to_install

            return _say(what_to_install(error), CANNOT_AUDIT)
        except OSError as error:
            if os.environ.get("CODEAUDIT_DEBUG"):
                raise
            return _say(_system_error(error), CANNOT_AUDIT)
        except Exception as error:
            if os.environ.get("CODEAUDIT_DEBUG"):
                raise
            # One line, because CI shows the last line of a log.
            message, place = one_line(error), raised_at(error)
            # A plug-in of the project: a task, a transform, a codemod.
            whose = f"your code raised {message}{place}" if place else f"unexpected error: {message}"
            return _say(f"{whose} (CODEAUDIT_DEBUG=1 shows the traceback)", CANNOT_AUDIT)


def _invoke(words: list[str]) -> int:
    if not words:
        with cli.make_context("codeaudit", ["--help"], resilient_parsing=True) as ctx:
            click.echo(cli.get_help(ctx), err=True)
        return USAGE
    with cli.make_context("codeaudit", words) as ctx:
        try:
            result = cli.invoke(ctx)
        except (UsageError, CorpusError, click.UsageError) as error:
            if CONFIG in ctx.meta:
                error.add_note(ctx.meta[CONFIG])
            raise
    # Now, inside `try`: a full disk or a closed pipe must become an exit code, and the interpreter's own
    # flush at exit would only print a warning.
    sys.stdout.flush()
    return int(result or 0)


def ending_signals() -> list[signal.Signals]:
    """Signals that end a command as Ctrl-C does: schedulers and CI send SIGTERM, a closed terminal SIGHUP."""
    signals = [signal.SIGINT, signal.SIGTERM]
    # `nohup` ignores it, and wants it ignored. Windows has none.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


@contextmanager
def _interruptible() -> Iterator[None]:
    """The first Ctrl-C raises KeyboardInterrupt; the second ends the process at once.

    The other `ending_signals` count as Ctrl-C.
    """
    seen = False

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        if seen:
            # Bytes to the descriptor, because `print` may be interrupted inside itself and must not be
            # entered again. A progress bar has hidden the cursor.
            show_cursor = b"\x1b[?25h" if os.isatty(2) else b""
            os.write(2, show_cursor + b"codeaudit: stopped\n")
            os._exit(INTERRUPTED)
        seen = True
        raise KeyboardInterrupt

    signals = ending_signals()
    try:
        before = [signal.signal(number, on_interrupt) for number in signals]
    except ValueError:  # not the main thread, where no signal arrives
        yield
        return
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _say(message: str, code: int) -> int:
    # One line, because CI shows the last line of a log. Messages of libraries may have several.
    line = " ".join(filter(None, map(str.strip, message.splitlines())))
    with suppress(BrokenPipeError):
        click.echo(f"codeaudit: {line}", err=True)
    return code


def _remedy(error: click.UsageError) -> str:
    """What a user may have meant, where click does not say it; empty if nothing is near."""
    words = error.message.partition("(")[2].rstrip(").").split()
    params = error.ctx.command.params if error.ctx is not None else []
    if "unexpected extra argument" in error.message and any(param.name == "corpus" for param in params):
        return f"; a corpus is named with --corpus {words[0]}, a model with --model"
    kind = error.param.type if isinstance(error, click.BadParameter) and error.param is not None else None
    if isinstance(kind, click.Choice) and error.message.startswith("'"):
        near = nearest(error.message[1:].partition("'")[0], map(str, kind.choices))
        return f"; did you mean {near!r}?" if near else ""
    return ""


def _variable(error: click.UsageError) -> str:
    """The variable that a wrong value is from; empty if it is from somewhere else."""
    param, ctx = getattr(error, "param", None), error.ctx
    if param is None or ctx is None or param.name is None or not isinstance(param.envvar, str):
        return ""
    from_variable = ctx.get_parameter_source(param.name) == ParameterSource.ENVIRONMENT
    return f" (from ${param.envvar})" if from_variable else ""


def _source(error: BaseException) -> str:
    """The file of options that an error about them may be in; empty without one."""
    (place,) = getattr(error, "__notes__", ()) or ("",)
    return f" (some options are from {place!r})" if place and repr(place) not in str(error) else ""


def _system_error(error: OSError) -> str:
    """What the operating system refused, with the name of the file."""
    # Some libraries raise with a text only.
    reason = error.strerror or " ".join(str(error).split()) or type(error).__name__
    if error.filename is not None:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else error.filename
        return f"cannot use {str(name)!r}: {reason}"
    if error.errno in FULL:
        return f"cannot write the output: {reason}"
    return f"the operating system refused: {reason} (CODEAUDIT_DEBUG=1 shows the traceback)"


def _sentence(text: str) -> str:
    """A message of click in the style of ours: one line, no capital, no full stop."""
    line = " ".join(text.split()).rstrip(".")
    return line[:1].lower() + line[1:]


if __name__ == "__main__":
    sys.exit(main())
