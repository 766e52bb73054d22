"""The program that `stanc` and `build` are given: the options that both take, its check, its warnings."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.include import read_source
from ppl.programs.lints import Lint
from ppl.programs.nodes import Nodes
from ppl.programs.pedantic import lints
from ppl.programs.usage_lints import without_density
from ppl.source import SourceText
from ppl.structure.discrete.check import checked

SYNTAX_CODES = "PPL1"
"""How the codes of syntax errors begin."""


def described(problem: ModelError | Lint) -> str:
    """Its place, its line with carets, the sentence and what to do."""
    span = problem.span
    place = f"in '{span.source.name}', line {span.line}, column {span.column}:"
    return "\n".join(filter(None, [place, span.excerpt(), problem.message, problem.hint]))


def error_lines(error: ModelError) -> Iterator[str]:
    """Each error of a program, after the words `Syntax error` or `Semantic error`."""
    for each in (error, *error.others):
        kind = "Syntax" if each.code.startswith(SYNTAX_CODES) else "Semantic"
        yield f"{kind} error {described(each)}\n"


NO_PRIOR = "PPL001"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--include-paths", default="", help="folders of included files, with commas")
    parser.add_argument("--filename-in-msg", default="", help="the file's name in messages")
    parser.add_argument("--warn-pedantic", action="store_true", help="warn of all possible problems")
    parser.add_argument("file", type=Path)


def read(args: Namespace) -> SourceText:
    """The text of the file, under the name that messages are to give it.

    Raises:
        MissingFile: it is not there.
    """
    source = read_source(args.file)
    return SourceText(source.text, args.filename_in_msg or source.name)


def folders(args: Namespace) -> list[str | Path]:
    """Where included files are looked for."""
    return [args.file.parent, *filter(None, args.include_paths.split(","))]


def check(args: Namespace) -> SourceText:
    """The text of a correct program; with `--warn-pedantic` its warnings go to standard error.

    Raises:
        ModelError: the program is refused.
        MissingFile: it is not there.
    """
    source = read(args)
    program, facts = checked(source, folders(args))
    if args.warn_pedantic:
        print(*warnings(program, facts), sep="\n", end="", file=sys.stderr)
    return source


def warnings(program: ast.Program, facts: Facts) -> Iterator[str]:
    """Lines that begin with `Warning`, by which clients find them.

    Stan's compiler names every parameter without a prior; `ppl check` only one with an improper flat prior.
    """
    for declaration in without_density(Nodes(program, facts)):
        yield f"Warning: The parameter {declaration.name} has no priors.\n"
    for lint in lints(program, facts):
        if lint.code != NO_PRIOR:
            yield f"Warning: {described(lint)}\n"
