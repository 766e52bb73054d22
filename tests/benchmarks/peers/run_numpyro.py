"""One NumPyro fit in a process of its own: `python run_numpyro.py REQUEST`, run by the peers' Python.

REQUEST is JSON: name, data (file), algorithm, step_size, first_sds (0.1 if it is left out), seed, iterations,
and one of: target, an ELBO to reach within `patience` seconds ("warm", the median of a few fits); output, a
file of draws ("cold"); neither, for the time of the steps alone.  Prints one JSON line.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax import lax, random
from numpyro.infer import SVI, Trace_ELBO, init_to_uniform
from numpyro.infer.autoguide import AutoMultivariateNormal, AutoNormal
from numpyro_models import MODELS
from repeated import repeated

GUIDES = {"meanfield": AutoNormal, "fullrank": AutoMultivariateNormal}
CHUNK = 100
ABSURD = 1e6  # nats above the target: what an ELBO is computed as where the scales have diverged


def load(path):
    with np.load(path) if path.endswith(".npz") else open(path) as file:
        values = dict(file) if path.endswith(".npz") else json.load(file)
    return {k: as_array(v) for k, v in values.items()}


def as_array(value):
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else jnp.asarray(array)


def main():
    numpyro.enable_x64()
    request = json.loads(sys.argv[1])
    values = load(request["data"])
    if request.get("minibatch"):
        values["minibatch"] = request["minibatch"]
    model = MODELS[request["name"]]
    guide = GUIDES[request["algorithm"]](
        model, init_loc_fn=init_to_uniform(radius=0.0), init_scale=request.get("first_sds", 0.1)
    )
    svi = SVI(model, guide, numpyro.optim.Adam(request["step_size"]), Trace_ELBO())
    judge = Trace_ELBO(num_particles=100)

    def chunk(state):
        state, losses = lax.scan(lambda s, _: svi.update(s, **values), state, None, length=CHUNK)
        return state, losses

    run = jax.jit(chunk)
    elbo = jax.jit(lambda key, state: -judge.loss(key, svi.get_params(state), model, guide, **values))
    key = random.PRNGKey(request["seed"])
    start = svi.init(key, **values)
    if "output" in request:
        print(json.dumps(cold(request, run, svi, guide, start)))
        return
    if "target" not in request:
        jax.block_until_ready(run(start))
        print(json.dumps(repeated(lambda: steps(request, run, start))))
        return
    jax.block_until_ready((run(start), elbo(key, start)))
    print(json.dumps(repeated(lambda: climb(request, run, elbo, start))))


def climb(request, run, elbo, state):
    """From the start to the target, or until patience or iterations are at an end."""
    began = time.perf_counter()
    for k in range(request["iterations"] // CHUNK):
        state, _ = run(state)
        reached = float(elbo(random.PRNGKey(k), state))
        if (
            request["target"] <= reached < request["target"] + ABSURD
            or time.perf_counter() - began > request["patience"]
        ):
            break
    seconds = time.perf_counter() - began
    iterations = (k + 1) * CHUNK
    return {
        "seconds": seconds,
        "elbo": reached,
        "iterations": iterations,
        "reached": request["target"] <= reached < request["target"] + ABSURD,
    }


def steps(request, run, state):
    """All iterations, whatever comes of them."""
    began = time.perf_counter()
    _, losses = after(request["iterations"], run, state)
    return {"seconds": time.perf_counter() - began, "elbo": float(-losses.mean())}


def after(iterations, run, state):
    for _ in range(iterations // CHUNK):
        state, losses = run(state)
    return jax.block_until_ready((state, losses))


def cold(request, run, svi, guide, state):
    state, losses = after(request["iterations"], run, state)
    draws = guide.sample_posterior(random.PRNGKey(0), svi.get_params(state), sample_shape=(1000,))
    table = np.column_stack([np.reshape(v, (1000, -1)) for v in draws.values()])
    np.savetxt(request["output"], table, delimiter=",")
    return {"elbo": float(-losses.mean())}


if __name__ == "__main__":
    main()
