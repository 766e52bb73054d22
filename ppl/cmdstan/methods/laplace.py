"""`method=laplace`: draws from the Gaussian with the mode's curvature."""

from pathlib import Path

import numpy as np

from ppl.cmdstan.job import Job, read_rows
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian, gaussian_at
from ppl.posterior import Posterior
from ppl.results.fits.log_prob import read_points, unconstrained_of
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.table import tabulate


def run(job: Job) -> int:
    """Writes `log_p__,log_q__` and the draws; log_q lacks its constants, and log_p those of `~` statements.

    Raises:
        InferenceError: there is no mode, or the density is not curved like a maximum there.
    """
    density = PosteriorTarget(job.posterior, propto=True, jacobian=job["laplace.jacobian"])
    mode = read_mode(job.file("laplace.mode"), job.posterior)
    z = job.streams.draws.standard_normal((job["laplace.draws"], density.dim))
    us = approximation(density, mode).draws(z)
    log_p = density.log_densities(us) if job["laplace.calculate_lp"] else np.full(len(us), np.nan)
    table = tabulate(job.posterior, us, job.seed)
    log_q = -0.5 * (z**2).sum(axis=1)
    rows = np.column_stack([log_p, log_q, table.rows])
    job.write_csv(["log_p__", "log_q__", *table.columns], job.row_lines(rows))
    return 0


def read_mode(file: str, posterior: Posterior) -> Floats:
    """The mode (dim,) from JSON, or from the last row of the file that method optimize wrote."""
    if Path(file).suffix == ".json":
        (mode,) = read_points(file, posterior)
    else:
        columns, rows = read_rows(file)
        (mode,) = unconstrained_of(posterior, columns, rows[-1:])
    return np.asarray(mode)


def approximation(density: PosteriorTarget, mode: Floats) -> Gaussian:
    """The Gaussian at the mode (dim,), as algorithm laplace makes it, where nothing has to be repaired."""
    try:
        q, repaired = gaussian_at(density, mode, np.ones_like(mode))
    except (np.linalg.LinAlgError, ValueError):
        repaired = density.dim
    if repaired:
        raise InferenceError(
            "The Hessian at the mode is not negative definite, so there is no Laplace approximation. "
            "Check that the mode was found with the same jacobian."
        )
    return q
