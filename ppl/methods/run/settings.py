"""The settings of a run: the one table that checks, options, arguments, signatures and help are made from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ppl.methods.run.setting import (
    InitialValues,
    Probability,
    Starts,
    Whole,
    same,
    setting,
    settings,
    settings_of,
)
from ppl.scalars import python_number

# Names of tables, written out: they are types, and a command line is read without waiting for SciPy.
Algorithm = Literal[
    "auto",
    "meanfield",
    "fullrank",
    "lowrank",
    "nested",
    "fixed-draws",
    "laplace",
    "pathfinder",
    "optimize",
    "dsvi",
    "dsvi-diagonal",
    "dsvi-ard",
    "ssvb",
]
SbcAlgorithm = Literal[Algorithm, "nuts"]
Estimator = Literal[
    "reparameterised", "sticking-the-landing", "score-function", "black-box", "stochastic-search"
]
StepRule = Literal["advi", "adam", "rmsprop", "staged", "robbins-monro", "dowg"]
Stop = Literal["relative-elbo", "gradient-norm", "rolling-bound", "iterate-rhat", "fixed"]
Noise = Literal["normal", "student_t", "logistic", "laplace"]
StartAt = Literal["pathfinder", "random"]
Backend = Literal["auto", "autograd", "jax"]
Device = Literal["cpu", "gpu"]
Engine = Literal["nuts", "batch"]
Optimizer = Literal["lbfgs", "bfgs", "newton"]

ALGORITHMS: dict[Algorithm, str] = {
    "auto": "Selects a family and corrects its draws",
    "meanfield": "Normal with a diagonal covariance",
    "fullrank": "Normal with a full covariance",
    "lowrank": "Normal with a covariance of low rank plus a diagonal",
    "nested": "Latent variables integrated out, then drawn given the rest",
    "fixed-draws": "Normal with a diagonal covariance, fitted on fixed draws",
    "laplace": "Normal with the curvature of the mode",
    "pathfinder": "Draws from several Pathfinder paths, resampled",
    "optimize": "The posterior mode",
    "dsvi": "Doubly stochastic variational inference",
    "dsvi-diagonal": "The same with a diagonal covariance",
    "dsvi-ard": "The same with automatic relevance determination",
    "ssvb": "Stochastic search variational Bayes",
}
"""The meaning of each algorithm."""


class Checked:
    """Settings are checked once, when they are given."""

    def __post_init__(self) -> None:
        record: type = type(self)
        for name, known in settings_of(record).items():
            value = python_number(getattr(self, name))
            known.check(value)
            object.__setattr__(self, name, value)


@settings
class StochasticSettings:
    """Settings of algorithms that take stochastic steps."""

    algorithm: Algorithm = setting("Algorithm", default="auto", path="variational.algorithm", usual=True)
    """"auto" finds a q, the Gaussian at the start or mean-field, and corrects its draws towards the
    posterior; draws of any other are those of its q.
    """

    iter: int = setting("Maximum number of iterations.", default=10_000, path="variational.iter", usual=True)

    grad_samples: int = setting("Draws per gradient.", default=1, path="variational.grad_samples")

    eta: float | None = setting(
        "Step size.", default=None, path="variational.eta", unset="by search", usual=True
    )
    """None searches {100, 10, 1, 0.1, 0.01}."""

    adapt_iter: int = setting("Steps per candidate eta.", default=50, path="variational.adapt.iter")

    tol_rel_obj: float = setting(
        "Relative ELBO change at which to stop.", default=0.01, path="variational.tol_rel_obj"
    )
    """Converged when the mean or median relative change of the ELBO falls below it."""

    eval_elbo: int = setting("Steps between ELBO estimates.", default=100, path="variational.eval_elbo")

    start: StartAt = setting("Start", default="pathfinder", usual=True)
    """"pathfinder" starts at the best Gaussian along an L-BFGS path, in coordinates scaled by its curvature;
    "random" where `init` says, in the model's own scales.
    """

    init_scale: float | None = setting("Scale of q at a random start.", default=None, unset="algorithm's own")
    """The sds of the first q at a random start; 1 for ADVI."""

    average: bool = setting("Average the last iterates.", default=True)
    """Answer with an average over the tail of the path, to remove the last steps' noise."""

    refine: bool = setting("Refine on fixed draws.", default=True)
    """From the end of the steps to the maximum of the ELBO on draws held fixed (sample average
    approximation).
    """

    upgrade: bool = setting("Let auto choose a q with correlations.", default=True)
    """With "auto", the Gaussian at the start in place of mean-field where draws of it are worth more, and
    with minibatches that at the mode of all rows where it has the higher ELBO.
    """

    rank: int | None = setting("Rank of lowrank.", default=None, unset="root of d")
    """None for the square root of the dimension, rounded up."""

    linear_response: bool = setting("Correct a mean-field covariance.", default=False)
    """Correct the covariance of a mean-field fit on fixed draws by its linear response."""

    minibatch: int | None = setting("Rows per gradient.", default=None, unset="all", usual=True)
    """Rows of data a gradient sees, where the target splits by rows."""

    rows: str | None = setting("Size variable that counts the rows.", default=None, unset="the largest")
    """The size variable that counts the rows `minibatch` takes some of; None for the largest along which the
    target splits.
    """

    ard: str | None = setting("Vector of dsvi-ard.", default=None)
    """The parameter vector whose Gaussian prior `dsvi-ard` optimises away."""

    estimator: Estimator | None = setting("Estimator of the gradient", default=None, unset="algorithm's own")

    step_rule: StepRule | None = setting("Step rule", default=None, unset="algorithm's own")

    stop: Stop | None = setting("Stopping rule", default=None, unset="algorithm's own")

    noise: Noise = setting("Distribution that q shifts and scales", default="normal")


@settings
class CorrectionSettings:
    """The treatment of the draws of a q."""

    correct: bool | None = setting(
        "Correct draws towards the posterior.", default=None, unset="with auto", usual=True
    )
    """Make draws better than those of q: resampled where its importance weights can be relied on, and moved
    by HMC where that changes them. None for what `algorithm` says: yes for "auto", else no.
    """

    resample: bool | None = setting("Resample draws by p/q.", default=None, unset="as needed")
    """Write draws resampled by Pareto-smoothed importance weights, always or never; None where draws are
    corrected and the weights can be relied on.
    """

    move: bool | None = setting("Move draws by HMC.", default=None, unset="as needed")
    """Write draws of chains that begin at q and are moved by HMC until they are stationary and mixed, always
    or never; None where draws are corrected and a few moves change them, or no weights are enough.
    """


@settings
class ModeSettings:
    """Settings of the search for a mode."""

    marginal: str | None = setting("Parameter that optimize marginalises.", default=None)
    """The unconstrained parameter that `optimize` integrates out (Type-II maximum likelihood)."""

    optimizer: Optimizer = setting("Method of optimize", default="lbfgs")
    """How `optimize` climbs: L-BFGS, BFGS or Newton's method, each with Stan's stopping rules."""


@settings
class RunSettings:
    """Settings of every algorithm."""

    runs: int = setting("Independent runs; the best is used.", default=1, usual=True)
    """Independent runs, in parallel, with the seeds that follow `seed`; the one with the best ELBO is kept
    and judged by how far the others are from it.
    """

    cores: int | None = setting("Cores for runs and draws.", default=None, unset="all")
    """How many runs, or under JAX batches of points, are computed beside each other; the draws are the same
    for any number.
    """

    elbo_samples: int = setting("Draws per ELBO estimate.", default=100, path="variational.elbo_samples")

    jacobian: bool | None = setting("Include the log-Jacobian.", default=None, unset="yes, except for a mode")
    """Whether the log-Jacobian of the transforms counts; None for yes, but no where `optimize` looks for a
    mode.
    """

    backend: Backend = setting("Backend", default="auto", usual=True)
    """The backend of the log density; "auto" for the faster of the two."""

    device: Device = setting("Device of JAX", default="cpu")

    sharded: bool = setting("JAX: distribute rows over all devices.", default=False)
    """Whether the rows of data are spread over all of JAX's devices, of all processes (`ppl.join`)."""

    quick_jit: bool = setting("JAX: compile with light optimisation.", default=False, command=True)
    """Whether JAX is to compile quickly and little where the program is small, as a single fit calls for; the
    command does. The last digits of a fit are then others.
    """

    draws: int = setting(
        "Draws to write.", kind=Whole(0), default=1000, path="variational.output_samples", usual=True
    )

    init: float | str | Path | Mapping[str, Any] = setting(
        "Radius, 0, JSON file or saved fit.", kind=InitialValues(), default=2.0, path="init", usual=True
    )
    """Radius of the uniform start on the unconstrained scale, 0 for its origin, or {name: value} of
    constrained values (the path of such a JSON file, or of a saved fit, will do).
    """

    seed: int = setting(
        "Seed; reproducible on one machine.", kind=Whole(0), default=1, path="random.seed", usual=True
    )


@settings
class PathfinderSettings(RunSettings, Checked):
    """The settings of Pathfinder."""


@settings
class LaplaceSettings(RunSettings, CorrectionSettings, Checked):
    """The settings of Laplace's approximation."""


@settings
class OptimizeSettings(RunSettings, ModeSettings, Checked):
    """The settings of the search for a mode."""


@settings
class Settings(RunSettings, ModeSettings, CorrectionSettings, StochasticSettings, Checked):
    """The settings of any algorithm, with CmdStan's names and defaults; a field each, with its record.

    Raises OutOfRange, with the allowed range, for a value outside of it.
    """

    @property
    def corrects(self) -> bool:
        """Whether the draws are made better than those of q, as the weights call for; no minibatch tells."""
        return (self.algorithm == "auto" if self.correct is None else self.correct) and self.minibatch is None


@settings
class SampleSettings(Checked):
    """The settings of the No-U-Turn sampler, with CmdStan's names and defaults, but for four chains."""

    num_chains: int = setting("Number of chains.", default=4, path="sample.num_chains", usual=True)

    num_warmup: int = setting(
        "Warmup iterations per chain.", default=1000, path="sample.num_warmup", usual=True
    )
    """Iterations that adapt step size and metric, whose draws are left out."""

    num_samples: int = setting("Draws per chain.", default=1000, path="sample.num_samples", usual=True)

    delta: float = setting(
        "Target acceptance statistic.", kind=Probability(), default=0.8, path="sample.adapt.delta", usual=True
    )
    """The mean acceptance statistic that the step size is adapted to: a larger one makes smaller steps, with
    fewer divergent transitions.
    """

    max_depth: int = setting("Maximum tree depth.", default=10, path="sample.hmc.nuts.max_depth", usual=True)
    """How deep the tree of a trajectory may grow: 2^max_depth leapfrog steps at most."""

    engine: Engine = setting("Sampler", default="nuts", usual=True)
    """The engine: NUTS by nutpie, or many short chains of HMC in lockstep, without nutpie. There each chain
    is several short ones, one after the other; the warmup ends once they are stationary, after `num_warmup`
    moves at most.
    """

    backend: Backend = same(RunSettings, "backend", default="auto")
    """The backend of the log density; "auto" for JAX where it is there and can run the program, for batches
    where it is faster.
    """

    device: Device = same(RunSettings, "device", default="cpu")

    cores: int | None = same(RunSettings, "cores", default=None)
    """How many chains are computed beside each other; the draws are the same for any number."""

    init: float | str | Path | Mapping[str, Any] | Sequence[str | Path | Mapping[str, Any]] = setting(
        "Radius, 0, JSON file or saved fit.", kind=Starts(), default=2.0, path="init", usual=True
    )
    """Where chains start, as `Settings.init`, or a list of such with an entry for each chain, as
    `Fit.create_inits` gives; of a saved fit each starts at a draw of its q, and the coordinates are those in
    which q has unit scales.
    """

    seed: int = same(RunSettings, "seed", default=1)


@settings
class SbcSettings(Checked):
    """The settings of simulation-based calibration."""

    simulations: int = setting("Number of simulations.", default=100, usual=True)
    """Each is a fit: a hundred show draws that are half as wide as they should be, a thousand a tenth."""

    draws: int = setting("Draws per fit, for the ranks.", default=99, usual=True)

    algorithm: SbcAlgorithm = setting("Algorithm under test", default="auto", usual=True)
    """An algorithm of `variational`, or "nuts": one chain, of which every tenth draw is ranked."""

    backend: Backend = same(RunSettings, "backend", default="auto")

    cores: int | None = same(RunSettings, "cores", default=None)
    """How many simulations are computed beside each other; the ranks are the same for any number."""

    seed: int = same(RunSettings, "seed", default=1)
