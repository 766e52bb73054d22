"""The path of states of a hidden Markov model given its observations.

Stan Functions Reference, "Hidden Markov Models".  The language only draws from it: it has no signature
for a density.
"""

from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace
from ppl.errors import Rejection
from ppl.stdlib.distributions import categorical
from ppl.stdlib.functions.hmm import forward, marginal
from ppl.stdlib.moments import Moments
from ppl.stdlib.record import Distribution


def log_density(xp: Namespace, states: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The log posterior mass of a path of states 1..K."""
    k = np.asarray(states) - 1
    emitted = xp.np.sum(log_omega[k, np.arange(len(k))])
    transitions = xp.np.log(rho[k[0]]) + xp.np.sum(xp.np.log(gamma[k[:-1], k[1:]]))
    return emitted + transitions - marginal(xp, log_omega, gamma, rho)


def rng(rng: np.random.Generator, log_omega: Any, gamma: Any, rho: Any) -> Any:
    """Filter forwards, then draw the states backwards."""
    filtered, log_evidence = forward(NUMPY, log_omega, gamma, rho)
    if not log_evidence > -np.inf:
        raise Rejection("`hmm_latent_rng`: no path of states has a positive probability.")
    states: list[int] = []
    for p in reversed(filtered):
        chances = p * gamma[:, states[-1] - 1] if states else p
        states.append(int(categorical.draw(rng, chances)))
    return np.array(states[::-1])


HMM_LATENT = Distribution(
    name="hmm_latent",
    meaning="the path of hidden states given all observations",
    signatures=(),
    args=(
        ("states", "category"),
        ("log_omega", "real"),
        ("Gamma", "row_stochastic_matrix"),
        ("rho", "simplex"),
    ),
    log_density=log_density,
    rng=rng,
    rng_signatures=("(matrix, matrix, vector) => array[] int",),
    rng_args=(("log_omega", "log_weight"), ("Gamma", "row_stochastic_matrix"), ("rho", "simplex")),
    batched=False,
    moments=Moments(without="it is of hidden states, which are categories"),
)
