"""Coordinates of fields: points and back, log-Jacobians and gradients; chains that move in them."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppl import compile_model, load_fit
from ppl.kernel.advi.context import NULL_JOURNAL, Streams
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.nested.field_coordinates import coordinates_of, has_coordinates
from ppl.methods.nested.interpolated import Interpolated
from ppl.methods.nested.sparse import Field
from ppl.methods.recipes.fields import ChainFit
from ppl.methods.recipes.refusals import Refused
from ppl.methods.run.settings import Settings

TWO_SPLINES = """
data { int N; int K; vector[N] x; matrix[N, K] Z; vector[N] y; }
parameters { vector[K] u; real<lower=0> tau; vector[K] u_sd; real<lower=0> tau_sd; }
model {
  u ~ std_normal(); tau ~ normal(0, 3);
  u_sd ~ std_normal(); tau_sd ~ normal(0, 1);
  y ~ normal(tau * (Z * u), exp(-1 + tau_sd * (Z * u_sd)));
}
"""


class Flat(Target):
    dim = 7


def field(k=5, points=12):
    """One of five latent and two outer coordinates, interpolated between points."""
    rng = np.random.default_rng(1)
    latent, outer = np.array([0, 2, 3, 5, 6]), np.array([1, 4])
    graph = Field(7, outer, latent, np.array(np.tril_indices(k)), np.arange(k))
    about = Gaussian(rng.normal(size=2), np.array([[0.5, 0.0], [0.3, 0.8]]))
    at = about.draws(rng.normal(size=(points, 2)))
    parts = rng.normal(size=(points, k)), 0.3 * rng.normal(size=(points, k * k))
    return Interpolated(Flat(), graph, about, at, *parts)


def test_at_the_points_they_are_modes_and_factors():
    inner = field()
    assert has_coordinates(inner)
    coordinates, latent = coordinates_of(inner), inner.structure.latent
    noise = np.random.default_rng(2).normal(size=(12, 5))
    z = inner.points(inner.outer, noise)
    u, change, _ = coordinates.back(z)
    factors = inner.factored(inner.precisions(inner.outer, noise, noise))
    np.testing.assert_allclose(u[:, latent], inner.at + factors.solve_transposed(noise), atol=1e-9)
    np.testing.assert_allclose(change, -factors.half_log_dets, atol=1e-9)
    np.testing.assert_allclose(coordinates.straight(u), z, atol=1e-9)


@pytest.mark.parametrize("far", [1.0, 4.0])
def test_gradients_are_those_of_differences(far):
    coordinates = coordinates_of(field())
    z, step = far * np.random.default_rng(3).normal(size=(9, 7)), 1e-6

    def log_density(z):
        u, change, _ = coordinates.back(z)
        return -0.5 * (u**2).sum(axis=1) + change

    u, _, place = coordinates.back(z)
    pulled = coordinates.pulled_back(-u, z, place)
    for j, move in enumerate(step * np.eye(7)):
        slope = (log_density(z + move) - log_density(z - move)) / (2 * step)
        np.testing.assert_allclose(pulled[:, j], slope, rtol=1e-4, atol=1e-4 * np.abs(pulled).max())


def test_chains_reach_splines_whose_scale_is_a_parameter(tmp_path):
    """Without the coordinates the step size fell to 0.01 sd, and the verdict was poor.

    A saved fit makes its draws again: chains that began at q had others.
    """
    rng, n, k = np.random.default_rng(4), 120, 20
    x = np.sort(rng.uniform(size=n))
    knots = np.linspace(0, 1, k)
    left, scale, right = np.linalg.svd(np.abs(knots[:, None] - knots) ** 3)
    z = np.abs(x[:, None] - knots) ** 3 @ (left / np.sqrt(scale) @ right).T
    y = rng.normal(np.sin(9 * x), np.exp(-2 + 2 * x))
    model, data = compile_model(TWO_SPLINES), {"N": n, "K": k, "x": x, "Z": z, "y": y}
    fit = model.condition(data).variational(seed=1)
    assert str(fit.judgement).startswith("Verdict: good"), fit.judgement
    assert "integrated out" in fit.outcome.reason
    fit.save(tmp_path / "fit.json")
    np.testing.assert_array_equal(load_fit(tmp_path / "fit.json", model, data).draws(), fit.draws())


def test_chains_that_fall_together_are_no_error_of_the_run(monkeypatch):
    """Another path follows, as where a field is singular."""

    def fallen(*_):
        raise np.linalg.LinAlgError("no chain can be moved")

    monkeypatch.setattr("ppl.methods.correct.correction.from_known", fallen)
    u = np.random.default_rng(1).standard_normal((400, 7))
    draws = SimpleNamespace(parts=(u,))
    fit = ChainFit(u[0], draws, np.arange(400), coordinates_of(field()))
    context = SimpleNamespace(
        settings=Settings(), streams=Streams(1), listen=lambda _: None, journal=NULL_JOURNAL
    )
    with pytest.raises(Refused, match="fell together"):
        fit.result(None, context)
