"""A program checked, its discrete parameters too."""

from collections.abc import Sequence
from pathlib import Path

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.programs.checked import analyse
from ppl.source import SourceText
from ppl.structure.discrete.parameters import has_discrete


def checked(source: SourceText, include_paths: Sequence[str | Path] = ()) -> tuple[ast.Program, Facts]:
    """The checked program, discrete parameters and all that can be said of them without data too.

    Raises:
        ModelError: the program is refused.
    """
    tree, facts = analyse(source, include_paths)
    if has_discrete(tree):
        from ppl.structure.discrete.summing import summed  # few programs have any

        summed(tree, facts)
    return tree, facts
