"""Laws that hold for every step rule in the table."""

import numpy as np
import pytest

from ppl.errors import InferenceError
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.steps.adaptive import Adam, AdviSequence, Dowg, RmsProp
from ppl.kernel.advi.steps.decaying import RobbinsMonro, Staged

START = np.array([2.0, -2.0])
# These rules step in proportion to the gradient, so their eta is in units of 1 / curvature.
PROPORTIONAL = ("staged", "robbins-monro")


def maximise_elbo(rule, curvature, steps=3000, seed=0):
    """Maximised -u'Hu/2 from START along gradients with noise of sd 0.1."""
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


@pytest.mark.rotate
@pytest.mark.parametrize("condition", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("name", STEPS)
def test_finds_the_top_of_a_noisy_quadratic(name, condition):
    eta = 0.5 / condition if name in PROPORTIONAL else 0.5
    top = maximise_elbo(STEPS[name](eta), np.array([1.0, condition]))
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
    np.testing.assert_array_equal(maximise_elbo(rule, np.ones(2), 50), maximise_elbo(rule, np.ones(2), 50))


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


def moves(rule, gradients):
    """The moves that a rule makes along gradients, from START."""
    params, state, made = START, rule.init(START), []
    for gradient in gradients:
        after, state = rule.step(state, params, gradient)
        made.append(after - params)
        params = after
    return np.array(made)


def test_staged_scales_the_rate_by_the_factor_after_every_stage():
    made = moves(Staged(0.1, factor=0.5, every=2), np.ones((5, 2)))
    np.testing.assert_allclose(made[:, 0], [0.1, 0.1, 0.05, 0.05, 0.025])


def test_staged_moves_each_entry_at_its_rate():
    made = moves(Staged(0.2, rates=np.array([1.0, 0.1])), np.ones((1, 2)))
    np.testing.assert_allclose(made, [[0.2, 0.02]])


def test_staged_halves_a_positive_entry_at_most():
    rule = Staged(1.0, positive=np.array([0]))
    stepped, _ = rule.step(0, np.array([2.0, 2.0]), np.array([-5.0, -5.0]))
    np.testing.assert_allclose(stepped, [1.0, -3.0])
    np.testing.assert_allclose(rule.step(0, np.array([2.0, 2.0]), np.array([5.0, -0.5]))[0], [7.0, 1.5])


def test_robbins_monro_is_the_papers_power_law():
    w, kappa = 7.0, 0.8
    made = moves(RobbinsMonro(w**-kappa, w, kappa), np.ones((4, 2)))
    np.testing.assert_allclose(made[:, 0], [(w + t) ** -kappa for t in range(4)])


@pytest.mark.parametrize(("w", "kappa"), [(1.0, 0.5), (1.0, 1.1), (0.0, 0.7)])
def test_robbins_monro_refuses_steps_that_need_not_converge(w, kappa):
    with pytest.raises(InferenceError, match="kappa above 1/2"):
        RobbinsMonro(0.1, w, kappa)


def test_rmsprop_divides_by_the_root_of_the_running_mean_square():
    g1, g2 = np.array([2.0, -1.0]), np.array([-1.0, 3.0])
    made = moves(RmsProp(0.1), [g1, g2])
    np.testing.assert_allclose(made[0], 0.1 * np.sign(g1), rtol=1e-6)
    np.testing.assert_allclose(made[1], 0.1 / np.sqrt(2) * g2 / np.sqrt(0.9 * g1**2 + 0.1 * g2**2), rtol=1e-6)


@pytest.mark.parametrize("rule", [Adam(0.1), RmsProp(0.1)])
def test_the_scale_of_the_objective_does_not_matter(rule):
    gradients = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(moves(rule, gradients), moves(rule, 1e4 * gradients), rtol=1e-5)
