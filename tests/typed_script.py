"""What a type checker has to accept of the public API; what ends in `# wrong: ...` it has to refuse.

`mypy` reads it too (pyproject.toml), and reports a line with `type: ignore` that has no error.
"""

from pathlib import Path

import numpy as np

import ppl

model: ppl.Model = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
posterior: ppl.Posterior = model.condition({})
names: list[str] = posterior.param_names(include_tp=True)
value, gradient = posterior.log_density_gradient(np.zeros(1))
value, gradient = posterior.log_density_gradient([0.0])
constrained: tuple[int, ...] = posterior.param_constrain([0.0], rng=np.random.default_rng(1)).shape

fit: ppl.Fit = posterior.variational(algorithm="fullrank", seed=1, eta=0.1, minibatch=None, stop="fixed")
posterior.variational(init={"x": 1.0}, progress=True, checkpoint=Path("run.json"), resume=True)
mode: ppl.Fit = posterior.optimize(jacobian=True, runs=2, init=0)
gaussian: ppl.Fit = posterior.laplace(correct=True, draws=100)
paths: ppl.Fit = posterior.pathfinder(elbo_samples=50, backend="autograd")
converged: bool = fit.outcome.converged
mean: float = fit.summary()["x"].mean
again: ppl.Fit = ppl.load_fit("fit.json", model, {})

chains: ppl.Chains = posterior.sample(num_chains=2, num_warmup=100, delta=0.9, init="fit.json", seed=1)
by_chain: tuple[int, ...] = chains.draws(concat_chains=False).shape
said: str = chains.judgement
agreement: list[float] = [chains.summary()["x"].r_hat, *(row.ess_bulk for row in chains.summary())]
posterior.sample(init=fit.create_inits(seed=1, chains=4))
posterior.sample(init=[{"x": 1.0}, Path("x.json")], num_chains=2)
of_chains: tuple[int, str] = chains.num_draws_warmup, chains.metric_type

calibration: ppl.Calibration = model.sbc({}, simulations=10, algorithm="nuts", simulator=model)
prior: tuple[int, ...] = model.prior_predictive({}, draws=10)["x"].shape
p_value: float = calibration.uniformity()["x"].p

held: dict[str, str] = model.data_schema
python: str = model.python_source
value, gradient, hessian = posterior.log_density_hessian(np.zeros(1))
many: tuple[int, ...] = posterior.log_densities([[0.0], [1.0], [2.0]]).shape
place: dict[str, float] = fit.variational_params_dict
shapes: tuple[int, ...] = fit.stan_variables()["x"].shape
at_mean: float = fit.stan_variable("x", mean=True).item() + fit.method_variables()["log_p__"].max()
seed = fit.metadata.cmdstan_config["random"]
level: str = fit.verdict.level
sentences: tuple[str, ...] = (fit.judgement, fit.details, fit.outcome.sentence, *fit.notes)
left_out: tuple[float, int] = fit.loo().elpd, len(fit.loo("x", log_lik="ll").bad)
weight: float = ppl.compare({"a": fit, "b": fit.loo("x")}, outcome="x")["a"].weight
more: ppl.Fit = fit.more(10, seed=2)
fit.save("fit.json")
fit.save_csv(Path("output.csv"))
version: str = ppl.__version__
try:
    fit.stan_variable("y")
except ppl.UnknownName as error:
    near: str | None = error.near
except (ppl.ModelError, ppl.DataError, ppl.InferenceError) as refusal:
    print(refusal)

posterior.variational(algoritm="fullrank")  # type: ignore[call-arg]  # wrong: algoritm
posterior.variational(algorithm="fulrank")  # type: ignore[arg-type]  # wrong: fulrank
posterior.variational(iter="many")  # type: ignore[arg-type]  # wrong: iter
posterior.optimize(iter=100)  # type: ignore[call-arg]  # wrong: iter
posterior.pathfinder(correct=True)  # type: ignore[call-arg]  # wrong: correct
posterior.laplace(algorithm="optimize")  # type: ignore[call-arg]  # wrong: algorithm
posterior.sample(chains=4)  # type: ignore[call-arg]  # wrong: chains
posterior.sample(init=[1.0, 2.0])  # type: ignore[list-item]  # wrong: Mapping[str, Any]
