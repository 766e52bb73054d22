"""`method=log_prob`: log density and gradient at given points."""

import numpy as np

from ppl.cmdstan.job import Job
from ppl.data import load_data
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.results.fits.log_prob import read_points
from ppl.run.posterior_target import PosteriorTarget

DIGITS = 8
"""Significant figures where `sig_figs` says none, as in CmdStan 2.37 and later."""


def run(job: Job) -> int:
    """Writes `lp__,g_...` with a row for each point, constants dropped.

    Raises:
        InferenceError: no file of points is named, or both are.
        DataError: the points do not fit the program.
    """
    density = PosteriorTarget(job.posterior, propto=True, jacobian=job["log_prob.jacobian"])
    pairs = [density.log_density_gradient(u) for u in _points(job)]
    names = [f"g_{name}" for name in job.posterior.param_unc_names()]
    rows = ([value, *gradient] for value, gradient in pairs)
    job.write_csv(["lp__", *names], job.row_lines(rows, DIGITS))
    return 0


def _points(job: Job) -> Floats:
    unconstrained, constrained = job["log_prob.unconstrained_params"], job["log_prob.constrained_params"]
    if bool(unconstrained) == bool(constrained):
        raise InferenceError(
            "log_prob needs either unconstrained_params=<file> or constrained_params=<file>."
        )
    if constrained:
        return read_points(constrained, job.posterior)
    values = load_data(unconstrained).values
    if "params_r" not in values:
        raise InferenceError(f"{unconstrained} has no variable params_r with unconstrained values.")
    points: Floats = np.atleast_2d(np.asarray(values["params_r"], dtype=float))
    dim = job.posterior.param_unc_num()
    if points.shape[1] != dim:
        raise InferenceError(f"Model has {dim} unconstrained parameters, but {points.shape[1]} were found.")
    return points
