"""A compiled program with its data, and the fits of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.density import posterior
from ppl.density.discrete import most_probable, probabilities
from ppl.density.posterior import Floats
from ppl.results.fits.fit import Fit, variational


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(posterior.Posterior):
    """A model with its data: a log density over R^dim, the way back to the program's variables, and fits.

    `u` is always the unconstrained vector, shape (param_unc_num(),).

    Example:
        >>> posterior
        <Posterior of eight_schools.model: 10 unconstrained parameters>
        >>> posterior.param_names()[:3]
        ['mu', 'tau', 'theta_raw.1']
        >>> value, gradient = posterior.log_density_gradient(np.zeros(10))
        >>> gradient.shape
        (10,)
    """

    def probabilities(self, us: Floats, name: str) -> Floats:
        """The exact probabilities of a discrete parameter's values given each row of `us` (n, dim).

        Shape (n, *dims, values), the values in order from the lower bound.

        Raises:
            InferenceError: there is no such discrete parameter.
        """
        return probabilities(self, self.checked_rows(us), name)

    def most_probable(self, us: Floats) -> dict[str, NDArray[np.int64]]:
        """The jointly most probable values of the discrete parameters given each row of `us` (n, dim).

        Of each an array (n, *dims).

        Raises:
            InferenceError: the program has no discrete parameters.
        """
        return most_probable(self, self.checked_rows(us))

    def variational(self, **settings: Any) -> Fit:
        """Fit a variational approximation; the settings and their defaults are those of `results.Settings`.

        Also `progress`, `checkpoint`, `resume` and `checkpoint_every`, as in `results.fits.fit.variational`.
        Kucukelbir et al. (2017), JMLR 18:14.

        Raises:
            InferenceError: a setting is out of range, the posterior improper, or no start has a finite
                density.
            DataError: `init` does not fit the parameters, or `checkpoint` is of another run.

        Example:
            >>> posterior.variational(algorithm="fullrank", seed=1).column_names[:2]
            ('mu', 'tau')
        """
        return variational(self, **settings)
