"""Second derivatives of a target: its own where it has them, differences of gradients where it has not."""

from typing import Protocol, runtime_checkable

import numpy as np

from ppl.inference.numerics.gaussian import Gaussian, made_positive
from ppl.inference.objective.target import Array, Target, gradients

HESSIAN_STEP = float(np.finfo(float).eps ** (1 / 3))
"""The step that balances truncation, which grows as its square, against rounding, which falls as its inverse.
"""


@runtime_checkable
class Curved(Protocol):
    """A target that multiplies its Hessian at `u` (dim,) by a vector `v` (dim,)."""

    def hessian_vector_product(self, u: Array, v: Array) -> Array: ...


def hessian_vector_product(target: Target, u: Array, v: Array) -> Array:
    """The Hessian of the log density at `u` (dim,) times `v` (dim,).

    Without a product of the target's own it is a central difference of two gradients, right to about nine
    digits when `v` is about as long as the distance over which the curvature changes.
    """
    if isinstance(target, Curved):
        return target.hessian_vector_product(u, v)
    ahead, behind = (
        target.log_density_gradient(at)[1] for at in (u + HESSIAN_STEP * v, u - HESSIAN_STEP * v)
    )
    return (ahead - behind) / (2 * HESSIAN_STEP)


def hessian(target: Target, u: Array, scales: Array) -> Array:
    """The Hessian at `u`, (dim, dim) and symmetric, from dim products.

    `scales` (dim,) are the distances over which the curvature changes, such as standard deviations.
    """
    steps = np.diag(scales)
    if isinstance(target, Curved):
        rows = np.array([target.hessian_vector_product(u, step) for step in steps])
    else:
        ahead, behind = (gradients(target, at) for at in (u + HESSIAN_STEP * steps, u - HESSIAN_STEP * steps))
        rows = (ahead - behind) / (2 * HESSIAN_STEP)
    matrix = rows / scales[:, None]
    symmetric: Array = 0.5 * (matrix + matrix.T)
    return symmetric


def gaussian_at(target: Target, mode: Array, scales: Array) -> tuple[Gaussian, int]:
    """Laplace's approximation at a mode (dim,), and the number of directions that had to be repaired.

    `scales` as for `hessian`.  Raises LinAlgError or ValueError when the Hessian is not finite.
    """
    curve = hessian(target, mode, scales)
    precision, repaired = made_positive(-curve * np.outer(scales, scales))
    return Gaussian.with_precision(mode, precision, scales), repaired
