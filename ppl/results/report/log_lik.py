"""The log likelihood of each row of one outcome at each draw, and `log_lik` among generated quantities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ppl.advice import Call, Sentence
from ppl.errors import DataError
from ppl.floats import Floats
from ppl.kernel.draws.columns import bracketed, variables
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass, replace

if TYPE_CHECKING:
    from ppl.results.files.read_csv import DrawsFile

POINTWISE = "log_lik"
"""The name that Stan's packages look for."""

LINES = """\
  generated quantities {
    vector[N] log_lik;
    for (n in 1 : N) {
      log_lik[n] = normal_lpdf(y[n] | mu[n], sigma);
    }
  }"""


@dataclass(frozen=True, eq=False)
class LogLik:
    """`values` (draws, rows) of the log likelihood of one outcome, in nats, and the name of each row.

    `log_ratios` (draws,) are log p/q at draws of q, up to a constant, and zero at draws of the posterior.
    `outcome` is the data variable, "" where draws have a `log_lik` and nothing says of what; `observed`
    (rows, entries) are the data of each row, None where they are unknown.
    """

    names: tuple[str, ...]
    values: Floats
    log_ratios: Floats
    notes: tuple[str, ...] = ()
    outcome: str = ""
    observed: Floats | None = None


def in_files(files: "Sequence[DrawsFile]", name: str = POINTWISE) -> LogLik:
    """The log likelihood at the draws of all runs of one program.

    Raises:
        DataError: there is none, or it is not one finite number for each row of the data.
    """
    draws = np.concatenate([file.draws for file in files])
    ratios, notes = ratios_in(files)
    path = str(files[0].path)
    again = f"ppl generate MODEL DATA {path}" if not ratios.any() else ""  # whose file has no densities
    log_lik = of_draws(files[0].columns, draws, ratios, name, path, again)
    return replace(log_lik, notes=(*log_lik.notes, *notes))


def ratios_in(files: "Sequence[DrawsFile]") -> tuple[Floats, tuple[str, ...]]:
    """Log p/q at the draws of all runs (draws,), and a note where draws of q have none."""
    unweighted = any(file.provenance and file.provenance.of_q and file.log_ratios is None for file in files)
    path = files[0].path
    note = f"{path} has draws of q without log_p__ and log_g__, so they count as draws of the posterior."
    return np.concatenate([own_ratios(file) for file in files]), (note,) * unweighted


def own_ratios(file: "DrawsFile") -> Floats:
    """Log p/q at the draws of a run (draws,), whose mean ratio is 1: its q has a constant of its own."""
    ratios = file.log_ratios
    if ratios is None or not np.isfinite(ratios).any():
        return np.zeros(len(file.draws))
    finite = ratios[np.isfinite(ratios)]
    return ratios - log_sum_exp(finite) + np.log(len(finite))


def of_draws(
    columns: Sequence[str], draws: Floats, log_ratios: Floats, name: str, where: str, again: str = ""
) -> LogLik:
    """The columns of one variable among `draws` (draws, columns); draws without it are left out.

    `where` says whose draws they are, and `again` how to compute it at them after all, if that can be done.

    Raises:
        DataError: as `in_files`.
    """
    positions = variables(columns).get(name)
    if positions is None:
        raise DataError(missing(name, where, again, columns), name)
    names = tuple(bracketed(columns[k]) for k in positions)
    if names == (name,):
        raise DataError(
            f"{name} is one number in {where}; LOO leaves out one row of the data after the other, and needs "
            f"the log likelihood of each, as in\n{LINES}",
            name,
        )
    return of_values(names, draws[:, positions], log_ratios, name, where)


def of_values(names: tuple[str, ...], values: Floats, log_ratios: Floats, name: str, where: str) -> LogLik:
    """The log likelihood `values` (draws, rows) of the rows `names`; draws without it are left out.

    Raises:
        DataError: it is not finite, or could not be computed.
    """
    draws = len(values)
    usable = ~np.isnan(values).any(axis=1) & np.isfinite(log_ratios)
    if not usable.any():
        raise DataError(f"{name} could not be computed at any draw of {where}.", name)
    values = values[usable]
    if not np.isfinite(values).all():
        worst = int(np.argmax(~np.isfinite(values).all(axis=0)))
        count = int((~np.isfinite(values[:, worst])).sum())
        raise DataError(
            f"{names[worst]} is infinite at {count} of {len(values)} draws of {where}; expected the log "
            "density of a row that is possible at every draw.",
            name,
        )
    left_out = draws - len(values)
    note = f"{left_out} of {draws} draws were omitted: {name} or their density is not finite."
    return LogLik(names, values, log_ratios[usable], (note,) * (left_out > 0))


def missing(name: str, where: str, again: str, columns: Sequence[str]) -> Sentence:
    """The addition to a program without it."""
    there = ", ".join(variables(columns))
    computed = f", or compute it at these draws by\n  {again}\n" if again else ". "
    return (
        f"there is no {name} among the draws of {where}; there are {there}. LOO needs the log likelihood of "
        "each row of the data. It is read from the program that --model names; or add to the program lines "
        f"such as\n{LINES}\nwith the distribution and the arguments of y's own statement, and fit "
        f"again{computed}If it has another name, give that: ",
        Call("--log-lik NAME", "loo(log_lik=NAME)"),
        ".",
    )
