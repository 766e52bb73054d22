"""The command `ppl`: its commands, and the one place where an error becomes a sentence and an exit status."""

import atexit
import gc
import sys
import warnings
from enum import IntEnum
from io import TextIOWrapper
from typing import Annotated, NoReturn

import click

from ppl.cli import completion
from ppl.cli.group import ALL, Commands
from ppl.cli.internal import write_report
from ppl.cli.output import wrapped
from ppl.cli.processes import end_others
from ppl.cli.signatures import Option, as_command
from ppl.errors import DataError, DataWarning, InferenceError, ModelError, PPLError
from ppl.memory import out_of_memory
from ppl.printable import printable
from ppl.run.interrupt import end_promptly
from ppl.system.distribution import VERSION


class Exit(IntEnum):
    """The exit statuses of the command, beside 0."""

    REFUSED = 1
    """A mistake in the program, the data or the arguments."""

    FAILED = 3
    """A fit that failed."""

    INTERNAL = 70
    """A mistake of ours, as `EX_SOFTWARE` of sysexits.h."""


OBJECTS_A_COLLECTION = 300_000
"""New objects until cycles among them are looked for: imports and a small fit make half as many, and hardly a
cycle.
"""


def _print_version(requested: bool) -> None:
    if requested:
        click.echo(f"ppl {VERSION}")
        raise click.exceptions.Exit()


def _print_help(context: click.Context, param: click.Parameter, every: bool) -> None:
    if every:
        context.meta[ALL] = True
        click.echo(context.get_help())
        raise click.exceptions.Exit()


def ppl(
    version: Annotated[
        bool,
        Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
    every: Annotated[
        bool,
        Option("--all", callback=_print_help, is_eager=True, help="List every command."),
    ] = False,
    install_completion: Annotated[
        bool,
        Option(
            "--install-completion",
            callback=completion.install,
            is_eager=True,
            help="Install completion for the current shell.",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        Option(
            "--show-completion",
            callback=completion.show,
            is_eager=True,
            help="Show completion for the current shell, to copy it or customize the installation.",
        ),
    ] = False,
) -> None:
    """Fit Stan programs by variational inference or MCMC.

    \b
    First example:
      ppl new eight_schools --example eight_schools
      ppl variational eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json
    """


STATUSES = """\b
Exit status: 0 success, 1 the program or its data is rejected,
2 wrong usage, 3 inference failed, 130 interrupted;
with --require 4 usable, 5 poor, 6 unknown."""

app = as_command(
    ppl,
    Commands,
    epilog=STATUSES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(argv: list[str] | None = None) -> NoReturn:
    """Runs one command and exits; a user's mistake ends in a message, never in a traceback."""
    gc.set_threshold(OBJECTS_A_COLLECTION, 20, 20)
    if isinstance(sys.stdout, TextIOWrapper):  # a name or a sign that it has no code for ends no fit
        sys.stdout.reconfigure(errors="backslashreplace")
    end_promptly()
    atexit.register(gc.freeze)  # at the very end Python would look through a million objects for cycles
    try:
        _run(argv)
    except SystemExit as end:
        end_others(end)
        raise
    sys.exit(0)


def _run(argv: list[str] | None) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # commands print them, unless --quiet
            app(argv)
    except ModelError as error:
        from ppl.cli.diagnostics import show

        show((error, *error.others), sys.stderr)  # each begins with file:line:column, as editors expect
        sys.exit(Exit.REFUSED)
    except (InferenceError, DataError) as error:
        status = Exit.FAILED if isinstance(error, InferenceError) else Exit.REFUSED
        _exit(status, wrapped(f"ppl: error {error.code}: {error.in_shell}"), error)
    except PPLError as error:
        _exit(Exit.REFUSED, wrapped(f"ppl: {error.in_shell}"), error)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: nothing is left to say it to
        sys.exit(Exit.REFUSED)
    except MemoryError as error:
        _exit(Exit.FAILED, wrapped(f"ppl: error PPL977: {out_of_memory(error)}"), error)
    except OSError as error:
        _exit(Exit.REFUSED, f"ppl: {error.filename or 'file'}: {error.strerror or error}", error)
    except Exception as error:
        if "Gloo" in str(error):  # another process of the run has ended, which is about to be told
            sys.exit(Exit.FAILED)
        written = write_report(error)
        _exit(
            Exit.INTERNAL,
            f"ppl: internal error ({type(error).__name__}): a bug in ppl, not in your program. "
            f"Please send {written} to the developers, with the program that caused it.",
            error,
        )


def _exit(status: int, message: str, error: Exception) -> NoReturn:
    """Ends with the message, and below it the notes that the error has collected on its way."""
    for line in (message, *getattr(error, "__notes__", ())):
        print(printable(line), file=sys.stderr)
    sys.exit(status)
