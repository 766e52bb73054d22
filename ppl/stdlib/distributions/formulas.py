"""The log density of each family of single numbers, written in the language itself: what its page shows.

They say what is computed, not how: the code of a family is stable where these overflow or cancel. A law holds
the two together. Inside the support; outside it the log density is -inf. Stan Functions Reference.
"""

from collections.abc import Mapping

FORMULAS: Mapping[str, str] = {
    "normal": "-square((y - mu) / sigma) / 2 - log(sigma) - log(2 * pi()) / 2",
    "std_normal": "-square(y) / 2 - log(2 * pi()) / 2",
    "bernoulli": "y * log(theta) + (1 - y) * log1m(theta)",
    "bernoulli_logit": "y * alpha - log1p_exp(alpha)",
    "beta": "(alpha - 1) * log(y) + (beta - 1) * log1m(y) - lbeta(alpha, beta)",
    "beta_proportion": (
        "(mu * kappa - 1) * log(y) + ((1 - mu) * kappa - 1) * log1m(y) - lbeta(mu * kappa, (1 - mu) * kappa)"
    ),
    "beta_binomial": "lchoose(N, y) + lbeta(y + alpha, N - y + beta) - lbeta(alpha, beta)",
    "beta_neg_binomial": (
        "lbeta(y + r, alpha + beta) - lbeta(r, alpha) + lgamma(y + beta) - lgamma(y + 1) - lgamma(beta)"
    ),
    "binomial": "lchoose(N, y) + y * log(theta) + (N - y) * log1m(theta)",
    "binomial_logit": "lchoose(N, y) + y * alpha - N * log1p_exp(alpha)",
    "cauchy": "-log(pi() * sigma) - log1p(square((y - mu) / sigma))",
    "discrete_range": "-log(upper - lower + 1)",
    "double_exponential": "-log(2 * sigma) - abs(y - mu) / sigma",
    "exp_mod_normal": (
        "log(lambda / 2) + lambda * (mu - y + lambda * square(sigma) / 2) "
        "+ log(erfc((mu + lambda * square(sigma) - y) / (sqrt(2) * sigma)))"
    ),
    "exponential": "log(beta) - beta * y",
    "gamma": "alpha * log(beta) - lgamma(alpha) + (alpha - 1) * log(y) - beta * y",
    "chi_square": "-nu / 2 * log(2) - lgamma(nu / 2) + (nu / 2 - 1) * log(y) - y / 2",
    "gumbel": "-log(beta) - (y - mu) / beta - exp(-(y - mu) / beta)",
    "inv_gamma": "alpha * log(beta) - lgamma(alpha) - (alpha + 1) * log(y) - beta / y",
    "inv_chi_square": "-nu / 2 * log(2) - lgamma(nu / 2) - (nu / 2 + 1) * log(y) - 1 / (2 * y)",
    "scaled_inv_chi_square": (
        "nu / 2 * log(nu / 2) - lgamma(nu / 2) + nu * log(s) - (nu / 2 + 1) * log(y) "
        "- nu * square(s) / (2 * y)"
    ),
    "skew_double_exponential": (
        "log(2 * tau * (1 - tau) / sigma) - 2 / sigma * (y < mu ? (1 - tau) * (mu - y) : tau * (y - mu))"
    ),
    "hypergeometric": "lchoose(a, y) + lchoose(b, N - y) - lchoose(a + b, N)",
    "logistic": "-(y - mu) / sigma - log(sigma) - 2 * log1p_exp(-(y - mu) / sigma)",
    "loglogistic": ("log(beta / alpha) + (beta - 1) * log(y / alpha) - 2 * log1p((y / alpha) ^ beta)"),
    "lognormal": "-square((log(y) - mu) / sigma) / 2 - log(sigma) - log(y) - log(2 * pi()) / 2",
    "neg_binomial": "lchoose(y + alpha - 1, y) + alpha * log(beta / (beta + 1)) - y * log1p(beta)",
    "neg_binomial_2": ("lchoose(y + phi - 1, y) + y * log(mu / (mu + phi)) + phi * log(phi / (mu + phi))"),
    "neg_binomial_2_log": (
        "lchoose(y + phi - 1, y) + y * eta + phi * log(phi) - (y + phi) * log(exp(eta) + phi)"
    ),
    "pareto": "log(alpha) + alpha * log(y_min) - (alpha + 1) * log(y)",
    "pareto_type_2": "log(alpha / lambda) - (alpha + 1) * log1p((y - mu) / lambda)",
    "poisson": "y * log(lambda) - lambda - lgamma(y + 1)",
    "poisson_log": "y * alpha - exp(alpha) - lgamma(y + 1)",
    "rayleigh": "log(y) - 2 * log(sigma) - square(y / sigma) / 2",
    "skew_normal": (
        "-log(omega) - log(2 * pi()) / 2 - square((y - xi) / omega) / 2 "
        "+ log(erfc(-alpha * (y - xi) / (omega * sqrt(2))))"
    ),
    "student_t": (
        "lgamma((nu + 1) / 2) - lgamma(nu / 2) - log(nu * pi()) / 2 - log(sigma) "
        "- (nu + 1) / 2 * log1p(square((y - mu) / sigma) / nu)"
    ),
    "uniform": "-log(beta - alpha)",
    "von_mises": "kappa * cos(y - mu) - log(2 * pi()) - log_modified_bessel_first_kind(0, kappa)",
    "weibull": "log(alpha / sigma) + (alpha - 1) * log(y / sigma) - (y / sigma) ^ alpha",
    "yule_simon": "log(alpha) + lbeta(y, alpha + 1)",
    "frechet": "log(alpha / sigma) - (alpha + 1) * log(y / sigma) - (y / sigma) ^ (-alpha)",
}
"""Expressions of the arguments by their names, whole numbers being taken for reals."""
