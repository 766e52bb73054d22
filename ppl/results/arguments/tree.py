"""The arguments of a run as a tree: what CmdStan 2.36 takes on its command line and repeats in its files.

Names, order and defaults are those of the CmdStan Guide. A value is known by its dotted path, in which the
name of a choice is left out: `variational.adapt.iter`, `sample.hmc.nuts.max_depth`, `output.file`. The group
`ppl` has what CmdStan has no word for.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ppl.results.arguments.argument import Argument, Choice, Group, Value, either, flag, least, positive, word
from ppl.results.arguments.methods import METHOD

Values = Mapping[str, Any]

# The parts of inference by name, written out so that a command line is read without waiting for them.
ESTIMATORS = ("reparameterised", "sticking-the-landing", "score-function", "black-box", "stochastic-search")
STEPS = ("advi", "adam", "rmsprop", "staged", "robbins-monro", "dowg")
STOPPING = ("relative-elbo", "gradient-norm", "rolling-bound", "iterate-rhat", "fixed")
BACKENDS = ("auto", "autograd", "jax")
DEVICES = ("cpu", "gpu")
STANDARDS = ("normal", "student_t", "logistic", "laplace")
STARTS = ("pathfinder", "random")
POSITIVE_TRANSFORMS = ("log", "softplus")
LAYOUTS = ("variational", "sample")

PPL = Group(
    "ppl",
    "What CmdStan has no word for",
    (
        word("start", "Where the fit begins", *STARTS),
        least(0, "init_scale", "Sds of the first q at a random start; 0 for the algorithm's own", 0.0),
        flag("average", "Average the last iterates?", True),
        flag("polish", "Refine on fixed draws (sample average approximation)?", True),
        flag("step_up", "Optimise again, or upgrade to full rank, where q does not fit?", True),
        flag("linear_response", "Correct the covariance of a fit on fixed draws?", False),
        either("correct", "Correct draws towards the posterior? Empty: for the algorithm auto"),
        either("resample", "Write draws resampled by importance? Empty: where that is enough"),
        either("anneal", "Write draws annealed to the posterior? Empty: where resampling is not enough"),
        either("jacobian", "Count the change of variables? Empty for what the algorithm does by itself"),
        least(0, "rank", "Rank of the low-rank family; 0 for the root of the dimension", 0),
        positive("runs", "Independent runs, of which the best is kept", 1),
        word("estimator", "Estimator of the gradient; empty for the algorithm's own", "", *ESTIMATORS),
        word("step_rule", "Step rule; empty for the algorithm's own", "", *STEPS),
        word("stop", "Stopping rule; empty for the algorithm's own", "", *STOPPING),
        word("noise", "Distribution that q shifts and scales", *STANDARDS),
        least(0, "minibatch", "Rows of data that a gradient sees; 0 for all", 0),
        Value("rows", "Size variable that counts rows; empty for the largest that does", ""),
        Value("marginal", "Parameter that optimize integrates out", ""),
        Value("ard", "Parameter vector whose Gaussian prior dsvi-ard optimises away", ""),
        word("backend", "What computes the log density", *BACKENDS),
        word("device", "Where JAX computes", *DEVICES),
        flag("sharded", "Spread the rows of data over all devices of JAX's, of all processes?", False),
        flag("quick_jit", "Should JAX compile a small program quickly, for one fit?", True),
        word("positive_transform", "Map to positive parameters", *POSITIVE_TRANSFORMS),
        word("format", "Layout of the draws of a fit: variational or sample", *LAYOUTS),
    ),
)

TREE: tuple[Argument, ...] = (
    METHOD,
    least(0, "id", "Unique process identifier", 1),
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
            least(0, "refresh", "Iterations between two lines on the screen; 0 for none", 100),
            Value(
                "sig_figs",
                "Significant figures of numbers in files; -1 for all that matter",
                -1,
                "-1, or 1 to 18",
                lambda x: x == -1 or 1 <= x <= 18,
            ),
            Value("profile_file", "File to write profiling information to", "profile.csv"),
            flag("save_cmdstan_config", "Write the configuration as JSON?", False),
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
