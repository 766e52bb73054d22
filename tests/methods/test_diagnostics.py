import math

import numpy as np
import pytest
from algorithm_one import advi
from scipy import stats
from toy_targets import correlated

from ppl.kernel.advi.optimise import TracePoint
from ppl.methods.diagnose.diagnostics import khat_of_means, sd_errors, tail_shapes, trend
from ppl.methods.diagnose.psis import psis


def traced(elbos):
    return [TracePoint(100 * k, 0.1 * k, elbo) for k, elbo in enumerate(elbos, start=1)]


def noise(n):
    return np.random.default_rng(0).normal(size=n)


def test_a_line_is_measured_in_nats_over_the_second_half():
    found = trend(traced(np.linspace(-100.0, 0.0, 41)))
    assert math.isclose(found.gain, 50.0) and found.se < 1e-6
    assert found.rising


def test_noise_about_a_level_is_not_a_rise_and_a_fall_is_none():
    assert not trend(traced(-5 + noise(40))).rising
    assert not trend(traced(-np.arange(40.0))).rising


def test_a_constant_changes_nothing():
    elbos = 0.2 * np.arange(40) + noise(40)
    plain, shifted = trend(traced(elbos)), trend(traced(elbos - 1e6))
    assert plain.rising and shifted.rising
    np.testing.assert_allclose([plain.gain, plain.se], [shifted.gain, shifted.se], rtol=1e-6)


def test_a_short_trace_tells_nothing():
    assert math.isnan(trend(traced([1.0, 2.0])).gain) and not trend(traced([1.0, 2.0])).rising


@pytest.mark.rotate
def test_an_unfinished_run_is_seen_to_rise_and_a_finished_one_is_not():
    settings = {"eta": 0.05, "tol_rel_obj": 1e-12, "grad_samples": 10, "average": True}
    target = correlated(3)
    assert trend(advi(target, iter=400, eval_elbo=20, init=np.full(3, 30.0), **settings).path.trace).rising
    assert not trend(advi(target, iter=8000, eval_elbo=100, init=target.mean, **settings).path.trace).rising


def test_khat_of_a_mean_is_the_overall_one_or_worse():
    q = stats.norm(scale=0.8)
    u = q.rvs((4000, 1), random_state=3)
    log_ratios = (stats.norm.logpdf(u) - q.logpdf(u))[:, 0]
    values = np.column_stack([u[:, 0], np.exp(2 * u[:, 0]), np.ones(len(u))])
    ordinary, heavy, constant = khat_of_means(log_ratios, values)
    assert ordinary >= psis(log_ratios).khat
    assert heavy > ordinary + 0.2
    assert constant == psis(log_ratios).khat


# Student's t has a tail of shape 1 over its degrees of freedom, a Gaussian of 0, what is bounded less.
TAILS = [
    (stats.cauchy, 0.8, 1.2),
    (stats.t(2), 0.4, 0.65),
    (stats.t(3), 0.2, 0.5),
    (stats.norm, -0.3, 0.1),
    (stats.uniform, -1.5, -0.5),
]


@pytest.mark.parametrize("law, least, most", TAILS)
@pytest.mark.parametrize("seed", range(3))
def test_tails_have_the_shape_of_their_law_in_any_place_and_units(law, least, most, seed):
    u = law.rvs(size=(8000, 1), random_state=seed)
    shapes = tail_shapes(np.column_stack([u, -u, 1e-6 * u + 3]))
    assert least < shapes[0] < most
    np.testing.assert_allclose(shapes, shapes[0], rtol=1e-4, atol=1e-6)


def test_the_heavier_of_two_tails_counts():
    u = stats.norm.rvs(size=8000, random_state=1)
    right = np.where(u > 0, stats.halfcauchy.rvs(size=8000, random_state=2), u)
    assert tail_shapes(right[:, None])[0] > 0.8 and tail_shapes(-right[:, None])[0] > 0.8


def test_a_wide_gaussian_beside_a_narrow_one_has_no_heavy_tail():
    """The outermost tenth begins where one of them takes over from the other."""
    generator = np.random.default_rng(1)
    wide = generator.random((8000, 2)) < np.array([0.1, 0.2])
    assert (tail_shapes(np.where(wide, 3.0, 0.1) * generator.standard_normal((8000, 2))) < 0.3).all()


def test_few_or_equal_draws_have_no_tail():
    """A tenth of 250 draws are the 25 that a shape is fitted to."""
    u = stats.cauchy.rvs(size=(250, 2), random_state=1)
    assert (tail_shapes(u) > 0.3).all() and (tail_shapes(u[:249]) == 0).all()
    assert tail_shapes(np.ones((1000, 1))) == 0
    at_a_bound = np.maximum(stats.cauchy.rvs(size=(1000, 1), random_state=1), 0.0)
    assert tail_shapes(at_a_bound) > 0.6 and tail_shapes(-at_a_bound) > 0.6


def test_the_error_of_an_sd_is_that_of_mean_squares_of_chains():
    """Of a normal, an exponential of one, and the same with a chain that stays at 4."""
    rng = np.random.default_rng(1)
    u = rng.standard_normal((60, 128, 3))
    normal = u[..., 0].copy()
    u[10:50, 109, 2] = 4.0
    errors = sd_errors(np.concatenate([u[..., :1], np.exp(u[..., 1:])], axis=2))
    assert errors[0] == pytest.approx(np.sqrt(0.5 / normal.size), rel=0.3)
    assert 0.03 < errors[1] < 0.1 < 0.3 < errors[2] < 0.5
