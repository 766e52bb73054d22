"""A warm start for a sampler: the metric and initial values that CmdStan reads as JSON."""

import json

import numpy as np

from ppl.results.columns import Floats


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
    n = len(us)
    shrink, floor = n / (n + 5.0), 1e-3 * 5.0 / (n + 5.0)
    if dense:
        return np.asarray(
            shrink * np.cov(us, rowvar=False).reshape(us.shape[1], -1) + floor * np.eye(us.shape[1])
        )
    return np.asarray(shrink * us.var(axis=0, ddof=1) + floor)
