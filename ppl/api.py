"""The public members of the classes that `ppl` exports, by topic, and what is written for others' names."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

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


# --- Names of other tools ------------------------------------------------------------------------

NEXT = {"Model": ("Posterior", "condition(data)"), "Posterior": ("Fit", "variational()")}
"""What is made of a class, and how."""
OF_FITS = {
    "save_csvfiles": 'save_csv("output.csv")',
    "diagnose": "judgement",
    "extract": "stan_variables()",
    "to_dataframe": "draws_pd()",
    "to_pandas": "draws_pd()",
    "columns": "column_names",
    "converged": "outcome.converged",
    "posterior_predictive": "predictive()",
    "waic": "loo()",
    "to_netcdf": 'save("draws.nc")',
    "optimized_params_np": "variational_params_np",
    "optimized_params_pd": "variational_params_pd",
    "optimized_params_dict": "variational_params_dict",
}
ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "ppl": {
        "CmdStanModel": 'ppl.compile_model("model.stan")',
        "StanModel": 'ppl.compile_model("model.stan")',
        "load": 'ppl.load_fit("fit.json")',
        "loo": "fit.loo()",
        "summary": "fit.summary()",
        "sample": "ppl.compile_model(program).condition(data).sample()",
        "fit": "ppl.compile_model(program).condition(data).variational()",
    },
    "Model": {
        "fit": "condition(data).variational()",
        "generate_quantities": "condition(data).variational(), whose draws have them",
        "laplace_sample": "condition(data).laplace()",
        "log_prob": "condition(data).log_density(u)",
        "stan_file": "source.name",
        "name": "source.name",
    },
    "Posterior": {
        "fit": "variational()",
        "generate_quantities": "variational(), whose draws have them",
        "laplace_sample": "laplace()",
        "log_prob": "log_density(u)",
        "grad_log_prob": "log_density_gradient(u)",
    },
    "Fit": OF_FITS,
    "Chains": OF_FITS,
}
"""What to write for names of CmdStanPy, PyStan and other tools."""


def absent(kind: str, name: str, variables: Collection[str] = ()) -> str:
    """The sentence for a name that a class, or the module, lacks: what to write instead."""
    from ppl.spelling import nearest

    thing = kind.lower()
    if name in (own := ELSEWHERE.get(kind, {})):
        advice = f"write {own[name] if kind == 'ppl' else f'{thing}.{own[name]}'}"
    elif name in variables:
        advice = f'write {thing}.stan_variable("{name}")'
    elif way := _later(kind, name):
        advice = f"write {thing}.{way}"
    else:
        near = nearest(name, members(kind)) if kind in MEMBERS else None
        advice = f"did you mean {thing}.{near}?" if near else f"dir({thing}) lists what there is"
    return f"{thing} has no {name!r}; {advice}"


def _later(kind: str, name: str) -> str:
    """The way to a member of what comes after a class; empty where none has it."""
    way = ""
    while kind in NEXT:
        kind, step = NEXT[kind]
        way += f"{step}."
        if name in members(kind):
            return way + name
    return ""


class Members:
    """A class whose `dir` lists its public members, and that says of other names what to write."""

    def __dir__(self) -> list[str]:
        return members(type(self).__name__)

    if not TYPE_CHECKING:  # to which every name would be a member

        def __getattr__(self, name: str) -> Any:
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):  # a property whose own computation lacks a name
                return object.__getattribute__(self, name)
            variables = self._named_variables() if vars(self) else ()
            raise AttributeError(absent(kind.__name__, name, variables))

        def _named_variables(self) -> Collection[str]:
            return ()
