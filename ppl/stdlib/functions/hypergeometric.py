"""Hypergeometric functions.  Stan Functions Reference, "Hypergeometric functions"."""

from ppl.arrays import Array, Namespace
from ppl.stdlib.functions.sums import LISTS
from ppl.stdlib.record import Function, Impl, function
from ppl.stdlib.special.hypergeometric import pfq
from ppl.stdlib.special.polygamma import log_gamma


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


FUNCTIONS: tuple[Function, ...] = (
    function("hypergeometric_1F0", "1F0(a; z) = (1 - z)^-a", ("(real, real) => real", hypergeometric_1f0)),
    function(
        "hypergeometric_2F1", "2F1(a, b; c; z)", ("(real, real, real, real) => real", hypergeometric_2f1)
    ),
    _of_lists("hypergeometric_3F2", "3F2(a; b; z) of three and two parameters", pfq),
    _of_lists("hypergeometric_pFq", "pFq(a; b; z) of any number of parameters", pfq),
)
