"""A compiled program, to be given data."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ppl import api, html
from ppl.arguments import checks
from ppl.data import Frame, Inputs, load_data, merged, unread
from ppl.density import compiled_program
from ppl.density.compiled_program import conditioned
from ppl.errors import DataWarning, warn_caller
from ppl.floats import Floats
from ppl.kernel.draws.columns import reshape, variables
from ppl.methods.run.settings import Backend, SbcAlgorithm, SbcSettings
from ppl.posterior import Posterior
from ppl.records import dataclass

if TYPE_CHECKING:
    from ppl.results.calibration.sbc import Calibration, CalibrationListener


@dataclass(frozen=True, repr=False)
class Model(api.Members, compiled_program.CompiledProgram):
    """A compiled program; `condition` gives it data.

    Example:
        >>> model = compile_model("eight_schools.model")
        >>> model
        <Model eight_schools.model: data J, y, sigma; parameters mu, tau, theta_raw>
        >>> posterior = model.condition("eight_schools.data.json")
    """

    @checks
    def condition(
        self,
        data: Inputs | Mapping[str, Any] | Frame | str | Path = {},  # noqa: B006
        *,
        seed: int = 0,
        missing: Literal["refuse", "model", "drop"] = "refuse",
        **values: Any,
    ) -> Posterior:
        """The posterior given data: arrays of the declared shapes by name, or a path to a file.

        A file is JSON, CSV (both also .gz) or .npz. A CSV file with a header, or a DataFrame of pandas or
        polars, or a table of Arrow, gives a variable a column; a dict takes columns too, {"K": 2, "y":
        frame["y"], ...}. `values` are further variables: `condition(frame, K=2)`. A size that is not given is
        that of the first column that is declared with it.

        An int with bounds 1 to J takes text or a categorical: its levels are coded in the column's own order,
        else sorted, and J, if it is data and not given, is their number; so it is of groups 1, 2, 3, ... in a
        column, if none is left out. Of an int with bounds 0 and 1, the second of two levels is 1. Labels of
        tables and plots are these levels.

        An array that is a `np.memmap` of doubles stays on disk; fitted by minibatches, it is read a block of
        rows at a time.  `data.with_arrays` takes variables from files of their own.

        `seed` is for random numbers in transformed data.

        With `missing="model"` each missing value, `None`, NA or NaN, is a parameter between the bounds of its
        declaration, called `y.3` after its place; missing ints are marginalised and drawn afterwards.
        `fit.stan_variable("y")` has them among the data. Gelman et al. (2013), "Bayesian Data Analysis",
        section 18.1. `missing="drop"` leaves out the rows of a table in which a declared column is missing.

        Raises:
            ModelError: missing values cannot be modelled: no statement says which are likely, an int has no
                bounds, or they are read before the parameters.
            DataError: a variable is missing or does not fit its declaration; the message names it.
            Rejection: a statement of transformed data rejects them.
            InferenceError: a statement of transformed data cannot be computed; names it.

        Example:
            >>> model.condition("eight_schools.data.json").param_unc_num()
            10
        """
        given = merged([load_data(data), *([Inputs(values, "the keywords")] if values else [])])
        for sentence in self.unread(given):
            warn_caller(sentence, DataWarning)
        model, d, inputs = conditioned(self, given, seed, missing)
        return Posterior(model, d, inputs.values, notes=inputs.notes)

    def unread(self, inputs: Inputs) -> Iterator[str]:
        """The sentence about data that go unused because they are parameters."""
        return unread(inputs, (d.name for d in self.lowered.parameters))

    @property
    def plan(self) -> str:
        """The decisions of the compiler in words: `ppl show --stage plan`.

        Example:
            >>> model.plan.splitlines()[1].strip()
            'array operations'
        """
        from ppl.optimise.plan import plan
        from ppl.structure.discrete.plan import plan_of

        sums = [*plan_of(self.discrete), ""] if self.discrete else []
        return "\n".join([*sums, plan(self.lowered)])

    def _repr_html_(self) -> str:
        text = html.program(self.source.text)
        return html.paragraph(repr(self)) + text + html.folded("Plan", html.preformatted(self.plan))

    def sbc(
        self,
        data: Inputs | Mapping[str, Any] | Frame | str | Path = {},  # noqa: B006
        *,
        simulations: int = 100,
        draws: int = 99,
        algorithm: SbcAlgorithm = "auto",
        backend: Backend = "auto",
        cores: int | None = None,
        seed: int = 1,
        simulator: "Model | None" = None,
        missing: Literal["refuse", "model"] = "refuse",
        progress: "CalibrationListener | None" = None,
    ) -> "Calibration":
        """Run simulation-based calibration: fit data simulated from the program, and rank the parameters.

        Each simulation draws parameters from the prior and data given the parameters, and fits these data.
        The ranks of the parameters among `draws` draws are uniform if these are draws of the posterior.
        `data` may omit simulated variables. `algorithm` is one of `Posterior.variational`, or "nuts". `cores`
        is the number of fits computed in parallel, None for all cores. Talts et al. (2018), arXiv:1804.06788;
        the test is that of Säilynoja et al. (2022).

        Args:
            simulator: a compiled program without parameters, whose generated quantities are the parameters
                and the data; without one the `~` statements are simulated.
            missing: "model" removes simulated values where `data` have missing values.
            progress: called after each simulation with the ranks so far.

        Raises:
            ModelError: the program cannot be simulated; says why, where, and what to do.
            DataError: a variable is missing or does not fit its declaration; the message names it.
            InferenceError: a setting is out of range.

        Example:
            >>> normal = "data { int N; vector[N] y; } parameters { real m; } "
            >>> normal += "model { m ~ normal(0, 1); y ~ normal(m, 1); }"
            >>> found = compile_model(normal).sbc({"N": 3}, simulations=20, draws=19, algorithm="laplace")
            >>> found.ranks.shape
            (20, 1)
        """
        from ppl.results.calibration.sbc import calibrated
        from ppl.results.calibration.simulations import simulations_of

        settings = SbcSettings(
            simulations=simulations, draws=draws, algorithm=algorithm, backend=backend, cores=cores, seed=seed
        )
        drawn = simulations_of(self, data, simulator, missing)
        return calibrated(drawn, settings, progress or (lambda so_far: None))

    @checks
    def prior_predictive(
        self,
        data: Inputs | Mapping[str, Any] | Frame | str | Path = {},  # noqa: B006
        *,
        draws: int = 1000,
        seed: int = 1,
        simulator: "Model | None" = None,
    ) -> dict[str, Floats]:
        """Draws of the parameters from the prior, and of the data given the parameters.

        Returns an array (draws, *its own shape) of each variable, by name: parameters, simulated data,
        transformed parameters. `data` may omit simulated variables. `simulator` is as in `sbc`. Gelman et al.
        (2020), arXiv:2011.01808, section 2.4.

        Raises:
            ModelError: the program cannot be simulated; says why, where, and what to do.
            DataError: a variable is missing or does not fit its declaration; the message names it.
            InferenceError: a variable is not drawn in all its entries, or every draw breaks a constraint.

        Example:
            >>> drawn = model.prior_predictive({"J": 2, "sigma": [10, 15]}, draws=100)
            >>> drawn["theta"].shape, drawn["y"].shape
            ((100, 2), (100, 2))
        """
        from ppl.results.calibration.simulations import prior_draws, simulations_of

        table = prior_draws(simulations_of(self, data, simulator), draws, seed)
        return {name: reshape(table.rows, table.columns, name) for name in variables(table.columns)}
