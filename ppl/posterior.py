"""A compiled program with its data, and the fits of it."""

from dataclasses import dataclass
from typing import Any

from ppl.density import posterior
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
