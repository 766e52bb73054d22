"""The driver: the phases of the compiler in order, and nothing else."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from ppl.frontend.calls import TARGET, UNSUPPORTED
from ppl.frontend.check import analyse
from ppl.frontend.higher_order import HIGHER_ORDER
from ppl.frontend.nesting import too_deep
from ppl.frontend.printer import print_program as print_ast
from ppl.ir.forms import VALUES, Form, form_named
from ppl.ir.lower import lower
from ppl.ir.passes.table import PASSES
from ppl.ir.plan import plan
from ppl.ir.printer import print_program as print_ir
from ppl.model import Model
from ppl.source import SourceText, read_source
from ppl.stdlib.library import Library


def compile_model(
    program: str | Path,
    positive_transform: str = "log",
    without: Collection[str] = (),
    library: Library | None = None,
) -> Model:
    """Compile a program, given as a path or as its text.

    `positive_transform` is "log" or "softplus", the map from R onto the positive reals (Kucukelbir et
    al. 2017, section 3.3); it serves every lower bound. `without` names passes of the compiler to leave out.
    `library` is what the program may call, with a user's own distributions and functions (`ppl.extend`).

    Raises:
        ModelError: the program is refused; the error has line and column and says what was expected.
        ValueError: there is no such transform, or no such pass, or one that cannot be left out; or a name of
            the library is a word of the language.

    Example:
        >>> model = compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
        >>> model.condition({}).log_density([0.0])
        -0.9189385332046727
    """
    if positive_transform not in ("log", "softplus"):
        raise ValueError(f'positive_transform is "log" or "softplus", not {positive_transform!r}')
    refuse(without)
    if library is not None:
        refuse_hidden(library)
    source = read_source(program)
    tree, facts = analyse(source, library=library)
    try:
        model = Model(source, lower(tree, facts), positive_transform == "softplus", frozenset(without))
        model.code(VALUES)
        return model
    except (RecursionError, IndentationError):  # Python nests a hundred blocks
        raise too_deep(tree) from None


def refuse(without: Collection[str]) -> None:
    """ValueError where a pass does not exist or cannot be left out."""
    known = {each.name: each for each in PASSES}
    for name in without:
        if name not in known:
            raise ValueError(f"there is no pass {name!r}; the passes are {', '.join(known)}")
        if known[name].required:
            raise ValueError(f"the pass {name!r} cannot be left out: {known[name].required}")


def refuse_hidden(library: Library) -> None:
    """ValueError where a function of the library would never be called: the language has its name."""
    for name in (*HIGHER_ORDER, *TARGET, *UNSUPPORTED):
        if name in library.callees:
            raise ValueError(f"no function can be called {name!r}, which is a word of the language")


def show_stage(
    program: str | Path, stage: str, form: str = VALUES.name, without: Collection[str] = ()
) -> str:
    """One stage of the compiler as text; `stage` is a key of STAGES.

    `form` is a name of ir.forms: which form of the program the stages "ir" and "python" print, exactly as it
    runs; `without` names passes to leave out there.

    Raises:
        ModelError: the program is refused before the stage is reached.
        KeyError: there is no such stage, or no such form.
        ValueError: there is no such pass, or one that cannot be left out; or no Python of the form.
        DrawByDraw: the program has no form "draws".
    """
    refuse(without)
    wanted, source = form_named(form), read_source(program)
    try:
        return STAGES[stage](source, wanted, without)
    except RecursionError:
        raise too_deep(analyse(source)[0]) from None


def _show_ast(source: SourceText, form: Form, without: Collection[str]) -> str:
    tree, _ = analyse(source)
    return print_ast(tree)


def _show_ir(source: SourceText, form: Form, without: Collection[str]) -> str:
    return print_ir(form.of(lower(*analyse(source)), without))


def _show_python(source: SourceText, form: Form, without: Collection[str]) -> str:
    if not form.runs:
        raise ValueError(f"the form {form.name!r} is not run; look at its stage 'ir'")
    model = Model(source, lower(*analyse(source)), without=frozenset(without))
    return model.code(form).emitted.text


def _show_plan(source: SourceText, form: Form, without: Collection[str]) -> str:
    return plan(lower(*analyse(source)))


STAGES: Mapping[str, Callable[[SourceText, Form, Collection[str]], str]] = {
    "ast": _show_ast,
    "ir": _show_ir,
    "python": _show_python,
    "plan": _show_plan,
}
