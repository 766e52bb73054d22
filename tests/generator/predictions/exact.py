"""The exact law of new rows, by quadrature: over a grid of the parameters, of effects and of predictors.

What new rows hold changes their own unknown values, not the parameters, nor effects of groups of the fit.
"""

from functools import cached_property
from itertools import pairwise, product

import numpy as np
from scipy import special, stats

from ppl.records import dataclass, replace
from tests.generator.predictions.models import MEAN, MEANS, NOISE, SD, SDS, SHARED, Array, Regression, Rows

POINTS, FEW = {1: 41, 2: 25, 3: 13}, 9
"""Points of an axis by how many axes there are, 1e-8 off for a normal; and those to look for the posterior.

Half of the space between two of these, the sd of weights on both, must be below SETTLED of the sd before.
"""
WIDTH = 6.0
"""Sds of the posterior that an axis covers on either side."""
SHRINKAGE, SETTLED = 0.5, 0.9
"""The narrowest grid and the narrowest last one, as shares of the one before."""
SAME = 0.005
"""The most by which the log evidence differs with two points fewer on each axis, or half as many effects."""
EFFECTS = (41, 81, 161)
"""Points of the effect of a group: the last two that agree are looked for, and the finer one taken."""
X = np.linspace(-5, 5, 61)
WX = stats.norm.pdf(X) / stats.norm.pdf(X).sum()
ONE = np.ones(1)


def log_density(family: str, y: float, eta: Array, s: Array) -> Array:
    """log p(y | eta, s) of arrays."""
    match family:
        case "normal":
            return stats.norm.logpdf(y, eta, s)
        case "student_t":
            return stats.t.logpdf(y, 5, eta, s)
        case "gamma":
            return stats.gamma.logpdf(y, 2 + s, scale=np.exp(eta) / (2 + s))
        case "bernoulli" | "binomial":
            n = 1 if family == "bernoulli" else 6
            choose = np.log(special.binom(n, y))
            return choose + y * special.log_expit(eta) + (n - y) * special.log_expit(-eta)
        case "poisson":
            return stats.poisson.logpmf(y, np.exp(eta))
    return stats.nbinom.logpmf(y, 1 + s, (1 + s) / (1 + s + np.exp(eta)))


def mean_of(family: str, eta: Array) -> Array:
    match family:
        case "normal" | "student_t":
            return eta
        case "bernoulli" | "binomial":
            return special.expit(eta) * (1 if family == "bernoulli" else 6)
    return np.exp(eta)


def variance_of(family: str, mean: Array, s: Array) -> Array:
    """Var(Y | mean, s)."""
    match family:
        case "normal":
            return s**2 + 0 * mean
        case "student_t":
            return 5 / 3 * s**2 + 0 * mean
        case "gamma":
            return mean**2 / (2 + s)
        case "bernoulli" | "binomial":
            return mean * (1 - mean / (1 if family == "bernoulli" else 6))
        case "poisson":
            return mean
    return mean + mean**2 / (1 + s)


def at_most(family: str, y: float, eta: Array, s: Array) -> Array:
    """P(Y <= y | eta, s)."""
    match family:
        case "normal":
            return stats.norm.cdf(y, eta, s)
        case "student_t":
            return stats.t.cdf(y, 5, eta, s)
        case "gamma":
            return stats.gamma.cdf(y, 2 + s, scale=np.exp(eta) / (2 + s))
        case "bernoulli" | "binomial":
            return stats.binom.cdf(y, 1 if family == "bernoulli" else 6, special.expit(eta))
        case "poisson":
            return stats.poisson.cdf(y, np.exp(eta))
    return stats.nbinom.cdf(y, 1 + s, (1 + s) / (1 + s + np.exp(eta)))


def predictor_law(model: Regression, x: Array) -> tuple[float, float]:
    """Mean and sd of the predictor of a row, by what is seen of it."""
    if model.predictor == "vector":
        if np.isnan(x).all():
            return 2 * MEAN, SD * np.sqrt(2 + 2 * SHARED)
        if np.isnan(x).any():
            known = x[~np.isnan(x)][0]
            return known + MEAN + SHARED * (known - MEAN), SD * np.sqrt(1 - SHARED**2)
        return float(x.sum()), 0.0
    if model.predictor == "measured":
        if np.isnan(x):
            return MEAN, SD
        weight = SD**2 / (SD**2 + NOISE**2)
        return MEAN + weight * (float(x) - MEAN), SD * np.sqrt(1 - weight)
    return (MEAN, SD) if np.isnan(x) else (float(x), 0.0)


def log_density_of_predictors(model: Regression) -> float:
    """Of what is seen of them in the rows of the fit."""
    x = model.seen.x
    if model.predictor in ("none", "known"):
        return 0.0
    if model.predictor == "vector":
        covariance = SD**2 * np.array([[1, SHARED], [SHARED, 1]])
        known = [(row[~np.isnan(row)], ~np.isnan(row)) for row in x if not np.isnan(row).all()]
        laws = (stats.multivariate_normal([MEAN] * k.sum(), covariance[k][:, k]) for _, k in known)
        return float(sum(law.logpdf(seen) for law, (seen, _) in zip(laws, known, strict=True)))
    sd = np.hypot(SD, NOISE) if model.predictor == "measured" else SD
    return float(np.nansum(stats.norm.logpdf(x, MEAN, sd)))


@dataclass(frozen=True)
class Grid:
    """Points of the parameters, each (points, 1, 1), and the log prior density (points,) there, with the
    log weights of the rule of quadrature.
    """

    at: dict[str, Array]
    log_prior: Array


def grid(model: Regression, centre: dict[str, float], sd: dict[str, float], n: int) -> Grid:
    """Evenly spaced points, or those of Gauss and Legendre from a bound on."""
    axes, weights = [], []
    for name in model.free:
        low, high = centre[name] - WIDTH * sd[name], centre[name] + WIDTH * sd[name]
        bounded = name in ("s", "tau") and low < 0
        nodes, weight = np.polynomial.legendre.leggauss(3 * n // 2)
        even = np.linspace(low, high, n), np.full(n, (high - low) / (n - 1))
        axis, own = ((nodes + 1) * high / 2, weight * high / 2) if bounded else even
        axes.append(axis)
        weights.append(np.log(own))
    points = np.array(list(product(*axes)))
    at = {name: np.full((len(points), 1, 1), value) for name, value in model.fixed.items()}
    at |= {name: points[:, k, None, None] for k, name in enumerate(model.free)}
    log_prior = sum(stats.norm.logpdf(at[name][:, 0, 0], MEANS[name], SDS[name]) for name in model.free)
    return Grid(at, np.asarray(log_prior) + np.array(list(product(*weights))).sum(axis=1))


@dataclass(frozen=True)
class Exact:
    """The posterior of a model on a grid."""

    model: Regression
    grid: Grid
    points: int = EFFECTS[0]

    @classmethod
    def of(cls, model: Regression) -> "Exact":
        """With a grid that covers the posterior, found in a few steps: none is narrower than points tell.

        Raises ArithmeticError where two grids differ, as about a scale near 0.
        """
        centre, sd = dict(MEANS), dict(SDS)
        while True:
            own = cls(model, grid(model, centre, sd, FEW))
            weights, before = own.posterior, sd
            values = {name: own.grid.at[name][:, 0, 0] for name in model.free}
            centre = {name: float(weights @ v) for name, v in values.items()}
            sd = {
                name: max(float(np.sqrt(weights @ (v - centre[name]) ** 2)), SHRINKAGE * before[name])
                for name, v in values.items()
            }
            if all(sd[name] > SETTLED * before[name] for name in model.free):
                most = POINTS[len(model.free)]
                found, coarser = (cls(model, grid(model, centre, sd, n)) for n in (most, most - 2))
                if not agree(found, coarser):
                    raise ArithmeticError("no grid resolves the posterior")
                return found.with_effects() if model.groups else found

    def with_effects(self) -> "Exact":
        """With as many points of effects as an outcome of small variance about one needs."""
        for coarser, finer in pairwise([self, *(replace(self, points=n) for n in EFFECTS[1:])]):
            if agree(coarser, finer):
                return finer
        raise ArithmeticError("no grid resolves the effects of groups")

    def eta(self, rows: Rows, n: int) -> tuple[Array, Array]:
        """The predictor at (points, effects, predictors), and the weights of the last."""
        at, (mean, sd) = self.grid.at, predictor_law(self.model, rows.x[n])
        nodes, weights = (mean + sd * X, WX) if sd else (np.array([mean]), ONE)
        effects = at["tau"] * self.standardised[None, :, None] if self.model.groups else 0.0
        slope = at["b"] * nodes if self.model.predictor != "none" else 0.0
        return at["a"] + effects + slope, weights

    def log_lik(self, rows: Rows, n: int) -> Array:
        """Of a row given parameters and effect (points, effects)."""
        if np.isnan(rows.y[n]):
            return np.zeros((len(self.grid.log_prior), len(self.effects)))
        eta, weights = self.eta(rows, n)
        log_p = log_density(self.model.family, rows.y[n], eta, self.grid.at["s"])
        return np.asarray(special.logsumexp(log_p, axis=2, b=weights))

    @property
    def effects(self) -> Array:
        law = stats.norm.pdf(self.standardised)
        return law / law.sum() if self.model.groups else ONE

    @property
    def standardised(self) -> Array:
        """Effects in units of their sd."""
        return np.linspace(-5, 5, self.points)

    @cached_property
    def seen(self) -> list[Array]:
        return [self.log_lik(self.model.seen, n) for n in range(len(self.model.seen))]

    def of_group(self, j: int, without: int = -1) -> Array:
        """The log weights of the effect of a group given the rows of the fit (points, effects)."""
        rows = self.model.seen.g
        own = [self.seen[n] for n in range(len(rows)) if rows[n] == j and n != without]
        return np.log(self.effects) + sum(own, np.zeros((len(self.grid.log_prior), len(self.effects))))

    def log_joint(self, without: int = -1) -> Array:
        """(points,)."""
        groups = range(1, max(self.model.groups, 1) + 1)
        return self.grid.log_prior + sum(special.logsumexp(self.of_group(j, without), axis=1) for j in groups)

    @cached_property
    def posterior(self) -> Array:
        return np.asarray(special.softmax(self.log_joint()))

    def weights(self, rows: Rows, n: int, given: bool) -> Array:
        """Of parameters and effect of a new row, (points, effects), given what rows of new groups hold."""
        j = int(rows.g[n])
        if j <= max(self.model.groups, 1):
            log_w = self.of_group(j)
        else:
            log_w = np.log(self.effects) + np.zeros((len(self.grid.log_prior), 1))
            for m in np.flatnonzero(rows.g == j) if given else ():
                log_w = log_w + self.log_lik(rows, m)
        return self.posterior[:, None] * special.softmax(log_w, axis=1)

    def expected(self, rows: Rows, n: int, values: Array, weights: Array) -> float:
        """The mean of values (points, effects, predictors) in a new row whose outcome is drawn."""
        own = self.weights(rows, n, given=True)[:, :, None] * weights
        return float((own * values).sum())

    def mean(self, rows: Rows, n: int) -> float:
        eta, weights = self.eta(rows, n)
        return self.expected(rows, n, mean_of(self.model.family, eta), weights)

    def mean_error(self, rows: Rows, n: int, draws: int) -> float:
        """The root mean square error of the mean of draws of an outcome.

        Of a log link the largest means are cut off at the root of the number of draws times the mean
        (Ionides 2008), so that the error is finite where the outcome has no variance.
        """
        (eta, weights), family = self.eta(rows, n), self.model.family
        of_outcome, mean = mean_of(family, eta), self.mean(rows, n)
        if family in ("gamma", "poisson", "neg_binomial"):
            of_outcome = np.minimum(of_outcome, np.sqrt(draws) * mean)
        first = self.expected(rows, n, of_outcome, weights)
        variance = variance_of(family, of_outcome, self.grid.at["s"]) + (of_outcome - first) ** 2
        return float(np.sqrt(self.expected(rows, n, variance, weights) / draws + (mean - first) ** 2))

    def at_most(self, rows: Rows, n: int, y: float) -> float:
        eta, weights = self.eta(rows, n)
        return self.expected(rows, n, at_most(self.model.family, y, eta, self.grid.at["s"]), weights)

    def mean_predictor(self, rows: Rows, n: int) -> float:
        """Of a row whose outcome may be given: the sum of a vector, else the predictor itself."""
        eta, weights = self.eta(rows, n)
        mean, sd = predictor_law(self.model, rows.x[n])
        own = np.broadcast_to(weights, (*eta.shape[:1], len(self.effects), len(weights)))
        if not np.isnan(rows.y[n]):
            log_p = log_density(self.model.family, rows.y[n], eta, self.grid.at["s"])
            own = special.softmax(log_p + np.log(weights), axis=2)
        return float((self.weights(rows, n, given=True)[:, :, None] * own * (mean + sd * X)).sum())

    def score(self, rows: Rows, n: int) -> float:
        """The log predictive density of a row by itself."""
        return float(np.log((self.weights(rows, n, given=False) * np.exp(self.log_lik(rows, n))).sum()))

    def left_out(self, n: int) -> float:
        """log p of row n of the fit given the others."""
        return float(special.logsumexp(self.log_joint()) - special.logsumexp(self.log_joint(without=n)))

    def log_evidence(self) -> float:
        """Log of the integral of the program's density, with the predictors that it models."""
        return float(special.logsumexp(self.log_joint())) + log_density_of_predictors(self.model)

    def weight_error(self, n: int, draws: int) -> float:
        """The relative root mean square error of the mean of w = 1 / p(row n) at draws of the posterior.

        The largest are cut off at the root of the number of draws times the mean (Ionides 2008), so that the
        error is finite where w has no variance.
        """
        rows = self.model.seen
        eta, weights = self.eta(rows, n)
        log_w = -log_density(self.model.family, rows.y[n], eta, self.grid.at["s"])
        log_own = self.log_joint()[:, None] + special.log_softmax(self.of_group(int(rows.g[n])), axis=1)
        log_own -= special.logsumexp(log_own)
        weighted = (log_own - self.seen[n])[:, :, None] + np.log(weights)  # w times the density
        log_mean = special.logsumexp(weighted)
        log_cut = np.minimum(log_w - log_mean, 0.5 * np.log(draws))
        first, second = (np.exp(special.logsumexp(weighted - log_w + k * log_cut)) for k in (1, 2))
        return float(np.sqrt((second - first**2) / draws + (1 - first) ** 2))


def agree(one: Exact, other: Exact) -> bool:
    return abs(one.log_evidence() - other.log_evidence()) < SAME
