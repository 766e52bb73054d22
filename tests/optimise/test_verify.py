"""Programs are well formed after every pass of every form; those that are not are noticed."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from conformance.pack import programs
from generator.program import generated
from laws.passes import Variant, lowered
from laws.sampled import sampled
from laws.verifier.compilation import Verified
from laws.verifier.verify import Malformed, verify

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.nodes import Program
from ppl.kernel.ir.rows import row_sizes
from ppl.model import Model
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import FORMS, VALUES, rest_of, rows_of
from ppl.optimise.passes.table import Pass
from ppl.source import SourceText
from ppl.types import REAL, OverAxes, array_of
from tests.optimise.loop_programs import LOOPS as LOOP_PROGRAMS
from tests.optimise.test_passes import MODELS, library_model

ONE_DRAW_AFTER_THE_OTHER = """data { int N; vector[N] x; } parameters { real a; } generated quantities {
  if (x[1] < a) { vector[N] w; real q = a; for (n in 1:N) { q = 0.5 * q + x[n]; w[n] = q; } }
}"""
TEXTS = {
    "one draw after the other": lambda: ONE_DRAW_AFTER_THE_OTHER,
    **{case.id: lambda case=case: case.program for case in programs()},
    **{f"models/{file.stem}": lambda file=file: library_model(file).program for file in MODELS},
    **{loop.id: lambda loop=loop: loop.text for loop in LOOP_PROGRAMS},
}


@pytest.mark.rotate
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_pass_leaves_a_program_that_is_well_formed(text: Callable[[], str]) -> None:
    program = lowered(text())
    verify(program)
    every_form(Model(Variant(SourceText(""), part=program, verified=True)))


@pytest.mark.rotate
@pytest.mark.parametrize("number", sampled(3, range(60)))
def test_every_pass_leaves_a_generated_program_well_formed(number: int) -> None:
    test_every_pass_leaves_a_program_that_is_well_formed(lambda: generated(24, number).text)


def every_form(model: Model) -> None:
    rows = [form(size) for size in row_sizes(model.lowered) for form in (rows_of, rest_of)]
    for form in (*FORMS.values(), *rows):
        with suppress(DrawByDraw):
            model.program(form)


PROGRAM = lowered("""
data { int N; vector[N] y; }
parameters { real a; }
transformed parameters { real b = 2 * a; }
model { vector[N] m = y * a; y ~ normal(m, 1); }
generated quantities { real c = b; }
""")


def less(p: Program) -> Program:
    return replace(p, model=p.model[1:])


def twice(p: Program) -> Program:
    return replace(p, generated_names=p.generated_names * 2)


def unset(p: Program) -> Program:
    return replace(p, generated_quantities=())


def other_axes(p: Program) -> Program:
    first, *rest = p.model
    return replace(p, model=(replace(first, value=ir.Var("a", array_of(REAL, 1))), *rest))


def along_nothing(p: Program) -> Program:
    """A value said to vary over a loop that nothing it is made of varies over."""
    increment = p.model[-1]
    call = replace(increment.value, type=OverAxes(REAL, ("n",)))
    return replace(p, model=(*p.model[:-1], replace(increment, value=call)))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (less, "`m` is read or changed where it is not set"),
        (twice, "`c` is declared 2 times in generated quantities"),
        (unset, "`c` is never set in generated quantities"),
        (other_axes, r"`a` is read as array\[\] real, but is real"),
        (along_nothing, "`normal_lpdf` is along n, but what it is made of along nothing"),
    ],
)
def test_what_is_wrong_with_a_program_is_said(broken, why) -> None:
    verify(PROGRAM)
    with pytest.raises(Malformed, match=why):
        verify(broken(PROGRAM))


def test_a_pass_that_leaves_a_program_malformed_is_named() -> None:
    class Wrong(Pass):
        def run(self, program: ir.Program) -> ir.Program:
            return twice(program)

    wrong = replace(VALUES, passes=(*VALUES.passes, Wrong("wrong", "")))
    with pytest.raises(Malformed, match="after wrong of values: `c` is declared 2 times"):
        Model(Verified(SourceText(""), part=PROGRAM)).program(wrong)
