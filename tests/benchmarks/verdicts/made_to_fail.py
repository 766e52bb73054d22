"""Programs made to fail, each with its exact answer: by formula or quadrature, one by a long run.

Every program is made_to_fail/NAME.stan; a seed is that of the fit alone.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

from tests.benchmarks.errors import Floats, Quantity
from tests.benchmarks.verdicts.case import Case, Data, Group, Improper, Known, Truth
from tests.benchmarks.verdicts.exact import of_law, of_mixture, of_points
from tests.benchmarks.verdicts.kinetics import kinetics

FOLDER = Path(__file__).with_name("made_to_fail")
Answer = tuple[Data, Truth]


def law(x: Quantity) -> Callable[[], Answer]:
    """A program without data and with one parameter."""
    return lambda: ({}, Known({"x": x}))


def mixture(weights: list[float], means: list[float], sds: list[float]) -> Callable[[], Answer]:
    return law(of_mixture(np.array(weights), np.array(means), np.array(sds)))


def equal_observations() -> Answer:
    return {"N": 20, "y": [3.0] * 20}, Improper()


SUMMED = [0.9, 1.4, 2.2, 0.3, 1.7, 1.1, 2.5, 1.9, 0.6, 1.2]


def only_the_sum() -> Answer:
    return {"N": len(SUMMED), "y": SUMMED}, Improper()


def only_the_sum_with_priors() -> Answer:
    """Gaussian: the precision of (a, b) is n in every entry and the priors' on the diagonal."""
    covariance = np.linalg.inv(len(SUMMED) + np.diag([1e-4, 1e-4]))
    mean = covariance @ np.full(2, sum(SUMMED))
    known = {name: _normal(mean[k], covariance[k, k]) for k, name in enumerate("ab")}
    return {"N": len(SUMMED), "y": SUMMED}, Known(known)


def funnel() -> Answer:
    """x has moments, but their fourth is 3 e^18: no thousand draws show its sd."""
    v = np.linspace(-24, 24, 4001)
    x = of_mixture(stats.norm(0, 3).pdf(v), np.zeros(1), np.exp(v / 2), moments=False)
    return {}, Known({"v": of_law(stats.norm(0, 3)), **{f"x.{k}": x for k in range(1, 10)}})


def banana() -> Answer:
    x = np.linspace(-8, 8, 4001) * np.sqrt(10) + 1
    law = stats.norm(1, np.sqrt(10))
    return {}, Known({"x": of_law(law), "y": of_mixture(law.pdf(x), x**2, np.full(1, np.sqrt(0.1)))})


def mixture_unordered() -> Answer:
    """Quadrature over the lower mean, the upper and the weight of the lower; the other mode mirrors it."""
    rng = np.random.default_rng(1)
    y = np.round(rng.normal(np.where(rng.uniform(size=60) < 0.35, -2.0, 2.0), 1.0), 3)
    low, high = np.linspace(-4.5, 1, 111), np.linspace(-1, 4, 101)
    weight = np.linspace(0.005, 0.995, 100)
    grid = np.meshgrid(low, high, weight, indexing="ij")
    log_p = (
        stats.norm(0, 5).logpdf(grid[0]) + stats.norm(0, 5).logpdf(grid[1]) + stats.beta(2, 2).logpdf(grid[2])
    )
    for value in y:
        first, second = stats.norm.pdf(value, low, 1), stats.norm.pdf(value, high, 1)
        log_p += np.log(weight * first[:, None, None] + (1 - weight) * second[:, None])
    log_p[grid[0] > grid[1]] = -np.inf
    names = ("mu_low", "mu_high", "weight_low")
    known = {name: of_points(axis, log_p) for name, axis in zip(names, grid, strict=True)}
    return {"N": len(y), "y": y.tolist()}, Known(known)


def varying_intercepts_400(groups: int = 400, each: int = 2) -> Answer:
    """Given tau all is Gaussian (BDA3, section 5.4); quadrature over tau."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(groups), each)
    y = np.round(0.5 + 0.4 * rng.standard_normal(groups)[group] + rng.standard_normal(len(group)), 3)
    means, noise = y.reshape(groups, each).mean(axis=1), 1 / each
    tau = np.linspace(0.001, 1.5, 1500)
    total = tau**2 + noise
    precision = 1 + groups / total
    mu = means.sum() / total / precision
    log_p = stats.norm(0, 0.5).logpdf(tau) + stats.norm.logpdf(mu) + 0.5 * np.log(1 / precision)
    log_p += stats.norm.logpdf(means[:, None], mu, np.sqrt(total)).sum(axis=0)
    weights, left = np.exp(log_p - log_p.max()), noise / total
    known = {"mu": of_mixture(weights, mu, np.sqrt(1 / precision)), "tau": of_points(tau, log_p)}
    for j, mean in enumerate(means, 1):
        sd = np.sqrt(tau**2 * left + left**2 / precision)
        known[f"theta.{j}"] = of_mixture(weights, (1 - left) * mean + left * mu, sd)
        z_sd = np.sqrt(left + (tau / total) ** 2 / precision)
        known[f"z.{j}"] = of_mixture(weights, tau / total * (mean - mu), z_sd)
    data = {"J": groups, "N": len(y), "group": (group + 1).tolist(), "y": y.tolist()}
    return data, Known(known)


def gaussian_100(dim: int = 100) -> Answer:
    rng = np.random.default_rng(3)
    axes, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    variances, mu = np.logspace(0, -6, dim), rng.standard_normal(dim)
    covariance = (axes * variances) @ axes.T
    known = {f"x.{k + 1}": _normal(mu[k], covariance[k, k]) for k in range(dim)}
    known |= {f"e.{k + 1}": _normal(0.0, variances[k]) for k in range(dim)}
    factor: Floats = np.linalg.cholesky(covariance)
    data = {"D": dim, "mu": mu.tolist(), "L": factor.tolist(), "axes": axes.tolist()}
    return data, Known(known)


def _normal(mean: float, variance: float) -> Quantity:
    return of_law(stats.norm(mean, np.sqrt(variance)))


ANSWERS: dict[str, Callable[[], Answer]] = {
    "student_t_heavy": law(of_law(stats.t(0.3), moments=False)),
    "cauchy": law(of_law(stats.cauchy(), moments=False)),
    "spike_in_slab": mixture([0.5, 0.5], [0, 0], [0.001, 10]),
    "narrow_main_mode": mixture([0.9, 0.1], [-20, 20], [0.1, 5]),
    "two_modes": mixture([0.5, 0.5], [-10, 10], [1, 1]),
    "beta_at_the_ends": law(of_law(stats.beta(0.01, 0.01))),
    "equal_observations": equal_observations,
    "only_the_sum": only_the_sum,
    "only_the_sum_with_priors": only_the_sum_with_priors,
    "funnel": funnel,
    "banana": banana,
    "mixture_unordered": mixture_unordered,
    "michaelis_menten": kinetics,
    "varying_intercepts_400": varying_intercepts_400,
    "gaussian_100": gaussian_100,
}


def case(name: str, seed: int) -> Case:
    data, truth = ANSWERS[name]()
    return Case(FOLDER / f"{name}.stan", data, truth)


MADE_TO_FAIL = Group(tuple(ANSWERS), case)
