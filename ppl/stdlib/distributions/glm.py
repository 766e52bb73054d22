"""Generalised linear models: the family of y with the linear predictor alpha + x beta, row by row.

Stan Functions Reference, sections "... generalized linear model".  x is (rows, columns), or one row for all.
"""

from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, Node
from ppl.late import special
from ppl.stdlib.distributions import bernoulli, binomial, categorical, neg_binomial, normal, ordered, poisson
from ppl.stdlib.functions.products import inner
from ppl.stdlib.moments import Moments, each
from ppl.stdlib.record import Constant, Distribution, Impl


class ByRows(Node):
    """(y, x, alpha, beta, further parameters) with the linear predictor in place of a family's first."""

    def __init__(self, density: Any):
        self.density: Node = density
        super().__init__(self._rows, ())

    def _rows(self, xp: Namespace, y: Array, x: Array, alpha: Array, beta: Array, *rest: Array) -> Array:
        return self.density(xp, y, alpha + inner(xp, x, beta), *rest)

    def summed_but(self, leading_axes: int) -> Node:
        return type(self)(self.density.summed_but(leading_axes))

    def __call__(self, xp: Namespace, *args: Array) -> Array:
        return self._rows(xp, *args)


class ByRowsOfMatrix(ByRows):
    """The same where each row has a vector of predictors, alpha + x beta of a matrix beta."""

    def _rows(self, xp: Namespace, y: Array, x: Array, alpha: Array, beta: Array, *rest: Array) -> Array:
        """Of many draws beta is (draws, 1, columns, categories): one for all rows."""
        if np.ndim(beta) > 2:
            x, beta = (x[None] if np.ndim(x) == 1 else x), beta[..., 0, :, :]
        return self.density(xp, y, alpha + xp.np.matmul(x, beta), *rest)


def _constants(family: Distribution, predictor: str) -> tuple[Constant, ...]:
    """The terms that the family drops and that do not depend on the linear predictor, row by row."""
    return tuple(
        (needs, _each_row(term), ("y", "x")) for needs, term, *_ in family.constants if predictor not in needs
    )


def _each_row(term: Impl) -> Impl:
    def rows(xp: Namespace, *args: Array) -> Array:
        *needed, y, x = args
        return term(xp, *needed) + np.zeros(np.broadcast_shapes(np.shape(y), np.shape(x)[:-1]))

    return rows


def _log_factorial(xp: Namespace, y: Array) -> Array:
    """-log y!, which Stan drops here though neg_binomial_2_log keeps it for a phi that is a parameter."""
    return -xp.special.gammaln(y + 1.0)


def _log_rising(xp: Namespace, y: Array, phi: Array) -> Array:
    """log(Gamma(y + phi) / Gamma(phi)) + phi log phi."""
    coefficient = neg_binomial.log_coefficient(xp, y, phi) - _log_factorial(xp, y)
    return coefficient + phi * xp.np.log(phi)


def _count_by_predictor(xp: Namespace, y: Array, x: Array, alpha: Array, beta: Array) -> Array:
    return y * (alpha + xp.np.matmul(x, beta))


def _signatures(variate: str, middle: str = "", last: str = "") -> tuple[str, ...]:
    """Overloads for one or many y, one or many rows of x, a common or separate intercepts."""
    one, many = variate.split("/")
    return tuple(
        f"{y} | {middle}{x}, {alpha}, vector{last}"
        for y, x in ((one, "matrix"), (many, "row_vector"), (many, "matrix"))
        for alpha in ("real", "vector")
    )


def _of_categories(parameters: str) -> tuple[str, ...]:
    return tuple(f"{y} | {x}, {parameters}" for y in ("int", "array[] int") for x in ("row_vector", "matrix"))


ROWS = (("x", "real"), ("alpha", "real"), ("beta", "real"))

NORMAL_ID_GLM = Distribution(
    name="normal_id_glm",
    meaning="linear regression: normal(alpha + x beta, sigma)",
    signatures=_signatures("real/vector", last=", real") + _signatures("real/vector", last=", vector"),
    args=(("y", "real"), *ROWS, ("sigma", "positive")),
    log_density=ByRows(normal.NORMAL.log_density),
    constants=_constants(normal.NORMAL, "mu"),
    batched=False,
    cores=(0, 1, 0, 1, 0),
    moments=each("alpha + x * beta", "sigma ^ 2"),
)

BERNOULLI_LOGIT_GLM = Distribution(
    name="bernoulli_logit_glm",
    meaning="logistic regression: bernoulli_logit(alpha + x beta)",
    signatures=_signatures("int/array[] int"),
    args=(("y", "binary"), *ROWS),
    log_density=ByRows(bernoulli.logit_log_density),
    rng=lambda rng, x, alpha, beta: rng.binomial(1, special.expit(alpha + inner(NUMPY, x, beta))),
    rng_signatures=tuple(f"({x}, vector, vector) => array[] int" for x in ("matrix", "row_vector")),
    batched=False,
    cores=(0, 1, 0, 1),
    moments=each(
        "inv_logit(alpha + x * beta)", "inv_logit(alpha + x * beta) .* inv_logit(-alpha - x * beta)"
    ),
)

POISSON_LOG_GLM = Distribution(
    name="poisson_log_glm",
    meaning="Poisson regression: poisson_log(alpha + x beta)",
    signatures=_signatures("int/array[] int"),
    args=(("y", "count"), *ROWS),
    log_density=ByRows(poisson.log_rate_log_density),
    constants=_constants(poisson.POISSON_LOG, "alpha"),
    batched=False,
    cores=(0, 1, 0, 1),
    moments=each("exp(alpha + x * beta)", "exp(alpha + x * beta)"),
)

NEG_BINOMIAL_2_LOG_GLM = Distribution(
    name="neg_binomial_2_log_glm",
    meaning="negative binomial regression: neg_binomial_2_log(alpha + x beta, phi)",
    signatures=_signatures("int/array[] int", last=", real"),
    args=(("y", "count"), *ROWS, ("phi", "positive")),
    log_density=ByRows(neg_binomial.log_mean_log_density),
    constants=(
        (("y",), _each_row(_log_factorial), ("y", "x")),
        (("y", "phi"), _each_row(_log_rising), ("y", "x")),
        (("y", "x", "alpha", "beta"), _each_row(_count_by_predictor), ("y", "x")),
    ),
    batched=False,
    cores=(0, 1, 0, 1, 0),
    moments=each("exp(alpha + x * beta)", "exp(alpha + x * beta) + exp(2 * (alpha + x * beta)) / phi"),
)

BINOMIAL_LOGIT_GLM = Distribution(
    name="binomial_logit_glm",
    meaning="binomial regression: binomial_logit(n, alpha + x beta)",
    signatures=(
        *_signatures("int/array[] int", middle="int, "),
        *_signatures("int/array[] int", middle="array[] int, "),
    ),
    args=(("y", "count"), ("N", "count"), *ROWS),
    log_density=lambda xp, y, n, x, alpha, beta: binomial.logit_log_density(
        xp, y, n, alpha + inner(xp, x, beta)
    ),
    constants=((("y", "N"), _each_row(binomial.log_coefficient), ("y", "x")),),
    batched=False,
    cores=(0, 0, 1, 0, 1),
    moments=each(
        "N * inv_logit(alpha + x * beta)", "N * inv_logit(alpha + x * beta) .* inv_logit(-alpha - x * beta)"
    ),
)

CATEGORICAL_LOGIT_GLM = Distribution(
    name="categorical_logit_glm",
    meaning="softmax regression: categorical_logit(alpha + x beta)",
    signatures=_of_categories("vector, matrix"),
    args=(("y", "category"), *ROWS),
    log_density=ByRowsOfMatrix(categorical.logit_log_density),
    batched=False,
    cores=(0, 1, 1, 2),
    moments=Moments(probabilities="softmax(alpha + (x * beta)')"),
)

ORDERED_LOGISTIC_GLM = Distribution(
    name="ordered_logistic_glm",
    meaning="ordinal regression: ordered_logistic(x beta, c)",
    signatures=_of_categories("vector, vector"),
    args=(("y", "category"), ("x", "real"), ("beta", "real"), ("c", "ordered")),
    log_density=lambda xp, y, x, beta, c: ordered.logistic_log_density(xp, y, inner(xp, x, beta), c),
    batched=False,
    cores=(0, 1, 1, 1),
    moments=Moments(
        probabilities="append_row(1, inv_logit(x * beta - c)) - append_row(inv_logit(x * beta - c), 0)"
    ),
)
