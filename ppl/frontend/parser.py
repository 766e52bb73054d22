"""Program text -> AST: Lark's LALR tables, then the builder."""

from functools import cache
from importlib.resources import files

from lark import Lark
from lark.exceptions import UnexpectedInput

from ppl.errors import ModelError
from ppl.frontend import ast
from ppl.frontend.builder import Builder
from ppl.source import SourceText, Span


def parse(source: SourceText) -> ast.Program:
    """The syntax tree of a program; raises ModelError at the first mistake."""

    def place(line: int, column: int, end_line: int, end_column: int) -> Span:
        return Span(source, line, column, end_line, end_column)

    try:
        program: ast.Program = Builder(place).build(parser().parse(source.text))
    except UnexpectedInput as error:
        at = max(error.line, 1), max(error.column, 1)
        raise ModelError("syntax error", place(*at, at[0], at[1] + 1)) from None
    return program


@cache
def parser() -> Lark:
    grammar = files("ppl.grammar").joinpath("model.lark").read_text("utf-8")
    return Lark(grammar, start="program", parser="lalr", lexer="contextual", propagate_positions=True)
