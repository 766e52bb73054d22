"""Points that agree in some parameters, as the scales of a Gaussian process: its factor is computed once."""

from functools import cache

import numpy as np
import pytest

import ppl
from ppl.methods.nested.field import Fields
from ppl.methods.nested.modes import MODES
from ppl.methods.nested.slopes import slopes
from ppl.methods.nested.sparse import Field
from ppl.methods.nested.structure import structure_of
from ppl.run import posterior_target
from ppl.run.posterior_target import PosteriorTarget

COUNTS = """
data { int N; array[N] real x; array[N] int y; }
parameters { real<lower=0> rho; real<lower=0> alpha; real a; vector[N] eta; }
model {
  matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho);
  for (n in 1:N) K[n, n] += 1e-6;
  rho ~ inv_gamma(5, 5);
  alpha ~ std_normal();
  a ~ std_normal();
  eta ~ std_normal();
  y ~ poisson_log(a + cholesky_decompose(K) * eta);
}
"""
OUTER = np.arange(2)


@cache
def posterior(n):
    x = np.linspace(0, 6, n)
    y = np.random.default_rng(1).poisson(np.exp(np.sin(x)))
    return ppl.compile_model(COUNTS).condition({"N": n, "x": x.tolist(), "y": y.tolist()})


def points(n, count=9):
    """Of three values of the outer coordinates, in turn."""
    rng = np.random.default_rng(2)
    us = 0.5 * rng.normal(size=(count, n + 3))
    us[:, OUTER] = np.resize(us[:3, OUTER], (count, 2))
    return us


def test_values_and_gradients_are_those_of_the_whole_and_go_through_no_matrix():
    target = PosteriorTarget(posterior(12))
    shared, us = target.with_shared(OUTER), points(12)
    assert shared.width == 12 < target.width
    values, gradients = target.log_density_gradients(us)
    np.testing.assert_allclose(shared.log_densities(us), values, rtol=1e-12)
    for found in (shared.log_density_gradients(us)[1], shared.gradients_alone(us)):
        np.testing.assert_allclose(found[:, 2:], gradients[:, 2:], atol=1e-10)


def test_points_of_which_no_two_agree_are_evaluated_at_once(monkeypatch):
    """One by one, repeated to a batch each, they took a draw of each outer point 32 times the work."""
    target = PosteriorTarget(posterior(12))
    shared, us = target.with_shared(OUTER), 0.5 * np.random.default_rng(3).normal(size=(20, 15))
    monkeypatch.setattr(posterior_target, "few_repeated", lambda *_: pytest.fail("one by one"))
    assert np.isfinite(us).all() and len(np.unique(us[:, OUTER], axis=0)) == 20
    np.testing.assert_array_equal(shared.log_densities(us), target.log_densities(us))
    np.testing.assert_array_equal(shared.gradients_alone(us), target.gradients_alone(us))


def test_a_point_outside_the_support_has_the_density_zero_beside_others():
    text = """
    parameters { real s; vector[2] z; }
    transformed parameters { real<lower=0> w = 1 - z[1]; }
    model { z ~ normal(s, w); }
    """
    shared = PosteriorTarget(ppl.compile_model(text).condition()).with_shared(np.arange(1))
    values, gradients = shared.log_density_gradients(np.array([[0.1, -2.0, 0.3], [0.1, 2.0, 0.3]]))
    assert np.isfinite(values[0]) and values[1] == -np.inf
    assert np.isfinite(gradients[0]).all()


@pytest.mark.parametrize(
    ("text", "outer"),
    [
        ("parameters { vector[3] z; } model { z ~ std_normal(); }", [0]),
        ("parameters { real m; real<lower=m> s; } model { m ~ normal(s, 1); s ~ std_normal(); }", [1]),
        ("parameters { tuple(real, real) p; } model { p.1 ~ normal(p.2, 1); p.2 ~ std_normal(); }", [1]),
    ],
    ids=["an entry", "bounds that differ", "an item of a tuple"],
)
def test_there_are_none_given_what_is_no_parameter_of_one_value(text, outer):
    assert PosteriorTarget(ppl.compile_model(text).condition()).with_shared(np.array(outer)) is None


def test_a_parameter_without_entries_does_not_prevent_them():
    text = (
        "parameters { real s; vector[0] none; vector[2] z; } model { z ~ normal(s, 1); none ~ normal(s, 1); }"
    )
    target = PosteriorTarget(ppl.compile_model(text).condition())
    us = np.array([[0.1, -2.0, 0.3], [0.1, 2.0, 0.3]])
    np.testing.assert_allclose(
        target.with_shared(np.arange(1)).log_densities(us), target.log_densities(us), rtol=1e-12
    )


def test_there_are_none_without_the_constants_of_densities():
    whole = posterior(4).log_joint(propto=True)
    assert whole.given((3,)) is None


def test_a_field_of_a_gaussian_process_is_integrated_out_as_without_them():
    n = 40
    target = PosteriorTarget(posterior(n))
    structure = structure_of(target, points(n)[0], np.random.default_rng(1))
    assert structure.is_complete and structure.outer.tolist() == OUTER.tolist()
    size = len(structure.latent)
    complete = Field(n + 3, OUTER, structure.latent, np.array(np.tril_indices(size)), np.arange(size))
    by_groups, plain = Fields(target, structure), Fields(target, complete)
    object.__setattr__(plain, "shared", None)
    assert by_groups.shared
    outer, start = points(n)[:3, OUTER], np.zeros((3, n + 1))

    def modes_and_slopes(fields):
        modes, bands = fields.modes_of_part(outer, start, MODES.near)
        return modes, slopes(fields, outer, modes.at, fields.factored(bands))

    (found, own), (same, plain_slopes) = map(modes_and_slopes, (by_groups, plain))
    np.testing.assert_allclose(found.at, same.at, atol=1e-6)
    np.testing.assert_allclose(found.log_marginals, same.log_marginals, atol=1e-6)
    np.testing.assert_allclose(own, plain_slopes, rtol=0.01, atol=1e-3)


@pytest.mark.rotate
def test_counts_by_a_gaussian_process_are_drawn_by_field():
    fit = posterior(15).variational(seed=2)
    assert fit.verdict.made == "nested" and fit.level == "good"
