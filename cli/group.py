"""The group of all commands, and what each does first: values and files that cannot be meant are refused."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Any

import click

from ppl.cli.options import inputs, outputs
from ppl.cli.signatures import Positional, as_command
from ppl.files import refuse_overwriting
from ppl.printable import printable
from ppl.run.interrupt import INTERRUPTED, MESSAGE

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
"""The names of a fit in other programs."""


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
    module = import_module(f"ppl.cli.commands.{name}")
    return as_command(getattr(module, name), getattr(module, "COMMAND_CLASS", Command))


class Commands(click.Group):
    """The commands; what a message quotes of files is cleaned."""

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
        except click.BadParameter as error:
            error.message = printable(error.message)
            raise
        except KeyboardInterrupt:
            print(MESSAGE, file=sys.stderr)
            raise click.exceptions.Exit(INTERRUPTED) from None


class Command(click.Command):
    """A command; it is refused where it would overwrite a file that it reads, or one output by another."""

    def invoke(self, ctx: Any) -> Any:
        refuse_overwriting(outputs(ctx), inputs(ctx))
        return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if advice := self.advice(error.option_name):
                raise click.UsageError(f"No such option '{error.option_name}'. {advice}", ctx) from None
            raise

    def advice(self, option: str) -> str:
        """The advice on an option as CmdStan, CmdStanPy and others call it; "" for others."""
        from ppl.run.keywords import OF_CHAINS, OTHER_NAMES

        name = option.lstrip("-").replace("-", "_")
        meant = f"--{OTHER_NAMES.get(name, '').replace('_', '-')}"
        if any(meant in p.opts for p in self.params):
            return f"Type {meant}."
        of_chains = name in OF_CHAINS and self.name == "variational"
        return "`ppl sample` has chains; here --draws N is the number of draws." if of_chains else ""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, then the options."""
        arguments = [(str(p.metavar), p.about) for p in self.params if isinstance(p, Positional)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        options = [p.get_help_record(ctx) for p in self.get_params(ctx) if isinstance(p, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl(list(filter(None, options)))


def what_to_type(word: str, rest: list[str]) -> str:
    """The command for a program in the place of a command, or for a word that others use for one; "" else."""
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
