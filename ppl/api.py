"""The public members of the classes that `ppl` exports, by topic, for `dir` and the page of the API."""

from collections.abc import Mapping

DRAWS = (
    *("draws", "draws_pd", "draws_xr", "draws_u"),
    *("column_names", "stan_variable", "stan_variables", "method_variables"),
)
PLOTS = {"Pictures": ("plot",)}
PREDICTIONS = (
    *("log_lik", "loo", "predictive", "predict"),
    *("expected", "effects", "contrast", "score", "doctor"),
)
OF_DISCRETE = ("probabilities", "most_probable")

MEMBERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Model": {
        "Data": ("condition", "data_schema"),
        "Checks before a fit": ("prior_predictive", "sbc"),
        "The program": ("source", "plan", "python_source", "discrete"),
    },
    "Posterior": {
        "Fits": ("variational", "sample", "optimize", "laplace", "pathfinder"),
        "Log density": (
            *("log_density", "log_density_gradient", "log_density_hessian"),
            *("log_densities", "log_density_gradients", "explain"),
        ),
        "Parameters": (
            *("param_names", "param_num", "param_unc_names", "param_unc_num"),
            *("param_constrain", "param_unconstrain", "param_constrain_draws", "values"),
        ),
        "Discrete parameters": OF_DISCRETE,
        "Program and data": ("source", "observed", "levels", "missing"),
    },
    "Fit": {
        "Draws": (*DRAWS, "sample", "more"),
        "Verdict and summary": (
            *("summary", "judgement", "verdict", "level", "notes", "details"),
            *("outcome", "elbo", "elbo_se", "elbo_trace", "backend"),
        ),
        "Predictions and model comparison": (*PREDICTIONS, "log_evidence"),
        **PLOTS,
        "More data": ("update",),
        "Discrete parameters": ("discrete", *OF_DISCRETE),
        "The approximation q": (
            *("family", "eta", "at_mean", "variational_params_dict", "variational_params_np"),
            *("variational_params_pd", "variational_sample", "variational_sample_pd"),
        ),
        "NUTS from here": ("then_sample", "create_inits", "save_warm_start", "warm_start"),
        "Files and ArviZ": (
            *("to_arviz", "save", "save_csv", "save_config", "save_diagnostics"),
            *("config", "metadata", "provenance"),
        ),
    },
    "Chains": {
        "Draws": DRAWS,
        "Verdict and summary": ("summary", "judgement", "level", "notes", "divergences", "max_treedepths"),
        "Predictions and model comparison": PREDICTIONS,
        **PLOTS,
        "Discrete parameters": ("discrete", *OF_DISCRETE),
        "The sampler": (
            *("chains", "chain_ids", "num_draws", "num_draws_sampling", "num_draws_warmup"),
            *("step_size", "metric_type", "inv_metric", "backend", "interrupted"),
        ),
        "Files and ArviZ": ("to_arviz", "save", "save_csv", "create_inits", "config", "metadata"),
    },
    "Calibration": {
        "Ranks": ("columns", "ranks", "draws", "failed", "uniformity", "judgement", "lines", "save_csv"),
    },
}


def members(kind: str) -> list[str]:
    """The names of the public members of a class, sorted."""
    return sorted(name for names in MEMBERS[kind].values() for name in names)
