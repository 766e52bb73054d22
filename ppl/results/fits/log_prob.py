"""Log densities and gradients at given points: the method `log_prob` of CmdStan."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import DataError
from ppl.files import require_file
from ppl.floats import Floats
from ppl.kernel.draws.names import unflatten
from ppl.kernel.draws.stan_csv import cell
from ppl.records import dataclass
from ppl.results.files.readers import read_file


@dataclass(frozen=True, eq=False)
class LogProb:
    """`values` (points,) and `gradients` (points, dim), named by `names`, on the unconstrained scale."""

    names: tuple[str, ...]
    values: Floats
    gradients: Floats

    def csv_lines(self) -> Iterator[str]:
        """CmdStan's file: `lp__,g_mu,...`."""
        yield ",".join(("lp__", *(f"g_{name}" for name in self.names))) + "\n"
        for value, gradient in zip(self.values, self.gradients, strict=True):
            yield ",".join(map(cell, (value, *gradient))) + "\n"


def log_prob(posterior: LogDensity, us: Floats) -> LogProb:
    """The log density, with the transforms' Jacobian, and its gradient at each of `us` (points, dim)."""
    values, gradients = posterior.log_density_gradients(us)
    return LogProb(tuple(posterior.param_unc_names()), values, gradients)


def read_points(path: str | Path, posterior: LogDensity, unconstrained: bool = False) -> Floats:
    """Points (points, dim) from a CSV of draws, or from JSON.

    JSON holds one object of constrained values, or with `unconstrained` a list of numbers or of such lists.

    Raises:
        DataError: the file does not hold the program's parameters, or a value breaks its constraint.
    """
    path = Path(path)
    if path.suffix != ".json":
        names = {*posterior.param_names()}
        file = read_file(path, lambda head: (name for name in head.columns if name in names))
        return unconstrained_of(posterior, file.columns, file.draws)
    try:
        document = json.loads(require_file(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not unconstrained:
        if not isinstance(document, Mapping):
            raise DataError(f"{path}: constrained values are one JSON object, name to value.")
        return posterior.param_unconstrain(document)[None]
    if isinstance(document, Mapping):
        document = document.get("params_r", document)  # as CmdStan's unconstrained_params file nests it
    dim = posterior.param_unc_num()
    try:
        return np.array(document, dtype=float).reshape(-1, dim)
    except (TypeError, ValueError):
        raise DataError(f"{path}: unconstrained values are lists of {dim} numbers.") from None


def unconstrained_of(posterior: LogDensity, columns: Sequence[str], draws: Floats) -> Floats:
    """The unconstrained points (draws, dim) of draws of the parameters, read from their columns by name.

    Raises:
        DataError: a parameter's column is missing, or a value breaks its constraint.
    """
    at = {name: k for k, name in enumerate(columns)}
    missing = [name for name in posterior.param_names() if name not in at]
    if missing:
        raise DataError(
            f"no column {missing[0]} among the draws, but the program has that parameter.", missing[0]
        )
    rows = draws[:, [at[name] for name in posterior.param_names()]]
    declared = posterior.declared(include_tp=False, include_gq=False)
    points = [posterior.param_unconstrain(unflatten(declared, row)) for row in rows]
    return np.array(points).reshape(len(rows), posterior.param_unc_num())
