"""What the makefile calls to make an executable of a program, in place of a C++ compiler."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from ppl.cmdstan.build import build
from ppl.compile import compile_model


def main(words: Sequence[str]) -> int:
    """Write the executable OUTPUT of the program FILE; flags of stanc concern nothing here.

    Raises:
        ModelError: the program is refused.
        MissingFile: it is not there.
    """
    parser = ArgumentParser("build", description=main.__doc__, allow_abbrev=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("output", type=Path)
    asked, _ = parser.parse_known_args(words)
    build(compile_model(asked.file), asked.file, asked.output)
    return 0
