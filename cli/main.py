"""The command `ppl`: its commands, and the one place where an error becomes a sentence and an exit status."""

import atexit
import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from ppl.cli.commands.build import build
from ppl.cli.commands.check import check
from ppl.cli.commands.compare import compare
from ppl.cli.commands.diagnose import diagnose
from ppl.cli.commands.docs import docs
from ppl.cli.commands.doctor import doctor
from ppl.cli.commands.draws import draws
from ppl.cli.commands.explain import explain
from ppl.cli.commands.fix import fix
from ppl.cli.commands.format import format
from ppl.cli.commands.generate import generate
from ppl.cli.commands.log_prob import log_prob
from ppl.cli.commands.loo import loo
from ppl.cli.commands.lsp import lsp
from ppl.cli.commands.new import new
from ppl.cli.commands.plot import plot
from ppl.cli.commands.predict import predict
from ppl.cli.commands.sample import sample
from ppl.cli.commands.sbc import sbc
from ppl.cli.commands.show import show
from ppl.cli.commands.summary import summary
from ppl.cli.commands.update import update
from ppl.cli.commands.variational import variational
from ppl.cli.group import Command, Commands
from ppl.cli.internal import write_report
from ppl.cli.processes import end_others
from ppl.cli.words import WithWords
from ppl.distribution import VERSION
from ppl.errors import DataError, InferenceError, ModelError, PPLError
from ppl.memory import out_of_memory

COMMANDS = (
    variational,
    sample,
    sbc,
    predict,
    update,
    new,
    build,
    summary,
    loo,
    compare,
    doctor,
    plot,
    generate,
    draws,
    log_prob,
    diagnose,
    check,
    fix,
    format,
    lsp,
    explain,
    docs,
    show,
)


@dataclass(frozen=True)
class ExitStatus:
    """The exit statuses of the command, beside 0."""

    refused: int = 1
    """A mistake in the program, the data or the arguments."""

    failed: int = 3
    """A fit that failed."""

    internal: int = 70
    """A mistake of ours, as `EX_SOFTWARE` of sysexits.h."""


EXIT = ExitStatus()


OBJECTS_A_COLLECTION = 100_000
"""New objects until cycles among them are looked for: imports make a hundred thousand, and hardly a cycle."""

app = typer.Typer(
    name="ppl",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in COMMANDS:
    app.command(cls=WithWords if command is variational else Command)(command)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"ppl {VERSION}")
        raise typer.Exit()


@app.callback()
def ppl(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Fit Stan programs by variational inference or MCMC.

    \b
    First example:
      ppl new eight_schools --example eight_schools
      ppl variational eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json

    \b
    Exit status: 0 success, 1 the program or its data is rejected,
    2 wrong usage, 3 inference failed, 130 interrupted;
    with --require 4 usable, 5 poor, 6 unknown.
    """


@cache
def command_line() -> Callable[[list[str] | None], object]:
    """The commands as Click has them: Typer takes 10 ms, which a process of many commands pays once."""
    return typer.main.get_command(app)


def main(argv: list[str] | None = None) -> NoReturn:
    """Runs one command and exits; a user's mistake ends in a message, never in a traceback."""
    gc.set_threshold(OBJECTS_A_COLLECTION, 20, 20)
    if isinstance(sys.stdout, TextIOWrapper):  # a name or a sign that it has no code for ends no fit
        sys.stdout.reconfigure(errors="backslashreplace")
    atexit.register(gc.freeze)  # at the very end Python would look through a million objects for cycles
    try:
        _run(argv)
    except SystemExit as end:
        end_others(end)
        raise
    sys.exit(0)


def _run(argv: list[str] | None) -> None:
    try:
        command_line()(argv)
    except ModelError as error:
        _show(error)
        sys.exit(EXIT.refused)
    except InferenceError as error:
        _exit(EXIT.failed, in_lines(f"ppl: error {error.code}: {error}"), error)
    except DataError as error:
        _exit(EXIT.refused, in_lines(f"ppl: error {error.code}: {error}"), error)
    except PPLError as error:
        _exit(EXIT.refused, in_lines(f"ppl: {error}"), error)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: nothing is left to say it to
        sys.exit(EXIT.refused)
    except MemoryError as error:
        _exit(EXIT.failed, in_lines(f"ppl: error PPL977: {out_of_memory(error)}"), error)
    except OSError as error:
        _exit(EXIT.refused, f"ppl: {error.filename or 'file'}: {error.strerror or error}", error)
    except Exception as error:
        if "Gloo" in str(error):  # another process of the run has ended, which is about to be told
            sys.exit(EXIT.failed)
        written = write_report(error)
        _exit(
            EXIT.internal,
            f"ppl: internal error ({type(error).__name__}): a bug in ppl, not in your program. "
            f"Please send {written} to the developers, with the program that caused it.",
            error,
        )


def _show(error: ModelError) -> None:
    """Every error of the program, each beginning with file:line:column, as editors expect."""
    from ppl.cli.diagnostics import show as show_diagnostics

    show_diagnostics((error, *error.others), sys.stderr)


def in_lines(message: str) -> str:
    """Broken into lines as the errors of a program are."""
    from ppl.cli.output import wrapped

    return wrapped(message)


def _exit(status: int, message: str, error: Exception) -> NoReturn:
    """Ends with the message, and below it the notes that the error has collected on its way."""
    for line in (message, *getattr(error, "__notes__", ())):
        print(line, file=sys.stderr)
    sys.exit(status)
