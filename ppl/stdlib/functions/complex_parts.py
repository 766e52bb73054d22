"""Construction and parts of complex numbers.  Stan Functions Reference, "Complex constructors and accessors".

A complex value is a complex ndarray.  The adjoint of z = x + iy in a real f is df/dx - i df/dy, as autograd
and JAX have it: that of a holomorphic function is its derivative times the adjoint of the answer.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.record import Function, elementwise


@with_vjps(lambda xp, g, ans, x: xp.np.real(g))
def made_complex(xp: Namespace, x: Array) -> Array:
    """x + 0i."""
    return xp.np.asarray(x).astype(complex)[()]


@with_vjps(lambda xp, g, ans, x, y: xp.np.real(g), lambda xp, g, ans, x, y: -xp.np.imag(g))
def to_complex(xp: Namespace, x: Array, y: Array) -> Array:
    """x + iy, part by part: i times infinity has no real part."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    sides = [xp.np.broadcast_to(xp.np.asarray(part).astype(float), shape) for part in (x, y)]
    return xp.np.stack(sides, axis=-1).view(complex)[..., 0]


@with_vjps(lambda xp, g, ans, z: made_complex(xp, g))
def get_real(xp: Namespace, z: Array) -> Array:
    return xp.np.real(z)


@with_vjps(lambda xp, g, ans, z: -1j * made_complex(xp, g))
def get_imag(xp: Namespace, z: Array) -> Array:
    return xp.np.imag(z)


@with_vjps(lambda xp, g, ans, z: xp.np.conj(g))
def conj(xp: Namespace, z: Array) -> Array:
    return xp.np.conj(z)


def direction(xp: Namespace, x: Array, length: Array) -> Array:
    """x / length, and 0 at the kink where the length is 0."""
    return x / xp.np.where(length == 0, xp.np.inf, length)


@with_vjps(lambda xp, g, ans, z: g * direction(xp, xp.np.conj(z), ans))
def absolute(xp: Namespace, z: Array) -> Array:
    """|z|, whose slope at 0 is 0."""
    return xp.np.abs(z)


@with_vjps(lambda xp, g, ans, z: -1j * xp.np.true_divide(g, z))
def arg(xp: Namespace, z: Array) -> Array:
    """The angle, from -pi to pi."""
    return xp.np.arctan2(xp.np.imag(z), xp.np.real(z))


@with_vjps(lambda xp, g, ans, z: 2.0 * g * xp.np.conj(z))
def norm(xp: Namespace, z: Array) -> Array:
    """|z|^2."""
    x, y = xp.np.real(z), xp.np.imag(z)
    return x * x + y * y


def _is_infinite(xp: Namespace, z: Array) -> Array:
    return xp.np.isinf(xp.np.real(z)) | xp.np.isinf(xp.np.imag(z))


@with_vjps(lambda xp, g, ans, z: xp.np.where(_is_infinite(xp, z), 0.0, g))
def proj(xp: Namespace, z: Array) -> Array:
    """z itself, and the one infinity of the sphere where either part is infinite."""
    infinite = to_complex(xp, xp.np.inf, xp.np.copysign(0.0, xp.np.imag(z)))
    return xp.np.where(_is_infinite(xp, z), infinite, z)


def polar(xp: Namespace, r: Array, theta: Array) -> Array:
    """r e^(i theta); nan for a negative radius or an infinite angle."""
    valid = (r >= 0) & xp.np.isfinite(theta)
    radius = xp.np.where(valid, r, xp.np.nan)
    return to_complex(xp, radius * xp.np.cos(theta), xp.np.where(valid, radius * xp.np.sin(theta), 0.0))


FUNCTIONS: tuple[Function, ...] = (
    elementwise(
        "to_complex",
        "the complex number of these real and imaginary parts, 0 if omitted",
        ("() => complex", lambda xp: 0j),
        ("(real) => complex", made_complex),
        ("(T, T) => C", to_complex),
    ),
    elementwise("get_real", "the real part", ("(C) => T", get_real)),
    elementwise("get_imag", "the imaginary part", ("(C) => T", get_imag)),
    elementwise("conj", "the complex conjugate", ("(C) => C", conj)),
    elementwise("arg", "the angle of a complex number", ("(complex) => real", arg)),
    elementwise("norm", "the square of a complex number's length", ("(complex) => real", norm)),
    elementwise(
        "proj",
        "the projection onto the Riemann sphere, on which there is one infinity",
        ("(complex) => complex", proj),
    ),
    elementwise("polar", "the complex number of this length and angle", ("(real, real) => complex", polar)),
)
