"""Compile a program: run the phases of `ppl/compilation/phases.py`, and give the model."""

from collections.abc import Collection
from pathlib import Path

from ppl.arguments import checks
from ppl.compilation.phases import Compilation, depth_refused
from ppl.errors import ArgumentError, ModelWarning, describe, warn_caller
from ppl.kernel.language.include import read_source
from ppl.memory import MOST_TABLE_ENTRIES
from ppl.model import Model
from ppl.optimise.passes.table import PASSES
from ppl.source import SourceText
from ppl.stdlib.library import Library

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

    A discrete parameter is marginalised, and drawn in generated quantities; `most_entries`
    is how many entries any table of the sum may have, for one entry of the parameter.

    A likely mistake, such as a scale declared without a lower bound, gives a `ModelWarning`.

    Raises:
        ModelError: the program is refused; the error has line and column and says what was expected.
        ArgumentError: there is no such transform, or no such pass, or one that cannot be left out; or a name
            of the library is a word of the language.

    Example:
        >>> model = compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
        >>> model.condition({}).log_density([0.0])
        -0.9189385332046727
    """
    c = compilation(program, positive_transform, without, library, most_entries)
    model = build_model(c)
    for span, code, message, hint in c.warnings:
        warn_caller(describe(span, "warning", code, message, hint), ModelWarning)
    return model


def model_of(program: Source | SourceText, positive_transform: str = "log") -> Model:
    """As `compile_model`, without its warnings: commands show them in their own way."""
    return build_model(compilation(program, positive_transform))


def build_model(c: Compilation) -> Model:
    """The model of a compilation.

    Raises:
        ModelError: the program is refused.
    """
    with depth_refused(c):
        c.code()
    return Model(c)


def compilation(
    program: Source | SourceText,
    positive_transform: str = "log",
    without: Collection[str] = (),
    library: Library | None = None,
    most_entries: int = MOST_TABLE_ENTRIES,
) -> Compilation:
    """The program with its settings, no phase run yet; see `compile_model`."""
    refuse_settings(positive_transform, without, library)
    source = program if isinstance(program, SourceText) else read_source(program)
    softplus = positive_transform == "softplus"
    return Compilation(source, softplus, frozenset(without), library, most_entries)


def refuse_settings(positive_transform: str, without: Collection[str], library: Library | None) -> None:
    """ArgumentError where a setting of the compiler is none; see `compile_model`."""
    if positive_transform not in ("log", "softplus"):
        raise ArgumentError(f'positive_transform is "log" or "softplus", not {positive_transform!r}')
    for name in without:
        if name not in PASSES:
            raise ArgumentError(f"there is no pass {name!r}; the passes are {', '.join(PASSES)}")
        if why := PASSES[name].required:
            raise ArgumentError(f"the pass {name!r} cannot be skipped: {why}")
    if library is not None:
        refuse_words(library)


def refuse_words(library: Library) -> None:
    """ArgumentError where a name of the user's library is a word of the language."""
    from ppl.kernel.language.calls import TARGET, UNSUPPORTED
    from ppl.kernel.language.higher_order import HIGHER_ORDER
    from ppl.kernel.language.lalr import is_identifier

    for name in library.callees:
        if name in (*HIGHER_ORDER, *TARGET, *UNSUPPORTED) or not is_identifier(name):
            raise ArgumentError(f"{name!r} cannot name a function: it is a word of the language")
