"""The No-U-Turn sampler with Stan's warmup: its law, its metrics, its schedule."""

import numpy as np
import pytest
from toy_targets import ByPrecision

from ppl.cmdstan.nuts.sampler import DualAveraging, Plan, Schedule, StepSearch, sample
from ppl.cmdstan.nuts.trajectory import Hamiltonian, Metric, transition
from ppl.results.fits.metric import covariance_of

COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 25.0]])


NORMAL = ByPrecision(np.linalg.inv(COVARIANCE))


@pytest.mark.rotate
@pytest.mark.parametrize(
    "plan",
    [
        Plan(200, 2500, np.ones(3)),
        Plan(200, 2500, np.eye(3)),
        Plan(100, 2500, np.ones(3), adapts_metric=False),
        Plan(0, 2500, np.diag(COVARIANCE), stepsize=0.6),
        Plan(50, 2500, np.ones(3), stepsize=0.6, jitter=0.5, max_depth=4, engaged=False),
    ],
    ids=["diag", "dense", "unit", "no warmup", "no adaptation"],
)
def test_draws_are_of_the_density(plan):
    found = sample(NORMAL, np.array([1.0, 1.0, 1.0]), plan, np.random.default_rng(1)).chain
    assert found.warmup.u.shape == (plan.warmup, 3) and found.draws.u.shape == (2500, 3)
    standard = found.draws.u / np.sqrt(np.diag(COVARIANCE))
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=0.2)
    np.testing.assert_allclose(np.corrcoef(found.draws.u.T)[0, 1], 0.8, atol=0.06)
    np.testing.assert_allclose(standard.var(axis=0), 1, rtol=0.25)


def test_what_is_adapted_is_what_was_planned():
    rng = np.random.default_rng(1)
    start = np.ones(3)
    diagonal, dense = (sample(NORMAL, start, Plan(400, 0, m), rng).chain for m in (np.ones(3), np.eye(3)))
    np.testing.assert_allclose(diagonal.inverse_metric, np.diag(COVARIANCE), rtol=0.5)
    np.testing.assert_allclose(dense.inverse_metric[0, 1], 0.8, atol=0.4)
    unit = sample(NORMAL, start, Plan(400, 0, np.ones(3), adapts_metric=False), rng).chain
    np.testing.assert_array_equal(unit.inverse_metric, np.ones(3))
    assert unit.stepsize not in (1.0, diagonal.stepsize)
    plain = sample(NORMAL, start, Plan(40, 5, np.ones(3), stepsize=0.3, engaged=False), rng).chain
    assert plain.stepsize == 0.3 and (plain.draws.statistics[:, 2] == 0.3).all()


def test_the_same_seed_draws_the_same_and_hears_of_each_draw():
    counts = []
    runs = [
        sample(NORMAL, np.ones(3), Plan(30, 20, np.ones(3)), np.random.default_rng(5), counts.append)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].chain.draws.u, runs[1].chain.draws.u)
    assert counts == [*range(1, 51)] * 2


def test_momenta_and_gradients_are_those_of_the_draws():
    found = sample(
        NORMAL, np.ones(3), Plan(5, 20, np.ones(3), stepsize=0.5, engaged=False), np.random.default_rng(2)
    )
    us = np.vstack([found.chain.warmup.u, found.chain.draws.u])
    np.testing.assert_allclose(found.gradients, -us @ NORMAL.precision)
    energy = found.chain.draws.statistics[:, 6]
    kinetic = 0.5 * (found.momenta[5:] ** 2).sum(axis=1)
    np.testing.assert_allclose(energy, kinetic - found.chain.draws.statistics[:, 0])


def test_trajectories_end_at_the_edge_of_the_support():
    half = ByPrecision(np.eye(1), edge=0.0)
    found = sample(half, np.ones(1), Plan(0, 4000, np.ones(1), stepsize=0.4), np.random.default_rng(1)).chain
    assert found.draws.u.min() >= 0 and found.draws.statistics[:, 5].any()
    np.testing.assert_allclose(found.draws.u.mean(), (2 / np.pi) ** 0.5, atol=0.08)


def test_a_transition_has_as_many_steps_as_its_depth_allows():
    system, rng = Hamiltonian(NORMAL, Metric(np.ones(3))), np.random.default_rng(1)
    start = system.refreshed(system.position(np.ones(3)), rng)
    found = transition(system, start, 1e-3, 4, rng)
    assert (found.depth, found.steps, found.diverged) == (4, 15, False)
    assert found.acceptance == pytest.approx(1, abs=1e-3)
    wild = transition(system, start, 1e6, 4, rng)
    assert (wild.depth, wild.steps, wild.diverged) == (0, 1, True) and wild.state is start


def test_without_parameters_nothing_is_adapted():
    found = sample(
        ByPrecision(np.ones((0, 0))), np.ones(0), Plan(10, 3, np.ones(0)), np.random.default_rng(1)
    ).chain
    np.testing.assert_array_equal(found.draws.statistics, [[0, 1, np.nan, 1, 1, 0, 0]] * 3)
    assert np.isnan(found.stepsize)


@pytest.mark.parametrize(
    ("schedule", "warmup", "start", "ends"),
    [
        (Schedule(), 1000, 75, [100, 150, 250, 450, 950]),
        (Schedule(), 200, 75, [100, 150]),
        (Schedule(), 100, 15, [90]),
        (Schedule(11, 12, 13), 200, 11, [23, 47, 187]),
        (Schedule(), 19, 2, []),
    ],
)
def test_windows_double_and_the_last_takes_the_rest(schedule, warmup, start, ends):
    assert (schedule.start(warmup), [*schedule.ends(warmup)]) == (start, ends)


def test_dual_averaging_finds_the_step_of_the_acceptance_that_is_asked_for():
    search = StepSearch.around(DualAveraging(delta=0.7), 1.0)
    step = 1.0
    for _ in range(3000):
        search, step = search.after(float(np.exp(-step)))
    assert search.mean == pytest.approx(-np.log(0.7), rel=0.02)


def test_momenta_have_the_metric_as_their_covariance():
    dense, rng = Metric(COVARIANCE), np.random.default_rng(1)
    drawn = np.array([dense.momentum(rng) for _ in range(20_000)])
    np.testing.assert_allclose(np.cov(drawn.T), np.linalg.inv(COVARIANCE), atol=0.08)
    np.testing.assert_allclose(dense.root @ dense.root.T, np.linalg.inv(COVARIANCE))
    assert covariance_of(np.array([[0.0], [2.0]]), dense=True)[0, 0] == pytest.approx(2 / 7 * 2 + 5e-3 / 7)
