"""Sums by which many coordinates meet: soft sum-to-zero constraints of fields."""

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.kernel.advi.target import Target
from ppl.methods.nested.banded import factors_of
from ppl.methods.nested.coupled import coupled
from ppl.methods.nested.field import Fields
from ppl.methods.nested.modes import MODES
from ppl.methods.nested.sparse import Field
from ppl.methods.nested.structure import structure_of
from ppl.records import dataclass
from ppl.run.posterior_target import PosteriorTarget

pytest.importorskip("scipy.sparse")
SIZE = 90


def rng():
    return np.random.default_rng(3)


@dataclass(frozen=True)
class Walk(Target):
    """t ~ N(0, 1), x a random walk in steps of exp(t), x[k] seen with noise, and sums of x by weights."""

    weights: np.ndarray
    scale: float = 0.0

    @property
    def dim(self):
        return 1 + SIZE

    def precision(self, t):
        steps = np.diff(np.eye(SIZE), axis=0)
        own = 0.1 * np.eye(SIZE) + steps.T @ steps * np.exp(-2 * t)
        return own + np.exp(2 * self.scale * t) * self.weights.T @ self.weights

    def log_density_gradients(self, us):
        values, found = np.zeros(len(us)), np.zeros(us.shape)
        for k, (t, *x) in enumerate(us):
            step = np.diff(x)
            inner = np.array(x) @ self.precision(t) @ x / 2
            values[k] = stats.norm.logpdf(t) - (SIZE - 1) * t - inner
            by_t = (step @ step) * np.exp(-2 * t) - (SIZE - 1) - t
            sums = self.weights @ x
            found[k, 0] = by_t - self.scale * np.exp(2 * self.scale * t) * (sums @ sums)
            found[k, 1:] = -self.precision(t) @ x
        return values, found

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    @property
    def kinds(self):
        scalar = np.arange(self.dim) == 0
        return scalar, np.ones(self.dim, dtype=bool), np.zeros(self.dim, dtype=bool)

    def explain(self, u):
        return ""


WEIGHTS = {
    "one": np.full((1, SIZE), 5.0),
    "by area": rng().uniform(1, 4, (1, SIZE)),
    "two": np.array([np.repeat([3.0, 0.0], SIZE // 2), np.repeat([0.0, 1.0], SIZE // 2)]),
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_a_field_is_found_beside_its_sums(weights):
    found = structure_of(Walk(weights), rng().normal(size=1 + SIZE), rng())
    assert isinstance(found, Field) and found.outer.tolist() == [0] and found.bandwidth == 1
    order = np.argsort(found.latent)
    couplings = np.array(found.couplings)[:, order]
    np.testing.assert_allclose(couplings.T @ couplings, weights.T @ weights, atol=1e-6)


def test_a_sum_whose_scale_is_a_parameter_is_none():
    assert structure_of(Walk(WEIGHTS["one"], 1.0), rng().normal(size=1 + SIZE), rng()) is None


def test_the_marginal_beside_sums_is_that_of_the_whole_normal():
    target = Walk(WEIGHTS["by area"])
    structure = structure_of(target, rng().normal(size=1 + SIZE), rng())
    t = np.array([-1.0, 0.0, 0.5])
    found = Fields(target, structure).modes(t[:, None], rng().normal(size=(3, SIZE)), MODES.near)
    assert found.found.all()
    expected = [
        target.log_densities(np.array([[each, *np.zeros(SIZE)]]))[0]
        - np.linalg.slogdet(target.precision(each))[1] / 2
        + SIZE / 2 * np.log(2 * np.pi)
        for each in t
    ]
    np.testing.assert_allclose(found.log_marginals, expected, rtol=1e-8)


@pytest.mark.parametrize("count", [1, 2])
def test_factors_beside_sums_are_those_of_the_whole_matrix(count):
    full, couplings = np.zeros((4, 9, 9)), rng().normal(size=(count, 9))
    full[:, np.arange(8), np.arange(1, 9)] = rng().normal(size=(4, 8))
    full += full.swapaxes(1, 2) + 5 * np.eye(9)
    bands = np.zeros((4, 2, 9))
    bands[:, 0], bands[:, 1, :-1] = np.diagonal(full, 0, 1, 2), np.diagonal(full, -1, 1, 2)
    whole, factors, x = (
        full + couplings.T @ couplings,
        coupled(factors_of(bands), couplings),
        rng().normal(size=(4, 9)),
    )
    np.testing.assert_allclose(factors.half_log_dets, np.linalg.slogdet(whole)[1] / 2)
    np.testing.assert_allclose(factors.solve(x), np.linalg.solve(whole, x[..., None])[..., 0])
    np.testing.assert_allclose(factors.lengths(x), np.sqrt(np.einsum("ni,nij,nj->n", x, whole, x)))
    inverse = np.linalg.inv(whole)
    np.testing.assert_allclose(factors.inverses[:, 0], np.diagonal(inverse, 0, 1, 2))
    np.testing.assert_allclose(factors.inverses[:, 1, :-1], np.diagonal(inverse, -1, 1, 2))
    root = np.stack([factors.solve_transposed(np.tile(row, (4, 1))) for row in np.eye(9)], axis=2)
    np.testing.assert_allclose(root @ root.swapaxes(1, 2), inverse, atol=1e-12)
    np.testing.assert_allclose(np.linalg.slogdet(root)[1], -factors.half_log_dets)
    assert factors_of(bands).as_given.all() and factors.as_given.all()


def test_neighbouring_areas_with_a_soft_sum_to_zero_are_a_field():
    n = 7
    place = np.arange(1, n * n + 1).reshape(n, n)
    a = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    b = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    program = """data { int N; int M; array[M] int a; array[M] int b; array[N] int y; }
    parameters { real m; real<lower=0> s; real<lower=0, upper=1> rho; vector[N] theta; vector[N] phi; }
    model {
      m ~ normal(0, 1); s ~ normal(0, 1); rho ~ beta(2, 2); theta ~ std_normal();
      target += -0.5 * dot_self(phi[a] - phi[b]);
      sum(phi) ~ normal(0, 0.001 * N);
      y ~ poisson_log(m + s * (sqrt(1 - rho) * theta + sqrt(rho) * phi));
    }"""
    data = {"N": n * n, "M": len(a), "a": a, "b": b, "y": rng().poisson(4, n * n)}
    target = PosteriorTarget(ppl.compile_model(program).condition(data))
    found = structure_of(target, rng().normal(size=target.dim), rng())
    assert isinstance(found, Field) and len(found.outer) == 3 and found.colours.max() < 10
    weights = np.sort(found.couplings[0])
    np.testing.assert_allclose(weights, np.repeat([0.0, 1 / (0.001 * n * n)], n * n), rtol=1e-5, atol=1e-5)
