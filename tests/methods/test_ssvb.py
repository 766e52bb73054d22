"""The recipe of Paisley, Blei and Jordan (2012)."""

import numpy as np
import pytest
from regressions import simulated
from toy_targets import correlated

from ppl.kernel.advi.elbo import estimate_elbo
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.methods.recipes import fit
from ppl.methods.refine.fixed_draws import fit_fixed_draws
from ppl.methods.run.settings import Settings


def test_a_gaussian_is_found_exactly_since_its_control_variate_leaves_no_noise():
    target = correlated(3)
    found = fit(target, Settings(algorithm="ssvb", eta=0.3, iter=400))
    np.testing.assert_allclose(found.mean_u, target.mean, atol=1e-3)
    np.testing.assert_allclose(found.family.covariance(found.params), target.covariance, atol=1e-2)
    assert abs(found.final_elbo) < 4 * found.final_elbo_se


@pytest.mark.rotate
def test_a_regression_comes_within_a_twentieth_of_a_nat():
    target = simulated(200, 4)
    family = FullRank(4)
    best = fit_fixed_draws(
        target, family, family.start(np.zeros(4), scale=0.1), np.random.default_rng(0)
    ).params
    found = fit(target, Settings(algorithm="ssvb", eta=0.1, iter=300))
    one, two = (
        estimate_elbo(target, family, params, 4000, np.random.default_rng(1)).value
        for params in (best, found.params)
    )
    assert one - two < 0.05


def test_same_seed_same_bytes():
    one, two = (fit(simulated(50, 3), Settings(algorithm="ssvb", iter=20, adapt_iter=3)) for _ in range(2))
    assert one.draws_u.tobytes() == two.draws_u.tobytes()
