"""Independent Gaussian processes over the same inputs, one a row, with their own precisions.

Stan Functions Reference, "Multivariate Gaussian process distribution" and its Cholesky parameterization:
row k of y is normal with mean 0 and covariance Sigma / w_k.
"""

from dataclasses import replace

from ppl.arrays import Array, Namespace
from ppl.stdlib.distributions.quadratic_form import log_determinant, log_diagonal, quadratic, whitened_square
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Constant, Distribution, guarded
from ppl.stdlib.special.constants import LOG_TWO_PI


def log_density(xp: Namespace, y: Array, sigma: Array, w: Array) -> Array:
    return _rows(xp, w, quadratic(xp, y, sigma), 0.5 * log_determinant(xp, sigma), y.shape[-1])


def cholesky_log_density(xp: Namespace, y: Array, lower: Array, w: Array) -> Array:
    return _rows(xp, w, whitened_square(xp, y, lower), log_diagonal(xp, lower), y.shape[-1])


def _rows(xp: Namespace, w: Array, squares: Array, log_scale: Array, size: int) -> Array:
    values = 0.5 * size * (xp.np.log(w) - LOG_TWO_PI) - log_scale - 0.5 * w * squares
    return xp.np.sum(guarded(xp, w > 0, values))


CONSTANTS: tuple[Constant, ...] = (
    ((), lambda xp, y: -0.5 * LOG_TWO_PI * y.shape[-2] * y.shape[-1], ("y",)),
    (("w",), lambda xp, w, y: 0.5 * y.shape[-1] * xp.np.sum(xp.np.log(w)), ("y",)),
)

MULTI_GP = Distribution(
    name="multi_gp",
    meaning="rows that are normal with mean zero and covariance Sigma / w_k",
    signatures=("matrix | matrix, vector",),
    args=(("y", "real"), ("Sigma", "cov_matrix"), ("w", "positive")),
    log_density=log_density,
    constants=(
        *CONSTANTS,
        (("Sigma",), lambda xp, sigma, y: -0.5 * y.shape[-2] * log_determinant(xp, sigma), ("y",)),
    ),
    batched=False,
    moments=Moments("rep_matrix(0, num_elements(w), rows(Sigma))"),
)

MULTI_GP_CHOLESKY = replace(
    MULTI_GP,
    name="multi_gp_cholesky",
    meaning="rows that are normal with mean zero and covariance L L' / w_k",
    args=(("y", "real"), ("L", "cholesky_factor_cov"), ("w", "positive")),
    log_density=cholesky_log_density,
    constants=(*CONSTANTS, (("L",), lambda xp, lower, y: -y.shape[-2] * log_diagonal(xp, lower), ("y",))),
    moments=Moments("rep_matrix(0, num_elements(w), rows(L))"),
)
