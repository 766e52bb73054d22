"""Means and covariances of families of vectors and matrices, as expressions of the language.

`moments.py` has those of single numbers. A law holds them to draws. Stan Functions Reference; Gelman et al.
(2013), "Bayesian Data Analysis", appendix A, for the Wishart distributions.
"""

from collections.abc import Mapping
from functools import partial

from ppl.cli.site.moments import OF_ELEMENTS, OF_VECTOR, Moments

SIZES = {"N": "the sum of the counts", "K": "the number of rows"}
"""What a formula names that is no argument of its density."""

each, together = partial(Moments, second=OF_ELEMENTS), partial(Moments, second=OF_VECTOR)

MULTIVARIATE_MOMENTS: Mapping[str, Moments] = {
    "dirichlet": each(
        "alpha / sum(alpha)", "alpha .* (sum(alpha) - alpha) / (sum(alpha) ^ 2 * (sum(alpha) + 1))"
    ),
    "multinomial": each("N * theta", "N * theta .* (1 - theta)"),
    "multinomial_logit": each("N * softmax(gamma)", "N * softmax(gamma) .* (1 - softmax(gamma))"),
    "dirichlet_multinomial": each(
        "N * alpha / sum(alpha)",
        "N * alpha .* (sum(alpha) - alpha) * (N + sum(alpha)) / (sum(alpha) ^ 2 * (sum(alpha) + 1))",
    ),
    "multi_normal": together("mu", "Sigma"),
    "multi_normal_cholesky": together("mu", "L * L'"),
    "multi_normal_prec": together("mu", "inverse(Omega)"),
    "multi_student_t": together("mu", "nu / (nu - 2) * Sigma", "nu > 1", "nu > 2"),
    "multi_student_t_cholesky": together("mu", "nu / (nu - 2) * (L * L')", "nu > 1", "nu > 2"),
    "wishart": each("nu * S", "nu * (S .* S + diagonal(S) * diagonal(S)')"),
    "inv_wishart": each(
        "S / (nu - K - 1)",
        "((nu - K + 1) * S .* S + (nu - K - 1) * diagonal(S) * diagonal(S)') "
        "/ ((nu - K) * (nu - K - 1) ^ 2 * (nu - K - 3))",
        "nu > K + 1",
        "nu > K + 3",
    ),
    "normal_id_glm": each("alpha + x * beta", "sigma ^ 2"),
    "bernoulli_logit_glm": each(
        "inv_logit(alpha + x * beta)", "inv_logit(alpha + x * beta) .* inv_logit(-alpha - x * beta)"
    ),
    "binomial_logit_glm": each(
        "N * inv_logit(alpha + x * beta)", "N * inv_logit(alpha + x * beta) .* inv_logit(-alpha - x * beta)"
    ),
    "poisson_log_glm": each("exp(alpha + x * beta)", "exp(alpha + x * beta)"),
    "neg_binomial_2_log_glm": each(
        "exp(alpha + x * beta)", "exp(alpha + x * beta) + exp(2 * (alpha + x * beta)) / phi"
    ),
}
