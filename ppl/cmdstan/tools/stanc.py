"""CmdStan's `stanc`, as far as clients ask it: is a program well formed, its variables, its layout."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ppl.cmdstan.tools.program import add_options, check, folders, read
from ppl.compile import model_of
from ppl.kernel.ir import nodes as ir
from ppl.kernel.language.include import Expanded, expand
from ppl.programs.format import CANONICAL, format_program
from ppl.programs.spacing import COLUMNS_OF_A_LINE
from ppl.results.files.config import STAN_VERSION
from ppl.system.distribution import VERSION


def main(words: Sequence[str]) -> int:
    """The command (Stan User's Guide, "Using the Stan Compiler").

    Raises:
        ModelError: the program is refused.
        MissingFile: it is not there.
    """
    parser = ArgumentParser("stanc", description=main.__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=version())
    parser.add_argument("--info", action="store_true", help="the variables and their types, as JSON")
    parser.add_argument("--auto-format", action="store_true", help="the program in the canonical layout")
    parser.add_argument(
        "--max-line-length", type=int, default=COLUMNS_OF_A_LINE, help="columns of a line of it"
    )
    parser.add_argument(
        "--print-canonical", action="store_true", help=f"--canonicalize={','.join(CANONICAL)}"
    )
    parser.add_argument("--canonicalize", default="", help="what the layout changes, with commas")
    add_options(parser)
    args, _ = parser.parse_known_args(words)  # options of the C++ that stanc writes concern nothing here
    if args.auto_format or args.print_canonical or args.canonicalize:
        canonical = CANONICAL if args.print_canonical else args.canonicalize.split(",")
        print(format_program(read(args), folders(args), args.max_line_length, canonical), end="")
        return 0
    whole = expand(check(args), folders(args))
    if args.info:
        print(json.dumps(info(model_of(whole.text).lowered, included(whole)), indent=2))
    return 0


def version() -> str:
    return f"stanc3 v{'.'.join(STAN_VERSION)} (ppl {VERSION})"


def info(program: ir.Program, files: list[str]) -> dict[str, Any]:
    """The variables of each block, as `stanc --info` lists them."""
    return {
        "inputs": _block(program.data),
        "parameters": _block(program.parameters),
        "transformed parameters": _block(program.transformed_parameter_names),
        "generated quantities": _block(program.generated_names),
        "included_files": files,
        "stanc_version": version(),
    }


def _block(declared: Iterable[ir.Declared]) -> dict[str, Any]:
    return {each.name: _entry(each) for each in declared}


def _entry(declared: ir.Declared) -> dict[str, Any]:
    """The type of one number, and how many dimensions there are of it."""
    dimensions = len(declared.dims) + len(declared.sizes)
    if declared.items:
        return {"type": [_entry(item) for item in declared.items], "dimensions": dimensions}
    text = str(declared.type)
    base = "complex" if "complex" in text else "int" if text.split()[-1] == "int" else "real"
    return {"type": base, "dimensions": dimensions}


def included(whole: Expanded) -> list[str]:
    """The files that the lines of a program come from, beside its own."""
    names = dict.fromkeys(line.source.name for line in whole.lines)
    return [str(Path(name).resolve()) for name in list(names)[1:]]
