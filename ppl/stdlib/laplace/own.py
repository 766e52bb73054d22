"""Laplace's approximation of a program's own likelihood f(theta), with any Hessian in blocks of one size.

    log p(y) = f(theta) - a' theta / 2 - log |B| / 2    at the mode theta = K a,  B = I + L' W L,  K = L L'

W, minus the Hessian of f, need not be positive where f is not log-concave, nor K be regular: B is positive
definite wherever the mode is a maximum.  Rasmussen and Williams 2006, section 3.4; the adjoints are those of
Margossian 2023, General adjoint-differentiated Laplace approximation, sections 3 and 4.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ppl.arrays import NUMPY, Array
from ppl.errors import Rejection
from ppl.records import dataclass, replace
from ppl.stdlib.laplace.marginal import refuse_block
from ppl.stdlib.laplace.mode import ThetaPoint, at, chosen, is_symmetric, modes, times

SINGULAR = 1e-8
"""How far below zero, beside the largest, an eigenvalue of a covariance may be by rounding."""

FAR_FROM_MODE = 1e-5
"""How far from the mode, beside one, the point is that Newton's method may end at."""

COUPLED = 1e-8
"""How much the Hessian may have outside its blocks, beside what it has inside."""


class Curve(NamedTuple):
    """f and its derivatives for each draw: (draws, 1), (draws, n), and W in blocks (draws, n / m, m, m)."""

    value: Array
    first: Array
    weight: Array


class OwnLikelihood(Protocol):
    """f of the program, for the draws with the given numbers; theta is (draws, n)."""

    @property
    def name(self) -> str: ...

    def curve(self, theta: Array, draws: Array, block: int) -> Curve: ...

    def times_hessian(self, theta: Array, draws: Array, v: Array) -> Array:
        """The Hessian times v (n,), (draws, n)."""
        ...


@dataclass(frozen=True)
class OwnProblem:
    """`factor` is L, (draws, n, n); `start` a theta (n,) to begin at; `draws` their numbers in the batch."""

    like: OwnLikelihood
    k: Array
    factor: Array
    start: Array
    block: int
    draws: Array

    @property
    def sound(self) -> Array:
        return np.isfinite(self.factor).all(axis=(-2, -1)) & is_symmetric(self.k)

    def some(self, draws: Array) -> "OwnProblem":
        return replace(self, k=self.k[draws], factor=self.factor[draws], draws=self.draws[draws])

    def local(self, theta: Array) -> Curve:
        return self.like.curve(theta, self.draws, self.block)

    def through_prior(self, local: Curve, b: Array) -> Array:
        """(I + W K)^-1 b; without the directions in which f is convex where the sum is no maximum."""
        weight, lower = local.weight, cholesky(self.inner(local.weight))
        convex = np.flatnonzero(np.isnan(lower).any(axis=(-2, -1)))
        if convex.size:
            weight = np.array(weight)
            weight[convex] = concave_part(weight[convex])
            lower[convex] = cholesky(self.some(convex).inner(weight[convex]))
        inside = solved(lower, times(self.factor.mT, b))
        return np.asarray(b - weighted(weight, times(self.factor, inside)))

    def inner(self, weight: Array) -> Array:
        """B."""
        columns = weighted(weight, self.factor)
        b = np.matmul(self.factor.mT, columns)
        return np.asarray(0.5 * (b + b.mT) + np.eye(b.shape[-1]))

    def begin(self) -> ThetaPoint:
        """theta = 0, or where a step from the given start leads."""
        zero = at(self, np.zeros(self.k.shape[:2]))
        if not self.start.any():
            return zero
        start = np.broadcast_to(self.start, self.k.shape[:2])
        local = self.local(start)
        local = local._replace(weight=concave_part(local.weight))
        aim = at(self, self.through_prior(local, weighted(local.weight, start) + local.first))
        return chosen(np.isfinite(aim.value), aim, zero)


class LaplaceApproximation(NamedTuple):
    """log p(y) of each draw (draws,), the mode theta = K a, (draws, n), and Sigma = F F', (draws, n, n).

    `weight` is W at the mode.  All is nan where there is no mode that is a maximum.
    """

    value: Array
    theta: Array
    a: Array
    weight: Array
    factor: Array

    @property
    def sigma(self) -> Array:
        """The covariance of theta, (K^-1 + W)^-1."""
        return np.matmul(self.factor, self.factor.mT)


def problem(like: OwnLikelihood, k: Array, start: Array, block: int) -> OwnProblem:
    """The matrices to be solved for covariances (draws, n, n).

    Raises:
        Rejection: a size does not fit another.
    """
    height, width = k.shape[-2:]
    if height != width:
        raise Rejection(f"`{like.name}`: the covariance is {height} by {width}.")
    if start.size not in (0, height):
        raise Rejection(
            f"`{like.name}`: theta_init has {start.size} entries, the covariance is {height} by {width}."
        )
    refuse_block(like.name, block, height)
    start = start if start.size else np.zeros(height)
    return OwnProblem(like, k, factored(k), start, block, np.arange(len(k)))


def approximated(p: OwnProblem, tolerance: float, most_steps: int) -> LaplaceApproximation:
    """Raises Rejection where the Hessian at the mode is not in blocks of the size that was given."""
    draws, n = p.k.shape[:2]
    shapes: list[tuple[int, ...]] = [(), (n,), (n,), (n // p.block, p.block, p.block), (n, n)]
    out = LaplaceApproximation._make(np.full((draws, *shape), np.nan) for shape in shapes)
    theta, a = modes(p, tolerance, most_steps)
    solved = np.flatnonzero(np.isfinite(theta).all(axis=-1))
    if solved.size:
        for whole, part in zip(out, at_modes(p.some(solved), theta[solved], a[solved]), strict=True):
            whole[solved] = part
    return out


def at_modes(p: OwnProblem, theta: Array, a: Array) -> LaplaceApproximation:
    local = p.local(theta)
    lower = cholesky(p.inner(local.weight))
    factor = np.stack([half(own, low) for own, low in zip(p.factor, lower, strict=True)])
    left = times(factor, times(factor.mT, local.first - a))
    settled = np.abs(left).max(axis=-1) <= FAR_FROM_MODE * (1 + np.abs(theta).max(axis=-1))
    refuse_coupled(p, theta, local.weight)
    log_root = np.sum(np.log(np.einsum("...ii->...i", lower)), axis=-1)
    value = local.value[:, 0] - 0.5 * np.sum(a * theta, axis=-1) - log_root
    return LaplaceApproximation(np.where(settled, value, np.nan), theta, a, local.weight, factor)


def refuse_coupled(p: OwnProblem, theta: Array, weight: Array) -> None:
    """Rejection where the Hessian has more than the blocks, by its product with one vector."""
    n = theta.shape[-1]
    if p.block == n:
        return
    v = np.cos(1.0 + np.arange(n) ** 2)
    inside = -weighted(weight, np.broadcast_to(v, theta.shape))
    scale = np.abs(weight).max(axis=(1, 2, 3), initial=0.0)[:, None]
    coupled = np.abs(p.like.times_hessian(theta, p.draws, v) - inside) > COUPLED * (1 + n * scale)
    if coupled.any():
        at = int(np.argmax(coupled.any(axis=0))) + 1
        raise Rejection(
            f"`{p.like.name}`: theta[{at}] shares terms of the log likelihood with a theta of another block: "
            f"its Hessian is not in blocks of {p.block}. Write their size as hessian_block_size; {n}, all "
            "of theta, always holds."
        )


def slopes(at_mode: LaplaceApproximation, s: Array) -> tuple[Array, Array]:
    """The derivatives in K, (draws, n, n), and what moves the mode of each draw, (draws, n).

    Through the mode theta = K a, where the derivative of log |B| alone is not zero.

    With P = (I + W K)^-1 W = W - W Sigma W and s the derivative of - log |B| / 2 in theta, (draws, n),
    d value = (a / 2 + (I + W K)^-1 s)' dK a - tr(P dK) / 2, and what moves f's gradient moves theta by Sigma.
    """
    sigma = at_mode.sigma
    mode_shift = times(sigma, s)
    through_mode = s - weighted(at_mode.weight, mode_shift)
    w_sigma_w = weighted(at_mode.weight, weighted(at_mode.weight, sigma).mT)
    precision = spread_out(at_mode.weight) - w_sigma_w
    by_k = (0.5 * at_mode.a + through_mode)[:, :, None] * at_mode.a[:, None, :] - 0.5 * precision
    return by_k, mode_shift


# --- Matrices of each draw -----------------------------------------------------------------------


def weighted(weight: Array, x: Array) -> Array:
    """W x of each draw, x being (draws, n) or (draws, n, k)."""
    draws, blocks, size = weight.shape[:3]
    return np.matmul(weight, np.reshape(x, (draws, blocks, size, -1))).reshape(x.shape)


def spread_out(weight: Array) -> Array:
    """W of each draw, whole."""
    draws, blocks, size = weight.shape[:3]
    out = np.zeros((draws, blocks, size, blocks, size))
    each = np.arange(blocks)
    out[:, each, :, each, :] = np.swapaxes(weight, 0, 1)
    return out.reshape(draws, blocks * size, blocks * size)


def blocks_of(matrix: Array, size: int) -> Array:
    """The blocks (draws, n / size, size, size) on the diagonal."""
    draws, n = matrix.shape[:2]
    each = np.arange(n // size)
    split = matrix.reshape(draws, n // size, size, n // size, size)
    return np.swapaxes(split[:, each, :, each, :], 0, 1)


def concave_part(weight: Array) -> Array:
    """W with no eigenvalue below zero."""
    sound = np.isfinite(weight).all(axis=(-2, -1), keepdims=True)
    values, vectors = np.linalg.eigh(np.where(sound, weight, 0.0))
    positive = np.matmul(vectors * np.maximum(values, 0.0)[..., None, :], vectors.mT)
    return np.where(sound, positive, np.nan)


def factored(k: Array) -> Array:
    """L with L L' = K; nan where K is not positive semidefinite."""
    lower = cholesky(k)
    for i in np.flatnonzero(np.isnan(lower).any(axis=(-2, -1)) & np.isfinite(k).all(axis=(-2, -1))):
        values, vectors = np.linalg.eigh(k[i])
        if values.size and values[0] >= -SINGULAR * max(values[-1], 0.0):
            lower[i] = vectors * np.sqrt(np.maximum(values, 0.0))
    return lower


def cholesky(b: Array) -> Array:
    """The lower factor of each draw; nan where there is none."""
    out, lapack = np.full(b.shape, np.nan), NUMPY.slinalg.lapack
    for i, matrix in enumerate(b):
        lower, info = lapack.dpotrf(matrix, lower=1, clean=1)
        if info == 0:
            out[i] = lower
    return out


def solved(lower: Array, v: Array) -> Array:
    """(L L')^-1 v of each draw."""
    potrs = NUMPY.slinalg.lapack.dpotrs
    return np.array([potrs(own, x, lower=1)[0] for own, x in zip(lower, v, strict=True)]).reshape(v.shape)


def half(factor: Array, lower: Array) -> Array:
    """F with F F' = L B^-1 L' of one draw, `lower` being the factor of B."""
    return np.asarray(NUMPY.slinalg.lapack.dtrtrs(lower, factor.T, lower=1)[0].T)
