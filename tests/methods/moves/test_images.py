"""Changes of sign and exchanges that leave a density as it is: all of them, and none where there are none."""

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from scipy.stats import norm

import ppl
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.moves.images import (
    IMAGES,
    OneImage,
    are_beyond_valleys,
    images_of,
    near_images,
    put_back,
)
from ppl.methods.moves.sampler import Sampler
from ppl.methods.moves.trajectories import chains_at
from ppl.records import dataclass
from ppl.run.posterior_target import PosteriorTarget

SQUARE = """
data { real x; real<lower=0> s; }
parameters { real b; }
model { b ~ normal(0, 3); x ~ normal(b^2, s); }
"""


@dataclass(frozen=True)
class Factors(Target):
    """Sums of a_k b_k over `count` pairs are 4 each, but for noise; c is the mean of something else.

    `off` is the slope of a density that is not quite symmetric; `second` the variance of the second pair.
    """

    count: int
    off: float = 0.0
    second: float = 0.1

    @property
    def dim(self):
        return 2 * self.count + 1

    def log_density_gradients(self, us):
        a, b, c = us[:, : self.count], us[:, self.count : -1], us[:, -1]
        variances = np.array([0.1, self.second, 0.1])[: self.count]
        left = (4 - a * b) / variances
        log_p = -0.5 * ((a**2 + b**2).sum(axis=1) + (left * (4 - a * b)).sum(axis=1) + (c - 1) ** 2)
        slopes = np.column_stack([left * b - a, left * a - b, 1 - c])
        slopes[:, 0] += self.off
        return log_p + self.off * us[:, 0], slopes

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


def images(target, at=2.0, sd=0.3):
    """For a q about one of the modes."""
    mean = np.append(np.full(target.dim - 1, at), 1.0)
    q = Gaussian(mean * [*([1.0, 1.4, 1.8] * 3)[: target.dim - 1], 1], np.full(target.dim, sd))
    return images_of(target, q, np.random.default_rng(1))


def every_image(found, u):
    """All images of u (n, dim), by all orders of each of the labels and all signs."""
    n = len(u)
    orders = product(*[permutations(range(labels.size)) for labels in found.labels])
    for order, signs in product(orders, product([False, True], repeat=len(found.components))):
        each = [np.tile(own, (n, 1)) for own in order]
        yield found.image(u, each, np.tile(np.array(signs, dtype=bool), (n, 1)))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_sign_of_every_factor_in_every_order_is_an_image(count):
    target = Factors(count)
    found = images(target)
    assert [part.tolist() for part in sorted(found.components, key=min)] == [
        [k, count + k] for k in range(count)
    ]
    assert found.labellings == factorial(count)
    assert np.exp(found.log_count) == pytest.approx(2**count * found.labellings)
    u = np.random.default_rng(2).normal(size=(50, target.dim))
    everywhere = [*every_image(found, u)]
    for there in everywhere:
        np.testing.assert_allclose(target.log_densities(there), target.log_densities(u), rtol=1e-12)
        np.testing.assert_array_equal(found.put_back(there), found.put_back(u))
    assert len({each.tobytes() for each in everywhere}) == np.round(np.exp(found.log_count))


def test_factors_that_differ_keep_their_order():
    assert not images(Factors(2, second=0.2)).labels


@pytest.mark.parametrize("target, at", [(Factors(2, off=0.01), 2.0), (Factors(1), 0.1)])
def test_no_image_of_what_is_not_symmetric_or_lies_about_zero(target, at):
    found = images(target, at)
    assert found is None or [part.tolist() for part in found.components] == [[1, 3]]
    assert (found is None) == (target.count == 1)


def test_one_image_has_all_of_the_mass_and_chains_are_put_back_into_it():
    target, rng = Factors(1), np.random.default_rng(3)
    one = OneImage(target, images(target))
    grid = np.array(list(product(np.linspace(-7, 7, 141), np.linspace(-7, 7, 141), [1.0])))
    assert np.exp(one.log_densities(grid)).sum() == pytest.approx(
        np.exp(target.log_densities(grid)).sum(), rel=0.01
    )
    scaled = Scaled(one, np.full(3, 0.5), np.full(3, 2.0))
    u = rng.choice([-2.0, 2.0], (64, 1)) * [1.0, 1.0, 0.0] + 0.1 * rng.normal(size=(64, 3))
    with np.errstate(over="ignore"):
        positions = Sampler(scaled, chains_at(scaled, scaled.to_v(u)), rng).stage(3)
    assert one.images.are_own(scaled.to_u(positions.u[-1])).all()
    np.testing.assert_allclose(
        positions.log_p, scaled.log_densities(positions.u.reshape(-1, 3)).reshape(3, 64)
    )
    np.testing.assert_array_equal(put_back(target, u), u)


def test_jumps_begin_in_the_image_of_q():
    """Where it has no density, any place with one would do, as far out as it is."""
    target, rng = Factors(1), np.random.default_rng(3)
    one = OneImage(target, images(target))
    u = rng.choice([-2.0, 2.0], (128, 1)) * [1.0, 1.0, 0.0] + 0.1 * rng.normal(size=(128, 3))
    sampler = Sampler(one, chains_at(one, u), rng)
    for _ in range(5):
        jumped = sampler.after_jumps(sampler.chains, None)
        assert jumped.log_p.min() > sampler.chains.log_p.min() - 15


@pytest.mark.parametrize("x, s, count", [(4.0, 0.5, 2), (2.0, 1.0, 2), (0.0, 1.0, 1)])
def test_a_fit_is_spread_over_images_and_knows_the_evidence(x, s, count):
    """With one image alone the evidence would be log 2 too small."""
    fit = ppl.compile_model(SQUARE).condition({"x": x, "s": s}).variational(seed=1)
    b = np.linspace(-12, 12, 100_001)
    log_p = -0.5 * ((b / 3) ** 2 + ((x - b**2) / s) ** 2) - np.log(6 * np.pi * s)
    weights = np.exp(log_p)
    evidence, sd = np.log(weights.sum() * (b[1] - b[0])), np.sqrt(weights @ b**2 / weights.sum())
    assert fit.log_evidence.value == pytest.approx(evidence, abs=4 * fit.log_evidence.se + 1e-3)
    own = fit.stan_variable("b")
    assert abs(own.mean()) < 0.15 * sd and own.std() == pytest.approx(sd, rel=0.07)
    assert (fit.result.verdict.images is None) == (count == 1)
    assert ("an image that is as likely" in fit.judgement) == (count == 2)
    np.testing.assert_allclose(
        fit.result.log_p, -0.5 * ((own / 3) ** 2 + ((x - own**2) / s) ** 2) - np.log(6 * np.pi * s)
    )
    more = fit.more(500, seed=2).stan_variable("b")
    assert abs(more.mean()) < 0.2 * sd


NEAR = """
data { real x; real<lower=0> s; }
parameters { real b; vector[5] z; }
model { z ~ std_normal(); b ~ normal(0.1, 3); x ~ normal(b^2 + 0.1 * b, s); }
"""


def test_a_mode_that_is_nearly_an_image_has_its_share_of_the_draws():
    """It was not seen where latent variables were integrated out."""
    fit = ppl.compile_model(NEAR).condition({"x": 16.0, "s": 0.5}).variational(seed=1)
    b = fit.stan_variable("b")
    assert (
        fit.verdict.level == "usable"
        and "there is another mode in addition to the mode of q" in fit.judgement
    )
    assert (b > 0).mean() == pytest.approx(0.5, abs=0.1)


NEAR_SIGNS = """
data { int I; int J; array[I, J] int y; }
parameters { vector[I] a; vector[I] b; vector[J] theta; }
model {
  a ~ normal(0.1, 1); b ~ std_normal(); theta ~ std_normal();
  for (i in 1:I) y[i] ~ bernoulli_logit(a[i] * theta - b[i]);
}
"""


def test_a_mode_that_is_nearly_an_image_in_many_dimensions_has_its_share_of_the_draws():
    """Draws of q do not see it: without a look at other signs 1% of the draws were there, and called good."""
    rng = np.random.default_rng(1)
    a = rng.normal(0.1, 1, 8)
    eta = a[:, None] * rng.normal(size=50) - rng.normal(size=8)[:, None]
    data = {"I": 8, "J": 50, "y": rng.binomial(1, 1 / (1 + np.exp(-eta)))}
    fit = ppl.compile_model(NEAR_SIGNS).condition(data).variational(seed=1)
    strongest = np.abs(draws := fit.stan_variable("a")).mean(axis=0).argmax()
    assert fit.verdict.level == "usable" and "there is another mode" in fit.judgement
    assert 0.3 < (draws[:, strongest] > 0).mean() < 0.8


def test_a_mode_near_an_image_is_told_by_its_signs():
    target, rng = Factors(1, off=0.1), np.random.default_rng(1)
    mean = np.array([2.0, 2.0, 1.0])
    q = Gaussian(mean, np.full(3, 0.3))
    (signs,) = near_images(target, q, None, rng)
    np.testing.assert_array_equal(signs, [-1, -1, 1])
    assert near_images(Factors(1, off=5.0), q, None, rng) == []  # so much lower that it has next to no mass


TOPICS = """
data { int V; int M; int K; vector[K] alpha; array[V] vector[M] n; }
parameters { array[M] simplex[K] theta; array[K] simplex[V] phi; vector[K] other; }
model {
  other ~ normal(3, 1);
  for (m in 1:M) theta[m] ~ dirichlet(alpha);
  for (v in 1:V) for (m in 1:M) {
    real p = 0;
    for (k in 1:K) p += theta[m, k] * phi[k, v];
    target += n[v, m] * log(p);
  }
}
"""


@pytest.mark.parametrize("alpha, count", [([1, 1], 2), ([1, 1, 1], 6), ([1, 1, 2], 2), ([1, 2], 0)])
def test_labels_are_exchanged_in_all_axes_that_they_have(alpha, count):
    """One labelling of two topics was called good; `other` has an axis of that size, and no part in it."""
    n = np.random.default_rng(1).poisson(5, (4, 3))
    data = {"V": 4, "M": 3, "K": len(alpha), "alpha": alpha, "n": n}
    target = PosteriorTarget(ppl.compile_model(TOPICS).condition(data))
    rng = np.random.default_rng(2)
    mean = np.append(rng.normal(size=target.dim - len(alpha)), np.full(len(alpha), 3.0))
    q = Gaussian(mean, np.full(target.dim, 0.1))
    found = images_of(target, q, rng)
    assert (found is None) == (count == 0)
    if found is not None:
        assert found.labellings == count and not found.components
        assert found.exchanged.max() < target.dim - len(alpha)
        u = rng.normal(size=(20, target.dim))
        everywhere = [*every_image(found, u)]
        for there in everywhere:
            np.testing.assert_allclose(target.log_densities(there), target.log_densities(u), rtol=1e-12)
            np.testing.assert_allclose(found.put_back(there), found.put_back(u), atol=1e-12)
        assert len({each.tobytes() for each in everywhere}) == count
        assert found.are_own(q.mean[None]).all()


def test_a_mixture_is_spread_over_its_labels_and_knows_the_evidence():
    program = """
    data { int N; vector[N] y; }
    parameters { simplex[2] w; vector[2] m; }
    model {
      m ~ normal(0, 3);
      for (i in 1:N) target += log_sum_exp(log(w[1]) + normal_lpdf(y[i] | m[1], 1),
                                           log(w[2]) + normal_lpdf(y[i] | m[2], 1));
    }
    """
    y = np.array([-2.0, -2.5, -1.4, 3.1, 2.2])
    fit = ppl.compile_model(program).condition({"N": len(y), "y": y}).variational(seed=1)
    m, w = np.linspace(-12, 12, 193), (np.arange(40) + 0.5) / 40
    one = norm.pdf(y[:, None], m)  # (y, m)
    terms = w[:, None, None] * one[:, None, :, None] + (1 - w)[:, None, None] * one[:, None, None, :]
    density = terms.prod(axis=0) * norm.pdf(m, 0, 3)[:, None] * norm.pdf(m, 0, 3)
    evidence = np.log(density.sum() * (m[1] - m[0]) ** 2 / len(w))
    assert fit.log_evidence.value == pytest.approx(evidence, abs=4 * fit.log_evidence.se + 1e-3)
    assert "exchanging the labels of w, m" in fit.judgement and fit.level == "usable"
    draws, least = fit.stan_variable("m"), np.minimum.outer(m, m)
    marginal = density.sum(axis=0)
    mean = (marginal.sum(axis=1) @ m) / marginal.sum()
    assert draws.mean(axis=0) == pytest.approx([mean, mean], abs=0.25)
    assert draws.min(axis=1).mean() == pytest.approx((marginal * least).sum() / marginal.sum(), abs=0.1)


@dataclass(frozen=True)
class Modes(Target):
    """Normal distributions of sd 1 about `at`, as one density."""

    at: tuple[float, ...]
    dim = 1

    def log_densities(self, us):
        return norm.logpdf(us, self.at).max(axis=1)

    def log_density_gradients(self, us):
        nearest = np.array(self.at)[np.abs(us - self.at).argmin(axis=1)]
        return self.log_densities(us), nearest[:, None] - us


@pytest.mark.parametrize("mean, at, count", [(1.0, (-1.5,), 0), (2.0, (2.0, -2.5), 1)])
def test_the_way_up_a_slope_is_no_valley(mean, at, count):
    """Means of hierarchical scales lie on one: the mode of the whole is elsewhere, of either sign."""
    q = Gaussian(np.array([mean]), np.array([0.5]))
    assert len(near_images(Modes(at), q, None, np.random.default_rng(1))) == count


def test_the_ways_to_many_images_are_looked_at_in_few_calls(monkeypatch):
    """Where the log density is concave on them, at few places."""
    calls = []

    def log_densities(self, us):
        calls.append(len(us))
        return norm.logpdf(us, 3.0).sum(axis=1)

    monkeypatch.setattr(Modes, "log_densities", log_densities)
    mean = np.full(200, 3.0)
    assert not are_beyond_valleys(Modes((3.0,)), mean, np.where(np.eye(200), -1.0, 1.0)).any()
    assert len(calls) <= 2 and sum(calls) == 200 * IMAGES.places_at_first
