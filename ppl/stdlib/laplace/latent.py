"""Draws of theta given y from Laplace's approximation."""

from collections.abc import Callable

import numpy as np

from ppl.arrays import Array, Namespace
from ppl.errors import Rejection
from ppl.stdlib.laplace.likelihoods import Likelihood
from ppl.stdlib.laplace.marginal import Outcomes, problem, refuse
from ppl.stdlib.laplace.mode import modes, solved, spread


def latent_of(like: Likelihood) -> Callable[..., Array]:
    """(rng, y, y_index, *dispersion, m, K, block size, tolerance, most steps) -> a draw of theta given y.

    theta is the mode and f - K root(W) B^-1 (root(W) f + z), of f from normal(0, K) and z from normal(0, I):
    its covariance is that of the approximation, K - K root(W) B^-1 root(W) K, and K may be singular.
    """
    name = f"laplace_latent_{like.name}_rng"

    def latent(rng: np.random.Generator, y: Array, index: Array, *args: Array) -> Array:
        *rest, m, k, block, tolerance, most_steps = args
        refuse(name, Outcomes(y, index), m, k, block, rest)
        _, p = problem(like, Outcomes(y, index), m, k, list(rest))
        with np.errstate(all="ignore"):
            theta, _ = modes(p, float(tolerance), int(most_steps))
        if not np.isfinite(theta).all():
            raise Rejection(f"`{name}`: no mode was found in {int(most_steps)} steps of Newton's method.")
        root = np.sqrt(p.local(theta).weight)
        values, vectors = np.linalg.eigh(k)
        f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(m)))
        seen = root * f + rng.standard_normal(len(m))
        return np.asarray(theta[0] + f - k @ (root * solved(spread(p.k, root), seen))[0])

    return latent


def drawn_about(rng: np.random.Generator, solution: Array) -> Array:
    """Mode + F z of z from normal(0, I): the first column of `solution` is the mode, the others are F."""
    mode, factor = solution[:, 0], solution[:, 1:]
    return np.asarray(mode + factor @ rng.standard_normal(len(mode)))


def mean_and_factor(xp: Namespace, solution: Array) -> tuple[Array, Array]:
    """The mean, and the lower triangular L of the covariance L L' = F F', which may be singular: F' = Q L'.

    The columns of `solution` are those of `drawn_about`.
    """
    lower = np.swapaxes(np.linalg.qr(solution[..., 1:].mT, mode="r"), -1, -2)
    signs = np.where(np.einsum("...ii->...i", lower) < 0, -1.0, 1.0)
    return solution[..., 0], lower * signs[..., None, :]
