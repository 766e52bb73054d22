"""The forms of a program: each is another form and the passes that follow, down to the program as lowered.

What is executed is one of these forms, emitted as Python text and bound to a namespace; nothing else is.
A point of the log density is a draw: forms "at many points", and that of the variables of draws, give values
the axis of the draws.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

from ppl.errors import UnknownName
from ppl.kernel.ir.nodes import Program
from ppl.optimise.passes.table import PASSES, Pass, passes
from ppl.records import dataclass, replace


@dataclass(frozen=True)
class Form:
    """A form of a program: what it is for, the form it is made of, and the passes from there.

    With `propto` its densities drop constants where Stan's do; with `over_draws` its parameters have an axis
    of the draws; with `by_functions` branches that parameters decide are functions. One that does not run is
    a step on the way to those that do. No two have the same name.
    """

    name: str
    meaning: str
    base: "Form | None"
    passes: tuple[Pass, ...]
    propto: bool = False
    over_draws: bool = False
    runs: bool = True
    by_functions: bool = False

    @cached_property
    def all_passes(self) -> tuple[Pass, ...]:
        """All passes from the program as lowered, in order."""
        return (*(self.base.all_passes if self.base else ()), *self.passes)

    def of(self, lowered: Program, without: Collection[str] = ()) -> Program:
        """This form of a program, some passes left out by name."""
        return self.from_base(self.base.of(lowered, without) if self.base else lowered, without)

    def from_base(self, program: Program, without: Collection[str] = ()) -> Program:
        """This form, from that which it is made of."""
        for each in self.passes:
            if each.name not in without:
                program = each.run(program)
        return program


LOWERED = Form("lowered", "The program before any pass.", None, (), runs=False)
LOOPS = Form(
    "loops",
    "Iterations are made independent where possible; loops are still loops.",
    LOWERED,
    passes(
        *("reroll", "pack", "inline", "tuple-parts", "entries", "induction-variables", "privatise"),
        *("contractions", "linear-recurrences", "counters"),
    ),
    runs=False,
)
TIDY = passes("whole-arrays", "dead-code", "dead-stores", "zero-based", "step-invariants")
"""Passes that follow once loops are operations on arrays."""


def array_form(name: str, meaning: str, lift: Pass, **flags: bool) -> Form:
    """A form in which loops are operations on arrays, as a pass makes them."""
    return Form(name, meaning, LOOPS, (*passes("solver-functions"), lift, *TIDY), **flags)


ARRAYS = array_form("arrays", "Loops are operations on arrays.", PASSES["vectorise"], runs=False)
VALUES = Form(
    "values",
    "The log density at a point, the data, the layout, and the variables of one draw, in NumPy.",
    ARRAYS,
    passes("hoist-data", "common-subexpressions", "prepare-normalisers"),
)
GRADIENT = Form(
    "gradient",
    "The log density of gradients and many points: kernels of densities, and terms prepared from the data.",
    VALUES,
    passes("covariances", "split-normalisers"),
)
MASKED = array_form(
    "masked",
    "Loops are operations on arrays; branches on parameters are computed for all entries.",
    PASSES["vectorise-with-masks"],
    runs=False,
)
FOR_JAX = Form(
    "jax",
    "The log density as JAX compiles it.",
    MASKED,
    (*VALUES.passes, *GRADIENT.passes, *passes("structured-jumps")),
    by_functions=True,
)
PROPTO = Form(
    "propto", "The log density without its constants, as after `~` in Stan.", VALUES, (), propto=True
)


POINTS_ARRAYS = array_form(
    "points-arrays",
    "Loops, and the draws around them, are operations on arrays.",
    PASSES["draws-axis"],
    over_draws=True,
    runs=False,
)


def points_of(form: Form) -> Form:
    """The log density of a form at many points, and its gradients there under autograd.

    The form is one of those that are made of ARRAYS.
    """
    passes = form.all_passes[len(ARRAYS.all_passes) :]
    meaning = f"The form {form.name} at many points."
    name = f"points-{form.name}"
    return Form(name, meaning, POINTS_ARRAYS, passes, propto=form.propto, over_draws=True)


POINTS_GRADIENT, POINTS_PROPTO = points_of(GRADIENT), points_of(PROPTO)
DRAWS = array_form(
    "draws",
    "Transformed parameters and generated quantities of all draws, in NumPy.",
    PASSES["variables-of-draws"],
    over_draws=True,
)


def points_given(shared: tuple[str, ...]) -> Form:
    """The log density at points that differ in the other parameters alone.

    What depends on the shared ones, such as a covariance matrix and its factor, is computed once for all.
    """
    names, lift = ",".join(shared), PASSES["draws-axis"].of(shared)
    given = f"given:{names}"
    arrays = array_form(f"points-arrays-{given}", POINTS_ARRAYS.meaning, lift, over_draws=True, runs=False)
    meaning = f"The form {GRADIENT.name} at many points with the same {names}."
    return replace(POINTS_GRADIENT, name=f"points-{given}", meaning=meaning, base=arrays)


ONCE = passes("hoist-data", "common-subexpressions")
"""Passes that follow in the forms of some terms of the target."""


def rows_of(size: str) -> Form:
    """The terms of any subset of the rows that `size` counts."""
    meaning = f"The terms of a subset of the rows that {size} counts, for minibatches."
    return Form(f"rows:{size}", meaning, ARRAYS, (PASSES["row-terms"].of(size), *ONCE))


def rows_on_sides(size: str, sides: tuple[tuple[int, bool], ...]) -> Form:
    """The same where branches on parameters take the sides of passes/one_side.py at every point."""
    rows = rows_of(size)
    taken = ", ".join(f"{number} {'holds' if holds else 'fails'}" for number, holds in sides)
    one_side = PASSES["one-side"].of(sides)
    name = f"{rows.name}, where {taken}"
    return replace(rows, name=name, base=None, passes=(one_side, *rows.all_passes))


def rest_of(size: str) -> Form:
    """The terms that depend on none of the rows that `size` counts."""
    meaning = f"The terms of the target that do not depend on the rows that {size} counts."
    return Form(f"rest:{size}", meaning, ARRAYS, (PASSES["rest-terms"].of(size), *ONCE))


def for_jax(form: Form) -> Form:
    """A form as JAX compiles it."""
    meaning = f"{form.meaning[:-1]}, as JAX compiles it."
    return Form(f"jax-{form.name}", meaning, form, passes("structured-jumps"), by_functions=True)


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        *(LOWERED, LOOPS, ARRAYS, VALUES, GRADIENT, MASKED, FOR_JAX, PROPTO),
        *(POINTS_ARRAYS, POINTS_GRADIENT, POINTS_PROPTO, DRAWS),
    )
}
"""By name; beside these are those of SPLITS, as rows:SIZE, for each size that counts rows of the data."""
SPLITS: Mapping[str, Callable[[str], Form]] = {
    "rows": rows_of,
    "rest": rest_of,
    "points-rows": lambda size: points_of(rows_of(size)),
    "points-rest": lambda size: points_of(rest_of(size)),
    "points-given": lambda names: points_given(tuple(names.split(","))),
}
"""The forms of some terms of the target, given the size of the data that counts rows; the last, of all terms,
given parameters that have the same values at all points.
"""


def form_named(name: str) -> Form:
    """The form of this name; raises UnknownName if there is none."""
    kind, _, size = name.partition(":")
    if size and kind in SPLITS:
        return SPLITS[kind](size)
    if name not in FORMS:
        raise UnknownName("no form", name, FORMS)
    return FORMS[name]
