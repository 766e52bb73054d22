"""The compiler that the makefile calls: an executable of a program, without C++."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from ppl.cmdstan.build import build
from ppl.cmdstan.help import FLAGS
from ppl.cmdstan.tools.program import add_options, check, folders


def main(words: Sequence[str]) -> int:
    """Write the executable OUTPUT of the program FILE; options of stanc about its C++ concern nothing here.

    Raises:
        ModelError: the program is refused.
        MissingFile: it is not there.
    """
    parser = ArgumentParser("build", description=main.__doc__, allow_abbrev=False)
    add_options(parser)
    parser.add_argument("output", type=Path)
    parser.add_argument("--flag", action="append", default=[], choices=FLAGS, help="a flag of the executable")
    args, _ = parser.parse_known_args(words)
    build(args.file, check(args).text, args.output, folders(args), args.flag)
    return 0
