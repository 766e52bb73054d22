"""Program text -> AST: includes, then Lark's LALR tables with the builder."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ppl.errors import ModelError, raise_errors
from ppl.kernel.language import ast, lalr
from ppl.kernel.language.builder import Builder, ParseTree
from ppl.kernel.language.include import Expanded, expand
from ppl.records import dataclass
from ppl.source import SourceText

NOT_EXPLAINED = "PPL176"
"""The code of a word that is not expected, where no rule says more."""


@dataclass(frozen=True)
class Parsed:
    """The tree of a program as far as it was read; an empty one if nothing was.

    `lost` are the words in the parts that were passed over.
    """

    program: ast.Program
    errors: tuple[ModelError, ...] = ()
    lost: frozenset[str] = frozenset()


Reader = Callable[[SourceText, Sequence[str | Path]], Parsed]
"""A parser of a text and the files that it includes."""


def read(source: SourceText, include_paths: Sequence[str | Path] = ()) -> Parsed:
    """The syntax tree and the syntax errors; raises ModelError only where an include cannot be read.

    `programs.explained` says what is wrong and what to write, and reads on.
    """
    text = expand(source, include_paths)
    try:
        return build(text)
    except lalr.Refusal as refusal:
        return unexplained(text, refusal)


def parse(source: SourceText, include_paths: Sequence[str | Path] = (), read: Reader = read) -> ast.Program:
    """The syntax tree of a program.

    Raises ModelError at every place where the text is not of the language.

    Example:
        >>> parse(SourceText("parameters { real mu; }")).parameters[0].name
        'mu'
    """
    parsed = read(source, include_paths)
    raise_errors(parsed.errors)
    return parsed.program


def build(text: Expanded) -> Parsed:
    """The syntax tree, built while the text is read.

    A statement that the builder refuses is passed over: such a text is read again, and built afterwards.

    Raises:
        Refusal: the text is not of the language.
    """
    builder = Builder(text.span)
    try:
        program = lalr.parse(text.text, builder.built)
    except (ModelError, RecursionError):
        program = builder.build(lalr.parse(text.text, ParseTree))
    return Parsed(program, tuple(builder.errors), frozenset(builder.lost))


def unexplained(text: Expanded, refusal: lalr.Refusal) -> Parsed:
    """An empty program, with an error at the place where the text is no longer of the language."""
    start = min(refusal.offset, len(text.text) - 1)
    word = re.match(r"\w+|\S|", text.text[start:])
    span = text.span(start, start + max(1, len(word.group() if word else "")))
    what = f"unexpected `{span.text}`" if span.text.strip() else "the program ends too early"
    return Parsed(ast.Program(text.span(0, 0)), (ModelError(what, span, None, NOT_EXPLAINED),))
