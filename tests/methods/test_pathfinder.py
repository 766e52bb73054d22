from dataclasses import replace

import numpy as np
import pytest
from toy_targets import Gaussian, HalfSpace, Logistic, correlated, path_of

from ppl.errors import InferenceError
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.outcome import silent
from ppl.kernel.advi.target import Target
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise import lbfgs_path
from ppl.methods.initialise.lbfgs_path import InverseHessian, curvatures
from ppl.methods.initialise.pathfinder import PATHFINDING, _best, best_on_path, pathfinder, pathfinders
from ppl.methods.initialise.starting import WIDE_TARGET, from_paths
from ppl.methods.maximise.lockstep import answered
from ppl.methods.refine.fixed_draws import fit_fixed_draws


def rng():
    return np.random.default_rng(4)


def alone(target, search):
    return answered(target.log_density_gradient, search)


class EightSchools(Target):
    """The centred parametrisation, (mu, log tau, theta), whose density is unbounded as tau vanishes."""

    dim = 10
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        mu, log_tau, theta = u[0], u[1], u[2:]
        tau = np.exp(log_tau)
        spread, residual, odds = (theta - mu) / tau, (self.y - theta) / self.sigma, (tau / 5) ** 2
        value = -0.5 * (mu**2 / 25 + spread @ spread + residual @ residual) - np.log1p(odds) - 7 * log_tau
        in_log_tau = spread @ spread - 7 - 2 * odds / (1 + odds)
        in_theta = residual / self.sigma - spread / tau
        return value, np.concatenate([[-mu / 25 + spread.sum() / tau, in_log_tau], in_theta])

    def explain(self, u):
        return ""


class Funnel(Target):
    """A hundred effects with a scale of their own: a density without a bound as log tau falls."""

    dim = 101
    y = 1.6 * np.random.default_rng(1).normal(size=100)

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        log_tau, theta = u[0], u[1:]
        spread, residual = theta * np.exp(-log_tau), self.y - theta
        value = -0.5 * (spread @ spread + residual @ residual) - 99 * log_tau - np.exp(log_tau)
        in_log_tau = spread @ spread - 99 - np.exp(log_tau)
        return value, np.concatenate([[in_log_tau], residual - spread * np.exp(-log_tau)])

    def explain(self, u):
        return ""


def test_colour_gives_the_dense_covariance_and_its_determinant():
    points = path_of(correlated(5), np.ones(5))
    curvature = points[-1].curvature
    coloured, half_log_det = curvature.colour(np.eye(5))
    np.testing.assert_allclose(coloured.T @ coloured, curvature.dense(), rtol=1e-8, atol=1e-10)
    assert half_log_det == pytest.approx(0.5 * np.linalg.slogdet(curvature.dense())[1])
    np.testing.assert_allclose(curvature.variances, np.diag(curvature.dense()))
    np.testing.assert_allclose(curvature.times(np.ones(5)), curvature.dense() @ np.ones(5))


def test_curvature_maps_the_last_change_of_gradient_to_the_last_step():
    """The secant equation, which defines a quasi-Newton method."""
    points = path_of(correlated(5), np.ones(5))
    s = points[-1].u - points[-2].u
    y = points[-2].gradient - points[-1].gradient
    np.testing.assert_allclose(points[-1].curvature.times(y), s, rtol=1e-6, atol=1e-12)


def test_the_curvatures_of_several_points_are_those_of_each():
    points = path_of(correlated(5), np.ones(5))
    assert {len(point.pairs) for point in points} > {1, 2, 5}
    together, v, z = curvatures(points), np.arange(5.0), rng().standard_normal((3, 5))
    for k, alone in enumerate(point.curvature for point in points):
        np.testing.assert_allclose(together.times(v)[k], alone.times(v))
        np.testing.assert_allclose(together.colour(z)[0][k], alone.colour(z)[0])
        assert together.colour(z)[1][k] == pytest.approx(float(alone.colour(z)[1]))


def test_a_point_whose_covariance_is_not_positive_definite_spoils_no_other():
    target = correlated(5)
    path = [p for p in path_of(target, np.ones(5)) if len(p.pairs) == 3]
    spoilt = replace(path[0], pairs=tuple((s, -y) for s, y in path[0].pairs))
    z = rng().standard_normal((10, 5))
    with pytest.raises(np.linalg.LinAlgError):
        spoilt.curvature.colour(z)
    found, expected = _best(target, [spoilt, *path], z), _best(target, path, z)
    np.testing.assert_array_equal(found.draws, expected.draws)
    assert _best(target, [spoilt], z) is None


def test_a_curvature_without_pairs_is_its_diagonal():
    curvature = InverseHessian(np.array([1.0, 4.0]), np.zeros((2, 0)), np.zeros((0, 0)))
    coloured, half_log_det = curvature.colour(np.eye(2))
    np.testing.assert_allclose(coloured, np.diag([1.0, 2.0]))
    assert half_log_det == pytest.approx(np.log(2))


def test_a_gaussian_is_found_to_the_log_evidence():
    target = correlated(4)
    target = Gaussian(target.mean, target.covariance, shift=3.0)
    found = pathfinder(target, np.full(4, 2.0), rng())
    np.testing.assert_allclose(found.mean, target.mean, atol=0.02)
    assert found.elbo == pytest.approx(3.0, abs=0.3)
    sd = np.sqrt(np.diag(target.covariance))
    np.testing.assert_allclose(np.sqrt(found.curvature.variances), sd, rtol=0.3)


@pytest.fixture(scope="module")
def logistic():
    x = np.column_stack([np.ones(200), np.random.default_rng(0).normal(size=(200, 3))])
    y = (x @ [0.5, 1.0, -1.0, 0.0] + np.random.default_rng(1).logistic(size=200) > 0).astype(float)
    return Logistic(x, y)


def test_a_logistic_regression_is_found_within_its_posterior(logistic):
    found = pathfinder(logistic, np.zeros(4), rng())
    gradient = logistic.log_density_gradient(found.mean)[1]
    assert np.abs(gradient * np.sqrt(found.curvature.variances)).max() < 0.3


def test_its_variances_are_the_diagonal_of_its_covariance():
    found = pathfinder(correlated(4), np.full(4, 2.0), rng())
    np.testing.assert_allclose(np.diag(found.curvature.dense()), found.curvature.variances)


def test_a_fit_on_fixed_draws_from_there_is_the_posterior(logistic):
    """Against importance sampling from the same Gaussian made a fifth wider."""
    found = pathfinder(logistic, np.zeros(4), rng())
    scaled = Scaled(logistic, found.mean, np.linalg.cholesky(found.curvature.dense()))
    family = FAMILIES["fullrank"](4)
    fit = fit_fixed_draws(scaled, family, family.start(np.zeros(4)), rng())
    params = family.push_forward(fit.params, scaled.centre, scaled.factor)
    wide = family.push_forward(params, -0.2 * family.mean(params), np.full(4, 1.2))
    u = family.transform(wide, family.noise(20_000, rng()))
    weights = np.exp(psis(logistic.log_densities(u) - family.log_density(wide, u)).log_weights)
    mean = weights @ u
    sd = np.sqrt(weights @ (u - mean) ** 2)
    assert fit.outcome.converged and fit.gradients < 4000
    np.testing.assert_allclose((family.mean(params) - mean) / sd, 0, atol=0.05)
    np.testing.assert_allclose(family.scales(params) / sd, 1, atol=0.04)


@pytest.mark.parametrize("seed", range(5))
def test_a_funnel_does_not_draw_it_to_the_bottom(seed):
    rng = np.random.default_rng(seed)
    start = rng.uniform(-2, 2, 10)
    with np.errstate(all="ignore"):
        bottom = path_of(EightSchools(), start)[-1]
        found = pathfinder(EightSchools(), start, rng)
    assert bottom.u[1] < -5  # where the search for a mode ends
    assert found.mean[1] > -2  # log tau is 0.8 with sd 1.1


def test_a_path_is_judged_all_along_and_not_at_its_ends_alone():
    """In a funnel both are far from the best."""
    start, seen = np.random.default_rng(2).uniform(-2, 2, 10), []
    with np.errstate(all="ignore"):
        z = rng().standard_normal((25, 10))
        found = alone(EightSchools(), best_on_path(EightSchools(), start, z, seen.append))
        path = path_of(EightSchools(), start)[: len(seen)]
        each = [_best(EightSchools(), [point], z) for point in path]
    assert found.elbo == pytest.approx(max(one.elbo for one in each if one))
    assert found.elbo > max(each[0].elbo, each[-1].elbo) + 10


def test_a_path_ends_where_it_hardly_rises(monkeypatch):
    """L-BFGS goes on along the widest direction for the last digits of the mode."""
    dim = 60
    target = Gaussian(np.zeros(dim), np.diag(np.logspace(-4, 4, dim)))
    start, seen = rng().uniform(-2, 2, dim), []
    monkeypatch.setattr(lbfgs_path, "LBFGS_PATH", lbfgs_path.LBFGS_PATH._replace(most_steps=1000))
    to_the_end = path_of(target, start)
    alone(target, best_on_path(target, start, rng().standard_normal((25, dim)), seen.append))
    assert 20 < len(seen) < len(to_the_end) / 2
    assert [p.log_density for p in seen] == [p.log_density for p in to_the_end[: len(seen)]]
    assert to_the_end[-1].log_density - seen[-1].log_density < 0.5


def test_a_path_ends_where_its_watch_says():
    path = path_of(correlated(5), np.ones(5), watch=lambda point: point.steps == 3)
    whole = path_of(correlated(5), np.ones(5))
    assert len(path) == 3 < len(whole)
    np.testing.assert_array_equal(path[-1].u, whole[2].u)


def test_draws_come_with_their_log_densities():
    target = correlated(3)
    found = pathfinder(target, np.ones(3), rng(), elbo_draws=7)
    assert found.draws.shape == (7, 3)
    np.testing.assert_allclose(found.log_p, [target.log_density(u) for u in found.draws])
    covariance = found.curvature.dense()
    off = found.draws - found.mean
    quadratic = np.einsum("ij,ij->i", off, np.linalg.solve(covariance, off.T).T)
    log_q = -0.5 * (quadratic + np.linalg.slogdet(2 * np.pi * covariance)[1])
    np.testing.assert_allclose(found.log_q, log_q, rtol=1e-6)


def test_same_seed_same_bytes():
    one, two = (pathfinder(correlated(3), np.ones(3), rng()) for _ in range(2))
    assert one.mean.tobytes() == two.mean.tobytes() and one.elbo == two.elbo


def test_no_finite_elbo_anywhere_is_an_error_that_says_what_to_do():
    with pytest.raises(InferenceError, match="Start from random values"):
        pathfinder(HalfSpace(1, -1e-3), np.array([0.5]), rng())


class TwoHills(Target):
    """Two hills, at -20 and 20 of the first coordinate; evaluations are counted."""

    dim, width = 6, 1 << 14

    def __init__(self):
        self.evaluations = 0

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        self.evaluations += 1
        top = np.zeros(self.dim)
        top[0] = np.copysign(20.0, u[0])
        return float(-0.5 * (u - top) @ (u - top)) - 0.01 * float(((u - top) ** 4).sum()), (
            top - u - 0.04 * (u - top) ** 3
        )


def climbs(starts, prune):
    target, found = TwoHills(), []
    pathfinders(target, [np.array(start) for start in starts], rng(), found, prune=prune)
    return target.evaluations, [round(path.mean[0]) for path in found]


def test_paths_apart_lead_to_each_place_once_and_cost_less():
    here, there = [19.0, *np.linspace(1, 2, 5)], [-17.0, *np.linspace(-1, 1, 5)]
    starts = [here, there, [22.0, *np.linspace(2, -1, 5)], [-23.0, *np.linspace(0, 2, 5)]]
    all_of_them, each = climbs(starts, prune=False)
    fewer, once = climbs(starts, prune=True)
    assert sorted(each) == [-20, -20, 20, 20] and once == [20, -20]
    assert fewer < 0.75 * all_of_them


def test_a_start_on_a_wide_target_keeps_its_paths_apart(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "ppl.methods.initialise.starting.pathfinders",
        lambda *args, prune: asked.append(prune) or pathfinders(*args),
    )
    for width in (WIDE_TARGET - 1, WIDE_TARGET):
        target = type("Wide", (TwoHills, Target), {"width": width})()
        from_paths(target, FAMILIES["meanfield"](target.dim), [np.ones(6)] * 2, rng(), silent)
    assert asked == [False, True]


def test_a_path_down_a_funnel_ends_where_its_elbo_only_falls(monkeypatch):
    """Its density has no bound: the path would go on for hundreds of steps."""
    start = np.random.default_rng(0).uniform(-2, 2, Funnel.dim)

    def climbed(seed: int) -> tuple[int, float]:
        z, points = np.random.default_rng(seed).normal(size=(10, Funnel.dim)), list[np.ndarray]()

        def seen(u):
            points.append(u)
            return Funnel().log_density_gradient(u)

        best = answered(seen, best_on_path(Funnel(), start, z))
        return len(points), best.elbo

    def limit(**limits: int) -> None:
        of_all = PATHFINDING._replace(most_points=10**6, **limits)
        monkeypatch.setattr("ppl.methods.initialise.pathfinder.PATHFINDING", of_all)

    limit()
    ends = [climbed(seed) for seed in range(3)]
    limit(lower_in_turn=10**6)
    for (points, elbo), (all_points, best) in zip(ends, map(climbed, range(3)), strict=True):
        assert points < 0.7 * all_points and elbo == best
