"""CmdStan's `key=value` words on the command line, as the dashed options they stand for."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import click

from ppl.cli.group import Command
from ppl.cli.settings import option_name
from ppl.files import exists
from ppl.results.arguments.of_settings import ONE_TO_ONE, SETTINGS

OPTIONS = {
    **{path: option_name(SETTINGS[name]) for path, name in ONE_TO_ONE.items()},
    "output.file": "--output",
    "output.diagnostic_file": "--diagnostic-file",
    "output.refresh": "--refresh",
    "output.profile_file": "--profile-file",
    "output.save_cmdstan_config": "--save-cmdstan-config",
    "ppl.positive_transform": "--positive-transform",
    "ppl.format": "--format",
}
UNSET = {option_name(known) for known in SETTINGS.values() if known.optional}
"""Those that are empty, or 0, where a run decides for itself."""

USUAL = (
    *(option_name(known) for known in SETTINGS.values() if known.usual),
    *("--data", "--output", "--save-fit", "--resume", "--refresh", "--diagnostic-file"),
    *("--require-converged", "--quiet"),
)
"""The options that `--help` has room for; `ppl docs variational` lists the rest too."""

ELSEWHERE = ("data.file", "method", "variational.eta", "variational.adapt.engaged")


class WithWords(Command):
    """A command on MODEL and DATA that also takes words, as in `ppl variational m.stan data file=d.json`."""

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        for option in (p for p in self.params if isinstance(p, click.Option)):
            option.hidden = not {*option.opts} & {*USUAL}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        places, dashed = self._split(args)
        start = next((k for k, place in enumerate(places) if k and is_word(place)), len(places))
        if start == len(places):
            return super().parse_args(ctx, args)
        data, *options = _as_options(places[start:])
        return super().parse_args(ctx, [*places[:start], *([data] if data else []), *options, *dashed])

    def _split(self, args: list[str]) -> tuple[list[str], list[str]]:
        """Positional arguments, and options with their values."""
        options = [p for p in self.params if isinstance(p, click.Option) and not p.is_flag]
        valued = {name for option in options for name in option.opts}
        places, dashed, left = list[str](), list[str](), iter(args)
        for arg in left:
            (dashed if arg.startswith("-") else places).append(arg)
            if arg in valued:
                dashed += islice(left, 1)
        return places, dashed


@cache
def groups() -> frozenset[str]:
    """Words without an `=`."""
    from ppl.results.arguments.tree import TREE

    return frozenset({argument.name for argument in TREE} | {"variational", "adapt"})


def is_word(place: str) -> bool:
    """Whether it is a word of CmdStan's, NAME=VALUE or a group, and no path such as ./a=1/data.json."""
    return place in groups() or ("=" in place and place.partition("=")[0].isidentifier())


def _as_options(words: list[str]) -> list[str]:
    """The data file ("" for none), then the options that `words` stand for."""
    from ppl.cmdstan.parse import HelpRequested, Misuse, parse

    try:
        arguments = parse(words, method="variational")
    except Misuse as error:
        file = next((f"\nFor the file of that name write ./{one}" for one in words if exists(Path(one))), "")
        raise click.BadParameter(f"{error}{file}") from None
    except HelpRequested as request:
        click.echo(str(request))
        raise click.exceptions.Exit() from None
    return [arguments.get("data.file", ""), *_options(arguments)]


def _options(arguments: Mapping[str, Any]) -> Iterator[str]:
    for path, value in arguments.items():
        if path in OPTIONS:
            yield from _option(OPTIONS[path], value)
        elif path not in ELSEWHERE:
            name = path.rpartition(".")[2]
            raise click.BadParameter(
                f"`{name}=` has no counterpart here; `ppl build` makes a program that takes it."
            )
    if not arguments.get("variational.adapt.engaged", True):
        yield from ("--eta", str(arguments.get("variational.eta", 1.0)))


def _option(name: str, value: Any) -> tuple[str, ...]:
    match value:
        case bool():
            return (name if value else name.replace("--", "--no-", 1),)
        case "true" | "false":
            return _option(name, value == "true")
        case "" | 0 if name in UNSET:
            return ()
        case _:
            return (name, str(value))
