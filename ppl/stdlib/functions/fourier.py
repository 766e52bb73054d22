"""Discrete Fourier transforms.  Stan Functions Reference, "Fast Fourier transform functions".

The matrix of the transform is symmetric, so that the transform of an adjoint is its adjoint.
"""

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.record import Function, leading


def _transform(xp: Namespace, x: Array, transform: str, *axes: int) -> Array:
    """The transform along axes that have entries; what is empty stays so."""
    for axis in axes:
        x = getattr(xp.np.fft, transform)(x, axis=axis) if 0 not in x.shape else x
    return x


def _fft_adjoint(xp: Namespace, g: Array, ans: Array, z: Array) -> Array:
    return fft(xp, g)


def _inv_fft_adjoint(xp: Namespace, g: Array, ans: Array, z: Array) -> Array:
    return inv_fft(xp, g)


def _fft2_adjoint(xp: Namespace, g: Array, ans: Array, z: Array) -> Array:
    return fft2(xp, g)


def _inv_fft2_adjoint(xp: Namespace, g: Array, ans: Array, z: Array) -> Array:
    return inv_fft2(xp, g)


@with_vjps(_fft_adjoint)
def fft(xp: Namespace, z: Array) -> Array:
    return _transform(xp, z, "fft", -1)


@with_vjps(_inv_fft_adjoint)
def inv_fft(xp: Namespace, z: Array) -> Array:
    """Divided by the number of entries."""
    return _transform(xp, z, "ifft", -1)


@with_vjps(_fft2_adjoint)
def fft2(xp: Namespace, z: Array) -> Array:
    return _transform(xp, z, "fft", -1, -2)


@with_vjps(_inv_fft2_adjoint)
def inv_fft2(xp: Namespace, z: Array) -> Array:
    return _transform(xp, z, "ifft", -1, -2)


ON_VECTORS, ON_MATRICES = "(complex_vector) => complex_vector", "(complex_matrix) => complex_matrix"

FUNCTIONS: tuple[Function, ...] = (
    leading("fft", "the discrete Fourier transform", (ON_VECTORS, fft)),
    leading("inv_fft", "the inverse of `fft`", (ON_VECTORS, inv_fft)),
    leading("fft2", "the discrete Fourier transform in two dimensions", (ON_MATRICES, fft2)),
    leading("inv_fft2", "the inverse of `fft2`", (ON_MATRICES, inv_fft2)),
)
