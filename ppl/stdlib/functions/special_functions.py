"""Special functions: error functions, Owen's T, Lambert's W, Bessel, hypergeometric, incomplete.

Stan Functions Reference, "Probability-related functions" and "Combinatorial functions"; D. B. Owen, "Tables
for computing bivariate normal probabilities" (1956); Corless et al., "On the Lambert W function" (1996).
"""

import math

import numpy as np

from ppl.arrays import Array, Namespace, with_partials
from ppl.late import special
from ppl.stdlib.functions.sums import LISTS
from ppl.stdlib.record import Function, Impl, binary, elementwise, function, guarded, unary
from ppl.stdlib.special import incomplete_beta, incomplete_gamma
from ppl.stdlib.special.constants import SQRT_HALF, SQRT_TWO_PI, TWO_OVER_SQRT_PI
from ppl.stdlib.special.hypergeometric import pfq
from ppl.stdlib.special.log_bessel import log_bessel_i
from ppl.stdlib.special.polygamma import log_gamma


def gamma_p(xp: Namespace, a: Array, x: Array) -> Array:
    return guarded(xp, a > 0, incomplete_gamma.lower(xp, 1.0 * a, 1.0 * x))


def gamma_q(xp: Namespace, a: Array, x: Array) -> Array:
    return guarded(xp, a > 0, incomplete_gamma.upper(xp, 1.0 * a, 1.0 * x))


def inc_beta(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    return incomplete_beta.lower(xp, 1.0 * a, 1.0 * b, 1.0 * x, 1.0 - x)


def _slope(xp: Namespace, x: Array, a: Array, b: Array, k: int) -> Array:
    """dx/da (k = 0) or dx/db (k = 1) where I(a, b, x) stays what it is."""
    value = incomplete_beta.lower(xp, a, b, x, 1.0 - x)
    return -value * incomplete_beta.slope(xp, a, b, x, 1.0 - x, k) * _by_probability(xp, x, a, b)


def _by_probability(xp: Namespace, x: Array, a: Array, b: Array) -> Array:
    return xp.np.exp(-incomplete_beta.log_density(xp, a, b, x, 1.0 - x))


@with_partials(
    lambda xp, ans, a, b, p: _slope(xp, ans, 1.0 * a, 1.0 * b, 0),
    lambda xp, ans, a, b, p: _slope(xp, ans, 1.0 * a, 1.0 * b, 1),
    lambda xp, ans, a, b, p: _by_probability(xp, ans, 1.0 * a, 1.0 * b),
)
def inv_inc_beta(xp: Namespace, a: Array, b: Array, p: Array) -> Array:
    """x with I(a, b, x) = p."""
    return special.betaincinv(a, b, p)


def hypergeometric_1f0(xp: Namespace, a: Array, z: Array) -> Array:
    """(1 - z)^-a."""
    return xp.np.exp(-a * xp.np.log1p(-z))


def hypergeometric_2f1(xp: Namespace, a: Array, b: Array, c: Array, z: Array) -> Array:
    """Pfaff's transformation maps z < 0 to [0, 1), where all terms have one sign (NIST DLMF 15.8.1).

    At z = 1 Gauss's theorem gives the sum (15.4.20).
    """
    plain = xp.plain(z)
    if plain < 0:
        return hypergeometric_1f0(xp, a, z) * _series(xp, a, c - b, c, z / (z - 1.0))
    if plain == 1:
        rest = log_gamma(xp, c - a - b) - log_gamma(xp, c - a) - log_gamma(xp, c - b)
        return xp.np.exp(log_gamma(xp, c) + rest)
    return _series(xp, a, b, c, z)


def _series(xp: Namespace, a: Array, b: Array, c: Array, z: Array) -> Array:
    return pfq(xp, xp.np.stack([1.0 * a, 1.0 * b]), xp.np.stack([1.0 * c]), z)


def _of_lists(name: str, meaning: str, impl: Impl) -> Function:
    return function(name, meaning, *[(f"({a}, {b}, real) => real", impl) for a in LISTS for b in LISTS])


def _bessel(
    name: str, meaning: str, scipys: str, below: float, above: float, least: float = -math.inf
) -> Function:
    """SciPy's f(v, x) by its own name; its derivative in x is below * f(v - 1, x) + above * f(v + 1, x).

    nan unless x is above `least`.
    """

    def by_argument(xp: Namespace, ans: Array, v: Array, x: Array) -> Array:
        return below * node(xp, v - 1, x) + above * node(xp, v + 1, x)

    def value(xp: Namespace, v: Array, x: Array) -> Array:
        return guarded(xp, x > least, getattr(special, scipys)(v, x))

    node = with_partials(None, by_argument)(value)
    return elementwise(name, meaning, ("(I, T) => T", node))


def log_modified_bessel_first_kind(xp: Namespace, v: Array, x: Array) -> Array:
    return guarded(xp, (v >= -1) & (x >= 0), log_bessel_i(xp, v, x))


@with_partials(lambda xp, ans, x: TWO_OVER_SQRT_PI * xp.np.exp(-x * x))
def erf(xp: Namespace, x: Array) -> Array:
    return xp.special.erf(1.0 * x)


@with_partials(lambda xp, ans, x: -TWO_OVER_SQRT_PI * xp.np.exp(-x * x))
def erfc(xp: Namespace, x: Array) -> Array:
    return xp.special.erfc(1.0 * x)


@with_partials(lambda xp, ans, x: -xp.np.exp(ans * ans) / TWO_OVER_SQRT_PI)
def inv_erfc(xp: Namespace, x: Array) -> Array:
    return guarded(xp, (x > 0) & (x < 2), xp.special.erfcinv(1.0 * x))


@with_partials(
    lambda xp, ans, h, a: -xp.np.exp(-0.5 * h * h) * erf(xp, SQRT_HALF * a * h) / (2.0 * SQRT_TWO_PI),
    lambda xp, ans, h, a: xp.np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a)),
)
def owens_t(xp: Namespace, h: Array, a: Array) -> Array:
    return xp.special.owens_t(1.0 * h, 1.0 * a)


@with_partials(lambda xp, ans, x: xp.np.exp(-ans) / (1.0 + ans))
def lambert_w0(xp: Namespace, x: Array) -> Array:
    """nan below -1/e, where W is complex."""
    return _real(special.lambertw(x, 0))


@with_partials(lambda xp, ans, x: xp.np.exp(-ans) / (1.0 + ans))
def lambert_wm1(xp: Namespace, x: Array) -> Array:
    """nan outside [-1/e, 0), where W is complex."""
    return _real(special.lambertw(x, -1))


def _real(w: Array) -> Array:
    return np.where(w.imag == 0, w.real, np.nan)


FUNCTIONS: tuple[Function, ...] = (
    binary("gamma_p", "the lower incomplete gamma function P(a, x)", gamma_p, rejects=True),
    binary("gamma_q", "the upper incomplete gamma function Q(a, x)", gamma_q, rejects=True),
    elementwise(
        "inc_beta",
        "the incomplete beta function I_x(a, b) of (a, b, x)",
        ("(real, real, real) => real", inc_beta),
    ),
    elementwise("inv_inc_beta", "the inverse of inc_beta in x", ("(real, real, real) => real", inv_inc_beta)),
    function("hypergeometric_1F0", "1F0(a; z) = (1 - z)^-a", ("(real, real) => real", hypergeometric_1f0)),
    function(
        "hypergeometric_2F1", "2F1(a, b; c; z)", ("(real, real, real, real) => real", hypergeometric_2f1)
    ),
    _of_lists("hypergeometric_3F2", "3F2(a; b; z) of three and two parameters", pfq),
    _of_lists("hypergeometric_pFq", "pFq(a; b; z) of any number of parameters", pfq),
    _bessel("bessel_first_kind", "the Bessel function J of order v", "jv", 0.5, -0.5),
    _bessel("bessel_second_kind", "the Bessel function Y of order v", "yv", 0.5, -0.5, 0.0),
    _bessel("modified_bessel_first_kind", "the modified Bessel function I of order v", "iv", 0.5, 0.5),
    _bessel(
        "modified_bessel_second_kind", "the modified Bessel function K of order v", "kv", -0.5, -0.5, 0.0
    ),
    binary(
        "log_modified_bessel_first_kind",
        "the log of I of real order v",
        log_modified_bessel_first_kind,
        rejects=True,
    ),
    unary("erf", "the error function", erf),
    unary("erfc", "1 - erf(x)", erfc),
    unary("inv_erfc", "the inverse of erfc", inv_erfc, rejects=True),
    binary("owens_t", "Owen's T function of h and a", owens_t),
    unary("lambert_w0", "the principal branch of Lambert's W", lambert_w0, rejects=True),
    unary("lambert_wm1", "the branch of Lambert's W below -1", lambert_wm1, rejects=True),
)
