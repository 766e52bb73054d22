"""The mode of theta given y, by Newton's method: Rasmussen and Williams 2006, algorithm 3.1.

One Cholesky factorisation a step, of B = I + root(W) K root(W), which is never ill-conditioned by K.  Draws
take their steps together, each until its own end.  A program's own likelihood (own.py) goes the same way with
another B.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ppl.arrays import NUMPY, Array
from ppl.records import dataclass, replace
from ppl.stdlib.distributions.quadratic_form import SYMMETRY
from ppl.stdlib.laplace.likelihoods import Counts, Likelihood, Local


class NewtonBounds(NamedTuple):
    """When Newton's iteration for the mode ends."""

    most_steps: int = 500
    """Steps where the program gives no number, as Stan's default."""

    objective: float = 1.49012e-08
    """How little the objective changes at the end, where the program does not say, as Stan's default."""

    least_step: float = 1e-7
    """How little theta changes at the end, beside one: what is left is as the square of it."""

    most_halvings: int = 30
    """How often a step is halved that lowers the objective."""

    rounding: float = 1e-12
    """By how much the objective may seem to fall, beside the terms that it is the sum of."""


NEWTON = NewtonBounds()


class Latent(Protocol):
    """One log density of theta for each draw, normal(0, K) before the likelihood: `k` (draws, n, n)."""

    @property
    def k(self) -> Array: ...

    @property
    def sound(self) -> Array:
        """Which draws have a mode to be looked for."""
        ...

    def some(self, draws: Array) -> "Latent": ...

    def local(self, theta: Array) -> Any:
        """A named tuple: `value`, whose entries sum to the log likelihood, `first`, (draws, n), and more."""
        ...

    def through_prior(self, local: Any, b: Array) -> Array:
        """(I + W K)^-1 b, or what leads uphill where that does not."""
        ...

    def begin(self) -> "ThetaPoint":
        """Where Newton's method begins."""
        ...


@dataclass(frozen=True)
class Problem:
    """That of a likelihood with a name: `m` (draws, n), `rest` of (draws, 1)."""

    like: Likelihood
    counts: Counts
    k: Array
    m: Array
    rest: tuple[Array, ...] = ()

    def some(self, draws: Array) -> "Problem":
        return replace(self, k=self.k[draws], m=self.m[draws], rest=tuple(r[draws] for r in self.rest))

    def local(self, theta: Array) -> Local:
        return self.like.local(self.counts, theta + self.m, *self.rest)

    @property
    def sound(self) -> Array:
        """Which draws have finite offsets and a symmetric matrix."""
        return np.isfinite(self.m).all(axis=-1) & is_symmetric(self.k)

    def through_prior(self, local: Local, b: Array) -> Array:
        """(I + W K)^-1 b."""
        root = np.sqrt(local.weight)
        return b - root * solved(spread(self.k, root), root * times(self.k, b))

    def begin(self) -> "ThetaPoint":
        """theta = 0, or where a step from the modes of the rows alone leads, if that is higher."""
        start = self.like.start(self.counts) - self.m
        local, zero = self.local(start), at(self, np.zeros_like(self.m))
        aim = at(self, self.through_prior(local, local.weight * start + local.first))
        return chosen(aim.value > zero.value, aim, zero)


class ThetaPoint(NamedTuple):
    """theta = K a for each draw, the log likelihood there, and the log density with the size of its terms."""

    a: Array
    theta: Array
    local: Any
    value: Array
    size: Array

    def mapped(self, f: Callable[..., Array], *others: "ThetaPoint") -> "ThetaPoint":
        """f of each array, and of those of the others."""
        local = self.local._make(map(f, self.local, *(p.local for p in others)))
        a, theta, value, size = map(f, *((p.a, p.theta, p.value, p.size) for p in (self, *others)))
        return ThetaPoint(a, theta, local, value, size)

    def some(self, draws: Array) -> "ThetaPoint":
        return self.mapped(lambda x: x[draws])


def at(p: Latent, a: Array) -> ThetaPoint:
    theta = times(p.k, a)
    local = p.local(theta)
    square = 0.5 * np.sum(a * theta, axis=-1)
    value = np.sum(local.value, axis=-1) - square
    size = np.sum(np.abs(local.value), axis=-1) + np.abs(square)
    return ThetaPoint(a, theta, local, np.where(np.isfinite(value), value, -np.inf), size)


def modes(p: Latent, tolerance: float, most_steps: int) -> tuple[Array, Array]:
    """The mode theta = K a of each draw and its a, (draws, n) each; nan where Newton's method fails.

    A log-concave density has one mode, whatever the start.
    """
    ends = np.full((2, *p.k.shape[:2]), np.nan)
    going = np.flatnonzero(p.sound)
    if not going.size:
        return ends[0], ends[1]
    part = p.some(going)
    here = part.begin()
    for _ in range(most_steps):
        there = uphill(part, here, newton(part, here))
        fine = np.isfinite(there.value)
        end = fine & (there.value - here.value <= tolerance) & is_small(there.theta - here.theta, there.theta)
        ends[:, going[end]] = there.theta[end], there.a[end]
        more = np.flatnonzero(fine & ~end)
        if not more.size:
            break
        going, part, here = going[more], part.some(more), there.some(more)
    return ends[0], ends[1]


def newton(p: Latent, here: ThetaPoint) -> Array:
    """The a to which Newton's step leads, as a change: the whole would be a difference of large numbers."""
    return np.asarray(here.a + p.through_prior(here.local, here.local.first - here.a))


def uphill(p: Latent, here: ThetaPoint, aim: Array) -> ThetaPoint:
    """The points on the way to `aim` where the log density is no lower, halving what is left of the way."""
    there, share = at(p, aim), 1.0
    for _ in range(NEWTON.most_halvings):
        low = np.flatnonzero(is_lower(there, here))
        if not low.size:
            return there
        share /= 2
        begun = here.some(low)
        there = replaced(there, low, at(p.some(low), begun.a + share * (aim[low] - begun.a)))
    return chosen(is_lower(there, here), here, there)


def is_lower(there: ThetaPoint, here: ThetaPoint) -> Array:
    """Whether the log density is lower there, by more than rounding."""
    return there.value < here.value - NEWTON.rounding * here.size


def chosen(first: Array, a: ThetaPoint, b: ThetaPoint) -> ThetaPoint:
    """For each draw one of two points."""
    return replaced(b, np.flatnonzero(first), a.some(first))


def replaced(whole: ThetaPoint, draws: Array, by: ThetaPoint) -> ThetaPoint:
    """The points with those of some draws put in their place."""

    def put(x: Array, y: Array) -> Array:
        x = x.copy()
        x[draws] = y
        return x

    return whole.mapped(put, by)


def is_small(change: Array, theta: Array) -> Array:
    most = np.abs(theta).max(axis=-1, initial=0.0)
    return np.abs(change).max(axis=-1, initial=0.0) <= NEWTON.least_step * (1 + most)


# --- Matrices of each draw -----------------------------------------------------------------------


def times(k: Array, v: Array) -> Array:
    return np.matmul(k, v[..., None])[..., 0]


def is_symmetric(k: Array) -> Array:
    if np.array_equal(k, k.mT):
        return np.ones(len(k), dtype=bool)
    gap = np.abs(k - k.mT)
    return (gap <= SYMMETRY * np.maximum(1.0, np.abs(k))).all(axis=(-2, -1))


def diagonal_of(b: Array) -> Array:
    """A view, to be written to."""
    return np.einsum("...ii->...i", b)


def spread(k: Array, root: Array) -> Array:
    """B = I + root(W) K root(W)."""
    b = root[..., :, None] * k
    b *= root[..., None, :]
    diagonal_of(b)[...] += 1.0
    return b


def solved(b: Array, v: Array) -> Array:
    """B^-1 v of each draw; nan where B is not positive definite.  B is overwritten.

    LAPACK one by one: NumPy has no solver for positive definite matrices, and its other takes twice as long.
    """
    posv = NUMPY.slinalg.lapack.dposv
    each = (posv(matrix.T, vector, lower=1, overwrite_a=1) for matrix, vector in zip(b, v, strict=True))
    return np.array([x if info == 0 else np.full_like(x, np.nan) for _, x, info in each]).reshape(v.shape)
