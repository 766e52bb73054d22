"""Hidden Markov models against the sum over every path of states."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.functions.hmm import hidden_state_prob, marginal

STATES, TIMES = 3, 5


@pytest.fixture
def given():
    rng = np.random.default_rng(1)
    gamma = rng.dirichlet(np.ones(STATES), size=STATES)
    return rng.normal(size=(STATES, TIMES)), gamma, rng.dirichlet(np.ones(STATES))


def by_paths(log_omega, gamma, rho):
    """The density of the observations, and the share of each state at each time."""
    total, states = 0.0, np.zeros((STATES, TIMES))
    for path in product(range(STATES), repeat=TIMES):
        moves = np.prod([gamma[a, b] for a, b in pairwise(path)])
        density = rho[path[0]] * moves * np.exp(sum(log_omega[s, t] for t, s in enumerate(path)))
        total += density
        states[path, range(TIMES)] += density
    return total, states / total


def test_the_density_is_the_sum_over_all_paths(given):
    total, states = by_paths(*given)
    assert marginal(NUMPY, *given) == pytest.approx(np.log(total))
    assert_allclose(hidden_state_prob(NUMPY, *given), states)


@pytest.mark.parametrize("which", range(3))
def test_slopes_are_finite_differences_of_that_sum(given, which):
    def at(x):
        return [*given[:which], x, *given[which + 1 :]]

    _, slope = value_and_grad(lambda x: marginal(AUTOGRAD, *at(x)), given[which])
    numeric = np.zeros_like(given[which])
    for place in np.ndindex(numeric.shape):
        step = np.zeros_like(numeric)
        step[place] = 1e-6
        ahead, behind = (np.log(by_paths(*at(given[which] + way))[0]) for way in (step, -step))
        numeric[place] = (ahead - behind) / 2e-6
    assert_allclose(slope, numeric, rtol=1e-6, atol=1e-8)


def test_slopes_of_many_at_once_are_those_of_each(given):
    scale = np.array([1.0, 0.5])
    log_omega = scale[:, None, None] * given[0]
    for which in (1, 2):

        def both(x, which=which):
            arguments = [log_omega, given[1], given[2]]
            arguments[which] = x + np.zeros((2, *given[which].shape))
            return AUTOGRAD.np.sum(marginal(AUTOGRAD, *arguments))

        def one(k, x, which=which):
            arguments = [log_omega[k], given[1], given[2]]
            arguments[which] = x
            return marginal(AUTOGRAD, *arguments)

        _, slope = value_and_grad(both, given[which])
        each = [value_and_grad(lambda x, k=k: one(k, x), given[which])[1] for k in (0, 1)]
        assert_allclose(slope, each[0] + each[1])
