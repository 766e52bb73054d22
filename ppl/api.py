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
        "Draws of a fit": ("generate_quantities",),
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
"""How objects of a class are made."""
OF_DRAWS = {
    "save_csvfiles": 'write {thing}.save_csv("output.csv")',
    "diagnose": "write {thing}.judgement",
    "extract": "write {thing}.stan_variables()",
    **dict.fromkeys(("to_df", "to_dataframe", "to_pandas", "as_data_frame"), "write {thing}.draws_pd()"),
    "samples": "write {thing}.draws(), or {thing}.draws_pd() with names",
    **dict.fromkeys(
        ("mean", "means", "median", "std", "sd", "quantile", "quantiles", "hdi", "describe"),
        'write {thing}.summary()["NAME"], or NumPy\'s functions of {thing}.stan_variable("NAME")',
    ),
    "ppc": "write {thing}.plot.ppc(), or {thing}.predictive() for the data",
    **dict.fromkeys(("elpd", "elpd_loo"), "write {thing}.loo().elpd"),
    "to_netcdf": 'write {thing}.save("draws.nc")',
    "columns": "write {thing}.column_names",
    "posterior_predictive": "write {thing}.predictive()",
    "waic": "write {thing}.loo()",
    **dict.fromkeys(("runset", "time"), "nothing runs in other programs"),
    "thin": "all draws are stored",
    "num_unconstrained_params": "write posterior.param_unc_num()",
}
BY_PANDAS = dict.fromkeys(("loc", "iloc", "index", "columns", "head"), "write {thing}.to_pandas().{name}")
ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "ppl": {
        **dict.fromkeys(("CmdStanModel", "StanModel", "build"), 'write ppl.compile_model("model.stan")'),
        **dict.fromkeys(
            ("load", "from_csv", "read_csv"),
            'write ppl.load_fit("fit.json", model, data) of a fit.save("fit.json"); `ppl summary`, `loo` and '
            "`plot` read CSV files, also CmdStan's, and az.from_cmdstan(files)",
        ),
        **dict.fromkeys(("loo", "summary"), "write fit.{name}()"),
        "sample": "write ppl.compile_model(program).condition(data).sample()",
        "fit": "write ppl.compile_model(program).condition(data).variational()",
        "write_stan_json": "a dict is data as it is: condition(data)",
        **dict.fromkeys(("install_cmdstan", "set_cmdstan_path", "cmdstan_path"), "no CmdStan is needed"),
    },
    "Model": {
        "fit": "write {thing}.condition(data).variational()",
        "laplace_sample": "write {thing}.condition(data).laplace()",
        "log_prob": "write p = {thing}.condition(data); p.log_density(p.param_unconstrain(values))",
        "src_info": "write {thing}.data_schema",
        "code": "write {thing}.source.text",
        "format": "write `ppl format` in a shell",
        **dict.fromkeys(("stan_file", "name"), "write {thing}.source.name"),
        **dict.fromkeys(("compile", "exe_file"), "it is compiled; `ppl build` writes an executable"),
    },
    "Posterior": {
        "fit": "write {thing}.variational()",
        "laplace_sample": "write {thing}.laplace()",
        "log_prob": "write {thing}.log_density({thing}.param_unconstrain(values))",
        "grad_log_prob": "write {thing}.log_density_gradient(u)",
    },
    "Fit": {
        **OF_DRAWS,
        "converged": "write {thing}.outcome.converged",
        **dict.fromkeys(
            ("rhat", "r_hat", "ess"), "chains of posterior.sample() have it; write {thing}.judgement"
        ),
        "mode": "write {thing}.stan_variables(mean=True)",
        "is_resampled": 'write {thing}.verdict.made == "resampled"',
        "chains": "its draws are independent; for ArviZ write {thing}.to_arviz()",
        **{
            f"optimized_params_{kind}": f"write {{thing}}.variational_params_{kind}"
            for kind in ("np", "pd", "dict")
        },
    },
    "Chains": {
        **OF_DRAWS,
        **dict.fromkeys(("rhat", "r_hat"), 'write {thing}.summary()["NAME"].r_hat'),
        "ess": 'write {thing}.summary()["NAME"].ess_bulk',
    },
    "Summary": BY_PANDAS,
    "ChainSummary": BY_PANDAS,
    "Loo": {
        **dict.fromkeys(("khat", "pareto_k", "k_hat"), "write {thing}.khats"),
        **dict.fromkeys(("elpd_loo", "estimate"), "write {thing}.elpd"),
        "loo_i": "write {thing}.elpds",
        "looic": "write -2 * {thing}.elpd",
    },
}
"""The answers to names of CmdStanPy, PyStan and other tools."""


def absent(kind: str, name: str, variables: Collection[str] = ()) -> str:
    """The sentence for a name that a class, or the module, lacks: what to write instead."""
    from ppl.spelling import nearest

    thing = {"ChainSummary": "summary"}.get(kind, kind.lower())
    if name in (own := ELSEWHERE.get(kind, {})):
        advice = own[name].format(thing=thing, name=name)
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


class OthersNames:
    """A class that says of the names of other tools what to write."""

    if not TYPE_CHECKING:  # to which every name would be a member

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise AttributeError(absent(type(self).__name__, name))


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
