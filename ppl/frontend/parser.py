"""Program text -> AST: includes, Lark's LALR tables, then the builder."""

from collections.abc import Sequence
from pathlib import Path

from lark.exceptions import UnexpectedInput

from ppl.errors import ModelError
from ppl.frontend import ast
from ppl.frontend.builder import Builder
from ppl.frontend.include import expand
from ppl.frontend.syntax_errors import syntax_error
from ppl.frontend.tables import parser
from ppl.source import SourceText


def parse(source: SourceText, include_paths: Sequence[str | Path] = ()) -> ast.Program:
    """The syntax tree of a program.

    Raises ModelError at the first place where the text is not of the language.

    Example:
        >>> parse(SourceText("parameters { real mu; }")).parameters[0].name
        'mu'
    """
    text = expand(source, include_paths)
    try:
        program: ast.Program = Builder(text.span).build(parser().parse(text.text))
    except UnexpectedInput as error:
        raise syntax_error(text, error) from None
    except RecursionError:
        raise ModelError("an expression or statement is nested too deeply", text.span(0, 1)) from None
    return program
