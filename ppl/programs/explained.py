"""Syntax errors explained, and reading that goes on after them: the kernel's parser stops at the first."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ppl.errors import MOST_ERRORS, ModelError
from ppl.kernel.language import ast, lalr, parser
from ppl.kernel.language.include import Expanded, expand
from ppl.kernel.language.parser import Parsed, build
from ppl.programs.recovery import mend, without_earlier
from ppl.programs.syntax_errors import explain
from ppl.programs.syntax_stop import Stop, blanked
from ppl.source import SourceText


def read(source: SourceText, include_paths: Sequence[str | Path] = ()) -> Parsed:
    """The syntax tree and all syntax errors; raises ModelError only where an include cannot be read."""
    text = expand(source, include_paths)
    try:
        return build(text)
    except lalr.Refusal as refusal:
        return read_on(text, refusal)


parse = partial(parser.parse, read=read)
"""The syntax tree of a program; raises ModelError at every place where the text is not of the language."""


def independent(errors: Sequence[ModelError]) -> tuple[ModelError, ...]:
    """The errors, less a semicolon missed after an expression that is no statement with it either."""
    ends = {(e.span.end_line, e.span.end_column) for e in errors if e.code == "PPL140"}
    return tuple(e for e in errors if e.code != "PPL173" or (e.line, e.column) not in ends)


def read_on(text: Expanded, refusal: lalr.Refusal) -> Parsed:
    """Mend and parse again until the text is right, or cannot be mended, or enough has been said."""
    errors: list[ModelError] = []
    lost: frozenset[str] = frozenset()
    reached = -1
    while len(errors) < MOST_ERRORS:
        stop = Stop(text, refusal.offset, refusal.accepts)
        explained, rule = explain(stop)
        if stop.offset > reached:
            errors.append(explained)
        mended = mend(stop, rule) if stop.offset >= reached else None
        if mended is None or mended.text == text.text:
            break
        reached, lost = stop.offset, lost | mended.lost
        text = text.with_text(blanked(mended.text, strings=False))
        try:
            lalr.parse(without_earlier(text.text, stop), lambda *_: None)
            built = build(text)
        except lalr.Refusal as next_one:
            refusal = next_one
        else:
            return Parsed(built.program, independent((*errors, *built.errors)), lost | built.lost)
    return Parsed(ast.Program(text.span(0, 0)), tuple(errors), lost)
