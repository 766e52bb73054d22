"""Predictions for new rows at draws of a fit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ppl.data import Frame, Inputs, load_data
from ppl.data.shares import Share
from ppl.density.compiled_program import as_declared
from ppl.density.log_density import LogDensity
from ppl.fitting.table import Table, tabulate
from ppl.ir import nodes as ir
from ppl.ir.forms import ARRAYS
from ppl.observed.new_rows import NewRows
from ppl.results.files.columns import Floats, reshape
from ppl.results.fits.by_row import compiled_as

Given = Inputs | Mapping[str, Any] | Frame | str | Path


def predicted(posterior: LogDensity, us: Floats, data: Given, seed: int) -> dict[str, Floats]:
    """The outcomes of new rows given each of `us` (draws, dim), by data variable (draws, *its own shape).

    Raises:
        ModelError: the program does not say how new rows come about; says which line.
        DataError: the new data do not fit the program.
    """
    table = table_of(posterior, us, data, seed)
    names = dict.fromkeys(column.partition(".")[0] for column in table.columns)
    return {name: reshape(table.rows, table.columns, name) for name in names}


def table_of(posterior: LogDensity, us: Floats, data: Given, seed: int) -> Table:
    """The same as columns, `y.1`."""
    found = NewRows(*posterior.model.compilation.checked)
    inputs = completed(posterior, found, load_data(data))
    fixed = values_of_fit(posterior, found)
    shapes = {name: np.shape(value) for name, value in fixed.items()}
    given = {**inputs, **fixed}
    old = {v.name: v.shape for v in posterior.variables["parameters"]}
    sized = compiled_as(posterior, found.for_sizes(shapes), "sizes").condition(given)
    new = {v.name: v.shape for v in sized.variables["parameters"]}
    made = compiled_as(posterior, found.predicting(shapes, old, new), "predictions").condition(given)
    table = tabulate(made, us[:, : made.param_unc_num()], seed)  # what was missing at the fit stands last
    table.require_some("Predictions")
    return table.only(range(len(made.param_names(include_tp=True)), len(table.columns)))


def in_frame(found: Mapping[str, Floats], frame: Any) -> Any:
    """Mean, 5% and 95% of each outcome that has a value for each row of a DataFrame, as one of its kind."""
    columns: dict[str, Floats] = {}
    for name, draws in found.items():
        if draws.shape[1:] == (len(frame),):
            low, high = np.quantile(draws, [0.05, 0.95], axis=0)
            columns |= {name: draws.mean(axis=0), f"{name}.5%": low, f"{name}.95%": high}
    index = {"index": frame.index} if hasattr(frame, "index") else {}
    return type(frame)(columns, **index)


def completed(posterior: LogDensity, found: NewRows, inputs: Inputs) -> dict[str, Any]:
    """The new data without outcomes; what they leave out stays as at the fit, but sizes of groups grow."""
    values = dict(as_declared(posterior.model, inputs).values)
    old = {k: v for k, v in posterior.data.items() if not isinstance(v, Share)}
    grown = {
        name: n for name, n in groups_in(posterior, values).items() if name not in values and n > old[name]
    }
    return {name: v for name, v in {**old, **values, **grown}.items() if name not in found.outcomes}


def groups_in(posterior: LogDensity, values: Mapping[str, Any]) -> dict[str, int]:
    """The largest index of each kind of groups in new data: of J where `g` is declared `int<upper=J>`."""
    program = posterior.model.program(ARRAYS)
    sizes = {a.name for d in program.parameters for a in (*d.dims, *d.sizes) if isinstance(a, ir.Var)}
    found: dict[str, int] = {}
    for d in program.data:
        bound = d.arguments[-1] if d.constraint in ("upper", "lower_upper") else None
        if isinstance(bound, ir.Var) and bound.name in sizes and np.size(values.get(d.name, ())):
            largest = int(np.max(values[d.name]))
            found[bound.name] = max(largest, found.get(bound.name, largest))
    return found


def values_of_fit(posterior: LogDensity, found: NewRows) -> dict[str, Any]:
    """What stays as at the fit: values of all its rows, and what depends on its outcomes."""
    fixing, _ = found.fixing
    values = {name: posterior.d.of(name) for name in found.transformed[1]}
    if fixing.values:
        recorded = compiled_as(posterior, found.recording, "transformed data").condition(posterior.data)
        values |= {name: recorded.d.of(name) for name in fixing.values}
    return values
