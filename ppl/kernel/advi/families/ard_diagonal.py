"""Automatic relevance determination: a Gaussian prior whose scales are optimised away (DSVI section 3.2).

The prior of u_d is N(0, l_d^2), one scale a coordinate. For a given q the bound is best at
l_d^2 = E u_d^2 = c_d^2 + mu_d^2, and with that put in (eq. 14) it depends on q alone.
"""

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.kernel.advi.families.diagonal import Diagonal
from ppl.kernel.advi.numerics.gaussian import LOG_2PI
from ppl.records import dataclass

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False, kw_only=True)
class ArdDiagonal(Diagonal):
    """The diagonal family for a log joint without the ARD prior of the coordinates at `ard`.

    What it calls entropy is all of the bound but E log g: the entropy of q plus the expected log prior at its
    best variances. So whatever maximises the bound of another family maximises eq. 14 of this one.
    """

    ard: Positions

    def entropy(self, params: Array, xp: Namespace = NUMPY) -> Array:
        of_prior = -0.5 * (xp.np.log(self.prior_variances(params, xp)) + LOG_2PI + 1).sum()
        return super().entropy(params, xp) + of_prior

    def entropy_gradient(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """The last terms of DSVI-ARD's updates (Algorithm 2 of the supplement)."""
        gradient = super().entropy_gradient(params, xp)
        shrink, in_c = 1 / self.prior_variances(params, xp), self.dim + self.ard
        of_mean = gradient[self.ard] - shrink * self.mean(params)[self.ard]
        of_c = gradient[in_c] - shrink * self.standard.variance * params[in_c]
        return xp.put(xp.put(gradient, self.ard, of_mean), in_c, of_c)

    def prior_variances(self, params: Array, xp: Namespace = NUMPY) -> Array:
        """The best prior variances (k,) for a q: the second moments c^2 + mu^2."""
        return self.mean(params)[self.ard] ** 2 + self.scales(params, xp)[self.ard] ** 2
