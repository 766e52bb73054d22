"""Means and variances of families of single numbers, as expressions of the language: what their pages show.

A law holds them to the density. Stan Functions Reference; Johnson, Kotz and Balakrishnan, "Univariate
Distributions"; Kotz, Kozubowski and Podgorski (2001), section 3.2, for skew_double_exponential.
"""

from collections.abc import Mapping
from typing import NamedTuple

OF_NUMBER, OF_ELEMENTS, OF_VECTOR = "variance", "variance of each element", "covariance"


class Moments(NamedTuple):
    """Mean and variance, the condition (`alpha > 1`) under which each is finite, and what the second is."""

    mean: str
    variance: str
    if_mean: str = ""
    if_variance: str = ""
    second: str = OF_NUMBER


MOMENTS: Mapping[str, Moments] = {
    "normal": Moments("mu", "sigma ^ 2"),
    "std_normal": Moments("0", "1"),
    "bernoulli": Moments("theta", "theta * (1 - theta)"),
    "bernoulli_logit": Moments("inv_logit(alpha)", "inv_logit(alpha) * inv_logit(-alpha)"),
    "beta": Moments("alpha / (alpha + beta)", "alpha * beta / ((alpha + beta) ^ 2 * (alpha + beta + 1))"),
    "beta_proportion": Moments("mu", "mu * (1 - mu) / (kappa + 1)"),
    "beta_binomial": Moments(
        "N * alpha / (alpha + beta)",
        "N * alpha * beta * (alpha + beta + N) / ((alpha + beta) ^ 2 * (alpha + beta + 1))",
    ),
    "beta_neg_binomial": Moments(
        "r * beta / (alpha - 1)",
        "r * beta * (r + alpha - 1) * (alpha + beta - 1) / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
    ),
    "binomial": Moments("N * theta", "N * theta * (1 - theta)"),
    "binomial_logit": Moments("N * inv_logit(alpha)", "N * inv_logit(alpha) * inv_logit(-alpha)"),
    "discrete_range": Moments("(lower + upper) / 2", "((upper - lower + 1) ^ 2 - 1) / 12"),
    "double_exponential": Moments("mu", "2 * sigma ^ 2"),
    "skew_double_exponential": Moments(
        "mu + sigma / (2 * tau) - sigma / (2 * (1 - tau))",
        "(sigma / (2 * tau)) ^ 2 + (sigma / (2 * (1 - tau))) ^ 2",
    ),
    "exp_mod_normal": Moments("mu + 1 / lambda", "sigma ^ 2 + 1 / lambda ^ 2"),
    "exponential": Moments("1 / beta", "1 / beta ^ 2"),
    "gamma": Moments("alpha / beta", "alpha / beta ^ 2"),
    "chi_square": Moments("nu", "2 * nu"),
    "gumbel": Moments("mu - beta * digamma(1)", "pi() ^ 2 * beta ^ 2 / 6"),
    "hypergeometric": Moments("N * a / (a + b)", "N * a * b * (a + b - N) / ((a + b) ^ 2 * (a + b - 1))"),
    "inv_gamma": Moments(
        "beta / (alpha - 1)", "beta ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))", "alpha > 1", "alpha > 2"
    ),
    "inv_chi_square": Moments("1 / (nu - 2)", "2 / ((nu - 2) ^ 2 * (nu - 4))", "nu > 2", "nu > 4"),
    "scaled_inv_chi_square": Moments(
        "nu * s ^ 2 / (nu - 2)", "2 * nu ^ 2 * s ^ 4 / ((nu - 2) ^ 2 * (nu - 4))", "nu > 2", "nu > 4"
    ),
    "logistic": Moments("mu", "pi() ^ 2 * sigma ^ 2 / 3"),
    "loglogistic": Moments(
        "alpha * (pi() / beta) / sin(pi() / beta)",
        "alpha ^ 2 * (2 * pi() / (beta * sin(2 * pi() / beta)) - (pi() / (beta * sin(pi() / beta))) ^ 2)",
        "beta > 1",
        "beta > 2",
    ),
    "lognormal": Moments("exp(mu + sigma ^ 2 / 2)", "(exp(sigma ^ 2) - 1) * exp(2 * mu + sigma ^ 2)"),
    "neg_binomial": Moments("alpha / beta", "alpha * (beta + 1) / beta ^ 2"),
    "neg_binomial_2": Moments("mu", "mu + mu ^ 2 / phi"),
    "neg_binomial_2_log": Moments("exp(eta)", "exp(eta) + exp(2 * eta) / phi"),
    "pareto": Moments(
        "alpha * y_min / (alpha - 1)",
        "alpha * y_min ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
    ),
    "pareto_type_2": Moments(
        "mu + lambda / (alpha - 1)",
        "alpha * lambda ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
    ),
    "poisson": Moments("lambda", "lambda"),
    "poisson_log": Moments("exp(alpha)", "exp(alpha)"),
    "rayleigh": Moments("sigma * sqrt(pi() / 2)", "(4 - pi()) * sigma ^ 2 / 2"),
    "skew_normal": Moments(
        "xi + omega * alpha * sqrt(2 / (pi() * (1 + alpha ^ 2)))",
        "omega ^ 2 * (1 - 2 * alpha ^ 2 / (pi() * (1 + alpha ^ 2)))",
    ),
    "student_t": Moments("mu", "sigma ^ 2 * nu / (nu - 2)", "nu > 1", "nu > 2"),
    "uniform": Moments("(alpha + beta) / 2", "(beta - alpha) ^ 2 / 12"),
    "weibull": Moments(
        "sigma * tgamma(1 + 1 / alpha)", "sigma ^ 2 * (tgamma(1 + 2 / alpha) - tgamma(1 + 1 / alpha) ^ 2)"
    ),
    "yule_simon": Moments(
        "alpha / (alpha - 1)",
        "alpha ^ 2 / ((alpha - 1) ^ 2 * (alpha - 2))",
        "alpha > 1",
        "alpha > 2",
    ),
    "frechet": Moments(
        "sigma * tgamma(1 - 1 / alpha)",
        "sigma ^ 2 * (tgamma(1 - 2 / alpha) - tgamma(1 - 1 / alpha) ^ 2)",
        "alpha > 1",
        "alpha > 2",
    ),
}
"""By the name of the family, in its arguments; cauchy has neither, von_mises lies on a circle."""
