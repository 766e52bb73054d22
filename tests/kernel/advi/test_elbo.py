import math

import numpy as np
from toy_targets import correlated

from ppl.kernel.advi.elbo import elbo_of, estimate_elbo
from ppl.kernel.advi.families import FAMILIES


def test_elbo_is_the_log_evidence_at_the_exact_posterior():
    target, family = correlated(3), FAMILIES["fullrank"](3)
    target = type(target)(target.mean, target.covariance, shift=7.0)
    factor = np.linalg.cholesky(target.covariance)
    params = np.concatenate([target.mean, factor[np.tril_indices(3)]])
    elbo = estimate_elbo(target, family, params, 2000, np.random.default_rng(0))
    assert abs(elbo.value - 7.0) < 4 * elbo.se
    assert abs(elbo.se - math.sqrt(1.5 / 2000)) < 0.1 * elbo.se  # half a chi-squared(3) has variance 3/2


def test_elbo_of_adds_the_entropy_and_counts():
    elbo = elbo_of(np.array([1.0, 3.0]), entropy=0.5, dropped=4)
    assert elbo == (2.5, 1.0, 4)
    assert math.isnan(elbo_of(np.array([1.0]), 0.0, 0).se)
