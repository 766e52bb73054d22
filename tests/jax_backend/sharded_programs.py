"""Fits of programs whose data have rows: by one process, or `main` as one of several."""

import ctypes

import numpy as np

import ppl

RNG = np.random.default_rng(5)
N, J = 121, 6
X, GROUP = RNG.normal(size=(N, 3)), RNG.integers(1, J + 1, N)
ETA = 0.4 + X @ [0.5, -0.3, 0.8] + 0.5 * RNG.normal(size=J)[GROUP - 1]

LOGISTIC = """
data { int N; int K; matrix[N, K] x; array[N] int<lower=0, upper=1> y; }
parameters { real a; vector[K] b; }
model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ bernoulli_logit(a + x * b); }
generated quantities { real m = mean(x * b); }
"""
HIERARCHICAL = """
data { int N; int K; int J; matrix[N, K] x; array[N] int<lower=1, upper=J> g; vector[N] y; }
transformed data { vector[N] z = (y - mean(y)) / sd(y); }
parameters { vector[J] t; real<lower=0> tau; vector[K] b; real<lower=0> s; }
model {
  t ~ std_normal(); tau ~ normal(0, 1); b ~ normal(0, 1); s ~ normal(0, 1);
  for (n in 1:N) z[n] ~ normal(tau * t[g[n]] + x[n] * b, s);
}
"""
MIXTURE = """
data { int N; vector[N] y; }
parameters { ordered[2] mu; real<lower=0, upper=1> p; }
model { mu ~ normal(0, 3); for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1)); }
"""  # noqa: E501
EFFECTS = """
data { int N; array[N] int y; }
parameters { vector[N] e; real m; }
model { e ~ normal(m, 1); m ~ normal(0, 1); y ~ poisson_log(e); }
"""
Y = {
    "logistic": (RNG.uniform(size=N) < 1 / (1 + np.exp(-ETA))).astype(int),
    "hierarchical": ETA + RNG.normal(size=N),
    "mixture": np.where(RNG.uniform(size=N) < 0.3, -2.0, 1.5) + RNG.normal(size=N),
    "effects": RNG.poisson(1.5, N),
}
REGRESSION = {"N": N, "K": 3, "x": X}
FITS = {
    "logistic": (LOGISTIC, {**REGRESSION, "y": Y["logistic"]}, {}),
    "hierarchical": (
        HIERARCHICAL,
        {**REGRESSION, "J": J, "g": GROUP, "y": Y["hierarchical"]},
        {"algorithm": "meanfield", "start": "random", "iter": 100, "eta": 0.1},
    ),
    "minibatches": (
        MIXTURE,
        {"N": N, "y": Y["mixture"]},
        {"algorithm": "meanfield", "minibatch": 30, "iter": 100, "eta": 0.1},
    ),
    "effects": (
        EFFECTS,
        {"N": N, "y": Y["effects"]},
        {"algorithm": "meanfield", "start": "random", "minibatch": 25, "iter": 100, "eta": 0.1},
    ),
}


def fitted(name, **more):
    program, data, settings = FITS[name]
    return ppl.compile_model(program).condition(data).variational(seed=2, draws=300, **settings, **more)


def main(address, processes, process, out, *names):
    """The fits of these names by one of several processes; the first writes them."""
    first = ppl.join(address, int(processes), int(process))
    found = {name: fitted(name, sharded=True) for name in names}
    if first:
        draws = {name: fit.draws() for name, fit in found.items()}
        np.savez(out, **draws, **{f"elbo_{name}": fit.elbo for name, fit in found.items()})
    from ppl.jax_backend.processes import leave

    leave()


def main_on(host, *arguments):
    """The same in a network namespace, by setns(2), which Python has from 3.12 on."""
    with open(f"/run/netns/{host}") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns", host)
    main(*arguments)
