"""The driver: the phases of the compiler in order, and nothing else."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ppl.arguments import checks
from ppl.data import Inputs
from ppl.density.statement_costs import cost_lines
from ppl.discrete.for_stan import with_zero_products
from ppl.discrete.parameters import has_discrete
from ppl.discrete.plan import plan_of
from ppl.discrete.rewrite import MOST_TABLE_ENTRIES, Summed
from ppl.discrete.summing import Summing, check_discrete, summed
from ppl.errors import ArgumentError, UnknownName
from ppl.frontend import ast
from ppl.frontend.calls import TARGET, UNSUPPORTED
from ppl.frontend.check import analyse, check
from ppl.frontend.facts import Facts
from ppl.frontend.higher_order import HIGHER_ORDER
from ppl.frontend.nesting import too_deep
from ppl.frontend.printer import print_program as print_ast
from ppl.frontend.tables import is_identifier
from ppl.ir.forms import VALUES, Form, form_named
from ppl.ir.lower import lower
from ppl.ir.passes.table import PASSES
from ppl.ir.plan import plan
from ppl.ir.printer import print_program as print_ir
from ppl.model import Model
from ppl.source import SourceText, read_source
from ppl.stdlib.library import Library

Source = str | Path
Given = Inputs | Mapping[str, Any] | str | Path


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

    Raises:
        ModelError: the program is refused; the error has line and column and says what was expected.
        ArgumentError: there is no such transform, or no such pass, or one that cannot be left out; or a name
            of the library is a word of the language.

    Example:
        >>> model = compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
        >>> model.condition({}).log_density([0.0])
        -0.9189385332046727
    """
    if positive_transform not in ("log", "softplus"):
        raise ArgumentError(f'positive_transform is "log" or "softplus", not {positive_transform!r}')
    refuse(without)
    if library is not None:
        refuse_hidden(library)
    softplus = positive_transform == "softplus"
    return compile_source(read_source(program), softplus, frozenset(without), library, most_entries)


def compile_source(
    source: SourceText, softplus: bool, without: frozenset[str], library: Library | None, most_entries: int
) -> Model:
    """Compile the text of a program; see `compile_model`.

    Raises:
        ModelError: the program is refused.
    """
    origin = compile_source, (source, softplus, without, library, most_entries)
    tree, facts = analyse(source, library=library)

    def build(tree: ast.Program, facts: Facts) -> Model:
        model = Model(source, lower(tree, facts), softplus, without, origin=origin)
        model.code(VALUES)
        return model

    try:
        if has_discrete(tree):
            found: Model = Summing.of(tree, facts, most_entries, build).model()
            return found
        return build(tree, facts)
    except (RecursionError, IndentationError):  # Python nests a hundred blocks
        raise too_deep(tree) from None


def refuse(without: Collection[str]) -> None:
    """ArgumentError where a pass does not exist or cannot be left out."""
    known = {each.name: each for each in PASSES}
    for name in without:
        if name not in known:
            raise ArgumentError(f"there is no pass {name!r}; the passes are {', '.join(known)}")
        if known[name].required:
            raise ArgumentError(f"the pass {name!r} cannot be left out: {known[name].required}")


def refuse_hidden(library: Library) -> None:
    """ArgumentError where a function of the library would never be called: the language has its name."""
    for name in library.callees:
        if name in (*HIGHER_ORDER, *TARGET, *UNSUPPORTED) or not is_identifier(name):
            raise ArgumentError(f"no function can be called {name!r}, which is a word of the language")


@dataclass(frozen=True)
class Shown:
    """A checked program and what is asked of its stages: a form, passes to leave out, values of data."""

    source: SourceText
    tree: ast.Program = field(repr=False)
    facts: Facts = field(repr=False)
    form: Form = VALUES
    without: frozenset[str] = frozenset()
    values: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def summed(self) -> Summed | None:
        """How its discrete parameters were summed out, where it has any."""
        return summed(self.tree, self.facts, self.values) if has_discrete(self.tree) else None

    @property
    def continuous(self) -> tuple[ast.Program, Facts]:
        """The program with its discrete parameters summed out."""
        if not self.summed:
            return self.tree, self.facts
        return self.summed.program, check(self.summed.program, self.facts.library)


def show_stage(
    program: Source,
    stage: str,
    form: str = VALUES.name,
    without: Collection[str] = (),
    data: Given | None = None,
) -> str:
    """One stage of the compiler as text; `stage` is a key of STAGES.

    `form` is a name of ir.forms: which form of the program the stages "ir" and "python" print, exactly as it
    runs; `without` names passes to leave out there; `data` are needed where they decide how discrete
    parameters are summed out, and with them "plan" ends with what a gradient costs by statement.

    Raises:
        ModelError: the program is refused before the stage is reached.
        UnknownName: there is no such stage, or no such form.
        ArgumentError: there is no such pass, or one that cannot be left out; or no Python of the form.
        DrawByDraw: the program has no form "draws".
    """
    refuse(without)
    if stage not in STAGES:
        raise UnknownName("no stage", stage, STAGES)
    shown_form, source = form_named(form), read_source(program)

    def text(values: Mapping[str, Any]) -> str:
        try:
            return STAGES[stage](Shown(source, *analyse(source), shown_form, frozenset(without), values))
        except RecursionError:
            raise too_deep(analyse(source)[0]) from None

    if data is None:
        return text({})
    model = compile_model(program)
    of_stage = text(known_values(model, data))
    if stage != "plan":
        return of_stage
    return "\n".join([of_stage, *cost_lines(model.condition(data))]) + "\n"


def known_values(model: Model, data: Given) -> Mapping[str, Any]:
    """The values of data and transformed data."""
    plain = replace(model, discrete=None)
    return plain.known_values(plain.condition(data).d)


def checked(source: SourceText) -> tuple[ast.Program, Facts]:
    """The checked program, discrete parameters and all that can be said of them without data too.

    Raises:
        ModelError: the program is refused.
    """
    tree, facts = analyse(source)
    check_discrete(tree, facts)
    return tree, facts


def _show_ast(shown: Shown) -> str:
    return print_ast(shown.tree)


def _show_program(shown: Shown) -> str:
    return print_ast(with_zero_products(*shown.continuous) if shown.summed else shown.tree)


def _show_ir(shown: Shown) -> str:
    return print_ir(shown.form.of(lower(*shown.continuous), shown.without))


def _show_python(shown: Shown) -> str:
    if not shown.form.runs:
        raise ArgumentError(f"the form {shown.form.name!r} is not run; look at its stage 'ir'")
    model = Model(shown.source, lower(*shown.continuous), without=shown.without)
    return model.code(shown.form).emitted.text


def _show_plan(shown: Shown) -> str:
    sums = [*plan_of(shown.summed), ""] if shown.summed else []
    return "\n".join([*sums, plan(lower(*shown.continuous))])


STAGES: Mapping[str, Callable[[Shown], str]] = {
    "ast": _show_ast,
    "program": _show_program,
    "ir": _show_ir,
    "python": _show_python,
    "plan": _show_plan,
}
