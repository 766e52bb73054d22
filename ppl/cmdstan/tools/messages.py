"""Errors and warnings about a program in the words by which clients of CmdStan know them."""

from collections.abc import Iterator

from ppl.errors import ModelError
from ppl.programs.lints import Lint

SYNTAX_CODES = "PPL1"
"""How the codes of syntax errors begin."""


def described(found: ModelError | Lint) -> str:
    """Its place, its line with carets, the sentence and what to do."""
    span = found.span
    place = f"in '{span.source.name}', line {span.line}, column {span.column}:"
    return "\n".join(filter(None, [place, span.excerpt(), found.message, found.hint]))


def error_lines(error: ModelError) -> Iterator[str]:
    """Each error of a program, after the words `Syntax error` or `Semantic error`."""
    for each in (error, *error.others):
        kind = "Syntax" if each.code.startswith(SYNTAX_CODES) else "Semantic"
        yield f"{kind} error {described(each)}\n"
