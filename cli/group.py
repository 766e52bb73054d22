"""The group of all commands, and what each does first: values and files that cannot be meant are refused."""

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ppl.cli.options import inputs, outputs
from ppl.files import refuse_overwriting
from ppl.printable import printable

SHOWN: Mapping[str, tuple[str, ...]] = {
    "Fit": ("variational", "sample", "predict"),
    "Look": ("summary", "plot", "compare"),
    "Check": ("check", "doctor", "explain"),
    "Write": ("new", "format", "docs"),
}
FURTHER: Mapping[str, tuple[str, ...]] = {
    "Fit": ("update", "draws", "sbc"),
    "Look": ("loo", "generate", "log_prob"),
    "Check": ("fix", "diagnose", "show"),
    "Write": ("build", "lsp", "cache"),
}
"""The commands by what they are for: those of `ppl --help`, and those that `ppl --all` adds."""
NAMES = tuple(name for group in SHOWN for name in (*SHOWN[group], *FURTHER[group]))
"""The commands, each a function in a file of its name."""
ALL = "ppl.all"
"""Where a context says that help is to list every command."""
PROGRAMS = (".model", ".stan")
FITTING = ("fit", "run", "infer", "advi", "vi", "mcmc", "nuts")
"""What other programs call a fit."""
KINDS = {"int_parsing": "an integer", "int_from_float": "an integer", "float_parsing": "a number"}
"""What an option expects, by Pydantic's name of the mistake; newer versions of Typer leave values to it."""


class ByName(Mapping[str, Any]):
    """The commands by name, each imported when it is asked for: all of them take as long as a small fit."""

    def __getitem__(self, name: str) -> Any:
        if name not in list(self):
            raise KeyError(name)
        return command_of(name.replace("-", "_"))

    def __iter__(self) -> Iterator[str]:
        return map(shell_name, NAMES)

    def __len__(self) -> int:
        return len(NAMES)


def shell_name(name: str) -> str:
    """A command as it is typed."""
    return name.replace("_", "-")


@cache
def command_of(name: str) -> Any:
    """A command as Click has it."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    module = import_module(f"ppl.cli.commands.{name}")
    alone.command(cls=getattr(module, "COMMAND_CLASS", Command))(getattr(module, name))
    return typer.main.get_command(alone)


class Commands(TyperGroup):
    """The commands; Pydantic's words for a mistake, which newer versions of Typer show, become plain ones."""

    def __init__(self, **given: Any):
        super().__init__(**given)
        self.commands = ByName()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(
            ctx, ["--all"] if {"--all"} < {*args} <= {"--all", "--help", "-h"} else args
        )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands in their groups, then the options."""
        groups = {g: SHOWN[g] + FURTHER[g] for g in SHOWN} if ctx.meta.get(ALL) else SHOWN
        width = max(len(name) for names in groups.values() for name in names)
        for group, names in groups.items():
            with formatter.section(group):
                helps = (command_of(name).get_short_help_str(formatter.width - width - 6) for name in names)
                formatter.write_dl(
                    [(f"{shell_name(name):{width}}", text) for name, text in zip(names, helps, strict=True)]
                )
        if not ctx.meta.get(ALL):
            formatter.write_paragraph()
            formatter.write_text(
                f"ppl --all lists {len(NAMES) - sum(map(len, SHOWN.values()))} more commands."
            )
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Nothing: the groups have them."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and (hint := what_to_type(args[0], args[1:])):
            ctx.fail(f"{hint}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = printable(in_plain_words(error))
            raise


class Command(TyperCommand):
    """A command; it is refused where it would overwrite a file that it reads, or one output by another."""

    def invoke(self, ctx: Any) -> Any:
        refuse_overwriting(outputs(ctx), inputs(ctx))
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [plain_usage(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Without the Python types of arguments, such as list[Path], that newer versions of Typer show."""
        for argument in self.params:
            if argument.param_type_name == "argument":
                vars(argument)["display_type_rich"] = lambda ctx: None
        super().format_options(ctx, formatter)


def what_to_type(word: str, rest: list[str]) -> str:
    """What to type for a program in the place of a command, or a word that others use for one; "" else."""
    from ppl.methods.run.settings import ALGORITHMS

    if PurePath(word).suffix in PROGRAMS:
        return f"A command comes before the program: {shlex.join(['ppl', 'variational', word, *rest])}"
    if word in FITTING:
        return (
            f"There is no command '{word}'. ppl variational MODEL DATA fits, ppl sample MODEL DATA runs NUTS"
        )
    if word == "help":
        return "Type ppl --help for the commands, ppl docs WORD for a command, function or term"
    if word in map(str, ALGORITHMS):
        return f"There is no command '{word}'. Type ppl variational MODEL DATA --algorithm {word}"
    return ""


def plain_usage(piece: str) -> str:
    """Return an argument without the braces and double brackets that some versions of Typer add."""
    piece = piece.replace("{", "").replace("}", "").replace("......", "...").replace("...]...", "...]")
    return piece[1:-1] if piece.startswith("[[") else piece


def in_plain_words(error: typer.BadParameter) -> str:
    """The message, without a trace of what found the mistake."""
    errors: list[Any] = getattr(error.__cause__, "errors", list)()
    if errors and errors[0]["type"] in KINDS:
        return f"{errors[0]['input']!r} is not {KINDS[errors[0]['type']]}."
    return error.message.removeprefix("Value error, ")
