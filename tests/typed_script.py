"""What a type checker has to accept of the public API; what ends in `# wrong: ...` it has to refuse."""

from pathlib import Path

import numpy as np

import ppl

model: ppl.Model = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
posterior: ppl.Posterior = model.condition({})
names: list[str] = posterior.param_names(include_tp=True)
value, gradient = posterior.log_density_gradient(np.zeros(1))

fit: ppl.Fit = posterior.variational(algorithm="fullrank", seed=1, eta=0.1, minibatch=None, stop="fixed")
posterior.variational(init={"x": 1.0}, progress=True, checkpoint=Path("run.json"), resume=True)
mode: ppl.Fit = posterior.optimize(jacobian=True, runs=2, init=0)
gaussian: ppl.Fit = posterior.laplace(correct=True, draws=100)
paths: ppl.Fit = posterior.pathfinder(elbo_samples=50, backend="autograd")
converged: bool = fit.outcome.converged
mean: float = fit.summary()["x"].mean
again: ppl.Fit = ppl.load_fit("fit.json", model, {})

posterior.variational(algoritm="fullrank")  # wrong: algoritm
posterior.variational(algorithm="fulrank")  # wrong: fulrank
posterior.variational(iter="many")  # wrong: iter
posterior.optimize(iter=100)  # wrong: iter
posterior.pathfinder(correct=True)  # wrong: correct
posterior.laplace(algorithm="optimize")  # wrong: algorithm
