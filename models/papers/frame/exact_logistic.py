"""The bound of a Gaussian q on Bayesian logistic regression, without noise: one quadrature a row of data."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True, eq=False)
class ExactBound:
    """F(mu, C) for rows `x` (n, d), labels `y` (n,) of 0 and 1, and the prior N(0, scale^2) on each weight.

    The likelihood sees q through the n projections x_n'theta alone, which are Gaussian (Challis and Barber
    2013), so its expectation is n integrals in one dimension: Gauss-Hermite with 80 nodes.
    """

    x: Array
    y: Array
    scale: float = 1.0
    signed: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signed", (2 * self.y - 1)[:, None] * self.x)

    @property
    def dim(self) -> int:
        return self.x.shape[1]

    def value(self, mu: Array, c: Array) -> float:
        """The bound in nats, for C (d, d), lower triangular."""
        return self.value_gradient(mu, c)[0]

    def value_gradient(self, mu: Array, c: Array) -> tuple[float, Array, Array]:
        """The bound and its gradients in mu (d,) and C (d, d)."""
        across = self.signed @ c
        sd = np.sqrt((across**2).sum(axis=1))
        margin = (self.signed @ mu)[:, None] + sd[:, None] * NODES
        log_likelihood = float((-np.logaddexp(0, -margin) @ WEIGHTS).sum())
        slope = np.exp(-np.logaddexp(0, margin))
        by_sd = (slope * NODES) @ WEIGHTS / np.maximum(sd, 1e-300)
        variance = self.scale**2
        log_prior = -0.5 * (mu @ mu + (c**2).sum()) / variance - 0.5 * self.dim * np.log(2 * np.pi * variance)
        diagonal = np.diagonal(c)
        entropy = float(np.log(np.abs(diagonal)).sum()) + 0.5 * self.dim * (1 + np.log(2 * np.pi))
        in_mu = self.signed.T @ (slope @ WEIGHTS) - mu / variance
        in_c = np.tril(self.signed.T @ (by_sd[:, None] * across)) - c / variance + np.diag(1 / diagonal)
        return log_likelihood + float(log_prior) + entropy, in_mu, in_c

    def best(self) -> tuple[Array, Array]:
        """The mu and C of the highest bound."""
        return self.unpack(self.path()[-1])

    def path(self) -> list[Array]:
        """The params of each evaluation of L-BFGS from N(0, I) on, the best of them last."""
        below, seen = np.tril_indices(self.dim), []

        def objective(params: Array) -> tuple[float, Array]:
            seen.append(params.copy())
            value, in_mu, in_c = self.value_gradient(*self.unpack(params))
            return -value, -np.concatenate([in_mu, in_c[below]])

        start = np.concatenate([np.zeros(self.dim), np.eye(self.dim)[below]])
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-12, "gtol": 1e-5}
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
        return [*seen, found.x]

    def unpack(self, params: Array) -> tuple[Array, Array]:
        c = np.zeros((self.dim, self.dim))
        c[np.tril_indices(self.dim)] = params[self.dim :]
        return params[: self.dim], c
