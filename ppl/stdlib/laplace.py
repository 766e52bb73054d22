"""The embedded Laplace approximation of latent Gaussian models.

    theta ~ normal(0, K),   y[i] ~ p(. | theta[g[i]] + m[g[i]]),   log p(y) by Laplace at the mode of theta

Rasmussen and Williams 2006, algorithms 3.1 and 5.1, for the likelihoods that Stan's embedded functions have:
all are log-concave, and each theta has rows of its own, so W, the negative Hessian of the log likelihood, is
diagonal and not negative.  Derivatives: the mode is found in plain numbers and then passed once more through
Newton's step.  Its derivative in theta is zero there, so by the implicit function theorem the step has the
derivatives of the mode itself (Margossian and others 2020, section 3); all that follows is arithmetic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, Node, with_vjps
from ppl.errors import Rejection
from ppl.stdlib.batching import refuse_outside
from ppl.stdlib.distributions.bernoulli import logit_log_density
from ppl.stdlib.distributions.neg_binomial import log_mean_log_density
from ppl.stdlib.distributions.poisson import log_rate_log_density
from ppl.stdlib.distributions.quadratic_form import diagonal, factor, solve_lower, solve_lower_transposed
from ppl.stdlib.record import guarded


@dataclass(frozen=True)
class NewtonBounds:
    """When Newton's iteration for the mode ends."""

    most_steps: int = 100
    """Steps where the program gives no number, as Stan's default."""

    objective: float = 1e-6
    """How little the objective changes at the end, where the program does not say, as Stan's default."""

    least_step: float = 1e-9
    """How little theta changes at the end, beside one: what is left is squared by the step after."""

    most_halvings: int = 30
    """How often a step is halved that lowers the objective."""

    rounding: float = 1e-12
    """By how much the objective may seem to fall, relatively, at its top."""


NEWTON = NewtonBounds()


class Counts(NamedTuple):
    """The rows of each theta: how many there are, and the sum of their outcomes."""

    rows: Array
    total: Array


Derivatives = Callable[..., tuple[Array, Array]]


@dataclass(frozen=True)
class Likelihood:
    """`derivatives(xp, counts, t, *dispersion)` are those of the log likelihood in t: the first, and -W."""

    name: str
    log_density: Callable[..., Array]
    derivatives: Derivatives
    dispersed: bool = False
    """Whether it has a parameter of its own, after y_index."""


def _poisson(xp: Namespace, counts: Counts, t: Array) -> tuple[Array, Array]:
    mean = counts.rows * xp.np.exp(t)
    return counts.total - mean, -mean


def _bernoulli(xp: Namespace, counts: Counts, t: Array) -> tuple[Array, Array]:
    chance = xp.special.expit(t)
    return counts.total - counts.rows * chance, -counts.rows * chance * xp.special.expit(-t)


def _neg_binomial(xp: Namespace, counts: Counts, t: Array, phi: Array) -> tuple[Array, Array]:
    logit, weight = t - xp.np.log(phi), counts.total + counts.rows * phi
    share = xp.special.expit(logit)
    return counts.total - weight * share, -weight * share * xp.special.expit(-logit)


LIKELIHOODS: tuple[Likelihood, ...] = (
    Likelihood("poisson_log", log_rate_log_density, _poisson),
    Likelihood("neg_binomial_2_log", log_mean_log_density, _neg_binomial, dispersed=True),
    Likelihood("bernoulli_logit", logit_log_density, _bernoulli),
)


class Step(NamedTuple):
    """Newton's step: a with theta = K a, the root of W and the factor of B = I + root(W) K root(W)."""

    a: Array
    root: Array
    lower: Array


def newton(
    xp: Namespace, like: Likelihood, counts: Counts, k: Array, m: Array, rest: Any, theta: Array
) -> Step:
    first, second = like.derivatives(xp, counts, theta + m, *rest)
    seen = xp.plain(second) < 0  # a theta without rows has none, and a root without derivative
    root = xp.np.where(seen, xp.np.sqrt(xp.np.where(seen, -second, 1.0)), 0.0)
    lower = factor(xp, np.eye(len(m)) + root[:, None] * k * root)
    b = first - second * theta
    inner = solve_lower(xp, lower, root * xp.np.matmul(k, b))
    return Step(b - root * solve_lower_transposed(xp, lower, inner), root, lower)


def counted(xp: Namespace, y: Array, index: Array, size: int) -> Counts:
    at = index - 1
    rows = xp.np.bincount(at, weights=xp.np.ones(np.shape(y)), minlength=size)
    return Counts(rows, xp.np.bincount(at, weights=y * 1.0, minlength=size))


def mode_of(like: Likelihood) -> Node:
    """Where the log density of theta given y is highest, in plain numbers; nan where Newton's method fails.

    It begins at 0: a log-concave density has one mode, whatever the start.
    """

    def mode(xp: Namespace, k: Array, m: Array, y: Array, index: Array, *more: Array) -> Array:
        k, m = np.asarray(k, dtype=float), np.asarray(m, dtype=float)
        *rest, tolerance, most_steps = more
        counts = counted(NUMPY, y, index, len(m))

        def log_joint(a: Array) -> float:
            theta = k @ a
            found = np.sum(like.log_density(NUMPY, y, (theta + m)[index - 1], *rest)) - 0.5 * a @ theta
            return float(found) if np.isfinite(found) else -np.inf

        with np.errstate(all="ignore"):
            a = np.zeros(len(m))
            best = log_joint(a)
            for _ in range(int(most_steps)):
                aim = newton(NUMPY, like, counts, k, m, rest, k @ a).a
                a, before, last = _uphill(log_joint, a, aim, best), a, best
                best = log_joint(a)
                if not np.isfinite(a).all() or not np.isfinite(best):
                    break
                if best - last <= tolerance and _small(k @ (a - before), k @ a):
                    return k @ a
        return np.full(len(m), np.nan)

    return with_vjps(*(None,) * (6 + like.dispersed))(mode)


def _uphill(log_joint: Callable[[Array], float], a: Array, aim: Array, best: float) -> Array:
    """The point on the way to `aim` where the objective is no lower, halving what is left of the way."""
    share = 1.0
    for _ in range(NEWTON.most_halvings):
        there = a + share * (aim - a)
        if log_joint(there) >= best - NEWTON.rounding * abs(best):
            return there
        share /= 2
    return a


def _small(change: Array, theta: Array) -> bool:
    return bool(np.abs(change).max(initial=0.0) <= NEWTON.least_step * (1 + np.abs(theta).max(initial=0.0)))


def refuse(name: str, y: Array, index: Array, m: Array, k: Array) -> None:
    """Raise Rejection where sizes do not agree; IndexError where a y_index is none of theta."""
    size = len(m)
    if np.shape(y) != np.shape(index):
        raise Rejection(f"`{name}`: y has {len(y)} entries, y_index has {len(index)}; they must be as many.")
    if np.shape(k) != (size, size):
        rows, columns = np.shape(k)
        raise Rejection(f"`{name}`: the covariance is {rows} by {columns}, the offset has {size} entries.")
    if isinstance(index, np.ndarray):
        refuse_outside(index, size)


def marginal_of(like: Likelihood) -> Callable[..., Array]:
    """(xp, y, y_index, *dispersion, m, K, tolerance, most steps) -> log p(y)."""
    mode, name = mode_of(like), f"laplace_marginal_{like.name}_lpmf"

    def marginal(xp: Namespace, y: Array, index: Array, *args: Array) -> Array:
        *rest, m, k, tolerance, most_steps = args
        refuse(name, y, index, m, k)
        size = len(m)
        counts = counted(xp, y, index, size)
        plain = [xp.plain(x) for x in (k, m)], [xp.plain(x) for x in rest]
        begin = mode(xp, *plain[0], y, index, *plain[1], tolerance, most_steps)
        found = xp.np.all(xp.np.isfinite(begin))
        begin, k = xp.np.where(found, begin, 0.0), xp.np.where(found, k, 0.0)
        a = newton(xp, like, counts, k, m, rest, begin).a
        theta = xp.np.matmul(k, a)
        lower = newton(xp, like, counts, k, m, rest, theta).lower
        values = like.log_density(xp, y, (theta + m)[index - 1], *rest)
        log_root = xp.np.sum(xp.np.log(diagonal(xp, lower)))
        return guarded(xp, found, xp.np.sum(values) - 0.5 * xp.np.sum(a * theta) - log_root)

    return marginal


def latent_of(like: Likelihood) -> Callable[..., Array]:
    """(generator, y, y_index, *dispersion, m, K, tolerance, most steps) -> a draw of theta given y.

    theta is the mode and f - K root(W) B^-1 (root(W) f + z), of f from normal(0, K) and z from normal(0, I):
    its covariance is that of the approximation, K - K root(W) B^-1 root(W) K, and K may be singular.
    """
    mode, name = mode_of(like), f"laplace_latent_{like.name}_rng"

    def latent(generator: np.random.Generator, y: Array, index: Array, *args: Array) -> Array:
        *rest, m, k, tolerance, most_steps = args
        refuse(name, y, index, m, k)
        theta = mode(NUMPY, k, m, y, index, *rest, tolerance, most_steps)
        if not np.isfinite(theta).all():
            raise Rejection(f"`{name}`: no mode was found in {int(most_steps)} steps of Newton's method.")
        step = newton(NUMPY, like, counted(NUMPY, y, index, len(m)), k, m, rest, theta)
        values, vectors = np.linalg.eigh(k)
        f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * generator.standard_normal(len(m)))
        seen = step.root * f + generator.standard_normal(len(m))
        inner = solve_lower(NUMPY, step.lower, seen)
        return np.asarray(theta + f - k @ (step.root * solve_lower_transposed(NUMPY, step.lower, inner)))

    return latent
