"""A program with discrete parameters in NumPyro: `python run_numpyro_enumeration.py REQUEST`.

The peers' Python runs it.  REQUEST is JSON: name, data (file), iterations; with output, a file of draws,
the fit; without, the time of a gradient of the log density in which the discrete variables are enumerated.
It prints one JSON line.
"""

import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import lax, random
from numpyro.contrib.control_flow import scan
from numpyro.contrib.funsor import config_enumerate, enum, log_density
from numpyro.handlers import block, seed, substitute, trace
from numpyro.infer import SVI, TraceEnum_ELBO, init_to_value
from numpyro.infer.autoguide import AutoNormal

DISCRETE = {"z"}


def ordered(name, k, scale):
    start = numpyro.sample(f"{name}_u", dist.ImproperUniform(dist.constraints.real_vector, (), (k,)))
    transform = dist.transforms.OrderedTransform()
    mu = transform(start)
    numpyro.factor(
        f"{name}_prior", dist.Normal(0, scale).log_prob(mu).sum() + transform.log_abs_det_jacobian(start, mu)
    )
    return mu


def hidden_markov(T, K, y):
    start = numpyro.sample("start", dist.Dirichlet(jnp.ones(K)))
    move = numpyro.sample("move", dist.Dirichlet(jnp.ones((K, K))).to_event(1))
    mu, sigma = ordered("mu", K, 5.0), numpyro.sample("sigma", dist.LogNormal(0, 1))

    def step(carry, seen):
        z, t = carry
        weights = jnp.where(t == 0, start, move[z])
        z = numpyro.sample("z", dist.Categorical(weights))
        numpyro.sample("y", dist.Normal(mu[z], sigma), obs=seen)
        return (z, t + 1), None

    scan(step, (0, 0), y)


def discrete_mixture(N, K, y):
    theta = numpyro.sample("theta", dist.Dirichlet(jnp.ones(K)))
    mu = ordered("mu", K, 10.0)
    sigma = numpyro.sample("sigma", dist.LogNormal(jnp.zeros(K), 1).to_event(1))
    with numpyro.plate("rows", N):
        z = numpyro.sample("z", dist.Categorical(theta))
        numpyro.sample("y", dist.Normal(mu[z], sigma[z]), obs=y)


MODELS = {"hidden_markov": hidden_markov, "discrete_mixture": discrete_mixture}


def main():
    numpyro.enable_x64()
    request = json.loads(sys.argv[1])
    with open(request["data"]) as file:
        data = {k: jnp.asarray(v) if isinstance(v, list) else v for k, v in json.load(file).items()}
    model = config_enumerate(MODELS[request["name"]])
    # Components that begin alike stay alike.
    spread = {"mu_u": jnp.array([-1.0, *[0.0] * (data["K"] - 1)])}
    print(
        json.dumps(
            fit(request, model, data, spread) if "output" in request else gradient(model, data, spread)
        )
    )


def fit(request, model, data, spread):
    guide = AutoNormal(block(model, hide=list(DISCRETE)), init_loc_fn=init_to_value(values=spread))
    svi = SVI(model, guide, numpyro.optim.Adam(0.03), TraceEnum_ELBO(max_plate_nesting=1))
    state = svi.init(random.PRNGKey(1), **data)
    run = jax.jit(
        lambda s: lax.scan(lambda s, _: svi.update(s, **data), s, None, length=request["iterations"])
    )
    state, losses = jax.block_until_ready(run(state))
    draws = guide.sample_posterior(random.PRNGKey(0), svi.get_params(state), sample_shape=(1000,))
    np.savetxt(request["output"], np.column_stack([np.reshape(v, (1000, -1)) for v in draws.values()]))
    return {"elbo": float(-losses[-100:].mean())}


def gradient(model, data, spread):
    begun = substitute(seed(block(model, hide=list(DISCRETE)), rng_seed=0), spread)
    sites = trace(begun).get_trace(**data)
    given = {k: s["value"] for k, s in sites.items() if s["type"] == "sample" and not s["is_observed"]}
    enumerated = enum(model, -2)

    def value(given):
        return log_density(enumerated, (), data, given)[0]

    run = jax.jit(jax.value_and_grad(value))
    jax.block_until_ready(run(given))
    times = []
    for _ in range(9):
        calls, began = 0, time.process_time()
        while (spent := time.process_time() - began) < 0.1:
            jax.block_until_ready(run(given))
            calls += 1
        times.append(1e6 * spent / calls)
    return {"microseconds": statistics.median(times)}


if __name__ == "__main__":
    main()
