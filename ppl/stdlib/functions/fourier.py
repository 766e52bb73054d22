"""Discrete Fourier transforms.  Stan Functions Reference, "Fast Fourier transform functions".

The matrix of the transform is symmetric, so that the transform of an adjoint is its adjoint.
"""

from ppl.arrays import Array, Namespace, Node, with_vjps
from ppl.stdlib.record import Function, leading


def _transform(name: str, *axes: int) -> Node:
    """NumPy's transform of this name along axes that have entries; what is empty stays so."""

    @with_vjps(lambda xp, g, ans, z: along_axes(xp, g))
    def along_axes(xp: Namespace, z: Array) -> Array:
        for axis in axes:
            z = getattr(xp.np.fft, name)(z, axis=axis) if 0 not in z.shape else z
        return z

    return along_axes


fft, fft2 = _transform("fft", -1), _transform("fft", -1, -2)
inv_fft, inv_fft2 = _transform("ifft", -1), _transform("ifft", -1, -2)

ON_VECTORS, ON_MATRICES = "(complex_vector) => complex_vector", "(complex_matrix) => complex_matrix"

FUNCTIONS: tuple[Function, ...] = (
    leading("fft", "the discrete Fourier transform", (ON_VECTORS, fft)),
    leading("inv_fft", "the inverse of `fft`", (ON_VECTORS, inv_fft)),
    leading("fft2", "the discrete Fourier transform in two dimensions", (ON_MATRICES, fft2)),
    leading("inv_fft2", "the inverse of `fft2`", (ON_MATRICES, inv_fft2)),
)
