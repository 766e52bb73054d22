"""A warm start for a sampler: the metric and initial values that CmdStan reads as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ppl.files import beside, write_whole
from ppl.floats import Floats
from ppl.kernel.draws.names import Sized, unflatten
from ppl.run.checksum import plain

PRIOR_DRAWS = 5.0
"""Draws that the prior of a covariance counts for, as in Stan's adaptation."""
PRIOR_VARIANCE = 1e-3
"""The variance towards which Stan shrinks those of a window, as five draws more would."""
CHAINS_STARTED = 4
"""Chains that initial values are written for, as many as CmdStanPy runs."""


def save_warm_start(
    base: Path, us: Floats, dense: bool, declared: Sequence[Sized], rows: Floats
) -> list[Path]:
    """Writes `<base>_metric.json`, and `<base>_inits_1.json` on for some chains; returns their names.

    Args:
        us: unconstrained draws (n, dim); their covariance, or with `dense` off its diagonal, is the metric.
        declared: the parameters.
        rows: the same draws constrained, (n, columns of the parameters).
    """
    metric = beside(base, "metric")
    write_whole(metric, [metric_json(covariance_of(us, dense), stepsize_for(us.shape[1]))])
    written = [metric]
    _, first = np.unique(rows, axis=0, return_index=True)  # chains that start together tell nothing
    for number, k in enumerate(np.sort(first)[:CHAINS_STARTED], 1):
        written.append(beside(base, f"inits_{number}"))
        write_whole(written[-1], [json.dumps(plain(unflatten(declared, rows[k]))) + "\n"])
    return written


def metric_json(inverse_metric: Floats, stepsize: float) -> str:
    """CmdStan's metric file: the diagonal (dim,) or the whole (dim, dim) of the inverse metric."""
    kind = "diag_e" if inverse_metric.ndim == 1 else "dense_e"
    record = {"stepsize": stepsize, "metric_type": kind, "inv_metric": inverse_metric.tolist()}
    return json.dumps(record, indent=1) + "\n"


def stepsize_for(dim: int) -> float:
    """A leapfrog step for unit scales in `dim` dimensions: dim^-1/4 (Roberts and Rosenthal 1998)."""
    return float(max(dim, 1) ** -0.25)


def covariance_of(us: Floats, dense: bool) -> Floats:
    """The covariance (dim, dim) of draws (n, dim), or its diagonal (dim,).

    Shrunk towards 1e-3 as if by five draws more, as Stan's adaptation does.
    """
    n, dim = us.shape
    weight = n / (n + PRIOR_DRAWS)
    floor = PRIOR_VARIANCE * (1.0 - weight)
    if dense:
        return np.asarray(weight * np.cov(us, rowvar=False).reshape(dim, dim) + floor * np.eye(dim))
    return np.asarray(weight * us.var(axis=0, ddof=1) + floor)
