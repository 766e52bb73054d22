"""Latent coordinates of which no two meet, by quadrature: exact whatever their shapes."""

from functools import cache

import numpy as np
import pytest
from scipy import special, stats
from scipy.interpolate import CubicSpline

from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.nested.field import Fields
from ppl.methods.nested.marginal import Marginal, Peak, climbs, newton
from ppl.methods.nested.quadrature import (
    QUADRATURE,
    OneByOne,
    QuadratureDraws,
    by_quadrature,
    field_by_quadrature,
    integrals,
    is_off,
)
from ppl.methods.nested.sparse import Field
from ppl.methods.nested.structure import structure_of
from ppl.methods.recipes import fields, fit
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@dataclass(frozen=True)
class Animals(Target):
    """Of n occasions y (k,) were those at which each animal was seen, none where it may not be there.

    u = (t, c, x): x ~ N(0, 1), an animal is there by even chances, and seen with probability
    1 / (1 + exp(-c - exp(t) x)); t ~ N(0.5, 0.3), c ~ N(-1, 1).
    """

    y: np.ndarray
    n: int = 10

    @property
    def dim(self):
        return 2 + len(self.y)

    @property
    def kinds(self):
        outer = np.arange(self.dim) < 2
        return outer, ~outer, outer

    def terms(self, t, c, x, y):
        """Log densities of animals, and their slopes by eta = c + exp(t) x."""
        eta = c + np.exp(t) * x
        small = np.exp(-np.abs(eta))
        seen = np.asarray(y * eta - self.n * (np.maximum(eta, 0) + np.log1p(small)))
        slope = np.asarray(y - self.n * np.where(eta > 0, 1.0, small) / (1 + small))
        never = np.broadcast_to(y == 0, seen.shape)
        odds = np.exp(seen[never])  # of never being seen to not being there, 1 at most
        seen[never], slope[never] = np.log1p(odds), slope[never] * odds / (1 + odds)
        return seen + np.log(0.5), slope

    def log_density_gradients(self, us):
        t, c, x = us[:, :1], us[:, 1:2], us[:, 2:]
        value, by_eta = self.terms(t, c, x, self.y)
        total = (value - 0.5 * x**2).sum(axis=1) - 0.5 * len(self.y) * np.log(2 * np.pi)
        total = total + stats.norm.logpdf(t[:, 0], 0.5, 0.3) + stats.norm.logpdf(c[:, 0], -1)
        scaled = by_eta * np.exp(t)
        by_t = (scaled * x).sum(axis=1, keepdims=True) - (t - 0.5) / 0.09
        by_c = by_eta.sum(axis=1, keepdims=True) - (c + 1)
        return total, np.hstack([by_t, by_c, scaled - x])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_marginal(self, t, c):
        """By the trapezoid rule, which is exact to rounding where both ends are next to 0."""
        y, counts = np.unique(self.y, return_counts=True)
        x = np.linspace(-9, 9, 1801)
        each = self.terms(t, c, x, y[:, None])[0] + stats.norm.logpdf(x) + np.log(x[1] - x[0])
        total = counts @ special.logsumexp(each, axis=1)
        return total + stats.norm.logpdf(t, 0.5, 0.3) + stats.norm.logpdf(c, -1)


SEEN = np.concatenate([np.zeros(60), rng().binomial(10, 1 / (1 + np.exp(1 - 1.6 * rng(2).normal(size=40))))])
TARGET = Animals(SEEN)


def marginal_at(target, outer):
    field = structure_of(target, 0.1 * rng().normal(size=target.dim), rng())
    assert field.bandwidth == 0 and field.outer.tolist() == [0, 1]
    return Marginal(Fields(target, field), np.array(outer), np.zeros(len(target.y)))


def with_nodes(marginal, nodes):
    return replace(marginal, inner=replace(marginal.inner, nodes=nodes))


def test_the_toy_target_has_its_gradients():
    u = 0.3 * rng().normal(size=TARGET.dim)
    steps = 1e-6 * np.eye(TARGET.dim)
    differences = (TARGET.log_densities(u + steps) - TARGET.log_densities(u - steps)) / 2e-6
    np.testing.assert_allclose(TARGET.log_density_gradient(u)[1], differences, atol=1e-5)


@pytest.mark.parametrize("nodes", QUADRATURE.nodes)
def test_integrals_are_those_of_natural_splines(nodes):
    matrix, at = integrals(nodes), np.linspace(-1, 1, nodes)
    places = np.linspace(-1, 1, matrix.shape[1])
    for row, values in zip(matrix, np.eye(nodes), strict=True):
        whole = CubicSpline(at, values, bc_type="natural").antiderivative()
        np.testing.assert_allclose(row, whole(places) - whole(0), atol=1e-13)


@pytest.mark.parametrize("outer", [(0.5, -1.0), (1.0, 0.0), (-0.5, -3.0), (1.5, -4.0)])
def test_the_marginal_is_that_of_quadrature_of_each(outer):
    marginal = with_nodes(by_quadrature(marginal_at(TARGET, outer)), 49)
    exact = TARGET.log_marginal(*outer)
    assert marginal.log_density(marginal.centre) == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_intervals_come_to_where_the_mass_is(scale):
    """Whatever the units of the coordinates, and from wherever they begin."""
    marginal = with_nodes(by_quadrature(marginal_at(TARGET, (0.5, -1.0))), 49)
    far = replace(marginal, latent=30 + marginal.latent, half_width=scale * marginal.half_width)
    seen = far.conditionals(far.centre[None])
    assert seen.done.all()
    assert seen.log_marginals[0] == pytest.approx(marginal.log_density(marginal.centre), abs=0.1)


def test_draws_have_the_densities_that_they_are_said_to_have():
    marginal = with_nodes(by_quadrature(marginal_at(TARGET, (0.5, -1.0))), 33)
    n = 1000
    outer = np.repeat(marginal.centre[None], n, axis=0)
    draws = QuadratureDraws(marginal).draws(outer, -np.inf, rng())
    assert np.isfinite(draws.log_p).all() and not draws.unsure.any()
    x = np.linspace(-8, 8, 4001)
    for k in (0, 60, 99):  # one that was never seen, and two that were
        log_p = TARGET.terms(
            0.5, -1.0, x, marginal_at(TARGET, (0, 0)).inner.latent(np.append([0, 0], SEEN)[None])[0, k]
        )
        weights = np.exp(log_p[0] + stats.norm.logpdf(x))
        cdf = np.cumsum(weights) / weights.sum()
        assert stats.kstest(draws.latent[:, k], lambda at, cdf=cdf: np.interp(at, x, cdf)).pvalue > 1e-3
    np.testing.assert_array_equal(
        draws.log_p, TARGET.log_densities(marginal.inner.points(outer, draws.latent))
    )
    off = draws.log_p - draws.log_q - draws.about
    assert off.std() < 0.2 and off.mean() == pytest.approx(0.0, abs=0.1)


def test_laplaces_approximation_is_off_where_an_animal_may_not_be_there():
    assert is_off(marginal_at(TARGET, (1.5, 1.0)))
    normal = marginal_at(Animals(np.full(100, 5.0), 10), (-1.0, 0.0))
    assert not is_off(normal)


def test_points_far_below_what_counts_are_given_up():
    marginal = by_quadrature(marginal_at(TARGET, (0.5, -1.0)))
    highest = marginal.log_density(marginal.centre)
    outer = np.array([[0.5, -1.0], [9.0, 30.0]])
    values = marginal.log_densities(outer, highest - 20)
    assert values[0] == pytest.approx(highest) and values[1] == -np.inf


def test_more_nodes_are_taken_where_densities_are_steep():
    def nodes_about(target, outer):
        marginal = by_quadrature(marginal_at(target, outer))
        peak = Peak(marginal, Gaussian(marginal.centre, 0.01 * np.eye(2)))
        draws = field_by_quadrature(peak, rng())
        return None if draws is None else draws.marginal.inner.nodes

    assert nodes_about(TARGET, (0.5, -1.0)) == QUADRATURE.nodes[0]
    assert QUADRATURE.nodes[0] < nodes_about(TARGET, (1.6, -1.0)) <= QUADRATURE.nodes[-1]
    assert nodes_about(Animals(SEEN, 10), (6.0, -1.0)) is None


def test_no_mode_of_an_animal_lies_beyond_its_interval():
    outer = np.array([[0.5, -1.0], [1.5, -4.0], [-0.5, 0.0]])
    assert not QuadratureDraws(by_quadrature(marginal_at(TARGET, outer[0]))).misses_modes(outer)


@dataclass(frozen=True)
class Far(Target):
    """Each of k coordinates x is N(t, 1), or by even chances N(t + apart, 1); t ~ N(0, 1)."""

    apart: float
    k: int = 8

    @property
    def dim(self):
        return 1 + self.k

    def log_density_gradients(self, us):
        t, x = us[:, :1], us[:, 1:]
        logs = np.stack([stats.norm.logpdf(x, t), stats.norm.logpdf(x, t + self.apart)])
        total = np.logaddexp(*logs)
        second = np.exp(logs[1] - total)
        slope = t - x + second * self.apart
        value = total.sum(axis=1) + stats.norm.logpdf(t[:, 0])
        return value, np.hstack([-slope.sum(axis=1, keepdims=True) - t, slope])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@pytest.mark.parametrize(("apart", "misses"), [(0.0, False), (5.0, False), (13.0, True), (25.0, True)])
def test_a_mode_beyond_the_interval_is_noticed(apart, misses):
    """One that lies inside is in its density already."""
    target, every = Far(apart), np.arange(8)
    field = Field(9, np.array([0]), 1 + every, np.array([every, every]), np.zeros(8, dtype=int))
    marginal = by_quadrature(Marginal(Fields(target, field), np.zeros(1), np.zeros(8)))
    assert QuadratureDraws(marginal).misses_modes(np.array([[0.0], [0.5]])) == misses


def test_animals_whose_slopes_vanish_at_the_start_are_alone_all_the_same():
    """They meet the outer coordinates elsewhere, and were taken to meet all others."""
    u = np.append([1.5, -1.0], np.where(SEEN == 0, -9.0, 0.0))
    assert structure_of(TARGET, u, rng()).bandwidth == 0


@cache
def on_grid():
    """Both outer coordinates, and their log densities by quadrature."""
    t, c = np.meshgrid(np.linspace(-0.5, 1.6, 22), np.linspace(-3.5, 0.5, 25), indexing="ij")
    return t, c, np.vectorize(TARGET.log_marginal)(t, c)


def assert_drawn(result):
    t, c, log_p = on_grid()
    weights = np.exp(log_p - log_p.max()) / np.exp(log_p - log_p.max()).sum()
    evidence = log_p.max() + np.log(np.exp(log_p - log_p.max()).sum() * (2.1 / 21) * (4 / 24))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    assert result.final_elbo == pytest.approx(evidence, abs=5 * result.final_elbo_se + 0.02)
    for column, values in enumerate((t, c)):
        mean = (weights * values).sum()
        sd = np.sqrt((weights * (values - mean) ** 2).sum())
        assert result.draws_u[:, column].mean() == pytest.approx(mean, abs=0.15 * sd)
        assert result.draws_u[:, column].std() == pytest.approx(sd, rel=0.1)


def test_fields_of_which_coordinates_are_alone_are_drawn_where_laplaces_marginal_has_no_mode():
    peak = newton(by_quadrature(marginal_at(TARGET, (0.0, 0.0))))
    assert isinstance(peak.marginal.inner, OneByOne)
    assert peak.marginal.log_density(peak.marginal.centre) == pytest.approx(on_grid()[2].max(), abs=0.3)
    (near,) = climbs([marginal_at(TARGET, (0.0, 0.0))])
    assert near is None or newton(near) is None or is_off(newton(near).marginal)
    assert_drawn(fit(TARGET, Settings(seed=3)))


@pytest.mark.parametrize("modes", [("highest", None), ("has_other_modes", True)], ids=lambda modes: modes[0])
def test_modes_of_laplaces_approximation_are_none_of_the_posterior(modes, monkeypatch):
    """Mixtures of animals that are there and are not had several by it, and one by quadrature."""
    name, answer = modes
    asked = [answer]
    right = getattr(fields, name)
    monkeypatch.setattr(fields, "is_off", lambda marginal: False)
    monkeypatch.setattr(fields, name, lambda *args: asked.pop() if asked else right(*args))
    marginal = marginal_at(TARGET, (0.5, -1.0))
    peak = Peak(marginal, Gaussian(marginal.centre, 0.1 * np.eye(2)))
    monkeypatch.setattr(fields, "climbs", lambda marginals: [marginal])
    monkeypatch.setattr(fields, "newton", lambda near: peak if near is marginal else newton(near))
    assert_drawn(fit(TARGET, Settings(seed=3)))
    assert not asked
