"""Log-sum-exp, mixtures and softmax.

Stan Functions Reference, "Reductions", "Softmax" and "Composed functions".
"""

from ppl.arrays import Array, Namespace, Slope, row_maxima, row_sums, with_partials, with_vjps
from ppl.stdlib.functions.checks import require_some
from ppl.stdlib.functions.sums import LISTS, over_matrix, spread
from ppl.stdlib.record import Function, Overload, guarded, leading
from ppl.stdlib.special.log_add import log_add, shares

ARRAYS_OF_ROWS = ("array[] vector", "array[] row_vector")
EACH_VECTOR = ("vector", "row_vector", *ARRAYS_OF_ROWS)

LEAST_SHARE = 1e-300
"""In place of a mixing proportion of 0, by which a slope is divided."""
LARGEST_LOG = 700.0
"""The largest number that may still be exponentiated."""


def _peak(xp: Namespace, x: Array) -> Array:
    """The largest element along the last axis, or 0 when that is infinite."""
    peak = spread(xp, row_maxima(xp, x)) if x.shape[-1] else xp.np.zeros((*x.shape[:-1], 1))
    return xp.np.where(xp.np.isfinite(peak), peak, 0.0)


def _shares(xp: Namespace, x: Array, ans: Array) -> Array:
    """exp(x - ans), and 0 where ans is -inf because every x is."""
    ans = spread(xp, ans)
    return xp.np.exp(x - xp.np.where(ans == -xp.np.inf, 0.0, ans))


def _each_share(xp: Namespace, ans: Array, x: Array) -> Array:
    """The share of each entry in log_sum_exp(x), which is `ans`."""
    if x.shape[-1] == 2:
        return xp.np.stack(shares(xp, x[..., 0], x[..., 1]), axis=-1)
    return _shares(xp, x, ans)


@with_vjps(Slope(_each_share, spread))
def log_sum_exp(xp: Namespace, x: Array) -> Array:
    if x.shape[-1] == 2:  # one exponential will do
        return log_add(xp, x[..., 0], x[..., 1])
    peak = _peak(xp, x)
    return xp.np.log(row_sums(xp, xp.np.exp(x - peak))) + peak[..., 0]


@with_partials(lambda xp, ans, x, y: shares(xp, x, y)[0], lambda xp, ans, x, y: shares(xp, x, y)[1])
def log_sum_exp_pair(xp: Namespace, x: Array, y: Array) -> Array:
    return log_add(xp, x, y)


@with_vjps(lambda xp, g, ans, x: ans * (g - spread(xp, row_sums(xp, g * ans))))
def softmax(xp: Namespace, x: Array) -> Array:
    weights = xp.np.exp(x - _peak(xp, x))
    return weights / spread(xp, row_sums(xp, weights))


@with_vjps(lambda xp, g, ans, x: g - xp.np.exp(ans) * spread(xp, row_sums(xp, g)))
def log_softmax(xp: Namespace, x: Array) -> Array:
    require_some("log_softmax", x)
    return x - spread(xp, log_sum_exp(xp, x))


def _weighted(xp: Namespace, theta: Array, x: Array, y: Array) -> tuple[Array, Array]:
    return xp.np.log(theta) + x, xp.np.log1p(-theta) + y


def _slope_in_theta(xp: Namespace, ans: Array, theta: Array, x: Array, y: Array) -> Array:
    """exp(x - ans) - exp(y - ans), by their shares between 0 and 1."""
    first, second = shares(xp, *_weighted(xp, theta, x, y))
    between = first / xp.np.maximum(theta, LEAST_SHARE) - second / xp.np.maximum(1.0 - theta, LEAST_SHARE)
    known = xp.np.where(xp.np.isfinite(ans), ans, 0.0)
    over = [xp.np.exp(xp.np.minimum(each - known, LARGEST_LOG)) for each in (x, y)]
    return xp.np.where((theta > 0) & (theta < 1), between, over[0] - over[1])


@with_partials(
    _slope_in_theta,
    lambda xp, ans, theta, x, y: shares(xp, *_weighted(xp, theta, x, y))[0],
    lambda xp, ans, theta, x, y: shares(xp, *_weighted(xp, theta, x, y))[1],
)
def log_mix_pair(xp: Namespace, theta: Array, x: Array, y: Array) -> Array:
    return log_add(xp, *_weighted(xp, theta, x, y))


def _mixes(xp: Namespace, theta: Array, x: Array) -> Array:
    """The arguments that Stan accepts: weights from 0 to 1, of any sum, of densities above 0."""
    weights = xp.np.all((theta >= 0) & (theta <= 1), axis=-1)
    return weights & xp.np.all(xp.np.isfinite(x), axis=-1)


@with_vjps(
    lambda xp, g, ans, theta, x: spread(xp, g) * _shares(xp, x, ans),
    lambda xp, g, ans, theta, x: spread(xp, g) * theta * _shares(xp, x, ans),
)
def log_mix(xp: Namespace, theta: Array, x: Array) -> Array:
    """log sum_k theta_k exp(x_k) over the last axis."""
    return guarded(xp, _mixes(xp, theta, x), log_sum_exp(xp, xp.np.log(theta) + x))


def log_mix_rows(xp: Namespace, theta: Array, x: Array) -> Array:
    """The sum of log_mix over an array of N rows; x is (..., N, K) and theta (..., K)."""
    return row_sums(xp, log_mix(xp, xp.np.expand_dims(theta, -2), x))


LOG_SUM_EXP = Function(
    "log_sum_exp",
    "the log of the sum of the exponentials",
    (
        *[Overload(f"({kind}) => real", log_sum_exp, "leading") for kind in LISTS],
        Overload("(matrix) => real", over_matrix(log_sum_exp), "leading"),
        Overload("(T, T) => T", log_sum_exp_pair, "elementwise"),
    ),
)

LOG_MIX = Function(
    "log_mix",
    "the log density of a mixture with weights theta and component log densities lp",
    (
        Overload("(real, real, real) => real", log_mix_pair, "elementwise"),
        *[Overload(f"({w}, {x}) => real", log_mix, "leading") for w in LISTS for x in LISTS],
        *[Overload(f"({w}, {x}) => real", log_mix_rows, "leading") for w in LISTS for x in ARRAYS_OF_ROWS],
    ),
    rejects=True,
)

FUNCTIONS = (
    LOG_SUM_EXP,
    LOG_MIX,
    leading(
        "softmax", "exponentials scaled to sum to one", *[(f"({v}) => {v}", softmax) for v in EACH_VECTOR]
    ),
    leading("log_softmax", "the log of the softmax", *[(f"({v}) => {v}", log_softmax) for v in EACH_VECTOR]),
)
