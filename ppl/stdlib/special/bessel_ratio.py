"""Modified Bessel functions of orders 0 and 1 as the von Mises distribution needs them, at any argument."""

from ppl.arrays import Array, Namespace, with_partials


@with_partials(
    lambda xp, ans, k: 1.0 - xp.np.where(k == 0.0, 0.5, ans / xp.np.where(k == 0.0, 1.0, k)) - ans * ans
)
def bessel_ratio(xp: Namespace, k: Array) -> Array:
    """I1(k) / I0(k), the mean of cos y under von_mises(0, k).  Amos (1974), Math. Comp. 28:239."""
    return xp.special.i1e(k) / xp.special.i0e(k)


@with_partials(lambda xp, ans, k: bessel_ratio(xp, k) - 1.0)
def log_scaled_i0(xp: Namespace, k: Array) -> Array:
    """log(exp(-k) I0(k)), which does not overflow."""
    return xp.np.log(xp.special.i0e(k))
