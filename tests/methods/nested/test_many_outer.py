"""More outer coordinates than mixtures are fitted to: groups beside a regression of many columns."""

from functools import cached_property

import numpy as np
import pytest

from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.nested import weighted_draws
from ppl.methods.nested.field import Fields
from ppl.methods.nested.marginal import Marginal, climbs, newton
from ppl.methods.nested.outer import one_over
from ppl.methods.nested.structure import structure_of
from ppl.methods.nested.weighted_draws import drawn, given
from ppl.methods.recipes import fields, fit
from ppl.methods.run.settings import Settings
from ppl.records import dataclass

COLUMNS, GROUPS, ROWS = 14, 30, 4
"""Coefficients, and rows of each group."""


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@dataclass(frozen=True)
class Regression(Target):
    """y[g, k] ~ N(x[g, k] b + z[g], 1), b ~ N(0, 1), z ~ N(0, exp(t)), t ~ N(0, 1); u is t, b, z."""

    x: np.ndarray
    y: np.ndarray

    @property
    def columns(self):
        return self.x.shape[2]

    @property
    def groups(self):
        return len(self.x)

    @property
    def dim(self):
        return 1 + self.columns + self.groups

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        t, b, z = us[:, :1], us[:, 1 : 1 + self.columns], us[:, 1 + self.columns :]
        off = self.y - np.einsum("gkc,nc->ngk", self.x, b) - z[:, :, None]
        scaled = z / np.exp(t)
        squares = sum((each**2).reshape(len(us), -1).sum(axis=1) for each in (off, b, scaled, t))
        numbers = self.y.size + self.columns + self.groups + 1
        value = -0.5 * squares - self.groups * t[:, 0] - 0.5 * numbers * np.log(2 * np.pi)
        by_t = (scaled**2).sum(axis=1, keepdims=True) - self.groups - t
        by_b = np.einsum("ngk,gkc->nc", off, self.x) - b
        return value, np.hstack([by_t, by_b, off.sum(axis=2) - scaled / np.exp(t)])

    def explain(self, u):
        return ""

    @cached_property
    def posterior(self):
        """The mean and sd of t and of each b, and the evidence, by quadrature over t."""
        grid = np.linspace(-5, 2, 141)
        x, y = self.x.reshape(-1, self.columns), self.y.ravel()
        same = np.kron(np.eye(self.groups), np.ones((ROWS, ROWS)))
        heights, means, seconds = [], [], []
        for t in grid:
            noise = np.linalg.inv(np.eye(len(y)) + np.exp(2 * t) * same)
            precision = np.eye(self.columns) + x.T @ noise @ x
            mean = np.linalg.solve(precision, x.T @ noise @ y)
            quadratic = y @ noise @ y - mean @ precision @ mean
            log_dets = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(noise)[1]
            constants = (len(y) + 1) * np.log(2 * np.pi)
            heights.append(-0.5 * (quadratic + log_dets + t**2 + constants))
            means.append(np.append(t, mean))
            seconds.append(means[-1] ** 2 + np.append(0.0, np.diag(np.linalg.inv(precision))))
        weights = np.exp(heights - np.max(heights))
        evidence = np.max(heights) + np.log(weights.sum() * (grid[1] - grid[0]))
        weights /= weights.sum()
        mean = weights @ np.array(means)
        return mean, np.sqrt(weights @ np.array(seconds) - mean**2), evidence


def target(columns=COLUMNS, groups=GROUPS):
    x = rng().normal(size=(groups, ROWS, columns))
    noise = rng().normal(size=(groups, ROWS)) + 0.7 * np.random.default_rng(2).normal(size=(groups, 1))
    return Regression(x, x @ rng().normal(0, 0.5, columns) + noise)


def test_the_toy_target_has_its_gradient():
    toy = target()
    u = 0.3 * rng().normal(size=toy.dim)
    steps = 1e-6 * np.eye(toy.dim)
    differences = (toy.log_densities(u + steps) - toy.log_densities(u - steps)) / 2e-6
    np.testing.assert_allclose(toy.log_density_gradient(u)[1], differences, atol=1e-5)


def peak_of(toy):
    start = rng().normal(size=toy.dim)
    structure = structure_of(toy, start, rng())
    assert structure.outer.tolist() == list(range(1 + toy.columns))
    fields = Fields(toy, structure)
    return newton(*climbs([Marginal(fields, start[structure.outer], fields.latent(start[None])[0])]))


def test_the_curvature_at_the_mode_is_that_of_the_marginal():
    toy = target()
    peak = peak_of(toy)
    mean, sd, _ = toy.posterior
    np.testing.assert_allclose(peak.marginal.centre[1:], mean[1:], atol=0.05 * sd.min())
    sds = np.sqrt((peak.gaussian.factor**2).sum(axis=1))
    np.testing.assert_allclose(sds[1:], sd[1:], rtol=0.03)


@pytest.mark.parametrize("columns, outer", [(75, 76), (85, None)])
def test_up_to_80_coordinates_are_outer(columns, outer):
    toy = target(columns, groups=200)
    found = structure_of(toy, rng().normal(size=toy.dim), rng())
    assert (found and len(found.outer)) == outer


def beside(peak, sds=1.0):
    """A mixture that misses the posterior."""
    mean, factor = peak.gaussian.mean, peak.gaussian.factor
    return one_over(Gaussian(mean + sds * factor.sum(axis=1), factor))


@pytest.mark.parametrize("columns, sds, fewer", [(2, 8.0, 1024), (COLUMNS, 1.0, 512)])
def test_two_mixtures_that_miss_the_posterior_are_the_last(columns, sds, fewer, monkeypatch):
    monkeypatch.setattr(weighted_draws, "GRADIENTS_OF_CHEAP", 0)
    peak = peak_of(target(columns))
    own = given(peak.marginal, beside(peak, sds), rng())
    weighted = drawn(peak, beside(peak, sds), own, 2048, rng())
    assert weighted.n == 1024 and weighted.effective < 20
    assert drawn(peak, beside(peak, sds), own, 2048, rng(), most=-1).n == fewer


def test_a_mixture_whose_draws_have_no_weight_makes_no_more_than_another():
    peak = peak_of(target())
    own = given(peak.marginal, beside(peak, 3.0), rng())
    weighted = drawn(peak, beside(peak, 3.0), own, 2048, rng())
    assert weighted.n == 1024 and weighted.effective == 0 and weighted.lost == 1


@pytest.mark.parametrize("columns, sds, fewest", [(2, 2.5, 2048), (COLUMNS, 0.5, 512)])
def test_of_few_coordinates_a_third_mixture_is_tried_whatever_it_seems_to_take(columns, sds, fewest):
    peak = peak_of(target(columns))
    mixture = beside(peak, sds)
    own = given(peak.marginal, mixture, rng())
    assert drawn(peak, mixture, own, 2048, rng(), most=-1).n >= fewest


@pytest.mark.rotate
@pytest.mark.parametrize("columns, groups", [(COLUMNS, GROUPS), (40, 90)])
def test_auto_integrates_the_groups_out(columns, groups):
    toy = target(columns, groups)
    result = fit(toy, Settings(seed=1, draws=2000))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    mean, sd, evidence = toy.posterior
    draws = result.draws_u[:, : 1 + columns]
    np.testing.assert_allclose((draws.mean(axis=0) - mean) / sd, 0.0, atol=0.1)
    np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=0.07)
    assert result.final_elbo == pytest.approx(evidence, abs=5 * result.final_elbo_se + 1e-3)


@pytest.mark.rotate
def test_draws_that_take_more_gradients_than_chains_are_left_to_these(monkeypatch):
    assert fit(target(), Settings(algorithm="auto")).verdict.made is DrawSource.NESTED
    monkeypatch.setattr(fields, "MOST_DRAWN_OF_MANY", -1)
    assert fit(target(), Settings(algorithm="auto")).verdict.made is not DrawSource.NESTED
    assert fit(target(), Settings(algorithm="nested")).verdict.made is DrawSource.NESTED


@pytest.mark.rotate
def test_draws_of_which_few_count_are_left_to_chains_before_all_are_made(monkeypatch):
    monkeypatch.setattr(weighted_draws, "GRADIENTS_OF_CHEAP", 0)
    made = list[int]()

    def counted(*arguments):
        draws = drawn(*arguments)
        made.append(draws.n)
        return draws

    monkeypatch.setattr(fields, "drawn", counted)
    monkeypatch.setattr(fields, "mixture_over", lambda peak, rng: beside(peak))
    monkeypatch.setattr(fields, "MOST_MORE_GRADIENTS", -1)
    assert fit(target(), Settings(algorithm="auto")).verdict.made is not DrawSource.NESTED
    assert made == [fields.MOST_PROPOSALS // 4]
