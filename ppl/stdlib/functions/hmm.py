"""Hidden Markov models with marginalised states.

Stan Functions Reference, "Hidden Markov Models"; Rabiner 1989, section III, with messages scaled to sum to
one.  log_omega is (states, time): the log density of each observation in each state.  Every argument takes
leading axes.
"""

import numpy as np

from ppl.arrays import Array, Namespace, flip, with_vjps
from ppl.stdlib.constraints.simplex import ROW_STOCHASTIC_MATRIX, SIMPLEX
from ppl.stdlib.functions.products import transposed
from ppl.stdlib.linear_recurrence import states_after
from ppl.stdlib.record import Function, guarded, leading


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


def by_time(xp: Namespace, x: Array) -> Array:
    """The last axis, which is time, first."""
    return xp.np.moveaxis(x, -1, 0)


def no_change(log_omega: Array, gamma: Array, rho: Array) -> Array:
    """A zero that spreads what it is added to over the leading axes of all."""
    lead = np.broadcast_shapes(np.shape(log_omega)[:-2], np.shape(gamma)[:-2], np.shape(rho)[:-1])
    return np.zeros((*lead, 1))


def forward(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> tuple[Array, Array]:
    """The filtered probabilities of the states, time first, and the log density of all observations."""
    weights, peaks = observation_weights(xp, log_omega)

    def once(filtered: Array, predicted: Array, log_evidence: Array, weight: Array) -> tuple[Array, ...]:
        joint = predicted * weight
        evidence = xp.np.sum(joint, axis=-1)
        filtered = joint / evidence[..., None]
        return filtered, step(xp, filtered, gamma), xp.np.log(evidence)

    begin = rho + no_change(log_omega, gamma, rho)
    start = (begin, begin, np.zeros(np.shape(begin)[:-1]))
    filtered, _, log_evidence = states_after(xp, once, start, (by_time(xp, weights),))
    return filtered, xp.np.sum(peaks, axis=-1) + xp.np.sum(log_evidence, axis=0)


def backward(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """Weights times the chance of all later observations, time first, each up to a factor."""
    weights, _ = observation_weights(xp, log_omega)
    to_here = transposed(xp, gamma)

    def once(message: Array, weight: Array) -> tuple[Array]:
        later = step(xp, message, to_here)
        return (weight * later / xp.np.sum(later, axis=-1, keepdims=True),)

    last = weights[..., -1] + no_change(log_omega, gamma, rho)
    (earlier,) = states_after(xp, once, (last,), (flip(xp, by_time(xp, weights[..., :-1]), 0),))
    return xp.np.concatenate([flip(xp, earlier, 0), last[None]])


def is_model(xp: Namespace, gamma: Array, rho: Array) -> Array:
    """Whether rho and the rows of Gamma are simplexes, as Stan demands."""
    return ROW_STOCHASTIC_MATRIX.contains(xp, gamma) & SIMPLEX.contains(xp, rho)


def hidden_state_prob(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The probability of each state at each time given all observations."""
    filtered, _ = forward(xp, log_omega, gamma, rho)
    begin = rho + no_change(log_omega, gamma, rho)
    predicted = xp.np.concatenate([begin[None], step(xp, filtered[:-1], gamma)])
    joint = xp.np.moveaxis(predicted * backward(xp, log_omega, gamma, rho), 0, -1)
    valid = is_model(xp, gamma, rho)[..., None, None]
    return guarded(xp, valid, joint / xp.np.sum(joint, axis=-2, keepdims=True))


def _omega_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    return g[..., None, None] * hidden_state_prob(xp, log_omega, gamma, rho)


def _gamma_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    before, after = forward(xp, log_omega, gamma, rho)[0][:-1], backward(xp, log_omega, gamma, rho)[1:]
    chance = xp.np.sum(step(xp, before, gamma) * after, axis=-1)
    each = before[..., :, None] * after[..., None, :] / chance[..., None, None]
    return g[..., None, None] * xp.np.sum(each, axis=0)


def _rho_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    first = backward(xp, log_omega, gamma, rho)[0]
    return g[..., None] * first / xp.np.sum(rho * first, axis=-1, keepdims=True)


@with_vjps(_omega_adjoint, _gamma_adjoint, _rho_adjoint)
def marginal(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The log density of the observations."""
    return guarded(xp, is_model(xp, gamma, rho), forward(xp, log_omega, gamma, rho)[1])


FUNCTIONS: tuple[Function, ...] = (
    leading(
        "hmm_marginal",
        "the log density of the observations of a hidden Markov model",
        ("(matrix, matrix, vector) => real", marginal),
    ),
    leading(
        "hmm_hidden_state_prob",
        "the probability of each hidden state at each time given all observations",
        ("(matrix, matrix, vector) => matrix", hidden_state_prob),
    ),
)
