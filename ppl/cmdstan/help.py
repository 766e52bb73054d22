"""The texts of an executable about its arguments: usage, help, info."""

from collections.abc import Collection, Iterator

from ppl.results.arguments.argument import Argument, Choice, Group, Value
from ppl.results.arguments.tree import METHOD, TREE
from ppl.results.files.config import PARTS, STAN_VERSION, text

KINDS = {int: "int", float: "double", bool: "boolean", str: "string"}
FLAGS = ("STAN_OPENCL", "STAN_THREADS", "STAN_MPI", "STAN_NO_RANGE_CHECKS", "STAN_CPP_OPTIMS")
"""Options of CmdStan's makefile. They change nothing here; clients ask an executable which of them it has."""


def info(flags: Collection[str] = ()) -> str:
    """The answer to `info`, which clients read for the version and for the `flags` that are set."""
    lines = [f"stan_version_{part} = {n}" for part, n in zip(PARTS, STAN_VERSION, strict=True)]
    return "\n".join([*lines, *(f"{flag}={text(flag in flags)}" for flag in FLAGS)]) + "\n"


def usage(executable: str) -> str:
    """The answer to `help`."""
    rest = [argument for argument in TREE if argument is not METHOD]
    words = "<arg1> <subarg1_1> ... <subarg1_m> ... <arg_n> <subarg_n_1> ... <subarg_n_m>"
    return f"""Usage: {executable} {words}

Begin by selecting amongst the following inference methods and diagnostics,
{_table(METHOD.options)}

Or see help information with
  help      Prints help
  help-all  Prints entire argument tree

Additional configuration available by specifying
{_table(rest)}

See {executable} <arg1> [ help | help-all ] for details on individual arguments.
"""


def _table(arguments: tuple[Group, ...] | list[Argument]) -> str:
    return "\n".join(f"  {argument.name:<20}  {argument.about}" for argument in arguments)


def tree_help() -> str:
    """The answer to `help-all`."""
    return "\n".join(line for argument in TREE for line in node_help(argument, recurse=True, depth=1)) + "\n"


def node_help(argument: Argument, recurse: bool, depth: int = 0) -> Iterator[str]:
    """One argument, and with `recurse` all below it, two spaces a level."""
    pad = "  " * depth
    match argument:
        case Value():
            yield f"{pad}{argument.name}=<{KINDS[type(argument.default)]}>"
            yield f"{pad}  {argument.about}"
            yield f"{pad}  Valid values: {argument.valid}"
            yield f"{pad}  Defaults to {text(argument.default)}"
            yield ""
        case Choice():
            yield f"{pad}{argument.name}=<list element>"
            yield f"{pad}  {argument.about}"
            yield f"{pad}  Valid values: {', '.join(group.name for group in argument.options)}"
            yield f"{pad}  Defaults to {argument.default}"
            yield ""
        case Group():
            yield f"{pad}{argument.name}"
            yield f"{pad}  {argument.about}"
            if argument.parts:
                yield f"{pad}  Valid subarguments: {', '.join(part.name for part in argument.parts)}"
            yield ""
    if recurse:
        for below in _below(argument):
            yield from node_help(below, recurse=True, depth=depth + 1)


def _below(argument: Argument) -> tuple[Argument, ...]:
    match argument:
        case Group():
            return argument.parts
        case Choice():
            return argument.options
        case Value():
            return ()
