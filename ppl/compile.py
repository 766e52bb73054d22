"""The driver: the phases of the compiler in order, and nothing else."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from ppl.arguments import checks
from ppl.discrete.parameters import MOST_TABLE_ENTRIES, has_discrete
from ppl.errors import ArgumentError, ModelWarning, warn_caller
from ppl.frontend import ast
from ppl.frontend.calls import TARGET, UNSUPPORTED
from ppl.frontend.check import analyse, check
from ppl.frontend.facts import Facts
from ppl.frontend.higher_order import HIGHER_ORDER
from ppl.frontend.nesting import too_deep
from ppl.frontend.pedantic import lints
from ppl.frontend.tables import is_identifier
from ppl.ir.forms import VALUES
from ppl.ir.lower import lower
from ppl.ir.passes.table import PASSES
from ppl.model import Model
from ppl.source import SourceText, read_source
from ppl.stdlib.library import Library

if TYPE_CHECKING:
    from ppl.observed.completed import Completion

Source = str | Path


@checks
def compile_model(
    program: Source,
    positive_transform: str = "log",
    without: Collection[str] = (),
    library: Library | None = None,
    most_entries: int = MOST_TABLE_ENTRIES,
) -> Model:
    """Compile a program, given as a path or as its text.

    `positive_transform` is "log" or "softplus", the map from R onto the positive reals (Kucukelbir et
    al. 2017, section 3.3); it serves every lower bound. `without` names passes of the compiler to leave out.
    `library` is what the program may call, with a user's own distributions and functions (`ppl.extend`).

    A discrete parameter is summed out of the target and drawn back in generated quantities; `most_entries`
    is how many entries any table of the sum may have, for one entry of the parameter.

    What is correct but rarely anything but a mistake, as a scale whose declaration allows negative values, is
    a `ModelWarning`.

    Raises:
        ModelError: the program is refused; the error has line and column and says what was expected.
        ArgumentError: there is no such transform, or no such pass, or one that cannot be left out; or a name
            of the library is a word of the language.

    Example:
        >>> model = compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
        >>> model.condition({}).log_density([0.0])
        -0.9189385332046727
    """
    refuse_settings(positive_transform, without, library)
    source = read_source(program)
    tree, facts = analyse(source, library=library)
    settings = positive_transform == "softplus", frozenset(without), library, most_entries
    model = compile_tree(source, tree, facts, *settings)
    for lint in lints(tree, facts):
        if lint.likely:
            warn_caller(lint.describe(), ModelWarning)
    return model


def model_of(
    program: Source,
    positive_transform: str = "log",
    without: Collection[str] = (),
    library: Library | None = None,
    most_entries: int = MOST_TABLE_ENTRIES,
) -> Model:
    """As `compile_model`, without its warnings: commands show them in their own way."""
    refuse_settings(positive_transform, without, library)
    softplus = positive_transform == "softplus"
    return compile_source(read_source(program), softplus, frozenset(without), library, most_entries)


def compile_source(
    source: SourceText,
    softplus: bool,
    without: frozenset[str],
    library: Library | None,
    most_entries: int,
    missing: frozenset[str] = frozenset(),
) -> Model:
    """Compile the text of a program; see `compile_model`. `missing` are data with missing values to model.

    Raises:
        ModelError: the program is refused.
    """
    tree, facts = analyse(source, library=library)
    return compile_tree(source, tree, facts, softplus, without, library, most_entries, missing)


def compile_tree(
    source: SourceText,
    tree: ast.Program,
    facts: Facts,
    softplus: bool,
    without: frozenset[str],
    library: Library | None,
    most_entries: int,
    missing: frozenset[str] = frozenset(),
) -> Model:
    """The phases after the checks; see `compile_source`."""
    origin = compile_source, (source, softplus, without, library, most_entries, missing)
    completions: tuple[Completion, ...] = ()
    if missing:
        from ppl.observed.completed import completed  # few data have any

        tree, completions = completed(tree, facts, missing)
        facts = check(tree, facts.library)

    def build(tree: ast.Program, facts: Facts) -> Model:
        lowered = lower(tree, facts)
        model = Model(source, lowered, softplus, without, completions=completions, origin=origin)
        model.code(VALUES)
        return model

    try:
        if has_discrete(tree):
            from ppl.discrete.summing import Summing  # few programs have any

            found: Model = Summing.of(tree, facts, most_entries, build).model()
            return found
        return build(tree, facts)
    except (RecursionError, IndentationError):  # Python nests a hundred blocks
        raise too_deep(tree) from None


def refuse_settings(positive_transform: str, without: Collection[str], library: Library | None) -> None:
    """ArgumentError where a setting of the compiler is none; see `compile_model`."""
    if positive_transform not in ("log", "softplus"):
        raise ArgumentError(f'positive_transform is "log" or "softplus", not {positive_transform!r}')
    refuse(without)
    if library is not None:
        refuse_hidden(library)


def refuse(without: Collection[str]) -> None:
    """ArgumentError where a pass does not exist or cannot be left out."""
    known = {each.name: each for each in PASSES}
    for name in without:
        if name not in known:
            raise ArgumentError(f"there is no pass {name!r}; the passes are {', '.join(known)}")
        if known[name].required:
            raise ArgumentError(f"the pass {name!r} cannot be skipped: {known[name].required}")


def refuse_hidden(library: Library) -> None:
    """ArgumentError where a function of the library would never be called: the language has its name."""
    for name in library.callees:
        if name in (*HIGHER_ORDER, *TARGET, *UNSUPPORTED) or not is_identifier(name):
            raise ArgumentError(f"no function can be called {name!r}, which is a word of the language")
