"""The arguments of a run as a tree: what CmdStan 2.36 takes on its command line and repeats in its files.

Names, order and defaults are those of the CmdStan Guide. A value is known by its dotted path, in which the
name of a choice is left out: `variational.adapt.iter`, `sample.hmc.nuts.max_depth`, `output.file`. The group
`ppl` has what CmdStan has no word for.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Value:
    """`name=value`; `valid` says in words what `holds` tests."""

    name: str
    about: str
    default: Any
    valid: str = "All"
    holds: Callable[[Any], bool] = lambda value: True


@dataclass(frozen=True)
class Group:
    """`name` and then its parts, in any order."""

    name: str
    about: str
    parts: tuple["Argument", ...] = ()


@dataclass(frozen=True)
class Choice:
    """`name=option`, then the parts of the group of that name."""

    name: str
    about: str
    options: tuple[Group, ...]

    @property
    def default(self) -> str:
        return self.options[0].name

    def option(self, name: str) -> Group:
        """The group chosen by `name`."""
        return next(group for group in self.options if group.name == name)


Argument = Value | Choice | Group


def _positive(name: str, about: str, default: float) -> Value:
    return Value(name, about, default, "0 < " + name, lambda value: value > 0)


def _least(bound: float, name: str, about: str, default: float) -> Value:
    return Value(name, about, default, f"{bound:g} <= {name}", lambda value: value >= bound)


def _unit(name: str, about: str, default: float) -> Value:
    return Value(name, about, default, f"0 < {name} < 1", lambda value: 0 < value < 1)


def _flag(name: str, about: str, default: bool) -> Value:
    return Value(name, about, default, "[0, 1, false, true]")


def _word(name: str, about: str, *words: str) -> Value:
    """One of `words`, the first by default."""
    return Value(name, about, words[0], ", ".join(words), lambda word: word in words)


BFGS = (
    _positive("init_alpha", "First step size of the line search", 0.001),
    _least(0, "tol_obj", "Converged when the objective changes by less", 1e-12),
    _least(0, "tol_rel_obj", "Converged when its relative change is less, in units of epsilon", 1e4),
    _least(0, "tol_grad", "Converged when the norm of the gradient is less", 1e-8),
    _least(0, "tol_rel_grad", "Converged when the relative gradient is less, in units of epsilon", 1e7),
    _least(0, "tol_param", "Converged when the parameters move by less", 1e-8),
)
LBFGS = (*BFGS, _least(1, "history_size", "Past steps that describe the curvature", 5))

OURS = {
    "lowrank": "Normal with a covariance of low rank plus a diagonal",
    "fixed-draws": "Normal with a diagonal covariance, fitted on fixed draws",
    "laplace": "Normal with the curvature of the mode",
    "pathfinder": "Draws from several Pathfinder paths, resampled",
    "optimize": "A point: the mode",
    "dsvi": "Doubly stochastic variational inference",
    "dsvi-diagonal": "The same with a diagonal covariance",
    "dsvi-ard": "The same with relevances determined",
    "ssvb": "Stochastic search variational Bayes",
}
"""Algorithms of ppl's recipes that CmdStan does not have."""

VARIATIONAL = Group(
    "variational",
    "Variational inference",
    (
        Choice(
            "algorithm",
            "Family of the approximation",
            (
                Group("meanfield", "Normal with a diagonal covariance"),
                Group("fullrank", "Normal with a full covariance"),
                *(Group(name, about + " (ppl only)") for name, about in OURS.items()),
            ),
        ),
        _positive("iter", "Most iterations", 10000),
        _positive("grad_samples", "Draws that an estimate of the gradient averages", 1),
        _positive("elbo_samples", "Draws that an estimate of the ELBO averages", 100),
        _positive("eta", "Step size when adaptation is off", 1.0),
        Group(
            "adapt",
            "Search for the step size",
            (_flag("engaged", "Search?", True), _positive("iter", "Iterations of each candidate", 50)),
        ),
        _positive("tol_rel_obj", "Converged when the ELBO's relative change is less", 0.01),
        _positive("eval_elbo", "Iterations between two evaluations of the ELBO", 100),
        _least(0, "output_samples", "Draws to write", 1000),
    ),
)

_METRIC = Choice(
    "metric",
    "Geometry of the base manifold",
    tuple(
        Group(name, f"{about} metric")
        for name, about in (("diag_e", "Diagonal"), ("dense_e", "Dense"), ("unit_e", "Unit"))
    ),
)
SAMPLE = Group(
    "sample",
    "Bayesian inference with Markov Chain Monte Carlo",
    (
        _least(0, "num_samples", "Draws to write", 1000),
        _least(0, "num_warmup", "Warmup iterations", 1000),
        _flag("save_warmup", "Write the warmup's draws too?", False),
        _positive("thin", "Write every how manyeth draw", 1),
        Group(
            "adapt",
            "Warmup adaptation",
            (
                _flag("engaged", "Adaptation engaged?", True),
                _positive("gamma", "Regularisation scale", 0.05),
                _unit("delta", "Target acceptance statistic", 0.8),
                _positive("kappa", "Relaxation exponent", 0.75),
                _positive("t0", "Iteration offset", 10.0),
                _least(0, "init_buffer", "Width of the first fast interval", 75),
                _least(0, "term_buffer", "Width of the last fast interval", 50),
                _least(0, "window", "Width of the first slow interval", 25),
                _flag("save_metric", "Write the metric as JSON?", False),
            ),
        ),
        Choice(
            "algorithm",
            "Sampling algorithm",
            (
                Group(
                    "hmc",
                    "Hamiltonian Monte Carlo",
                    (
                        Choice(
                            "engine",
                            "Engine for Hamiltonian Monte Carlo",
                            (
                                Group(
                                    "nuts",
                                    "The No-U-Turn Sampler",
                                    (_positive("max_depth", "Greatest depth of the tree", 10),),
                                ),
                                Group(
                                    "static",
                                    "Static integration time",
                                    (_positive("int_time", "Integration time", 6.28318531),),
                                ),
                            ),
                        ),
                        _METRIC,
                        Value("metric_file", "JSON file with a precomputed inverse metric", ""),
                        _positive("stepsize", "First step size", 1.0),
                        Value(
                            "stepsize_jitter",
                            "Relative jitter of the step size",
                            0.0,
                            "0 <= stepsize_jitter <= 1",
                            lambda x: 0 <= x <= 1,
                        ),
                    ),
                ),
                Group("fixed_param", "Fixed parameters"),
            ),
        ),
        _positive("num_chains", "Chains", 1),
    ),
)

OPTIMIZE = Group(
    "optimize",
    "Point estimation",
    (
        Choice(
            "algorithm",
            "Optimisation algorithm",
            (
                Group("lbfgs", "L-BFGS with a line search", LBFGS),
                Group("bfgs", "BFGS with a line search", BFGS),
                Group("newton", "Newton's method"),
            ),
        ),
        _flag("jacobian", "Count the change of variables of constrained parameters?", False),
        _positive("iter", "Most iterations", 2000),
        _flag("save_iterations", "Write every iteration?", False),
    ),
)

PATHFINDER = Group(
    "pathfinder",
    "Pathfinder algorithm",
    (
        *LBFGS,
        _positive("num_psis_draws", "Draws from the resampled mixture of paths", 1000),
        _positive("num_paths", "Paths", 4),
        _flag("save_single_paths", "Write a file for each path?", False),
        _flag("psis_resample", "Resample the paths' draws by importance?", True),
        _flag("calculate_lp", "Evaluate the log density of every draw?", True),
        _positive("max_lbfgs_iters", "Most iterations of L-BFGS", 1000),
        _positive("num_draws", "Draws from each path", 1000),
        _positive("num_elbo_draws", "Draws that an estimate of the ELBO averages", 25),
    ),
)

LAPLACE = Group(
    "laplace",
    "Sample from a Laplace approximation",
    (
        Value("mode", "The mode, constrained: a CSV file of method optimize, or JSON", ""),
        _flag("jacobian", "Count the change of variables of constrained parameters?", True),
        _least(0, "draws", "Draws to write", 1000),
        _flag("calculate_lp", "Evaluate the log density of every draw?", True),
    ),
)

GENERATE_QUANTITIES = Group(
    "generate_quantities",
    "Generate quantities of interest",
    (
        Value("fitted_params", "CSV file of draws of the parameters", ""),
        _positive("num_chains", "Chains", 1),
    ),
)

LOG_PROB = Group(
    "log_prob",
    "Return the log density up to a constant and its gradients, given supplied parameters",
    (
        Value("unconstrained_params", "JSON file with params_r: one vector or several", ""),
        Value("constrained_params", "JSON file of values, or CSV file of draws", ""),
        _flag("jacobian", "Count the change of variables of constrained parameters?", True),
    ),
)

DIAGNOSE = Group(
    "diagnose",
    "Model diagnostics",
    (
        Choice(
            "test",
            "Diagnostic test",
            (
                Group(
                    "gradient",
                    "Check the gradient against finite differences",
                    (
                        _positive("epsilon", "Step of the finite difference", 1e-6),
                        _positive("error", "Greatest error allowed", 1e-6),
                    ),
                ),
            ),
        ),
    ),
)

METHOD = Choice(
    "method",
    "Analysis method",
    (SAMPLE, OPTIMIZE, VARIATIONAL, DIAGNOSE, GENERATE_QUANTITIES, PATHFINDER, LOG_PROB, LAPLACE),
)

PPL = Group(
    "ppl",
    "What CmdStan has no word for",
    (
        _word("start", "Where the fit begins", "pathfinder", "random"),
        _flag("average", "Average the end of the path?", True),
        _flag("polish", "Go on to the maximum on fixed draws?", True),
        _flag("linear_response", "Correct the covariance of a fit on fixed draws?", False),
        _flag("resample", "Write draws resampled by importance?", False),
        Value(
            "jacobian",
            "Count the change of variables? Empty for what the algorithm does by itself",
            "",
            "true, false",
            lambda word: word in ("", "true", "false"),
        ),
        _least(0, "rank", "Rank of the low-rank family; 0 for the root of the dimension", 0),
        _positive("runs", "Independent runs, of which the best is kept", 1),
        _least(0, "minibatch", "Rows of data that a gradient sees; 0 for all", 0),
        _word("positive_transform", "Map to positive parameters", "log", "softplus"),
        _word("format", "Layout of the draws of a fit: variational or sample", "variational", "sample"),
    ),
)

TREE: tuple[Argument, ...] = (
    METHOD,
    _least(0, "id", "Unique process identifier", 1),
    Group("data", "Input data options", (Value("file", "Input data file", "", "Path to existing file"),)),
    Value(
        "init",
        "Radius of random starts on the unconstrained scale, 0, or a JSON file of constrained values",
        "2",
        "A number of at least 0, or the path of a file",
    ),
    Group(
        "random",
        "Random number configuration",
        (
            Value(
                "seed",
                "Random number generator seed",
                -1,
                "non-negative integer < 4294967296 or -1 for the clock",
                lambda x: -1 <= x < 2**32,
            ),
        ),
    ),
    Group(
        "output",
        "File output options",
        (
            Value("file", "Output file", "output.csv", "Path to a file that can be written"),
            Value("diagnostic_file", "Auxiliary output file for diagnostic information", ""),
            _least(0, "refresh", "Iterations between two lines on the screen; 0 for none", 100),
            Value(
                "sig_figs",
                "Significant figures of numbers in files; -1 for all that matter",
                -1,
                "-1, or 1 to 18",
                lambda x: x == -1 or 1 <= x <= 18,
            ),
            Value("profile_file", "File to write profiling information to", "profile.csv"),
            _flag("save_cmdstan_config", "Write the configuration as JSON?", False),
        ),
    ),
    Value("num_threads", "Threads for parallel work", 1, "num_threads > 0 or -1", lambda x: x > 0 or x == -1),
    PPL,
)


def leaves(tree: tuple[Argument, ...] = TREE, prefix: str = "") -> Iterator[tuple[str, Value | Choice]]:
    """Every value and choice with its path, those of options not chosen included."""
    for argument in tree:
        match argument:
            case Value():
                yield prefix + argument.name, argument
            case Choice():
                yield prefix + argument.name, argument
                for option in argument.options:
                    yield from leaves(option.parts, f"{prefix}{option.name}.")
            case Group():
                yield from leaves(argument.parts, f"{prefix}{argument.name}.")


def with_defaults(given: Values) -> dict[str, Any]:
    """Every value of the tree: what was given, and the defaults of the rest."""
    return {path: argument.default for path, argument in leaves()} | dict(given)
