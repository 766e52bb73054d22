"""The arguments of each of CmdStan's methods, with its names, order and defaults (CmdStan Guide)."""

from ppl.inference.run.settings import ALGORITHMS
from ppl.results.arguments.argument import Value, choice, flag, group, least, positive, unit
from ppl.results.arguments.of_settings import SETTINGS, argument_of

BFGS = (
    positive("init_alpha", "First step size of the line search", 0.001),
    least(0, "tol_obj", "Converged when the objective changes by less", 1e-12),
    least(0, "tol_rel_obj", "Converged when its relative change is less, in units of epsilon", 1e4),
    least(0, "tol_grad", "Converged when the norm of the gradient is less", 1e-8),
    least(0, "tol_rel_grad", "Converged when the relative gradient is less, in units of epsilon", 1e7),
    least(0, "tol_param", "Converged when the parameters move by less", 1e-8),
)
LBFGS = (*BFGS, least(1, "history_size", "Past steps that describe the curvature", 5))

OF_CMDSTAN = ("meanfield", "fullrank")
ALGORITHM = choice(
    "algorithm",
    "Family of the approximation",
    *(
        group(name, about if name in OF_CMDSTAN else f"{about} (ppl only)")
        for name, about in ALGORITHMS.items()
    ),
)

_OF = {known.path: argument_of(known) for known in SETTINGS.values()}
VARIATIONAL = group(
    "variational",
    "Variational inference",
    ALGORITHM,
    _OF["variational.iter"],
    _OF["variational.grad_samples"],
    _OF["variational.elbo_samples"],
    positive("eta", "Step size when adaptation is off", 1.0),
    group(
        "adapt",
        "Search for the step size",
        flag("engaged", "Search?", True),
        _OF["variational.adapt.iter"],
    ),
    _OF["variational.tol_rel_obj"],
    _OF["variational.eval_elbo"],
    _OF["variational.output_samples"],
)

_METRIC = choice(
    "metric",
    "Geometry of the base manifold",
    *(
        group(name, f"{about} metric")
        for name, about in (("diag_e", "Diagonal"), ("dense_e", "Dense"), ("unit_e", "Unit"))
    ),
)
SAMPLE = group(
    "sample",
    "Bayesian inference with Markov Chain Monte Carlo",
    least(0, "num_samples", "Draws to write", 1000),
    least(0, "num_warmup", "Warmup iterations", 1000),
    flag("save_warmup", "Write the warmup's draws too?", False),
    positive("thin", "Period between draws that are written", 1),
    group(
        "adapt",
        "Warmup adaptation",
        flag("engaged", "Adaptation engaged?", True),
        positive("gamma", "Regularisation scale", 0.05),
        unit("delta", "Target acceptance statistic", 0.8),
        positive("kappa", "Relaxation exponent", 0.75),
        positive("t0", "Iteration offset", 10.0),
        least(0, "init_buffer", "Width of the first fast interval", 75),
        least(0, "term_buffer", "Width of the last fast interval", 50),
        least(0, "window", "Width of the first slow interval", 25),
        flag("save_metric", "Write the metric as JSON?", False),
    ),
    choice(
        "algorithm",
        "Sampling algorithm",
        group(
            "hmc",
            "Hamiltonian Monte Carlo",
            choice(
                "engine",
                "Engine for Hamiltonian Monte Carlo",
                group(
                    "nuts",
                    "The No-U-Turn Sampler",
                    positive("max_depth", "Greatest depth of the tree", 10),
                ),
                group(
                    "static",
                    "Static integration time",
                    positive("int_time", "Integration time", 6.28318531),
                ),
            ),
            _METRIC,
            Value("metric_file", "JSON file with a precomputed inverse metric", ""),
            positive("stepsize", "First step size", 1.0),
            Value(
                "stepsize_jitter",
                "Relative jitter of the step size",
                0.0,
                "0 <= stepsize_jitter <= 1",
                lambda x: 0 <= x <= 1,
            ),
        ),
        group("fixed_param", "Fixed parameters"),
    ),
    positive("num_chains", "Chains", 1),
)

OPTIMIZE = group(
    "optimize",
    "Point estimation",
    choice(
        "algorithm",
        "Optimisation algorithm",
        group("lbfgs", "L-BFGS with a line search", *LBFGS),
        group("bfgs", "BFGS with a line search", *BFGS),
        group("newton", "Newton's method"),
    ),
    flag("jacobian", "Count the change of variables of constrained parameters?", False),
    positive("iter", "Most iterations", 2000),
    flag("save_iterations", "Write every iteration?", False),
)

PATHFINDER = group(
    "pathfinder",
    "Pathfinder algorithm",
    *LBFGS,
    positive("num_psis_draws", "Draws from the resampled mixture of paths", 1000),
    positive("num_paths", "Paths", 4),
    flag("save_single_paths", "Write a file for each path?", False),
    flag("psis_resample", "Resample the paths' draws by importance?", True),
    flag("calculate_lp", "Evaluate the log density of every draw?", True),
    positive("max_lbfgs_iters", "Most iterations of L-BFGS", 1000),
    positive("num_draws", "Draws from each path", 1000),
    positive("num_elbo_draws", "Draws that an estimate of the ELBO averages", 25),
)

LAPLACE = group(
    "laplace",
    "Sample from a Laplace approximation",
    Value("mode", "The mode, constrained: a CSV file of method optimize, or JSON", ""),
    flag("jacobian", "Count the change of variables of constrained parameters?", True),
    least(0, "draws", "Draws to write", 1000),
    flag("calculate_lp", "Evaluate the log density of every draw?", True),
)

GENERATE_QUANTITIES = group(
    "generate_quantities",
    "Generate quantities of interest",
    Value("fitted_params", "CSV file of draws of the parameters", ""),
    positive("num_chains", "Chains", 1),
)

LOG_PROB = group(
    "log_prob",
    "Return the log density up to a constant and its gradients, given supplied parameters",
    Value("unconstrained_params", "JSON file with params_r: one vector or several", ""),
    Value("constrained_params", "JSON file of values, or CSV file of draws", ""),
    flag("jacobian", "Count the change of variables of constrained parameters?", True),
)

DIAGNOSE = group(
    "diagnose",
    "Model diagnostics",
    choice(
        "test",
        "Diagnostic test",
        group(
            "gradient",
            "Check the gradient against finite differences",
            positive("epsilon", "Step of the finite difference", 1e-6),
            positive("error", "Greatest error allowed", 1e-6),
        ),
    ),
)

METHOD = choice(
    "method",
    "Analysis method",
    SAMPLE,
    OPTIMIZE,
    VARIATIONAL,
    DIAGNOSE,
    GENERATE_QUANTITIES,
    PATHFINDER,
    LOG_PROB,
    LAPLACE,
)
