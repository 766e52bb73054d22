"""A compiled program with its data, and the fits of it."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ppl import api, html
from ppl.arguments import checks
from ppl.density import log_density
from ppl.density.discrete import most_probable, probabilities
from ppl.errors import PoorFitWarning, warn_caller
from ppl.floats import Floats
from ppl.kernel.advi.gaussian import hessian
from ppl.kernel.draws.columns import reshape, variables
from ppl.methods.diagnose.level import Level
from ppl.records import dataclass
from ppl.run import keywords
from ppl.run.keywords import takes
from ppl.run.posterior_target import PosteriorTarget

if TYPE_CHECKING:
    from ppl.results.fits.chains import Chains
    from ppl.results.fits.fit import Fit


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(api.Members, log_density.LogDensity):
    """A model with its data: its log density over R^dim, the map to the program's variables, and fits.

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

    def _repr_html_(self) -> str:
        read = [v for v in self.model.lowered.data if not v.items]
        data = [(v.name, str(v.type), shape_of(np.shape(self.d.of(v.name)))) for v in read]
        sizes = {v.name: v.shape for v in self.variables["parameters"]}
        parameters = [
            (v.name, str(v.type), v.constraint.replace("identity", ""), shape_of(sizes[v.name]))
            for v in self.model.lowered.parameters
        ]
        given = html.table(("data", "type", "shape"), data) if data else ""
        own = html.table(("parameter", "type", "constraint", "shape"), parameters)
        return html.paragraph(repr(self)) + given + own

    def log_density_hessian(
        self, u: ArrayLike, propto: bool = False, jacobian: bool = True
    ) -> tuple[float, Floats, Floats]:
        """The log density, in nats, its gradient (dim,) and its Hessian (dim, dim) at `u` (dim,).

        The Hessian is made of central differences of gradients, right to about nine digits where the
        curvature changes over distances of about one, as BridgeStan's.

        Raises:
            ArgumentError: `u` has another shape.
            InferenceError: a statement cannot be computed there; names it.

        Example:
            >>> value, gradient, hessian = posterior.log_density_hessian(np.zeros(10))
            >>> hessian.shape
            (10, 10)
        """
        at = self.checked(u)
        value, gradient = self.log_density_gradient(at, propto, jacobian)
        return value, gradient, hessian(PosteriorTarget(self, jacobian), at, np.ones(len(at)))

    @checks
    def probabilities(self, us: ArrayLike, name: str) -> Floats:
        """The exact probabilities of a discrete parameter's values given each row of `us` (n, dim).

        Shape (n, *dims, values), the values in order from the lower bound.

        Raises:
            InferenceError: there is no such discrete parameter.
        """
        return probabilities(self, self.checked_rows(us), name)

    def most_probable(self, us: ArrayLike) -> dict[str, NDArray[np.int64]]:
        """The jointly most probable values of the discrete parameters given each row of `us` (n, dim).

        Of each an array (n, *dims).

        Raises:
            InferenceError: the program has no discrete parameters.
        """
        return most_probable(self, self.checked_rows(us))

    @takes(keywords.VariationalKeywords)
    def variational(self, **keywords: Any) -> "Fit":
        """Fit a variational approximation, and draw from it.

        Kucukelbir et al. (2017), JMLR 18:14. A poor verdict is also a `PoorFitWarning`.

        Raises:
            InferenceError: a setting is out of range, the posterior improper, or no start has a finite
                density.
            UnknownSetting: there is no setting of that name.
            DataError: `init` does not fit the parameters, or `checkpoint` is of another run.
            KeyboardInterrupt: Ctrl-C, once the checkpoint is written; its `fit` is what there is.

        Example:
            >>> posterior.variational(algorithm="fullrank", seed=1).column_names[:2]
            ('mu', 'tau')
        """
        from ppl.results.fits.fit import variational

        fit = variational(self, **keywords)
        _warn_if_poor(fit.verdict.level, fit.judgement)
        return fit

    @takes(keywords.SampleKeywords)
    def sample(self, **keywords: Any) -> "Chains":
        """Draws of the posterior by chains of the No-U-Turn sampler (nutpie, the extra `sample`).

        Hoffman and Gelman (2014), JMLR 15. A poor verdict is also a `PoorFitWarning`.

        Raises:
            InferenceError: a setting is out of range, the posterior improper, or no start has a finite
                density.
            UnknownSetting: there is no setting of that name.
            DataError: `init` does not fit the parameters.
            MissingPackage: nutpie is not installed.

        Example:
            >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 20, "backend": "autograd"}
            >>> posterior.sample(seed=1, **short).stan_variable("theta").shape
            (40, 8)
        """
        from ppl.results.fits.chains import sample

        chains = sample(self, **keywords)
        _warn_if_poor(chains.level, chains.judgement)
        return chains

    def generate_quantities(self, previous_fit: "Fit | Chains", *, seed: int = 1) -> dict[str, Floats]:
        """The generated quantities of this program, by name (draws, *its own shape), at the draws of a fit.

        The fit may be of another program with the same parameters: quantities are added without a new fit.

        Raises:
            DataError: a parameter of this program has no draws in the fit, or a value breaks its constraint.

        Example:
            >>> posterior.generate_quantities(fit)["y_rep"].shape
            (1000, 8)
        """
        from ppl.results.fits.generate import generate

        table = generate(self, previous_fit.column_names, previous_fit.draws(), seed)
        return {name: reshape(table.rows, table.columns, name) for name in variables(table.columns)}

    @takes(keywords.OptimizeKeywords)
    def optimize(self, **keywords: Any) -> "Fit":
        """The mode, without the Jacobian unless `jacobian` asks for it; each draw is the mode.

        It is `variational(algorithm="optimize")`.

        Raises:
            InferenceError: a setting is out of range, or no start has a finite density.
            UnknownSetting: there is no setting of that name.
            DataError: `init` does not fit the parameters.

        Example:
            >>> posterior.optimize(draws=1).draws().shape
            (1, 34)
        """
        return self.variational(algorithm="optimize", **keywords)

    @takes(keywords.LaplaceKeywords)
    def laplace(self, **keywords: Any) -> "Fit":
        """Laplace's approximation: a Gaussian at the mode with the curvature there.

        It is `variational(algorithm="laplace")`.

        Raises:
            InferenceError: a setting is out of range, the posterior improper, or no start has a finite
                density.
            UnknownSetting: there is no setting of that name.
            DataError: `init` does not fit the parameters.

        Example:
            >>> posterior.laplace(draws=10).family
            'fullrank'
        """
        return self.variational(algorithm="laplace", **keywords)

    @takes(keywords.PathfinderKeywords)
    def pathfinder(self, **keywords: Any) -> "Fit":
        """Draws of the Gaussians along several L-BFGS paths, resampled by importance.

        It is `variational(algorithm="pathfinder")`. Zhang et al. (2022), JMLR 23, Algorithm 2.

        Raises:
            InferenceError: a setting is out of range, the posterior improper, or no start has a finite
                density.
            UnknownSetting: there is no setting of that name.
            DataError: `init` does not fit the parameters.

        Example:
            >>> posterior.pathfinder(draws=10).draws().shape
            (10, 34)
        """
        return self.variational(algorithm="pathfinder", **keywords)


def shape_of(shape: tuple[int, ...]) -> str:
    """`4 x 2`; of a single number nothing."""
    return " x ".join(map(str, shape))


def _warn_if_poor(level: Level, judgement: str) -> None:
    """Warn of draws that cannot be believed, at the line that called the package."""
    if level is Level.POOR:
        warn_caller(judgement, PoorFitWarning)
