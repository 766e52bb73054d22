"""Programs whose parameters are drawn from the prior and whose data are simulated, a data set for each seed.

Then the parameters are a draw of the posterior: their ranks among its draws are uniform (Talts, Betancourt,
Simpson, Vehtari and Gelman, 2018), of the fits of one verdict too, for a verdict knows the data alone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from tests.benchmarks.errors import Floats
from tests.benchmarks.verdicts.case import Case, Data, Drawn, Group

FOLDER = Path(__file__).with_name("simulated")
STREAM = 0x76657264  # "verd": the stream of data sets
Simulated = tuple[Data, dict[str, float]]


def named(**values: Any) -> dict[str, float]:
    """Scalars and vectors by the names of their columns, `theta.1` and so on."""
    found = dict[str, float]()
    for name, value in values.items():
        if np.ndim(value):
            found |= {f"{name}.{k}": float(entry) for k, entry in enumerate(value, 1)}
        else:
            found[name] = float(value)
    return found


def half_normal(rng: Generator, sd: float = 1.0, size: int | None = None) -> Any:
    return np.abs(rng.normal(0, sd, size))


def half_cauchy(rng: Generator, scale: float = 1.0, size: int | None = None) -> Any:
    return np.abs(scale * rng.standard_cauchy(size))


def grouped(groups: int, each: int) -> Any:
    """The group of each row, from 0."""
    return np.repeat(np.arange(groups), each)


def as_lists(**values: Any) -> dict[str, Any]:
    """Arrays as lists, as JSON has them."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()
    }


def hierarchical_centred(rng: Generator) -> Simulated:
    group = grouped(8, 5)
    mu, tau = rng.normal(), half_normal(rng)
    theta = rng.normal(mu, tau, 8)
    y = rng.normal(theta[group], 1)
    return as_lists(J=8, N=len(y), group=group + 1, y=y), named(mu=mu, tau=tau, theta=theta[:3])


def hierarchical_noncentred(rng: Generator) -> Simulated:
    group, x = grouped(12, 25), rng.standard_normal((300, 3))
    mu, tau, z, beta, sigma = (
        rng.normal(),
        half_normal(rng),
        rng.standard_normal(12),
        rng.standard_normal(3),
        half_normal(rng),
    )
    theta = mu + tau * z
    y = rng.normal(theta[group] + x @ beta, sigma)
    truth = named(mu=mu, tau=tau, beta=beta, sigma=sigma, theta=theta[:3])
    return as_lists(J=12, N=300, D=3, group=group + 1, x=x, y=y), truth


def lkj_slopes(rng: Generator) -> Simulated:
    """With two rows lkj_corr(2) is the law of 2 B - 1, B of beta(2, 2)."""
    group, x = grouped(10, 12), rng.standard_normal(120)
    beta, tau, rho = rng.standard_normal(2), half_normal(rng, size=2), 2 * rng.beta(2, 2) - 1
    factor = tau[:, None] * np.array([[1, 0], [rho, np.sqrt(1 - rho**2)]])
    b = beta[:, None] + factor @ rng.standard_normal((2, 10))
    sigma = half_normal(rng)
    y = rng.normal(b[0, group] + b[1, group] * x, sigma)
    truth = named(beta=beta, tau=tau, rho=rho, sigma=sigma) | {"b.1.1": b[0, 0], "b.2.1": b[1, 0]}
    return as_lists(J=10, N=120, group=group + 1, x=x, y=y), truth


def logistic(rng: Generator) -> Simulated:
    x, alpha, beta = rng.standard_normal((100, 5)), rng.normal(), rng.standard_normal(5)
    y = (rng.uniform(size=100) < _logistic(alpha + x @ beta)).astype(int)
    return as_lists(N=100, D=5, x=x, y=y), named(alpha=alpha, beta=beta)


def poisson_exposure(rng: Generator) -> Simulated:
    group, x, exposure = grouped(10, 4), rng.standard_normal(40), rng.uniform(0.5, 5, 40)
    alpha, beta, tau, z = (rng.normal(), rng.normal(0, 0.5), half_normal(rng, 0.5), rng.standard_normal(10))
    y = rng.poisson(exposure * np.exp(alpha + beta * x + tau * z[group]))
    truth = named(alpha=alpha, beta=beta, tau=tau, z=z[:3])
    return as_lists(J=10, N=40, group=group + 1, x=x, exposure=exposure, y=y), truth


def gp_small(rng: Generator) -> Simulated:
    x = np.linspace(-2, 2, 25)
    rho, alpha, sigma = 5 / rng.gamma(5), half_normal(rng), half_normal(rng, 0.5)
    covariance = alpha**2 * np.exp(-0.5 * ((x[:, None] - x) / rho) ** 2)
    covariance += (sigma**2 + 1e-8) * np.eye(25)
    y = np.linalg.cholesky(covariance) @ rng.standard_normal(25)
    return as_lists(N=25, x=x, y=y), named(rho=rho, alpha=alpha, sigma=sigma)


def mixture_ordered(rng: Generator) -> Simulated:
    mu, sigma, weight = np.sort(rng.normal(0, 3, 2)), rng.lognormal(0, 0.5, 2), rng.beta(5, 5)
    group = (rng.uniform(size=80) > weight).astype(int)
    y = rng.normal(mu[group], sigma[group])
    return as_lists(N=80, y=y), named(mu=mu, sigma=sigma, weight=weight)


def ordinal(rng: Generator) -> Simulated:
    x, beta, cut = rng.standard_normal((80, 3)), rng.standard_normal(3), np.sort(rng.normal(0, 2, 4))
    y = 1 + (x @ beta + rng.logistic(size=80) > cut[:, None]).sum(axis=0)
    return as_lists(N=80, D=3, x=x, y=y), named(beta=beta, cut=cut)


def state_space(rng: Generator) -> Simulated:
    phi, q, r, z = rng.uniform(-1, 1), half_normal(rng), half_normal(rng), rng.standard_normal(30)
    state = [q * z[0]]
    for noise in z[1:]:
        state.append(phi * state[-1] + q * noise)
    y = rng.normal(state, r)
    truth = named(phi=phi, q=q, r=r) | {f"state.{t}": float(state[t - 1]) for t in (1, 15, 30)}
    return as_lists(T=30, y=y), truth


def survival_censored(rng: Generator) -> Simulated:
    """Times beyond 2 are censored there."""
    x, end = rng.standard_normal((60, 2)), 2.0
    shape, alpha, beta = rng.lognormal(0, 0.5), rng.normal(), rng.standard_normal(2)
    y = np.exp(alpha + x @ beta) * rng.weibull(shape, 60)
    seen = y <= end
    censored = np.full(int((~seen).sum()), end)
    data = as_lists(N=int(seen.sum()), D=2, y=y[seen], x=x[seen])
    data |= as_lists(M=len(censored), y_censored=censored, x_censored=x[~seen])
    return data, named(shape=shape, alpha=alpha, beta=beta)


def horseshoe_15(rng: Generator) -> Simulated:
    x, sigma = rng.standard_normal((60, 15)), half_normal(rng)
    z, local = rng.standard_normal(15), half_cauchy(rng, size=15)
    tau, c2 = half_cauchy(rng, 0.2), 4 / rng.gamma(2)
    beta = z * np.sqrt(c2 * local**2 / (c2 + tau**2 * local**2)) * tau
    y = rng.normal(x @ beta, sigma)
    truth = named(beta=beta[:5], tau=tau, c2=c2, sigma=sigma) | {"lambda.1": float(local[0])}
    return as_lists(N=60, D=15, x=x, y=y), truth


def _logistic(eta: Floats) -> Floats:
    return 1 / (1 + np.exp(-eta))


SIMULATORS: Mapping[str, Callable[[Generator], Simulated]] = {
    f.__name__: f
    for f in (
        hierarchical_centred,
        hierarchical_noncentred,
        lkj_slopes,
        logistic,
        poisson_exposure,
        gp_small,
        mixture_ordered,
        ordinal,
        state_space,
        survival_censored,
        horseshoe_15,
    )
}


def case(name: str, seed: int) -> Case:
    data, values = SIMULATORS[name](np.random.default_rng([STREAM, seed, *name.encode()]))
    return Case(FOLDER / f"{name}.stan", data, Drawn(values))


SIMULATED = Group(tuple(SIMULATORS), case)
