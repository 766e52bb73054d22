"""Every univariate distribution of the table obeys the laws: a new family without a line here."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from laws.every import every

from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.testing.distributions import LAWS, Subject, is_univariate

UNIVARIATE = [d for d in DISTRIBUTIONS if is_univariate(d)]
IMPROPER = {"wiener": "the density of hitting the upper boundary, which may never happen"}

SCIPY: dict[str, Callable] = {
    "normal": lambda mu, sigma: scipy.stats.norm(mu, sigma),
    "std_normal": lambda: scipy.stats.norm(),
    "student_t": lambda nu, mu, sigma: scipy.stats.t(nu, mu, sigma),
    "cauchy": lambda mu, sigma: scipy.stats.cauchy(mu, sigma),
    "double_exponential": lambda mu, sigma: scipy.stats.laplace(mu, sigma),
    "logistic": lambda mu, sigma: scipy.stats.logistic(mu, sigma),
    "gumbel": lambda mu, beta: scipy.stats.gumbel_r(mu, beta),
    "lognormal": lambda mu, sigma: scipy.stats.lognorm(sigma, scale=np.exp(mu)),
    "chi_square": lambda nu: scipy.stats.chi2(nu),
    "inv_chi_square": lambda nu: scipy.stats.invgamma(nu / 2, scale=0.5),
    "scaled_inv_chi_square": lambda nu, s: scipy.stats.invgamma(nu / 2, scale=nu * s**2 / 2),
    "exponential": lambda beta: scipy.stats.expon(scale=1 / beta),
    "gamma": lambda alpha, beta: scipy.stats.gamma(alpha, scale=1 / beta),
    "inv_gamma": lambda alpha, beta: scipy.stats.invgamma(alpha, scale=beta),
    "weibull": lambda alpha, sigma: scipy.stats.weibull_min(alpha, scale=sigma),
    "frechet": lambda alpha, sigma: scipy.stats.invweibull(alpha, scale=sigma),
    "rayleigh": lambda sigma: scipy.stats.rayleigh(scale=sigma),
    "loglogistic": lambda alpha, beta: scipy.stats.fisk(beta, scale=alpha),
    "pareto": lambda y_min, alpha: scipy.stats.pareto(alpha, scale=y_min),
    "pareto_type_2": lambda mu, scale, alpha: scipy.stats.lomax(alpha, mu, scale),
    "beta": lambda alpha, beta: scipy.stats.beta(alpha, beta),
    "beta_proportion": lambda mu, kappa: scipy.stats.beta(mu * kappa, (1 - mu) * kappa),
    "uniform": lambda alpha, beta: scipy.stats.uniform(alpha, beta - alpha),
    "von_mises": lambda mu, kappa: scipy.stats.vonmises(kappa, mu),
    "skew_normal": lambda xi, omega, alpha: scipy.stats.skewnorm(alpha, xi, omega),
    "exp_mod_normal": lambda mu, sigma, rate: scipy.stats.exponnorm(1 / (sigma * rate), mu, sigma),
    "bernoulli": lambda theta: scipy.stats.bernoulli(theta),
    "bernoulli_logit": lambda alpha: scipy.stats.bernoulli(1 / (1 + np.exp(-alpha))),
    "binomial": lambda n, theta: scipy.stats.binom(n, theta),
    "binomial_logit": lambda n, alpha: scipy.stats.binom(n, 1 / (1 + np.exp(-alpha))),
    "beta_binomial": lambda n, alpha, beta: scipy.stats.betabinom(n, alpha, beta),
    "neg_binomial": lambda alpha, beta: scipy.stats.nbinom(alpha, beta / (1 + beta)),
    "neg_binomial_2": lambda mu, phi: scipy.stats.nbinom(phi, phi / (mu + phi)),
    "neg_binomial_2_log": lambda eta, phi: scipy.stats.nbinom(phi, phi / (np.exp(eta) + phi)),
    "poisson": lambda rate: scipy.stats.poisson(rate),
    "poisson_log": lambda alpha: scipy.stats.poisson(np.exp(alpha)),
    "yule_simon": lambda alpha: scipy.stats.yulesimon(alpha),
    "discrete_range": lambda lower, upper: scipy.stats.randint(lower, upper + 1),
}
NOT_FROM_THE_START = ("von_mises",)  # SciPy's cdf starts at mu - pi, Stan's at -pi

SUBJECTS = [
    Subject(d, d.name not in IMPROPER, SCIPY.get(d.name), d.name not in NOT_FROM_THE_START)
    for d in UNIVARIATE
]


def test_every_other_record_is_multivariate():
    """Those have their laws in distributions/test_multivariate.py, which holds all not elementwise."""
    assert {d.name for d in UNIVARIATE} == {d.name for d in DISTRIBUTIONS if d.batch == "elementwise"}


@pytest.mark.rotate
@every(
    "law, subject",
    [(law, s) for s in SUBJECTS for law in LAWS if law.applies(s)],
    lambda case: case[1].d.name,
)
def test_laws(law, subject):
    law.check(subject, subject.d.name)
