"""Second derivatives of a target by differences of its gradients."""

import numpy as np

from ppl.kernel.advi.numerics.gaussian import Gaussian, made_positive
from ppl.kernel.advi.target import Array, Target

HESSIAN_STEP = float(np.finfo(float).eps ** (1 / 3))
"""The step that balances truncation, which grows as its square, against rounding, which falls as its inverse.
"""


def hessian(target: Target, u: Array, scales: Array) -> Array:
    """The Hessian at `u`, (dim, dim) and symmetric, by differences of gradients, to about nine digits.

    `scales` (dim,) are the distances over which the curvature changes, such as standard deviations.
    """
    steps = np.diag(scales)
    ahead, behind = (
        target.gradients_alone(at) for at in (u + HESSIAN_STEP * steps, u - HESSIAN_STEP * steps)
    )
    matrix = (ahead - behind) / (2 * HESSIAN_STEP) / scales[:, None]
    return np.asarray(0.5 * (matrix + matrix.T))


def gaussian_at(target: Target, mode: Array, scales: Array) -> tuple[Gaussian, int]:
    """Laplace's approximation at a mode (dim,), and the number of directions that had to be repaired.

    `scales` as for `hessian`.  Raises LinAlgError or ValueError when the Hessian is not finite.
    """
    curve = hessian(target, mode, scales)
    precision, repaired = made_positive(-curve * np.outer(scales, scales))
    return Gaussian.with_precision(mode, precision, scales), repaired
