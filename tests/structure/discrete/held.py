"""A program with discrete parameters held to the sum over every configuration."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

import ppl
from ppl.kernel.draws.columns import reshape
from tests.structure.discrete.brute import Exact, exact, sizes

EXACT = 1e-10
DRAWS = 4000
LEAST_P = 1e-4
"""Chance of a true draw to fail a test; seeds are fixed."""


def point(posterior: ppl.Posterior, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=posterior.param_unc_num()) * 0.6


def hold(text: str, data: Mapping[str, Any], seed: int = 0, draws: int = DRAWS) -> Exact:
    """Density, gradient, probabilities, most probable values and draws at a random point."""
    posterior = ppl.compile_model(text).condition(data)
    u = point(posterior, seed)
    found = exact(text, data, u)
    hold_density(posterior, u, found)
    hold_probabilities(posterior, u, found, sizes(text, data))
    hold_most_probable(posterior, u, found)
    if draws:
        hold_draws(posterior, u, found, draws)
    return found


def hold_density(posterior: ppl.Posterior, u: np.ndarray, found: Exact) -> None:
    scale = max(1.0, abs(found.log_density))
    value, gradient = posterior.log_density_gradient(u)
    values, gradients = posterior.log_density_gradients(np.stack([u, u]))
    for v in (value, posterior.log_density(u), *values):
        assert abs(v - found.log_density) < EXACT * scale
    for g in (gradient, *gradients):
        np.testing.assert_allclose(g, found.gradient, rtol=EXACT, atol=EXACT * scale)


def hold_probabilities(
    posterior: ppl.Posterior, u: np.ndarray, found: Exact, shapes: Mapping[str, Any]
) -> None:
    for name, (_, lower, upper) in shapes.items():
        wanted = found.probabilities(name, lower, upper - lower + 1)
        np.testing.assert_allclose(posterior.probabilities(u[None], name)[0], wanted, rtol=0, atol=EXACT)


def hold_most_probable(posterior: ppl.Posterior, u: np.ndarray, found: Exact) -> None:
    chosen = posterior.most_probable(u[None])
    at = [
        k
        for k, c in enumerate(found.configurations)
        if all(np.array_equal(value, chosen[name][0]) for name, value in c.items())
    ]
    assert found.values[at[0]] > found.values.max() - EXACT


def drawn(posterior: ppl.Posterior, u: np.ndarray, draws: int) -> np.ndarray:
    """All columns of so many draws at one point."""
    rng = np.random.default_rng(8)
    if posterior.draws_at_once == 1:
        return np.array([posterior.param_constrain(u, True, True, rng) for _ in range(draws // 10)])
    parts, left = [], draws
    while left > 0:
        n = min(left, posterior.draws_at_once)
        parts.append(posterior.param_constrain_draws(np.tile(u, (n, 1)), rng))
        left -= n
    return np.concatenate(parts)


def hold_draws(posterior: ppl.Posterior, u: np.ndarray, found: Exact, draws: int) -> None:
    """The joint configurations that are drawn, by chi-squared; the rare ones count as one."""
    rows = drawn(posterior, u, draws)
    columns = posterior.param_names(include_tp=True, include_gq=True)
    names = list(found.configurations[0])
    values = np.concatenate([reshape(rows, columns, n).reshape(len(rows), -1) for n in names], axis=1)
    wanted = np.array([np.concatenate([np.ravel(c[n]) for n in names]) for c in found.configurations])
    keys = {tuple(row): k for k, row in enumerate(wanted.tolist())}
    counts = np.bincount([keys[tuple(row)] for row in values.tolist()], minlength=len(wanted))
    expected = found.weights * len(rows)
    assert not counts[found.weights == 0].any()
    often = expected >= 5
    observed = np.append(counts[often], counts[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    observed, expected = observed[expected > 0], expected[expected > 0]
    if len(expected) > 1:
        assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > LEAST_P
