"""Program text -> AST: includes, then Lark's LALR tables with the builder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ppl.errors import MOST_ERRORS, ModelError, raise_errors
from ppl.frontend import ast, tables
from ppl.frontend.builder import Builder, Tree
from ppl.frontend.include import Expanded, expand
from ppl.frontend.recovery import mend
from ppl.frontend.syntax_errors import explain, stopped
from ppl.frontend.syntax_stop import blanked
from ppl.source import SourceText


@dataclass(frozen=True)
class Parsed:
    """What could be read of a program: an empty one for a text that nothing could be made of.

    `lost` are the words in the parts that were passed over.
    """

    program: ast.Program
    errors: tuple[ModelError, ...] = ()
    lost: frozenset[str] = frozenset()


def parse(source: SourceText, include_paths: Sequence[str | Path] = ()) -> ast.Program:
    """The syntax tree of a program.

    Raises ModelError at every place where the text is not of the language.

    Example:
        >>> parse(SourceText("parameters { real mu; }")).parameters[0].name
        'mu'
    """
    parsed = read(source, include_paths)
    raise_errors(parsed.errors)
    return parsed.program


def read(source: SourceText, include_paths: Sequence[str | Path] = ()) -> Parsed:
    """The syntax tree and the syntax errors; raises ModelError only where an include cannot be read."""
    text = expand(source, include_paths)
    return build(text) or read_on(text)


def build(text: Expanded) -> Parsed | None:
    """The syntax tree, built while the text is read; None where that is not of the language.

    A statement that the builder refuses is passed over: such a text is read again, and built afterwards.
    """
    builder = Builder(text.span)
    try:
        program = tables.parse(text.text, builder.built)
    except (ModelError, RecursionError):
        tree = tables.parse(text.text, Tree)
        program = tree and builder.build(tree)
    return program and Parsed(program, tuple(builder.errors), frozenset(builder.lost))


def independent(errors: Sequence[ModelError]) -> tuple[ModelError, ...]:
    """The errors, less a semicolon missed after an expression that is no statement with it either."""
    ends = {(e.span.end_line, e.span.end_column) for e in errors if e.code == "PPL140"}
    return tuple(e for e in errors if e.code != "PPL173" or (e.line, e.column) not in ends)


def read_on(text: Expanded) -> Parsed:
    """Mend and parse again until the text is right, or cannot be mended, or enough has been said."""
    errors: list[ModelError] = []
    lost: frozenset[str] = frozenset()
    reached = -1
    while len(errors) < MOST_ERRORS:
        stop = stopped(text, tables.refusal(text.text))
        explained, rule = explain(stop)
        if stop.offset > reached:
            errors.append(explained)
        mended = mend(stop, rule) if stop.offset >= reached else None
        if mended is None or mended.text == text.text:
            break
        reached, lost = stop.offset, lost | mended.lost
        text = text.with_text(blanked(mended.text, strings=False))
        if built := build(text):
            return Parsed(built.program, independent((*errors, *built.errors)), lost | built.lost)
    return Parsed(ast.Program(text.span(0, 0)), tuple(errors), lost)
