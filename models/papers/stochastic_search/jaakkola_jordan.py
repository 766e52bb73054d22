"""A quadratic bound on the log density of logistic regression, as a control variate (Paisley section 5.2)."""

from dataclasses import dataclass

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.estimators.stochastic_search import Quadratic
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.target import Target


@dataclass(frozen=True)
class JaakkolaJordan:
    """The bound of Jaakkola and Jordan (2000) on a logistic regression, tight for the present q.

    `x` (rows, dim) and `y` (rows,) of 0 and 1; independent N(0, 1 / prior_precision) priors on the weights.
    The target whose gradients it steadies must be that regression.
    """

    x: Floats
    y: Floats
    prior_precision: float = 1.0

    def __call__(self, target: Target, family: Family, params: Floats) -> Quadratic:
        mean = family.mean(params)
        second_moment = family.covariance(params) + np.outer(mean, mean)
        xi = np.sqrt(np.einsum("ij,jk,ik->i", self.x, second_moment, self.x))
        slack = _slack(xi)
        dim = family.dim
        prior = 0.5 * dim * np.log(self.prior_precision / (2 * np.pi))
        value = float((-np.logaddexp(0, -xi) - xi / 2 + slack * xi**2).sum()) + prior
        bound = -2 * (self.x.T * slack) @ self.x - self.prior_precision * np.eye(dim)
        return Quadratic(np.zeros(dim), value, self.x.T @ (self.y - 0.5), bound)


def _slack(xi: Floats) -> Floats:
    """lambda(xi) = tanh(xi / 2) / (4 xi), which is 1/8 at 0."""
    safe = np.maximum(xi, 1e-8)
    slack: Floats = np.tanh(safe / 2) / (4 * safe)
    return slack
