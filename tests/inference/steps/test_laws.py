"""Laws that hold for every step rule in the table."""

import numpy as np
import pytest

from ppl.inference.steps import STEPS
from ppl.inference.steps.advi_sequence import AdviSequence
from ppl.inference.steps.dowg import Dowg

START = np.array([2.0, -2.0])


def climb(rule, curvature, steps=3000, seed=0):
    """Climb -u'Hu/2 from START along gradients with noise of sd 0.1."""
    rng = np.random.default_rng(seed)
    params, state = START, rule.init(START)
    for _ in range(steps):
        gradient = -curvature * params + 0.1 * rng.standard_normal(2)
        params, state = rule.step(state, params, gradient)
    return params


def test_dowg_does_not_care_about_the_scale_of_the_objective():
    for scale in (1e-6, 1e6):
        params, state = START, Dowg().init(START)
        for _ in range(200):
            params, state = Dowg().step(state, params, -scale * params)
        assert np.abs(params).max() < 0.05


@pytest.mark.parametrize("condition", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("name", STEPS)
def test_finds_the_top_of_a_noisy_quadratic(name, condition):
    top = climb(STEPS[name](0.5), np.array([1.0, condition]))
    assert np.abs(top).max() < 0.1


@pytest.mark.parametrize("name", STEPS)
def test_is_pure_and_repeats_itself(name):
    rule = STEPS[name](0.5)
    gradient = np.array([1.0, -3.0])
    state = rule.init(START)
    first = rule.step(state, START, gradient)
    again = rule.step(state, START, gradient)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(START, [2.0, -2.0])
    np.testing.assert_array_equal(climb(rule, np.ones(2), 50), climb(rule, np.ones(2), 50))


@pytest.mark.parametrize("name", [name for name in STEPS if name != "dowg"])
def test_climbs_and_a_larger_eta_steps_further(name):
    gradient = np.array([1.0, -3.0])
    moves = []
    for eta in (0.1, 1.0):
        rule = STEPS[name](eta)
        moves.append(rule.step(rule.init(START), START, gradient)[0] - START)
    assert np.all(np.sign(moves) == np.sign(gradient))
    assert np.all(np.abs(moves[1]) > np.abs(moves[0]))


def test_advi_sequence_is_equations_10_and_11():
    rule, g1, g2 = AdviSequence(0.1), np.array([2.0, 0.0]), np.array([-1.0, 3.0])
    u1, state = rule.step(rule.init(START), START, g1)
    u2, _ = rule.step(state, u1, g2)
    np.testing.assert_allclose(u1 - START, 0.1 * g1 / (1 + np.abs(g1)))
    s2 = 0.1 * g2**2 + 0.9 * g1**2
    np.testing.assert_allclose(u2 - u1, 0.1 / np.sqrt(2) * g2 / (1 + np.sqrt(s2)))
