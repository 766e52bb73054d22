"""All that is known of one text of a program: its tree, the facts, the errors and the warnings."""

from functools import cached_property

from ppl.cli.lsp.symbols import Name, name_at, names
from ppl.errors import ModelError, reported
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.include import expand
from ppl.kernel.language.walk import too_deep
from ppl.programs.checked import examine
from ppl.programs.lints import Lint
from ppl.programs.pedantic import lints
from ppl.records import dataclass
from ppl.source import SourceText, Span
from ppl.structure.discrete.parameters import has_discrete
from ppl.structure.discrete.summing import summed


@dataclass(frozen=True, eq=False)
class Analysis:
    """`program` holds what could be read; `files` are the text itself and all that it includes."""

    source: SourceText
    program: ast.Program
    facts: Facts
    errors: tuple[ModelError, ...]
    lints: tuple[Lint, ...]
    files: frozenset[str]

    @cached_property
    def names(self) -> tuple[Name, ...]:
        return names(self.program, self.facts)

    def name_at(self, file: str, line: int, column: int) -> Name | None:
        return name_at(self.names, file, line, column)


def analysis(source: SourceText) -> Analysis:
    """The findings of `ppl check`, and the tree and facts beside them, for a wrong program too."""
    empty = ast.Program(Span(source, 1, 1, 1, 1))
    try:
        files = frozenset({source.name, *(line.source.name for line in expand(source).lines)})
        c = examine(source)
    except ModelError as error:  # an include that cannot be read, or a thousand brackets
        return Analysis(source, empty, Facts(), (error,), (), frozenset({source.name}))
    errors = c.errors
    warnings: tuple[Lint, ...] = ()
    try:
        if not errors:
            if has_discrete(c.program):
                summed(c.program, c.facts)
            warnings = lints(c.program, c.facts)
    except ModelError as error:
        errors = [error, *error.others]
    except RecursionError:
        errors = [too_deep(c.program)]
    return Analysis(source, c.program, c.facts, tuple(reported(errors)), warnings, files)
