"""What a program says of its data at draws of its parameters: the log likelihood of each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ppl.density.completions import places_of
from ppl.density.log_density import LogDensity
from ppl.discrete.parameters import has_discrete
from ppl.errors import DataError
from ppl.fitting.table import Table, tabulate
from ppl.frontend import ast
from ppl.frontend.facts import Facts
from ppl.names import dotted, variable_of
from ppl.observed.flow import data_of, flow_of
from ppl.observed.log_lik import log_lik_of
from ppl.observed.predictive import predictive_of
from ppl.observed.terms import outcomes_of
from ppl.results.files.columns import Floats, bracketed, reshape, variables
from ppl.results.files.read_csv import DrawsFile
from ppl.results.fits.log_prob import unconstrained_of
from ppl.results.report.log_lik import POINTWISE, LogLik, of_values, ratios_in
from ppl.source import SourceText, Span


@dataclass(frozen=True, eq=False)
class RowsOfData:
    """`values` (draws, rows) of the log likelihood, in nats; a row is called by its data, `y.3`.

    `tied` are the variables whose entries are one row, and the place of the term that ties them.
    """

    columns: tuple[str, ...]
    values: Floats
    tied: Mapping[str, Span]

    def of_each(self) -> dict[str, Floats]:
        """By data variable, (draws, *shape of its rows)."""
        return {name: reshape(self.values, self.columns, name) for name in variables(self.columns)}

    def log_lik(self, log_ratios: Floats, where: str) -> LogLik:
        """The rows at draws with `log_ratios` (draws,); DataError where what should be rows is one number."""
        for name, span in self.tied.items():
            raise DataError(
                f"`{name}` has no rows to leave out: line {span.line} has one density of several entries of "
                "it. If they are independent, give each a density of its own. Otherwise compute `log_lik` "
                "in generated quantities, the log likelihood of each row given the others.",
                name,
            )
        return of_values(tuple(map(bracketed, self.columns)), self.values, log_ratios, POINTWISE, where)


def log_likelihood(posterior: LogDensity, us: Floats) -> RowsOfData:
    """The log likelihood by row at each of `us` (draws, dim), from the terms of the model block.

    Raises:
        ModelError: a term of the program belongs to no row of one variable; says what to write.
    """
    found = log_lik_of(*continuous(posterior), draws_back=draws_ints(posterior))
    table = tabulate(again(posterior, found.text, "log likelihood"), us, seed=0)
    named = {quantity: name for name, quantity in found.quantities.items()}
    columns = {
        k: ".".join([named[variable_of(c)], *c.split(".")[1:]])
        for k, c in enumerate(table.columns)
        if variable_of(c) in named
    }
    missing = rows_missing(posterior, found.tied)
    given = {k: name for k, name in columns.items() if name not in missing}
    return RowsOfData(tuple(given.values()), table.only([*given]).rows, found.tied)


def rows_missing(posterior: LogDensity, tied: Mapping[str, Span]) -> set[str]:
    """The rows of data with a missing value, which have no likelihood: `y.3`, of a whole vector `y.3` too.

    Raises:
        DataError: one density is of values that are given and of missing ones.
    """
    found = set[str]()
    for c in posterior.model.completions:
        if c.name in tied:
            raise DataError(
                f"line {tied[c.name].line} has one density of all of `{c.name}`, and some of it is missing: "
                "the observed part has no log likelihood by itself. Give each entry its own density.",
                c.name,
            )
        for index in places_of(c, posterior.d):
            found |= {c.name + dotted(index[: k + 1]) for k in range(len(index))} or {c.name}
    return found


def draws_ints(posterior: LogDensity) -> bool:
    """Whether missing ints are drawn back."""
    return any(c.discrete for c in posterior.model.completions)


def in_files(posterior: LogDensity, files: Sequence[DrawsFile]) -> LogLik:
    """The log likelihood by row at the draws of all runs of a program.

    Raises:
        ModelError: a term of the program belongs to no row of one variable; says what to write.
        DataError: the draws are of other parameters, or the data have no rows.
    """
    ratios, notes = ratios_in(files)
    us = np.concatenate([unconstrained_of(posterior, file.columns, file.draws) for file in files])
    made = log_likelihood(posterior, us).log_lik(ratios, str(files[0].path))
    return replace(made, notes=(*made.notes, *notes))


def outcomes(posterior: LogDensity) -> list[str]:
    """The data variables that the program's densities are of."""
    program, facts = posterior.model.compilation.checked
    observed = outcomes_of(program, flow_of(program, facts))
    return [name for name in data_of(program) if name in observed]


def continuous(posterior: LogDensity) -> tuple[ast.Program, Facts]:
    """The program of a posterior, its discrete parameters summed out for its data."""
    model = posterior.model
    if not model.completions:
        return model.compilation.continuous
    if model.discrete and has_discrete(model.compilation.checked[0]):
        raise DataError(
            "the log likelihood by row of a program with discrete parameters is not read where data are "
            "missing; compute `log_lik` in generated quantities."
        )
    return model.compilation.checked


def again(posterior: LogDensity, text: str, what: str) -> LogDensity:
    """The posterior of another program of the same parameters, given the same data."""
    made: LogDensity = compiled_as(posterior, text, what).condition(posterior.data, posterior.d.seed__)
    return made


def compiled_as(posterior: LogDensity, text: str, what: str) -> Any:
    """Another program, compiled as that of a posterior was."""
    return posterior.model.of_source(SourceText(text, f"{what} of {posterior.source.name}"))


def predictive(posterior: LogDensity, us: Floats, seed: int) -> dict[str, Floats]:
    """Data drawn anew given each of `us` (draws, dim), by data variable (draws, *its own shape).

    Raises:
        ModelError: a term of data is no draw; says which, and what to write.
    """
    table, names = predictive_table(posterior, us, seed)
    return {name: reshape(table.rows, table.columns, made) for name, made in names.items()}


def predictive_table(posterior: LogDensity, us: Floats, seed: int) -> tuple[Table, Mapping[str, str]]:
    """The same as columns, `y_rep.1`, and the name of each data variable there."""
    program = posterior.model.compilation.checked
    found = predictive_of(*program, draws_back=draws_ints(posterior))
    made = again(posterior, found.text, "predictions")
    table = tabulate(made, us, seed)
    table.require_some("Predictions")
    own = {*found.quantities.values()}
    at = [k for k, column in enumerate(table.columns) if variable_of(column) in own]
    return table.only(at), found.quantities
