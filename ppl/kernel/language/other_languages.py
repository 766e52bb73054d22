"""Names that earlier versions of Stan, R, Python or BUGS have, and what is written here instead."""

from collections.abc import Mapping

VALUES: Mapping[str, str] = {
    "Inf": "`positive_infinity()`",
    "inf": "`positive_infinity()`",
    "Infinity": "`positive_infinity()`",
    "NaN": "`not_a_number()`",
    "nan": "`not_a_number()`",
    "pi": "`pi()`",
    "TRUE": "`1`",
    "FALSE": "`0`",
    "True": "`1`",
    "False": "`0`",
}

FUNCTIONS: Mapping[str, str] = {
    "multiply_log": "`lmultiply(x, y)`",
    "binomial_coefficient_log": "`lchoose(n, k)`",
    "if_else": "`condition ? a : b`",
    "ifelse": "`condition ? a : b`",
    "sigmoid": "`inv_logit(x)`",
    "expit": "`inv_logit(x)`",
    "ln": "`log(x)`",
    "log1plus": "`log1p(x)`",
    "power": "`x ^ y`",
    "gammaln": "`lgamma(x)`",
    "nrow": "`rows(x)`",
    "ncol": "`cols(x)`",
    "length": "`size(x)`, or `num_elements(x)`",
    "len": "`size(x)`, or `num_elements(x)`",
    "transpose": "`x'`",
    "det": "`determinant(x)`, or `log_determinant(x)`",
    "solve": "`A \\ b`",
    "zeros": "`rep_vector(0, n)`",
    "ones": "`rep_vector(1, n)`",
    "range": "`1:N`, a loop over it as `for (i in 1:N)`",
    "seq": "`1:N`, a loop over it as `for (i in 1:N)`",
    "seq_len": "`1:N`, a loop over it as `for (i in 1:N)`",
    "c": "`[0, 1]'` for a vector, `{0, 1}` for an array",
    "dot": "`X * b` for a matrix product, `dot_product(x, y)` for the sum of x times y",
    "matmul": "`X * b`",
    "concat": "`append_row`, `append_col` or `append_array`",
    "max_array": "`max(x)`",
    "fabs": "`abs(x)`",
    "logsumexp": "`log_sum_exp(x)`",
    "rnorm": "`normal_rng(mu, sigma)`",
    "runif": "`uniform_rng(a, b)`",
    "dnorm": "`normal_lpdf(y | mu, sigma)`",
    "pnorm": "`normal_cdf(y | mu, sigma)`",
}

DISTRIBUTIONS: Mapping[str, str] = {
    "N": "`normal(mu, sigma)`, with the standard deviation, not the variance",
    "gaussian": "`normal(mu, sigma)`, with the standard deviation",
    "norm": "`normal(mu, sigma)`, with the standard deviation",
    "dnorm": "`normal(mu, sigma)`, with the standard deviation, not the precision",
    "half_normal": "`normal(0, sigma)` for a variable declared with `<lower=0>`",
    "half_cauchy": "`cauchy(0, sigma)` for a variable declared with `<lower=0>`",
    "half_t": "`student_t(nu, 0, sigma)` for a variable declared with `<lower=0>`",
    "multivariate_normal": "`multi_normal(mu, Sigma)`",
    "mvnormal": "`multi_normal(mu, Sigma)`",
    "inverse_gamma": "`inv_gamma(alpha, beta)`",
    "negative_binomial": "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`",
    "negbin": "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`",
    "nbinom": "`neg_binomial_2(mu, phi)`, or `neg_binomial(alpha, beta)`",
    "laplace": "`double_exponential(mu, sigma)`",
    "t": "`student_t(nu, mu, sigma)`",
    "student": "`student_t(nu, mu, sigma)`",
    "unif": "`uniform(alpha, beta)`",
    "log_normal": "`lognormal(mu, sigma)`",
    "lkj": "`lkj_corr(eta)`, or `lkj_corr_cholesky(eta)`",
    "flat": "no statement at all: a parameter without a prior is flat",
}

SAME_ARGUMENTS = frozenset(
    """
    multiply_log binomial_coefficient_log sigmoid expit ln log1plus gammaln nrow ncol max_array fabs logsumexp
    gaussian norm multivariate_normal mvnormal inverse_gamma laplace t student unif log_normal
    """.split()
)
"""Of these the ones that are called as what is written here: only the name changes."""
