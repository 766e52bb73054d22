"""Hidden Markov models with their states summed out.

Stan Functions Reference, "Hidden Markov Models"; Rabiner 1989, section III, with messages scaled to sum to
one.  log_omega is (states, time): the log density of each observation in each state.  Every argument takes
leading axes.
"""

import numpy as np

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.functions.products import transposed
from ppl.stdlib.record import Function, function


def step(xp: Namespace, p: Array, gamma: Array) -> Array:
    """p' Gamma."""
    if np.ndim(p) == 1:
        return xp.np.matmul(p, gamma)
    return xp.np.matmul(p[..., None, :], gamma)[..., 0, :]


def observation_weights(xp: Namespace, log_omega: Array) -> tuple[Array, Array]:
    """Densities scaled by the largest of each time, and the logs of these scales."""
    peak = xp.plain(log_omega).max(axis=-2)
    peak = xp.np.where(xp.np.isfinite(peak), peak, 0.0)
    return xp.np.exp(log_omega - peak[..., None, :]), peak


def forward(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> tuple[list[Array], Array]:
    """The filtered probabilities of the states at each time, and the log density of all observations."""
    weights, peaks = observation_weights(xp, log_omega)
    filtered: list[Array] = []
    leading = np.broadcast_shapes(np.shape(log_omega)[:-2], np.shape(gamma)[:-2], np.shape(rho)[:-1])
    predicted, total = rho, xp.np.sum(peaks, axis=-1) + np.zeros(leading)
    for t in range(log_omega.shape[-1]):
        joint = predicted * weights[..., t]
        evidence = xp.np.sum(joint, axis=-1)
        total = total + xp.np.log(evidence)
        filtered.append(joint / evidence[..., None])
        predicted = step(xp, filtered[-1], gamma)
    return filtered, total


def backward(xp: Namespace, log_omega: Array, gamma: Array) -> list[Array]:
    """Weights times the chance of all later observations, for each time, up to a factor."""
    weights, _ = observation_weights(xp, log_omega)
    messages, to_here = [weights[..., -1]], transposed(xp, gamma)
    for t in range(log_omega.shape[-1] - 2, -1, -1):
        later = step(xp, messages[-1], to_here)
        messages.append(weights[..., t] * later / xp.np.sum(later, axis=-1, keepdims=True))
    return messages[::-1]


def hidden_state_prob(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The probability of each state at each time given all observations."""
    messages = backward(xp, log_omega, gamma)
    filtered, total = forward(xp, log_omega, gamma, rho)
    predicted = [rho, *[step(xp, p, gamma) for p in filtered[:-1]]]
    same = np.ones((*np.shape(total), 1))
    joint = xp.np.stack([p * m * same for p, m in zip(predicted, messages, strict=True)], axis=-1)
    return joint / xp.np.sum(joint, axis=-2, keepdims=True)


def _omega_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    return g[..., None, None] * hidden_state_prob(xp, log_omega, gamma, rho)


def _gamma_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    filtered, _ = forward(xp, log_omega, gamma, rho)
    total = xp.np.zeros(gamma.shape)
    for p, m in zip(filtered[:-1], backward(xp, log_omega, gamma)[1:], strict=True):
        chance = xp.np.sum(step(xp, p, gamma) * m, axis=-1)
        total = total + p[..., :, None] * m[..., None, :] / chance[..., None, None]
    return g[..., None, None] * total


def _rho_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    first = backward(xp, log_omega, gamma)[0]
    return g[..., None] * first / xp.np.sum(rho * first, axis=-1, keepdims=True)


@with_vjps(_omega_adjoint, _gamma_adjoint, _rho_adjoint)
def marginal(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The log density of the observations."""
    return forward(xp, log_omega, gamma, rho)[1]


FUNCTIONS: tuple[Function, ...] = (
    function(
        "hmm_marginal",
        "the log density of the observations of a hidden Markov model",
        ("(matrix, matrix, vector) => real", marginal),
        batch="leading",
    ),
    function(
        "hmm_hidden_state_prob",
        "the probability of each hidden state at each time given all observations",
        ("(matrix, matrix, vector) => matrix", hidden_state_prob),
        batch="leading",
    ),
)
