"""The checker: types, levels, names and what each block allows, over a whole program."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from ppl.errors import raise_errors
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Check, CheckContext, Facts
from ppl.kernel.language.first_order import check_likelihoods
from ppl.kernel.language.functions import check_functions
from ppl.kernel.language.parser import Parsed, Reader, read
from ppl.kernel.language.scope import BlockName, blocks_of
from ppl.kernel.language.statements import check_statements
from ppl.kernel.language.walk import too_deep
from ppl.source import SourceText
from ppl.stdlib.library import Library, standard


def analyse(
    source: SourceText,
    include_paths: Sequence[str | Path] = (),
    library: Library | None = None,
    read: Reader = read,
) -> tuple[ast.Program, Facts]:
    """The syntax tree of a program with what is known of it; `library` is what it may call.

    Raises:
        ModelError: the first error by line, of syntax or meaning; its `others` are up to 19 more.
    """
    c = examine(source, include_paths, library, read)
    raise_errors(c.errors)
    return c.program, c.facts


def examine(
    source: SourceText,
    include_paths: Sequence[str | Path] = (),
    library: Library | None = None,
    read: Reader = read,
) -> Check:
    """The tree, facts and errors of a program, valid or not.

    Raises:
        ModelError: an include cannot be read, or the program is nested too deep.
    """
    with without_collection():
        parsed = read(source, include_paths)
        try:
            return checked(parsed, library)
        except RecursionError:
            raise too_deep(parsed.program) from None


@contextmanager
def without_collection() -> Iterator[None]:
    """No search for garbage meanwhile: a tree has no cycles, and each search goes through all of it again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def check(program: ast.Program, library: Library | None = None) -> Facts:
    """The facts of a correct program; raises ModelError as `analyse` does."""
    c = checked(Parsed(program), library)
    raise_errors(c.errors)
    return c.facts


def checked(parsed: Parsed, library: Library | None) -> Check:
    """The state after checking all of a program, or what could be read of it."""
    program, facts, errors = parsed.program, Facts(library or standard()), list(parsed.errors)
    c = Check(CheckContext(BlockName.FUNCTIONS), program, facts=facts, lost=set(parsed.lost), errors=errors)
    blocks = blocks_of(program).items()
    declared = [(block, s) for block, body in blocks for s in body if isinstance(s, ast.Declaration)]
    c.later = {s.name: (f"the {b.value} block", s.span.line) for b, s in declared if b is not BlockName.MODEL}
    check_functions(c, program.functions)
    for block, statements in blocks:
        local = block is BlockName.MODEL
        with c.within(block=block), c.frame() if local else nullcontext():
            check_statements(c, statements, at_top=not local)
    check_likelihoods(c)
    return c
