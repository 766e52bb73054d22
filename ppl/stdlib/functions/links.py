"""Maps between the real line and the unit interval: logit, probit, complementary log-log.

Stan Functions Reference, "Link functions" and "Probability-related functions"; "Normal distribution" and
"Student-t distribution" for the quantile functions.
"""

from ppl.arrays import Array, Namespace, with_partials
from ppl.stdlib.distributions import student_t
from ppl.stdlib.distributions.normal import standard_cdf
from ppl.stdlib.record import Function, elementwise, unary
from ppl.stdlib.special.constants import HALF_LOG_TWO_PI, SQRT_TWO_PI
from ppl.stdlib.special.log_add import expit


@with_partials(lambda xp, ans, x: 1.0 / (x * (1.0 - x)))
def logit(xp: Namespace, x: Array) -> Array:
    return xp.special.logit(1.0 * x)


@with_partials(lambda xp, ans, x: ans * expit(xp, -x))
def inv_logit(xp: Namespace, x: Array) -> Array:
    return expit(xp, 1.0 * x)


@with_partials(lambda xp, ans, x: xp.np.exp(x - xp.np.exp(x)))
def inv_cloglog(xp: Namespace, x: Array) -> Array:
    return -xp.np.expm1(-xp.np.exp(x))


@with_partials(lambda xp, ans, x: ans * inv_logit(xp, -_cubic(x)) * (3.0 * 0.07056 * x * x + 1.5976))
def phi_approx(xp: Namespace, x: Array) -> Array:
    return expit(xp, _cubic(x))


def _cubic(x: Array) -> Array:
    """Bowling et al., "A logistic approximation to the cumulative normal distribution" (2009)."""
    return 0.07056 * x * x * x + 1.5976 * x


@with_partials(lambda xp, ans, p: SQRT_TWO_PI * xp.np.exp(0.5 * ans * ans))
def inv_phi(xp: Namespace, p: Array) -> Array:
    return xp.special.ndtri(1.0 * p)


@with_partials(lambda xp, ans, log_p: xp.np.exp(log_p + 0.5 * ans * ans + HALF_LOG_TWO_PI))
def log_qf(xp: Namespace, log_p: Array) -> Array:
    """The normal quantile of exp(log_p), also where that underflows."""
    return xp.special.ndtri_exp(log_p)


@with_partials(None, lambda xp, ans, y, p: xp.np.where(y != 0, -1.0 / p, 1.0 / (1.0 - p)))
def binary_log_loss(xp: Namespace, y: Array, p: Array) -> Array:
    """Every y but 0 counts as 1, as in Stan."""
    return -xp.np.where(y != 0, xp.np.log(p), xp.np.log1p(-p))


FUNCTIONS: tuple[Function, ...] = (
    unary("logit", "log(x / (1 - x))", logit),
    unary("inv_logit", "1 / (1 + exp(-x))", inv_logit),
    unary("inv_cloglog", "1 - exp(-exp(x))", inv_cloglog),
    unary("Phi", "the standard normal cumulative distribution function", standard_cdf),
    unary("Phi_approx", "a logistic approximation to Phi", phi_approx),
    unary("inv_Phi", "the inverse of Phi", inv_phi, rejects=True),
    unary("std_normal_qf", "the standard normal quantile function", inv_phi, rejects=True),
    unary("std_normal_log_qf", "the standard normal quantile function of exp(x)", log_qf, rejects=True),
    elementwise(
        "student_t_qf",
        "Student's t quantile function of p, with nu degrees of freedom, location mu and scale sigma",
        ("(real, real, real, real) => real", student_t.quantile),
        ("(reals, reals, reals, reals) => vector", student_t.quantile),
    ),
    elementwise(
        "binary_log_loss", "-log(p) for y = 1, -log(1 - p) for y = 0", ("(I, T) => T", binary_log_loss)
    ),
)
