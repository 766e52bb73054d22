"""The forms of a program: each is another form and the passes that follow, down to the program as lowered.

What is executed is one of these forms, emitted as Python text and bound to a namespace; nothing else is.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from ppl.errors import UnknownName
from ppl.ir.nodes import Program
from ppl.ir.passes.table import (
    COVARIANCES,
    DEAD_CODE,
    DRAWS_AXIS,
    FUSE,
    HOIST,
    INDUCTION,
    INLINE,
    OUTER_BROADCAST,
    PREPARE_NORMALISERS,
    PRIVATISE,
    SHARE,
    SPLIT_NORMALISERS,
    STRUCTURED_JUMPS,
    VECTORISE,
    VECTORISE_WITH_MASKS,
    WHOLE_ARRAYS,
    ZERO_BASED,
    Pass,
    rest_terms_of,
    row_terms_of,
)
from ppl.ir.verify import Malformed, verify


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

    def from_base(self, program: Program, without: Collection[str] = (), verified: bool = False) -> Program:
        """This form, from that which it is made of.

        Raises:
            Malformed: `verified`, and a pass has made a program that cannot be run; the message names it.
        """
        for each in self.passes:
            if each.name not in without:
                program = each.run(program)
                if verified:
                    self.verify(program, each)
        return program

    def verify(self, program: Program, last: Pass) -> None:
        """Check what a pass of this form has made."""
        try:
            verify(program, self.over_draws)
        except Malformed as why:
            raise Malformed(f"after {last.name} of {self.name}: {why}") from None


LOOPS = Form(
    "loops",
    "Loops made independent, none an array yet.",
    None,
    (INLINE, INDUCTION, PRIVATISE),
    runs=False,
)
ARRAYS = Form(
    "arrays",
    "Loops are operations on arrays.",
    LOOPS,
    (VECTORISE, WHOLE_ARRAYS, OUTER_BROADCAST, DEAD_CODE, ZERO_BASED),
    runs=False,
)
VALUES = Form(
    "values",
    "The log density at a point, the data, the layout, and the variables of one draw, in NumPy.",
    ARRAYS,
    (HOIST, SHARE, PREPARE_NORMALISERS),
)
KERNELS = Form(
    "kernels",
    "The log density at many points and its gradients there.",
    VALUES,
    (COVARIANCES, SPLIT_NORMALISERS),
)
GRADIENT = Form("gradient", "The log density at a point with its gradient, under autograd.", KERNELS, (FUSE,))
MASKED = Form(
    "masked",
    "Loops are operations on arrays, in which branches on parameters are gone through by all entries.",
    LOOPS,
    (VECTORISE_WITH_MASKS, *ARRAYS.passes[1:]),
    runs=False,
)
FOR_JAX = Form(
    "compiled",
    "The log density as JAX compiles it.",
    MASKED,
    (*VALUES.passes, *KERNELS.passes, STRUCTURED_JUMPS),
    by_functions=True,
)
PROPTO = Form("propto", "The log density less its constants, as Stan has it.", VALUES, (), propto=True)
DRAWS = Form(
    "draws",
    "Transformed parameters and generated quantities of all draws, in NumPy.",
    LOOPS,
    (DRAWS_AXIS, ZERO_BASED),
    over_draws=True,
)


def rows_of(size: str) -> Form:
    """The terms of any subset of the rows that `size` counts."""
    meaning = f"The terms of a subset of the rows that {size} counts, for minibatches."
    return Form(f"rows:{size}", meaning, ARRAYS, (row_terms_of(size), HOIST, SHARE))


def rest_of(size: str) -> Form:
    """The terms that depend on none of them."""
    meaning = f"The terms of the target beside those of the rows that {size} counts."
    return Form(f"rest:{size}", meaning, ARRAYS, (rest_terms_of(size), HOIST, SHARE))


def compiled(form: Form) -> Form:
    """A form as JAX compiles it."""
    meaning = f"{form.meaning[:-1]}, as JAX compiles it."
    return Form(f"compiled {form.name}", meaning, form, (STRUCTURED_JUMPS,), by_functions=True)


FORMS: Mapping[str, Form] = {
    form.name: form for form in (LOOPS, ARRAYS, VALUES, KERNELS, GRADIENT, MASKED, FOR_JAX, PROPTO, DRAWS)
}
"""By name; beside these are rows:SIZE and rest:SIZE, for each size that counts rows of the data."""


def form_named(name: str) -> Form:
    """UnknownName where there is none."""
    kind, _, size = name.partition(":")
    if size and kind in ("rows", "rest"):
        return rows_of(size) if kind == "rows" else rest_of(size)
    if name not in FORMS:
        raise UnknownName("no form", name, FORMS)
    return FORMS[name]
