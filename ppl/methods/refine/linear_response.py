"""The covariance that a mean-field fit implies but does not show.

How the optimal means of q respond to a small tilt of the target, t'u, is the covariance of u under the
target (Giordano, Broderick and Jordan 2018, JMLR 19): the block of the means in the inverse Hessian of minus
the ELBO (Giordano, Ingram and Broderick 2024, JMLR 25, section 3.2).
"""

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.target import Target
from ppl.methods.refine.fixed_elbo import negative_elbo

RESPONSE_STEP = 1e-4
"""The step of the central differences, where q is about as wide as a standard normal."""


def linear_response(target: Target, family: Family, params: Floats, z: Floats) -> Floats:
    """Covariance (dim, dim) by linear response at `params` (size,), a maximum of the ELBO on the draws z.

    The Hessian is made of central differences of the gradient, 2 * size * len(z) gradients of the target.
    The params must be in coordinates where q is about as wide as a standard normal.

    Raises:
        InferenceError: the Hessian is not positive definite, so `params` is no maximum.
    """
    slope = negative_elbo(target, family, z, 0.0)
    steps = RESPONSE_STEP * np.eye(family.size)
    changes = np.array([slope(params + step)[1] - slope(params - step)[1] for step in steps])
    rows = changes / (2 * RESPONSE_STEP)
    curvature = 0.5 * (rows + rows.T)
    try:
        factor = np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        raise InferenceError("the Hessian of the ELBO on fixed draws is not negative definite") from None
    inverse = np.linalg.solve(factor, np.eye(family.size))
    return np.asarray((inverse.T @ inverse)[: family.dim, : family.dim])
