"""Hidden Markov models with their states summed out.

Stan Functions Reference, "Hidden Markov Models"; Rabiner 1989, section III, with messages scaled to sum to
one.  log_omega is (states, time): the log density of each observation in each state.
"""

from ppl.arrays import Array, Namespace, with_vjps
from ppl.stdlib.record import Function, function


def observation_weights(xp: Namespace, log_omega: Array) -> tuple[Array, Array]:
    """Densities scaled by the largest of each time, and the logs of these scales."""
    peak = xp.plain(log_omega).max(axis=0)
    peak = xp.np.where(xp.np.isfinite(peak), peak, 0.0)
    return xp.np.exp(log_omega - peak), peak


def forward(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> tuple[list[Array], Array]:
    """The filtered probabilities of the states at each time, and the log density of all observations."""
    weights, peaks = observation_weights(xp, log_omega)
    filtered: list[Array] = []
    predicted, total = rho, xp.np.sum(peaks)
    for t in range(log_omega.shape[1]):
        joint = predicted * weights[:, t]
        evidence = xp.np.sum(joint)
        total = total + xp.np.log(evidence)
        filtered.append(joint / evidence)
        predicted = xp.np.matmul(filtered[-1], gamma)
    return filtered, total


def backward(xp: Namespace, log_omega: Array, gamma: Array) -> list[Array]:
    """Weights times the chance of all later observations, for each time, up to a factor."""
    weights, _ = observation_weights(xp, log_omega)
    messages = [weights[:, -1]]
    for t in range(log_omega.shape[1] - 2, -1, -1):
        later = xp.np.matmul(gamma, messages[-1])
        messages.append(weights[:, t] * later / xp.np.sum(later))
    return messages[::-1]


def hidden_state_prob(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The probability of each state at each time given all observations."""
    messages = backward(xp, log_omega, gamma)
    filtered, _ = forward(xp, log_omega, gamma, rho)
    predicted = [rho, *[xp.np.matmul(p, gamma) for p in filtered[:-1]]]
    joint = xp.np.stack([p * m for p, m in zip(predicted, messages, strict=True)], axis=1)
    return joint / xp.np.sum(joint, axis=0)


def _omega_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    return g * hidden_state_prob(xp, log_omega, gamma, rho)


def _gamma_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    filtered, _ = forward(xp, log_omega, gamma, rho)
    total = xp.np.zeros(gamma.shape)
    for p, m in zip(filtered[:-1], backward(xp, log_omega, gamma)[1:], strict=True):
        total = total + xp.np.outer(p, m) / xp.np.dot(xp.np.matmul(p, gamma), m)
    return g * total


def _rho_adjoint(xp: Namespace, g: Array, ans: Array, log_omega: Array, gamma: Array, rho: Array) -> Array:
    first = backward(xp, log_omega, gamma)[0]
    return g * first / xp.np.dot(rho, first)


@with_vjps(_omega_adjoint, _gamma_adjoint, _rho_adjoint)
def marginal(xp: Namespace, log_omega: Array, gamma: Array, rho: Array) -> Array:
    """The log density of the observations."""
    return forward(xp, log_omega, gamma, rho)[1]


FUNCTIONS: tuple[Function, ...] = (
    function(
        "hmm_marginal",
        "the log density of the observations of a hidden Markov model",
        ("(matrix, matrix, vector) => real", marginal),
    ),
    function(
        "hmm_hidden_state_prob",
        "the probability of each hidden state at each time given all observations",
        ("(matrix, matrix, vector) => matrix", hidden_state_prob),
    ),
)
