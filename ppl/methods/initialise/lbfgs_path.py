"""The path of L-BFGS uphill, and the Gaussian that its curvature suggests at every point of it.

Zhang, Carpenter, Gelman and Vehtari (2022), "Pathfinder", JMLR 23, Algorithms 2 to 4.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import LOG_2PI
from ppl.methods.maximise.lockstep import Search
from ppl.methods.maximise.quasi_newton import LimitedMemory, climb
from ppl.methods.maximise.rules import UNTIL_STOPPED, SearchPoint
from ppl.records import dataclass, replace


class PathLimits(NamedTuple):
    """How much of an L-BFGS path is kept."""

    history: int = 20
    """Steps that describe the curvature. The paper's six take a hierarchical program half as many steps
    again.
    """

    most_steps: int = 200
    """Steps of a path, or as many as dimensions: one down a funnel has no end."""

    most_numbers: int = 1 << 27
    """Numbers that are kept of a path: a gigabyte."""

    least_gain: float = 1e-10
    """The gain of a step, relative to the log density, after which a path ends."""

    numbers_a_step: int = 5
    """Numbers of a step for each dimension: point, gradient, diagonal, and a pair of differences."""


LBFGS_PATH = PathLimits()


@dataclass(frozen=True)
class InverseHessian:
    """The inverse of minus the Hessian, D + B G B': D = diag(alpha) (dim,), B (dim, 2k), G (2k, 2k).

    With a leading axis it is one for each of several points: `times` and `colour` then do all at once.
    """

    alpha: Floats
    basis: Floats
    core: Floats

    @property
    def each(self) -> "Iterator[InverseHessian]":
        """One after the other, where there is a leading axis."""
        return map(InverseHessian, self.alpha, self.basis, self.core)

    def times(self, v: Floats) -> Floats:
        """The covariance times a vector (dim,)."""
        projected = self.core @ (self.basis.mT @ v[..., None])
        return np.asarray(self.alpha * v + (self.basis @ projected)[..., 0])

    @property
    def variances(self) -> Floats:
        """Its diagonal (dim,)."""
        return np.asarray(self.alpha + ((self.basis @ self.core) * self.basis).sum(axis=1))

    @property
    def precisions(self) -> Floats:
        """The diagonal (dim,) of its inverse."""
        scaled, inside = self.woodbury
        return np.asarray(1 / self.alpha - ((scaled @ inside) * scaled).sum(axis=1))

    @cached_property
    def woodbury(self) -> tuple[Floats, Floats]:
        """The S (dim, 2k) and C (2k, 2k) with which the inverse is D^-1 - S C S', by Woodbury's identity."""
        scaled = self.basis / self.alpha[:, None]
        inside = np.linalg.solve(np.eye(len(self.core)) + self.core @ self.basis.T @ scaled, self.core)
        return scaled, np.asarray(inside)

    @cached_property
    def half_log_det(self) -> Floats:
        return self.colour(np.empty((0, len(self.alpha))))[1]

    def widening(self) -> Floats:
        """F (dim, k) such that I + F F' is this in units of sqrt(alpha), where that is wider than I.

        The largest come first. It takes O(dim k^2): the eigenvectors lie in the span of B.
        """
        q, r = np.linalg.qr(self.basis / np.sqrt(self.alpha)[:, None])
        values, vectors = np.linalg.eigh(r @ self.core @ r.T)
        wider = (values > 0)[::-1]
        return np.asarray((q @ vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, wider])

    def dense(self) -> Floats:
        """All of it, (dim, dim)."""
        return np.diag(self.alpha) + self.basis @ self.core @ self.basis.T

    def log_density(self, off: Floats) -> Floats:
        """log N(0, this) at `off` (n, dim); (n,)."""
        scaled, inside = self.woodbury
        square = (off**2 / self.alpha).sum(axis=1) - ((off @ scaled @ inside) * (off @ scaled)).sum(axis=1)
        return np.asarray(-0.5 * (square + len(self.alpha) * LOG_2PI) - self.half_log_det)

    def colour(self, z: Floats) -> tuple[Floats, Floats]:
        """Turn standard noise (n, dim) into noise with this covariance; also half its log determinant, ().

        Raises LinAlgError when the covariance is not positive definite.
        """
        root = np.sqrt(self.alpha)
        q, r = np.linalg.qr(self.basis / root[..., None])
        one = np.eye(r.shape[-2])
        factor = np.linalg.cholesky(one + r @ self.core @ r.mT)
        coloured = root[..., None, :] * (z + z @ q @ (factor.mT - one) @ q.mT)
        diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
        return coloured, np.asarray(0.5 * np.log(self.alpha).sum(axis=-1) + np.log(diagonal).sum(axis=-1))


@dataclass(frozen=True)
class PathPoint:
    """A point of the path (dim,), so many steps from its start, the log density there and its gradient.

    What is known of the curvature by then: a diagonal `alpha` (dim,), and the last steps with the changes of
    gradient that they made, (dim,) each.
    """

    steps: int
    u: Floats
    log_density: float
    gradient: Floats
    alpha: Floats
    pairs: tuple[tuple[Floats, Floats], ...]

    @property
    def curvature(self) -> InverseHessian:
        return next(curvatures([self]).each)


def curvatures(points: Sequence[PathPoint]) -> InverseHessian:
    """Those of the points along a leading axis, where there are fewer pairs filled up with zeros."""
    n, dim, most = len(points), len(points[0].u), 2 * max(len(point.pairs) for point in points)
    alpha, basis, core = np.empty((n, dim)), np.zeros((n, dim, most)), np.zeros((n, most, most))
    done = 0
    for pairs, alike in groupby(points, lambda point: len(point.pairs)):
        part = _alike(list(alike))
        at = slice(done, done := done + len(part.alpha))
        alpha[at] = part.alpha
        basis[at, :, : 2 * pairs], core[at, : 2 * pairs, : 2 * pairs] = part.basis, part.core
    return InverseHessian(alpha, basis, core)


def _alike(points: Sequence[PathPoint]) -> InverseHessian:
    """The same of points with equally many pairs."""
    pairs = np.array([point.pairs for point in points]).reshape(len(points), -1, 2, len(points[0].u))
    s, y = pairs.transpose(2, 0, 3, 1)
    return _curvature(np.array([point.alpha for point in points]), s, y)


PathWatch = Callable[[PathPoint], bool]
"""Is shown every point of a path when it is reached; the path ends where it is true."""


def lbfgs_path(start: Floats, watch: PathWatch) -> Search[list[PathPoint]]:
    """The points of an L-BFGS ascent from `start` (dim,), the start left out.

    Of very many dimensions the path has no more steps than memory holds.
    """
    room = LBFGS_PATH.most_numbers // (LBFGS_PATH.numbers_a_step * max(1, len(start)))
    most_steps = max(1, min(max(LBFGS_PATH.most_steps, len(start)), room))
    rules, memory = replace(UNTIL_STOPPED, iter=most_steps), LimitedMemory(LBFGS_PATH.history)
    path: list[PathPoint] = []

    def see(step: SearchPoint) -> bool:
        if step.number == len(path) - 1:  # the line search failed
            return True
        if not path:
            path.append(PathPoint(0, start, step.value, step.gradient, np.ones_like(start), ()))
            return False
        before, here = path[-1], next_point(path[-1], step.u, step.value, step.gradient)
        path.append(here)
        least = LBFGS_PATH.least_gain * max(1.0, abs(here.log_density))
        return watch(here) or here.log_density - before.log_density <= least

    yield from climb(start, rules, memory, see, unit_start=True)
    return path[1:]


def next_point(before: PathPoint, u: Floats, log_density: float, gradient: Floats) -> PathPoint:
    """The point one step on; a step that tells nothing of the curvature is not kept."""
    s, y = u - before.u, before.gradient - gradient
    alpha, pairs = before.alpha, before.pairs
    if y @ s > 1e-12 * (y @ y):
        alpha, pairs = _update_diagonal(alpha, s, y), (*pairs, (s, y))[-LBFGS_PATH.history :]
    return PathPoint(before.steps + 1, u, log_density, gradient, alpha, pairs)


def _update_diagonal(alpha: Floats, s: Floats, y: Floats) -> Floats:
    """The diagonal of the inverse Hessian after one more pair (Gilbert and Lemarechal 1989; Algorithm 3)."""
    a, b, c = y @ (alpha * y), y @ s, s @ (s / alpha)
    return np.asarray(1 / (a / (b * alpha) + y**2 / b - a * s**2 / (b * c * alpha**2)))


def _curvature(alpha: Floats, s: Floats, y: Floats) -> InverseHessian:
    """The compact form of the L-BFGS inverse Hessian (Byrd, Nocedal and Schnabel 1994, eq. 2.21)."""
    scaled, k = alpha[..., None] * y, s.shape[-1]
    product = s.mT @ y
    r_inverse = np.linalg.inv(np.triu(product))
    core = np.zeros((*alpha.shape[:-1], 2 * k, 2 * k))
    core[..., :k, k:], core[..., k:, :k] = -r_inverse, -r_inverse.mT
    core[..., k:, k:] = r_inverse.mT @ (np.eye(k) * product + y.mT @ scaled) @ r_inverse
    return InverseHessian(alpha, np.concatenate([scaled, s], axis=-1), core)
