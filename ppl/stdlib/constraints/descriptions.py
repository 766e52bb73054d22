"""The mathematics of each constraint in words, for `ppl docs`; a law holds sizes and examples to the code.

Stan Reference Manual 2.37, "Constraint Transforms".  u are the free numbers, x is the value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ppl.stdlib.constraints.record import Shape


@dataclass(frozen=True)
class Description:
    """`declared` as in a program, the `size` of u in the letters of the declaration, map and log-Jacobian.

    `shape` and `arguments` are those of the example on the page.
    """

    declared: str
    size: str
    transform: tuple[str, ...]
    log_jacobian: str
    shape: Shape
    arguments: tuple[float, ...] = ()


ELEMENTWISE = "1"
"""As many as the value has elements."""

DESCRIPTIONS: Mapping[str, Description] = MappingProxyType(
    {
        "identity": Description("real x;", ELEMENTWISE, ("x = u",), "0", ()),
        "complex": Description("complex z;", "2", ("z = u_1 + i u_2",), "0", ()),
        "lower": Description(
            "real<lower=a> x;", ELEMENTWISE, ("x = a + exp(u)", "x = u if a is -inf"), "u", (), (1.0,)
        ),
        "upper": Description(
            "real<upper=b> x;", ELEMENTWISE, ("x = b - exp(u)", "x = u if b is inf"), "u", (), (1.0,)
        ),
        "lower_upper": Description(
            "real<lower=a, upper=b> x;",
            ELEMENTWISE,
            ("x = a + (b - a) inv_logit(u)", "as with one bound, or none, where the other is infinite"),
            "log(b - a) + log inv_logit(u) + log inv_logit(-u)",
            (),
            (0.0, 2.0),
        ),
        "offset_multiplier": Description(
            "real<offset=m, multiplier=s> x;", ELEMENTWISE, ("x = m + s u",), "log(s)", (), (1.0, 2.0)
        ),
        "ordered": Description(
            "ordered[K] x;", "K", ("x_1 = u_1", "x_k = x_{k-1} + exp(u_k)"), "u_2 + ... + u_K", (3,)
        ),
        "positive_ordered": Description(
            "positive_ordered[K] x;",
            "K",
            ("x_1 = exp(u_1)", "x_k = x_{k-1} + exp(u_k)"),
            "u_1 + ... + u_K",
            (3,),
        ),
        "simplex": Description(
            "simplex[K] x;",
            "K - 1",
            ("x = softmax(z), where z is the sum_to_zero_vector[K] of u",),
            "sum_k log(x_k) + log(K) / 2",
            (3,),
        ),
        "unit_vector": Description(
            "unit_vector[K] x;  (K at least 2)",
            "K",
            ("x = u / |u|",),
            "-u'u / 2, the log density of a standard normal u in place of a Jacobian",
            (3,),
        ),
        "sum_to_zero_vector": Description(
            "sum_to_zero_vector[K] x;",
            "K - 1",
            ("x = H u, where the columns of H are orthonormal and sum to zero",),
            "0",
            (3,),
        ),
        "sum_to_zero_matrix": Description(
            "sum_to_zero_matrix[M, N] x;",
            "(M - 1) * (N - 1)",
            ("x = H_M U H_N', with the H of sum_to_zero_vector on either side",),
            "0",
            (2, 3),
        ),
        "cov_matrix": Description(
            "cov_matrix[K] x;",
            "K * (K + 1) // 2",
            ("x = L L'", "the lower triangle of L is u row by row, with exp on its diagonal"),
            "K log(2) + sum_k (K - k + 2) log(L_kk)",
            (2, 2),
        ),
        "corr_matrix": Description(
            "corr_matrix[K] x;",
            "K * (K - 1) // 2",
            (
                "x = L L', with L as for cholesky_factor_corr;",
                "z = tanh(u) lies column by column below the diagonal",
            ),
            "sum_{j<i} (1 + (K - j - 1) / 2) log(1 - z_ij^2)",
            (2, 2),
        ),
        "cholesky_factor_cov": Description(
            "cholesky_factor_cov[M, N] x;  ([K] is [K, K]; M at least N)",
            "N * (N + 1) // 2 + (M - N) * N",
            ("the lower triangle is u row by row, with exp on the diagonal",),
            "the sum of the u on the diagonal",
            (2, 2),
        ),
        "cholesky_factor_corr": Description(
            "cholesky_factor_corr[K] x;",
            "K * (K - 1) // 2",
            (
                "z = tanh(u) lies row by row below the diagonal;",
                "x_ij = z_ij prod_{l<j} sqrt(1 - z_il^2)",
                "x_ii = prod_{l<i} sqrt(1 - z_il^2)",
            ),
            "sum_{j<i} (1 + (i - j - 1) / 2) log(1 - z_ij^2)",
            (2, 2),
        ),
        "row_stochastic_matrix": Description(
            "row_stochastic_matrix[M, N] x;",
            "M * (N - 1)",
            ("each row is the simplex of a row of U",),
            "the sum of those of the rows",
            (2, 2),
        ),
        "column_stochastic_matrix": Description(
            "column_stochastic_matrix[M, N] x;",
            "(M - 1) * N",
            ("each column is the simplex of a column of U",),
            "the sum of those of the columns",
            (2, 2),
        ),
    }
)
