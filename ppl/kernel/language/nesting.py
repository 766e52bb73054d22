"""Programs that are nested deeper than the compiler's own recursion goes."""

from dataclasses import fields
from typing import Any

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.walk import STATEMENTS
from ppl.source import Span


def too_deep(program: ast.Program) -> ModelError:
    """The error for the simple statement or declaration that holds the deepest node."""
    depth, span = -1, program.span
    stack: list[tuple[Any, int, Span]] = [(program, 0, program.span)]
    while stack:
        item, level, statement = stack.pop()
        if isinstance(item, tuple):
            stack.extend((each, level, statement) for each in item)
        elif isinstance(item, ast.Node):
            statement = item.span if type(item) in STATEMENTS else statement
            if level > depth:
                depth, span = level, statement
            stack.extend((getattr(item, f.name), level + 1, statement) for f in fields(item))
    return nested_too_deep(span)


def nested_too_deep(span: Span) -> ModelError:
    text = "The program is nested too deeply here, or a sum or product has too many terms."
    hint = "Split it: assign parts of it to variables of their own, or write a loop."
    return ModelError(text, span, hint, "PPL190")
