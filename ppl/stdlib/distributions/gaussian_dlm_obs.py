"""Gaussian dynamic linear models, with the states integrated out by the Kalman filter.

Stan Functions Reference, "Gaussian dynamic linear models"; West and Harrison 1997, section 16.2.
"""

from ppl.arrays import Array, Namespace
from ppl.stdlib.distributions import multi_normal
from ppl.stdlib.functions.products import transposed
from ppl.stdlib.functions.solves import mdivide_right
from ppl.stdlib.linear_recurrence import states_after
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution
from ppl.stdlib.special.constants import LOG_TWO_PI


def log_density(
    xp: Namespace, y: Array, f: Array, g: Array, v: Array, w: Array, m0: Array, c0: Array
) -> Array:
    """y is (observed, time), f (states, observed), g and w (states, states), v a covariance or variances."""
    mul = xp.np.matmul
    noise = v if v.ndim == 2 else xp.np.diag(v)

    def once(mean: Array, covariance: Array, before: Array, now: Array) -> tuple[Array, ...]:
        prior_mean = mul(g, mean)
        prior = mul(mul(g, covariance), transposed(xp, g)) + w
        loading = mul(prior, f)
        expected, spread = mul(transposed(xp, f), prior_mean), mul(transposed(xp, f), loading) + noise
        spread = 0.5 * (spread + transposed(xp, spread))
        gain = mdivide_right(xp, loading, spread)
        mean, covariance = prior_mean + mul(gain, now - expected), prior - mul(gain, transposed(xp, loading))
        return mean, covariance, multi_normal.log_density(xp, now, expected, spread)

    return xp.np.sum(states_after(xp, once, (m0, c0, 0.0), (transposed(xp, y),))[2])


GAUSSIAN_DLM_OBS = Distribution(
    name="gaussian_dlm_obs",
    meaning="observations of a linear state space model with normal noise",
    signatures=(
        "matrix | matrix, matrix, matrix, matrix, vector, matrix",
        "matrix | matrix, matrix, vector, matrix, vector, matrix",
    ),
    args=(
        ("y", "real"),
        ("F", "real"),
        ("G", "real"),
        ("V", "real"),
        ("W", "cov_matrix"),
        ("m0", "real"),
        ("C0", "cov_matrix"),
    ),
    log_density=log_density,
    constants=(((), lambda xp, y: -0.5 * LOG_TWO_PI * y.shape[-2] * y.shape[-1], ("y",)),),
    batched=False,
    moments=Moments(without="it is of a whole series, whose states are integrated out"),
)
