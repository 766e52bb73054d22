"""What compiling costs as a program grows: the same statements so many times, in blocks of their own."""

from collections.abc import Mapping

from laws.cost.counting import lines_of
from laws.cost.everyday import text
from laws.cost.law import TIMES, Growth
from laws.passes import model_of

from ppl.optimise.forms import DRAWS, GRADIENT, POINTS_GRADIENT, VALUES

STATEMENTS: Mapping[str, str] = {
    "a loop": "vector[N] m; for (n in 1:N) { m[n] = a[g[n]] + x[n] * b; y[n] ~ normal(m[n], s); }",
    "a recurrence": "real m = b; for (n in 1:N) { m = 0.5 * m + x[n]; y[n] ~ normal(m, s); }",
    "whole arrays": "vector[N] m = a[g] + b * x; y ~ normal(m, s);",
}
"""Of a model block, by name."""


def compiled(program: str) -> None:
    """All that a program needs to be run at a point, at many, and for all draws."""
    model = model_of(program)
    for form in (VALUES, GRADIENT, POINTS_GRADIENT, DRAWS):
        model.code_of(form)


def growth_of_compiling(name: str) -> Growth:
    """Lines of the compiler."""
    programs = [text(f"{{ {STATEMENTS[name]} }}\n" * times) for times in TIMES]
    compiled(programs[0])  # what is made once, such as the tables of the parser
    lines = tuple(lines_of(lambda program=program: compiled(program)) for program in programs)
    return Growth(name, ("statements",), "compile", "lines", lines)
