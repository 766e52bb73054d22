"""Toy targets whose posterior is known exactly."""

from functools import cached_property

import numpy as np

from ppl.kernel.advi.target import Target
from ppl.methods.initialise.lbfgs_path import lbfgs_path
from ppl.methods.maximise.lockstep import answered
from ppl.records import dataclass


def path_of(target, start, watch=lambda point: False):
    """The L-BFGS path on its own."""
    return answered(target.log_density_gradient, lbfgs_path(start, watch))


class OneByOne(Target):
    """Many points as so many single ones, for a target that changes what a single one is."""

    log_densities = Target.log_densities
    log_density_gradients = Target.log_density_gradients


@dataclass(frozen=True)
class Gaussian(Target):
    """N(mean, covariance) with every constant, plus `shift` nats."""

    mean: np.ndarray
    covariance: np.ndarray
    shift: float = 0.0

    @property
    def dim(self):
        return len(self.mean)

    @cached_property
    def precision(self):
        return np.linalg.inv(self.covariance)

    @cached_property
    def log_det(self):
        return np.linalg.slogdet(2 * np.pi * self.covariance)[1]

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        weighted = self.precision @ (u - self.mean)
        return self.shift - 0.5 * float((u - self.mean) @ weighted) - 0.5 * self.log_det, -weighted

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        off = us - self.mean
        weighted = off @ self.precision
        return self.shift - 0.5 * (off * weighted).sum(axis=1) - 0.5 * self.log_det, -weighted


@dataclass
class ByPrecision(Target):
    """A normal density about zero, up to a constant; below `edge` in the first coordinate there is none."""

    precision: np.ndarray
    edge: float = -np.inf

    @property
    def dim(self):
        return len(self.precision)

    def log_density_gradient(self, u):
        gradient = -self.precision @ u
        if len(u) and u[0] < self.edge:
            return -np.inf, gradient
        return 0.5 * float(gradient @ u), gradient


class Funnel(Target):
    """Neal (2003), "Slice sampling", section 8: v ~ N(0, 9), five others N(0, e^v)."""

    dim = 6

    def log_densities(self, us):
        v, x = us[:, 0], us[:, 1:]
        return -(v**2) / 18 - 0.5 * (x**2).sum(axis=1) * np.exp(-v) - 2.5 * v

    def log_density_gradients(self, us):
        v, x = us[:, 0], us[:, 1:]
        along = -v / 9 + 0.5 * (x**2).sum(axis=1) * np.exp(-v) - 2.5
        return self.log_densities(us), np.column_stack([along, -x * np.exp(-v)[:, None]])


@dataclass(frozen=True)
class Mixture(Target):
    """Gaussians with covariances sd^2 I: means (parts, dim), sds and shares (parts,), plus `shift` nats."""

    means: np.ndarray
    sds: np.ndarray
    shares: np.ndarray
    shift: float = 0.0

    @property
    def dim(self):
        return self.means.shape[1]

    def log_densities(self, us):
        return self.shift + np.logaddexp.reduce(self._parts(us)[0], axis=1)

    def log_density_gradients(self, us):
        parts, off = self._parts(us)
        total = np.logaddexp.reduce(parts, axis=1)
        slopes = -off / self.sds[:, None] ** 2
        return self.shift + total, (np.exp(parts - total[:, None])[:, :, None] * slopes).sum(axis=1)

    def _parts(self, us):
        off = us[:, None] - self.means
        square = (off**2).sum(axis=2) / self.sds**2
        return np.log(self.shares) - self.dim * np.log(np.sqrt(2 * np.pi) * self.sds) - 0.5 * square, off


def line(*parts, shift=0.0):
    """A mixture over one dimension of parts (share, mean, sd)."""
    shares, means, sds = np.array(parts).T
    return Mixture(means[:, None], sds, shares, shift)


@dataclass(frozen=True)
class Quartic(Target):
    """A smooth target that is not Gaussian: sum of -u^4/4 + a u."""

    slope: np.ndarray

    @property
    def dim(self):
        return len(self.slope)

    def log_density(self, u):
        return float(np.sum(self.slope * u - u**4 / 4))

    def log_density_gradient(self, u):
        return self.log_density(u), self.slope - u**3

    def log_densities(self, us):
        return (self.slope * us - us**4 / 4).sum(axis=1)

    def log_density_gradients(self, us):
        return self.log_densities(us), self.slope - us**3


@dataclass(frozen=True)
class HalfSpace(Target):
    """A standard normal cut to u_1 > bound: nan outside, with a sentence that says so."""

    dim: int
    bound: float

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        if u[0] <= self.bound:
            return np.nan, np.full(self.dim, np.nan)
        return -0.5 * float(u @ u), -u

    def log_densities(self, us):
        return np.where(us[:, 0] > self.bound, -0.5 * (us**2).sum(axis=1), np.nan)

    def log_density_gradients(self, us):
        inside = us[:, 0] > self.bound
        return self.log_densities(us), np.where(inside[:, None], -us, np.nan)

    def explain(self, u):
        return f"line 7: sqrt of {u[0] - self.bound:.3g}."


@dataclass(frozen=True)
class Logistic(Target):
    """Logistic regression with N(0, 1) priors on the weights."""

    x: np.ndarray
    y: np.ndarray

    @property
    def dim(self):
        return self.x.shape[1]

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        eta = self.x @ u
        prior = -0.5 * float(u @ u) - 0.5 * self.dim * np.log(2 * np.pi)
        value = prior + float(np.sum(self.y * eta - np.logaddexp(0, eta)))
        return value, self.x.T @ (self.y - 1 / (1 + np.exp(-eta))) - u


def correlated(dim, seed=0):
    """A Gaussian with correlations up to about 0.5 and scales from 0.5 to 2."""
    rng = np.random.default_rng(seed)
    factor = np.tril(rng.normal(scale=0.3, size=(dim, dim)), -1) + np.eye(dim)
    factor *= np.geomspace(0.5, 2.0, dim)[:, None]
    return Gaussian(rng.normal(size=dim), factor @ factor.T)


def params_of(family, dim, seed=0):
    """Some params of a family, not symmetric in anything."""
    rng = np.random.default_rng(seed)
    start = family.start(rng.normal(size=dim), scale=0.7)
    return start + 0.2 * rng.normal(size=family.size)


def numeric_gradient(function, at, step=1e-6):
    """Central differences of a scalar function of a vector."""
    steps = step * np.eye(len(at))
    return np.array([(function(at + h) - function(at - h)) / (2 * step) for h in steps])


class Gammas(Target):
    """Logs of so many numbers of shape 0.7 and rate 1."""

    def __init__(self, dim):
        self.dim = dim

    def log_densities(self, us):
        return (0.7 * us - np.exp(us)).sum(axis=1)

    def log_density_gradients(self, us):
        return self.log_densities(us), 0.7 - np.exp(us)


class LogGamma(OneByOne):
    """u = log x for x of shape 0.7 and rate 1: a long tail to the left, a short one to the right."""

    dim = 1

    def log_density(self, u):
        return self.log_densities(u[None])[0]

    def log_densities(self, us):
        return 0.7 * us[:, 0] - np.exp(us[:, 0])

    def log_density_gradient(self, u):
        return self.log_density(u), 0.7 - np.exp(u)

    def log_density_gradients(self, us):
        return self.log_densities(us), 0.7 - np.exp(us)
