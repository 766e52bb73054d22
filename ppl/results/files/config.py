"""The configuration of a run, as comments of a CSV file and as JSON (CmdStan Guide, "Stan CSV")."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ppl.printable import printable
from ppl.records import dataclass, field
from ppl.results.arguments.argument import Argument, Choice, Group, Value
from ppl.results.arguments.tree import TREE, ArgumentValues, with_defaults
from ppl.system.distribution import VERSION

STAN_VERSION = ("2", "39", "0")
PARTS = ("major", "minor", "patch")


@dataclass(frozen=True)
class Config:
    """The run: the program's name, the values given (see `arguments`), and when, "" for not saying.

    A file that does not say when has the same bytes each time.  `parameters` tells readers of the file
    which of its columns the parameters are, `about` what came of the run (provenance.entries); CmdStan says
    neither.
    """

    model: str
    arguments: ArgumentValues
    started: str = ""
    parameters: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """Every value, defaults included."""
        return with_defaults(self.arguments)


class NestedSettings(dict[str, Any]):
    """Settings by section, which a name alone finds too: `["seed"]`, as CmdStanPy has them."""

    def __missing__(self, name: str) -> Any:
        for section in self.values():
            if isinstance(section, NestedSettings):
                with suppress(KeyError):
                    return section[name]
        raise KeyError(name)


@dataclass(frozen=True)
class Metadata:
    """The run, by CmdStan's names.

    `cmdstan_config` is the content of its `_config.json`, `["random"]["seed"]` or `["seed"]`; `stan_vars`
    the shape of each variable by name.
    """

    cmdstan_config: Mapping[str, Any]
    stan_vars: Mapping[str, tuple[int, ...]]


def comment_lines(config: Config) -> Iterator[str]:
    """The lines before the header, each with its newline; `(Default)` marks a value that is the default."""
    yield from (f"# stan_version_{part} = {n}\n" for part, n in zip(PARTS, STAN_VERSION, strict=True))
    yield f"# model = {text(config.model)}\n"
    if config.started:
        yield f"# start_datetime = {config.started}\n"
    yield from (f"# {line}\n" for line in tree_lines(config.values))
    yield f"# stanc_version = ppl {VERSION}\n"
    yield "# stancflags = \n"
    if config.parameters:
        yield f"# parameters = {','.join(config.parameters)}\n"
    yield from (f"# {name} = {text(value)}\n" for name, value in config.about.items())


def tree_lines(
    values: ArgumentValues, tree: tuple[Argument, ...] = TREE, prefix: str = "", depth: int = 0
) -> Iterator[str]:
    """The tree of arguments, two spaces a level, as CmdStan prints it at the start of a run."""
    pad = "  " * depth
    for argument in tree:
        match argument:
            case Group():
                yield pad + argument.name
                yield from tree_lines(values, argument.parts, f"{prefix}{argument.name}.", depth + 1)
            case Value():
                yield pad + _entry(argument, values[prefix + argument.name])
            case Choice():
                chosen = argument.option(values[prefix + argument.name])
                yield pad + _entry(argument, chosen.name)
                yield f"{pad}  {chosen.name}"
                yield from tree_lines(values, chosen.parts, f"{prefix}{chosen.name}.", depth + 2)


def _entry(argument: Value | Choice, value: Any) -> str:
    return f"{argument.name} = {text(value)}{' (Default)' if value == argument.default else ''}"


def text(value: Any) -> str:
    """A value as CmdStan writes it: `true`, `10000`, `1e-08`; on one line, whatever a file is called."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.16g}"
        case _:
            return printable(str(value), kept="")


def as_json(config: Config) -> str:
    """The text of CmdStan's `_config.json`."""
    head = {f"stan_{part}_version": n for part, n in zip(PARTS, STAN_VERSION, strict=True)}
    started = {"start_datetime": config.started} if config.started else {}
    tree = _record(config.values, TREE, "")
    tail = {"stanc_version": f"ppl {VERSION}", "stancflags": ""}
    return json.dumps({**head, "model_name": config.model, **started, **tree, **tail}, indent=2) + "\n"


def _record(values: ArgumentValues, tree: tuple[Argument, ...], prefix: str) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for argument in tree:
        match argument:
            case Group():
                record[argument.name] = _record(values, argument.parts, f"{prefix}{argument.name}.")
            case Value():
                record[argument.name] = values[prefix + argument.name]
            case Choice():
                chosen = argument.option(values[prefix + argument.name])
                parts = _record(values, chosen.parts, f"{prefix}{chosen.name}.")
                record[argument.name] = {"value": chosen.name, chosen.name: parts}
    return record
