"""Notes on a fit: codes of levels, data far from zero for their spread, another form of the program."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ppl.data.blocks import is_mapped
from ppl.data.levels import Factor
from ppl.data.missing import stand_in
from ppl.density.compiled_program import CompiledProgram
from ppl.density.log_density import LogDensity


def codes(posterior: LogDensity) -> tuple[str, ...]:
    """The changes of columns and rows, and which number stands for which level of factors that index no
    variable."""
    shown = {axis for axes in posterior.labels.dims.values() for axis in axes}
    factors = {name: value for name, value in posterior.data.items() if isinstance(value, Factor)}
    coded = (f"`{name}`: {f.sentence}." for name, f in factors.items() if name not in shown)
    return (*posterior.notes, *stand_ins(posterior), *coded)


def stand_ins(posterior: LogDensity) -> Iterator[str]:
    """A sentence for each variable with a number that may stand for missing values."""
    for v in posterior.model.lowered.data:
        value = posterior.d.of(v.name) if (v.dims or v.sizes) and not v.items else None
        if isinstance(value, np.ndarray) and not is_mapped(value) and (own := stand_in(value)):
            others = f"the others are from {own.low:g} to {own.high:g}"
            yield (
                f"`{v.name}` is {own.value:g} in {own.times} of {value.size} entries, and {others}: if it "
                "stands for missing values, write NA for it."
            )


def non_centred_forms(model: CompiledProgram) -> tuple[str, ...]:
    """A sentence with the declarations that make its hierarchies non-centred; none where there are none.

    Example:
        >>> program = "parameters { real<lower=0> s; vector[9] x; } model { x ~ normal(0, s); }"
        >>> non_centred_forms(ppl.compile_model(program))[0].partition("declare ")[2]
        '`vector<multiplier=s>[9] x;` (line 1).'
    """
    if model.compilation.part is not None:  # a part of a program has no text of its own
        return ()
    from ppl.programs.nodes import Nodes
    from ppl.programs.non_centred import centred

    parameters = list(centred(Nodes(*model.compilation.checked)))
    if not parameters:
        return ()
    lines = ", ".join(f"`{c.non_centred}` (line {c.declaration.span.line})" for c in parameters)
    names = [f"`{c.declaration.name}`" for c in parameters if not c.in_order]
    below = f" Move {' and '.join(names)} below the parameters that the declaration uses." if names else ""
    return (f"With few data, try the non-centred form (`ppl fix`): declare {lines}.{below}",)


FAR_FROM_ZERO = 20.0
"""How many sds from zero a mean must lie to be told of."""
FEWEST_SPREAD_ROWS = 3
"""Rows that a spread takes."""
FIRST_ROWS = 10_000
"""The first rows, which are looked at."""


def advice_on(data: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence that names them, for a fit that cannot be believed; none where there are none.

    Example:
        >>> advice_on({"year": np.arange(1990.0, 2000.0)})[0][:46]
        'Far from zero for its spread: `year` (mean 199'
    """
    columns = list(uncentred(data))
    if not columns:
        return ()
    which = ", ".join(f"`{name}` (mean {mean:.4g}, sd {sd:.2g})" for name, mean, sd in columns)
    its = "its" if len(columns) == 1 else "their"
    return (
        f"Far from zero for {its} spread: {which}. Coefficients of such data are confounded with the "
        "intercept: subtract the mean and divide by the sd before the fit.",
    )


def uncentred(data: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Name, mean and sd of each array of reals, or column of one, that is far from zero for its spread."""
    for name, value in data.items():
        if not (isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim in (1, 2)):
            continue
        some = value[:FIRST_ROWS]
        columns = {name: some} if some.ndim == 1 else {f"{name}[, {k + 1}]": c for k, c in enumerate(some.T)}
        for column, x in columns.items():
            if (
                len(x) >= FEWEST_SPREAD_ROWS
                and abs(mean := float(x.mean())) > FAR_FROM_ZERO * (sd := float(x.std())) > 0
            ):
                yield column, mean, sd
