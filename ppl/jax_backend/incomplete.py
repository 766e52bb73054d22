"""The incomplete gamma and beta functions in compiled code, which has no SciPy for their values.

The library's series and continued fractions give the log of the tail that x lies in; the other is one less
that.  A share near one leaves few digits of its complement where the shape is small, and only there; then

    Q(a, x) = -expm1(L) - exp(L) a sum_{n >= 1} (-x)^n / (n! (a + n)),  L = a log x - log Gamma(1 + a),

and I(a, b, x) likewise: NIST Digital Library of Mathematical Functions 8.7.1 and 8.17.7, with (1 - b)_n x^n
in place of (-x)^n and L = a log x - log(a B(a, b)).
"""

from collections.abc import Callable, Mapping
from functools import partial, reduce

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from scipy.special import zeta

from ppl.arrays import Array, Namespace, ScanState
from ppl.jax_backend.special import digamma
from ppl.stdlib.special import incomplete_beta, incomplete_gamma
from ppl.stdlib.special.constants import LOG_TWO
from ppl.stdlib.special.continued_fraction import MOST_FRACTION_TERMS, ROUNDING
from ppl.stdlib.special.incomplete_gamma import HUGE
from ppl.stdlib.special.log_add import log1m_exp

SMALL = 1e-2
"""Shapes below it count as small."""
MOST_SLOPES = 8
"""Terms of Taylor's series in a shape below SMALL."""
SLOPES_AT_ONE = tuple((-1) ** n * zeta(n) / n for n in range(MOST_SLOPES, 1, -1))
"""Of log Gamma(1 + a), from the highest power of a: DLMF 5.7.3."""


def _log_gamma_one_plus(a: Array) -> Array:
    """log Gamma(1 + a) for a below SMALL."""
    return (reduce(lambda total, c: total * a + c, SLOPES_AT_ONE) * a - np.euler_gamma) * a


def _log_gamma_rise(c: Array, a: Array) -> Array:
    """log Gamma(c + a) - log Gamma(c) for c >= 1 and a below SMALL, by Taylor's series in a."""
    total: Array = 0.0
    for n in range(MOST_SLOPES, 1, -1):
        total = (total + jax.scipy.special.polygamma(n - 1, c)) * a / n
    return (total + digamma(c)) * a


def _both(
    xp: Namespace, near: Array, small: Array, log_complement: Callable[[], Array]
) -> tuple[Array, Array]:
    """The log of a share and of its complement, which `log_complement()` knows where the shape is `small`."""
    lost = small & (near > -LOG_TWO)

    def precise() -> Array:
        far = jnp.where(lost, log_complement(), log1m_exp(xp, near))
        return jnp.stack([jnp.where(lost, jnp.log1p(-jnp.exp(far)), near), far])

    logs = xp.rarely(lost, precise, jnp.stack([near, log1m_exp(xp, near)]))
    return logs[0], logs[1]


def _log_rest(xp: Namespace, a: Array, log_head: Array, ratio: Callable[[int], Array]) -> Array:
    """log(1 - exp(log_head) (1 + a sum of c_n / (a + n))), where c_n is ratio(n) c_{n-1} and c_0 = 1."""

    def add(m: int, c: Array, total: Array) -> tuple[ScanState, Array]:
        n = m + 1
        c = c * ratio(n)
        total = total + c / (a + n)
        return (c, total), jnp.abs(c) > ROUNDING * jnp.abs(total)

    _, total = xp.settle([add], (jnp.ones_like(a), jnp.zeros_like(a)), MOST_FRACTION_TERMS)
    return jnp.log(-jnp.expm1(log_head) - jnp.exp(log_head) * a * total)


@partial(jax.jit, static_argnums=(0, 3))
def gamma_tail(xp: Namespace, a: Array, x: Array, lower: bool) -> tuple[Array, Array]:
    """log P (or log Q) and its derivative in a."""
    a, x = jnp.broadcast_arrays(jnp.asarray(a, float), jnp.minimum(x, HUGE))
    below, near, slope = incomplete_gamma.near_tail(xp, a, x)
    small = below & (a < SMALL)

    def log_complement() -> Array:
        shape, inside = jnp.where(small, a, SMALL), jnp.where(small, x, 1.0)
        log_head = shape * jnp.log(inside) - _log_gamma_one_plus(shape)
        return _log_rest(xp, shape, log_head, lambda n: -inside / n)

    near, far = _both(xp, near, small, log_complement)
    direct = below == lower
    return jnp.where(direct, near, far), jnp.where(direct, slope, -slope * jnp.exp(near - far))


def _log_gamma_share(xp: Namespace, a: Array, x: Array, lower: bool) -> Array:
    return jnp.where(x == jnp.inf, 0.0 if lower else -jnp.inf, gamma_tail(xp, a, x, lower)[0])


def _rounded(x: Array, y: Array) -> Array:
    """log(1 - x) - log y: what y = 1 - x, where x is the small one, has lost."""
    return jnp.where(x > 0, jnp.log1p(-x) - jnp.log(y), 0.0)


@partial(jax.jit, static_argnums=0)
def beta_tail(xp: Namespace, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """log I and its derivatives in (a, b)."""
    a, b, x, y = jnp.broadcast_arrays(*(jnp.asarray(v, float) for v in (a, b, x, y)))
    direct, near, slopes = incomplete_beta.near_tail(xp, a, b, x, y)
    first, second, share, rest = incomplete_beta.mirrored(xp, direct, a, b, x, y)
    small = first < SMALL
    near = near + jnp.where(share < 0.5, second * _rounded(share, rest), first * _rounded(rest, share))

    def log_complement() -> Array:
        shape, inside = jnp.where(small, first, SMALL), jnp.where(small, share, 0.1)
        other = jnp.where(small, second, 1.0)
        rise = _log_gamma_rise(other + 1.0, shape) - jnp.log1p(shape / other)
        log_head = shape * jnp.log(inside) + rise - _log_gamma_one_plus(shape)
        return _log_rest(xp, shape, log_head, lambda n: (n - other) * inside / n)

    near, far = _both(xp, near, small, log_complement)
    return jnp.where(direct, near, far), jnp.where(direct, slopes, -slopes * jnp.exp(near - far))


VALUES: Mapping[Callable[..., Array], Callable[..., Array]] = {
    incomplete_gamma.log_lower.value: lambda xp, a, x: _log_gamma_share(xp, a, x, True),
    incomplete_gamma.log_upper.value: lambda xp, a, x: _log_gamma_share(xp, a, x, False),
    incomplete_gamma.lower.value: lambda xp, a, x: jnp.exp(_log_gamma_share(xp, a, x, True)),
    incomplete_gamma.upper.value: lambda xp, a, x: jnp.exp(_log_gamma_share(xp, a, x, False)),
    incomplete_gamma.slope.value: lambda xp, a, x, lower: gamma_tail(xp, a, x, lower)[1],
    incomplete_beta.log_lower.value: lambda xp, a, b, x, y: beta_tail(xp, a, b, x, y)[0],
    incomplete_beta.lower.value: lambda xp, a, b, x, y: jnp.exp(beta_tail(xp, a, b, x, y)[0]),
    incomplete_beta.slope.value: lambda xp, a, b, x, y, k: beta_tail(xp, a, b, x, y)[1][k],
}
"""The replacements of compiled code for functions of the library, which are SciPy's."""
