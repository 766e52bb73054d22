"""The path of L-BFGS uphill, and the Gaussian that its curvature suggests at every point of it.

Zhang, Carpenter, Gelman and Vehtari (2022), "Pathfinder", JMLR 23, Algorithms 2 to 4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from scipy.optimize import minimize

from ppl.inference.gaussian import LOG_2PI
from ppl.inference.target import Array, Target

HISTORY = 6


@dataclass(frozen=True)
class Curvature:
    """The inverse of minus the Hessian, D + B G B': D = diag(alpha) (dim,), B (dim, 2k), G (2k, 2k)."""

    alpha: Array
    basis: Array
    core: Array

    def times(self, v: Array) -> Array:
        """The covariance times a vector (dim,)."""
        return self.alpha * v + self.basis @ (self.core @ (self.basis.T @ v))

    @property
    def variances(self) -> Array:
        """Its diagonal (dim,)."""
        return np.asarray(self.alpha + ((self.basis @ self.core) * self.basis).sum(axis=1))

    @property
    def precisions(self) -> Array:
        """The diagonal (dim,) of its inverse, by Woodbury's identity."""
        scaled = self.basis / self.alpha[:, None]
        inside = np.linalg.solve(np.eye(len(self.core)) + self.core @ self.basis.T @ scaled, self.core)
        return np.asarray(1 / self.alpha - ((scaled @ inside) * scaled).sum(axis=1))

    def widening(self) -> Array:
        """F (dim, k) such that I + F F' is this in units of sqrt(alpha), where that is wider than I.

        The largest come first. It takes O(dim k^2): the eigenvectors lie in the span of B.
        """
        q, r = np.linalg.qr(self.basis / np.sqrt(self.alpha)[:, None])
        values, vectors = np.linalg.eigh(r @ self.core @ r.T)
        wider = (values > 0)[::-1]
        return np.asarray((q @ vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, wider])

    def dense(self) -> Array:
        """All of it, (dim, dim)."""
        return np.diag(self.alpha) + self.basis @ self.core @ self.basis.T

    def log_density(self, off: Array) -> Array:
        """log N(0, this) at `off` (n, dim), by Woodbury's identity; (n,)."""
        scaled = self.basis / self.alpha[:, None]
        inside = np.linalg.solve(np.eye(len(self.core)) + self.core @ self.basis.T @ scaled, self.core)
        square = (off**2 / self.alpha).sum(axis=1) - ((off @ scaled @ inside) * (off @ scaled)).sum(axis=1)
        _, half_log_det = self.colour(np.empty((0, len(self.alpha))))
        return np.asarray(-0.5 * (square + len(self.alpha) * LOG_2PI) - half_log_det)

    def colour(self, z: Array) -> tuple[Array, float]:
        """Turn standard noise (n, dim) into noise with this covariance; also half its log determinant.

        Raises LinAlgError when the covariance is not positive definite.
        """
        root = np.sqrt(self.alpha)
        q, r = np.linalg.qr(self.basis / root[:, None])
        factor = np.linalg.cholesky(np.eye(len(r)) + r @ self.core @ r.T)
        inside = z @ q
        coloured = root * (z + (inside @ (factor.T - np.eye(len(r)))) @ q.T)
        half_log_det = float(0.5 * np.log(self.alpha).sum() + np.log(np.diag(factor)).sum())
        return coloured, half_log_det


@dataclass(frozen=True)
class PathPoint:
    """A point of the path (dim,), the gradient of the log density there, and the curvature known by then."""

    u: Array
    gradient: Array
    curvature: Curvature


def lbfgs_path(target: Target, start: Array, most_steps: int = 1000) -> Iterator[PathPoint]:
    """The points of an L-BFGS ascent from `start` (dim,), the start left out."""
    points = _ascend(target, start, most_steps)
    alpha = np.ones_like(start)
    pairs: list[tuple[Array, Array]] = []
    for (u, gradient), (previous, previous_gradient) in zip(points[1:], points, strict=False):
        s, y = u - previous, previous_gradient - gradient
        if y @ s > 1e-12 * (y @ y):
            alpha = _update_diagonal(alpha, s, y)
            pairs = [*pairs, (s, y)][-HISTORY:]
        yield PathPoint(u, gradient, _curvature(alpha, pairs))


def _ascend(target: Target, start: Array, most_steps: int) -> list[tuple[Array, Array]]:
    """Every iterate with the gradient there. Off the support, a value that the line search backs off from."""
    origin, first = target.log_density_gradient(start)
    seen = {start.tobytes(): first}
    lowest = 0.0

    def objective(u: Array) -> tuple[float, Array]:
        nonlocal lowest
        value, gradient = target.log_density_gradient(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return 10 * (1 - lowest), np.zeros_like(u)
        lowest = min(lowest, value - origin)
        seen[u.tobytes()] = gradient
        return origin - value, -gradient

    iterates = [start]
    options = {"maxiter": most_steps, "maxcor": HISTORY, "ftol": 1e-10, "gtol": 1e-6}
    minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        options=options,
        callback=lambda u: iterates.append(np.copy(u)),
    )
    # Where the line search fails off the support, the last iterate may have no density: it is left out.
    return [(u, seen[u.tobytes()]) for u in takewhile(lambda u: u.tobytes() in seen, iterates)]


def _update_diagonal(alpha: Array, s: Array, y: Array) -> Array:
    """The diagonal of the inverse Hessian after one more pair (Gilbert and Lemarechal 1989; Algorithm 3)."""
    a, b, c = y @ (alpha * y), y @ s, s @ (s / alpha)
    return np.asarray(1 / (a / (b * alpha) + y**2 / b - a * s**2 / (b * c * alpha**2)))


def _curvature(alpha: Array, pairs: list[tuple[Array, Array]]) -> Curvature:
    """The compact form of the L-BFGS inverse Hessian (Byrd, Nocedal and Schnabel 1994, eq. 2.21)."""
    if not pairs:
        return Curvature(alpha, np.zeros((len(alpha), 0)), np.zeros((0, 0)))
    s, y = (np.stack(columns, axis=1) for columns in zip(*pairs, strict=True))
    scaled = alpha[:, None] * y
    r_inverse = np.linalg.inv(np.triu(s.T @ y))
    middle = r_inverse.T @ (np.diag(np.einsum("ij,ij->j", s, y)) + y.T @ scaled) @ r_inverse
    core = np.block([[np.zeros_like(middle), -r_inverse], [-r_inverse.T, middle]])
    return Curvature(alpha, np.concatenate([scaled, s], axis=1), core)
