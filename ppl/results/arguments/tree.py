"""The arguments of a run as a tree: what CmdStan 2.39 takes on its command line and repeats in its files.

Names, order and defaults are those of the CmdStan Guide. A value is known by its dotted path, in which the
name of a choice is left out: `variational.adapt.iter`, `sample.hmc.nuts.max_depth`, `output.file`. The group
`ppl` has what CmdStan has no word for.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ppl.methods.run.settings import ALGORITHMS
from ppl.results.arguments.argument import Argument, Choice, Group, Value, bounded, flag, group, word
from ppl.results.arguments.of_settings import SETTINGS, argument_of

OF_CMDSTAN = ("meanfield", "fullrank")
FAMILIES = tuple(
    Group(name, about if name in OF_CMDSTAN else f"{about} (ppl only)") for name, about in ALGORITHMS.items()
)
OF_SETTINGS: dict[str, Argument] = {
    **{known.path: argument_of(known) for known in SETTINGS.values()},
    "variational.algorithm": Choice("algorithm", "Family of the approximation", FAMILIES),
}

ENTRY = re.compile(r"(\w+)( =)?(?: (\S+))?(?: where (.*?))?: (.*)")


def parsed(lines: deque[str], indent: int = 0) -> Iterator[Argument]:
    """The arguments of the lines that are indented so far, each with those below it."""
    while lines and len(lines[0]) - len(lines[0].lstrip()) == indent:
        line = lines.popleft().lstrip()
        if line.startswith("@"):
            yield OF_SETTINGS[line[1:]]
            continue
        entry = ENTRY.fullmatch(line)
        assert entry is not None, line
        name, equals, default, condition, about = entry.groups()
        below = tuple(parsed(lines, indent + 2))
        if default:
            yield value_of(name, about, json.loads(default), condition)
        else:
            yield Choice(name, about, cast(tuple[Group, ...], below)) if equals else Group(name, about, below)


def value_of(name: str, about: str, default: bool | float | str, condition: str | None) -> Value:
    """The value of an entry."""
    if isinstance(default, bool):
        return flag(name, about, default)
    return Value(name, about, default) if condition is None else bounded(name, about, default, condition)


TEXT = Path(__file__).with_name("methods.txt").read_text(encoding="utf-8")
(ROOT,) = parsed(deque(line for line in TEXT.splitlines() if line[0] != "#"))
METHOD = cast(Choice, ROOT)


ArgumentValues = Mapping[str, Any]

POSITIVE_TRANSFORMS = ("log", "softplus")
LAYOUTS = ("variational", "sample")

PPL = group(
    "ppl",
    "Settings that CmdStan lacks",
    *(argument_of(known) for known in SETTINGS.values() if known.path.startswith("ppl.")),
    word("positive_transform", "Map to positive parameters", *POSITIVE_TRANSFORMS),
    word("format", "Layout of the draws of a fit: variational or sample", *LAYOUTS),
)

TREE: tuple[Argument, ...] = (
    METHOD,
    bounded("id", "Unique process identifier", 1, "0 <= id"),
    group("data", "Input data options", Value("file", "Input data file", "", "Path to existing file")),
    Value(
        "init",
        "Radius of random starts on the unconstrained scale, 0, or a JSON file of constrained values",
        "2",
        "A number of at least 0, or the path of a file",
    ),
    group(
        "random",
        "Random number configuration",
        Value(
            "seed",
            "Random number generator seed",
            -1,
            "non-negative integer < 4294967296 or -1 for the clock",
            lambda x: -1 <= x < 2**32,
        ),
    ),
    group(
        "output",
        "File output options",
        Value("file", "Output file", "output.csv", "Path to a file that can be written"),
        Value("diagnostic_file", "Auxiliary output file for diagnostic information", ""),
        bounded("refresh", "Iterations between two lines on the screen; 0 for none", 100, "0 <= refresh"),
        Value(
            "sig_figs",
            "Significant figures of numbers in files; -1 for all (6 in log_prob)",
            -1,
            "-1, or 1 to 18",
            lambda x: x == -1 or 1 <= x <= 18,
        ),
        Value("profile_file", "File to write profiling information to", "profile.csv"),
        flag("save_cmdstan_config", "Write the configuration as JSON?", False),
    ),
    Value("num_threads", "Threads for parallel work", 1, "num_threads > 0 or -1", lambda x: x > 0 or x == -1),
    PPL,
)


def leaves(tree: tuple[Argument, ...] = TREE, prefix: str = "") -> Iterator[tuple[str, Value | Choice]]:
    """Every value and choice with its path, those of options not chosen included."""
    for argument in tree:
        match argument:
            case Value():
                yield prefix + argument.name, argument
            case Choice():
                yield prefix + argument.name, argument
                for option in argument.options:
                    yield from leaves(option.parts, f"{prefix}{option.name}.")
            case Group():
                yield from leaves(argument.parts, f"{prefix}{argument.name}.")


def with_defaults(arguments: ArgumentValues) -> dict[str, Any]:
    """Every value of the tree: what was given, and the defaults of the rest."""
    return {path: argument.default for path, argument in leaves()} | dict(arguments)
