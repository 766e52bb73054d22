"""More outer coordinates than mixtures are fitted to: groups beside a regression of many columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from toy_targets import OneOfMany

from ppl.inference.correct.draw_source import DrawSource
from ppl.inference.nested.blocks import Blocks
from ppl.inference.nested.outer import Marginal, climb
from ppl.inference.nested.structure import structure_of
from ppl.inference.recipes import fit
from ppl.inference.run.settings import Settings

COLUMNS, GROUPS, ROWS = 14, 30, 4
"""Coefficients, and rows of each group."""


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@dataclass(frozen=True)
class Regression(OneOfMany):
    """y[g, k] ~ N(x[g, k] b + z[g], 1), b ~ N(0, 1), z ~ N(0, exp(t)), t ~ N(0, 1); u is t, b, z."""

    x: np.ndarray
    y: np.ndarray

    @property
    def dim(self):
        return 1 + COLUMNS + GROUPS

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        t, b, z = us[:, :1], us[:, 1 : 1 + COLUMNS], us[:, 1 + COLUMNS :]
        off = self.y - np.einsum("gkc,nc->ngk", self.x, b) - z[:, :, None]
        scaled = z / np.exp(t)
        squares = sum((each**2).reshape(len(us), -1).sum(axis=1) for each in (off, b, scaled, t))
        numbers = self.y.size + COLUMNS + GROUPS + 1
        value = -0.5 * squares - GROUPS * t[:, 0] - 0.5 * numbers * np.log(2 * np.pi)
        by_t = (scaled**2).sum(axis=1, keepdims=True) - GROUPS - t
        by_b = np.einsum("ngk,gkc->nc", off, self.x) - b
        return value, np.hstack([by_t, by_b, off.sum(axis=2) - scaled / np.exp(t)])

    def explain(self, u):
        return ""

    @cached_property
    def posterior(self):
        """The mean and sd of t and of each b, and the evidence, by quadrature over t."""
        grid = np.linspace(-5, 2, 281)
        x, y = self.x.reshape(-1, COLUMNS), self.y.ravel()
        same = np.kron(np.eye(GROUPS), np.ones((ROWS, ROWS)))
        heights, means, seconds = [], [], []
        for t in grid:
            noise = np.linalg.inv(np.eye(len(y)) + np.exp(2 * t) * same)
            precision = np.eye(COLUMNS) + x.T @ noise @ x
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


def target():
    x = rng().normal(size=(GROUPS, ROWS, COLUMNS))
    noise = rng().normal(size=(GROUPS, ROWS)) + 0.7 * np.random.default_rng(2).normal(size=(GROUPS, 1))
    return Regression(x, x @ rng().normal(0, 0.5, COLUMNS) + noise)


def test_the_toy_target_has_its_gradient():
    toy = target()
    u = 0.3 * rng().normal(size=toy.dim)
    steps = 1e-6 * np.eye(toy.dim)
    differences = (toy.log_densities(u + steps) - toy.log_densities(u - steps)) / 2e-6
    np.testing.assert_allclose(toy.log_density_gradient(u)[1], differences, atol=1e-5)


def test_the_curvature_at_the_mode_is_that_of_the_marginal():
    toy = target()
    start = rng().normal(size=toy.dim)
    structure = structure_of(toy, start, rng())
    assert structure.outer.tolist() == list(range(1 + COLUMNS))
    blocks = Blocks(toy, structure)
    peak = climb(Marginal(blocks, start[structure.outer], blocks.latent(start[None])[0]))
    mean, sd, _ = toy.posterior
    np.testing.assert_allclose(peak.marginal.centre[1:], mean[1:], atol=0.05 * sd.min())
    sds = np.sqrt((peak.gaussian.factor**2).sum(axis=1))
    np.testing.assert_allclose(sds[1:], sd[1:], rtol=0.03)


def test_auto_integrates_the_groups_out():
    toy = target()
    result = fit(toy, Settings(seed=1, draws=2000))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    mean, sd, evidence = toy.posterior
    draws = result.draws_u[:, : 1 + COLUMNS]
    np.testing.assert_allclose((draws.mean(axis=0) - mean) / sd, 0.0, atol=0.1)
    np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=0.07)
    assert result.final_elbo == pytest.approx(evidence, abs=5 * result.final_elbo_se + 1e-3)
