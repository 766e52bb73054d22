import numpy as np

from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.low_rank import LowRank


def test_default_rank_is_the_square_root():
    assert [LowRank.of(dim).rank for dim in (1, 4, 10, 100)] == [1, 2, 4, 10]


def test_agrees_with_the_full_rank_family_of_the_same_covariance():
    low, full = LowRank(4, 2), FullRank(4)
    rng = np.random.default_rng(0)
    params = rng.normal(size=low.size)
    factor = np.linalg.cholesky(low.covariance(params))
    same = np.concatenate([low.mean(params), factor[np.tril_indices(4)]])
    u = rng.normal(size=(5, 4))
    np.testing.assert_allclose(low.entropy(params), full.entropy(same))
    np.testing.assert_allclose(low.log_density(params, u), full.log_density(same, u))
    np.testing.assert_allclose(low.score(params, u), full.score(same, u))


def test_a_hundred_thousand_dimensions_fit_in_memory():
    family = LowRank(100_000, 3)
    params = family.start(np.zeros(family.dim))
    z = family.noise(2, np.random.default_rng(0))
    u = family.transform(params, z)
    assert family.log_density(params, u).shape == (2,)
    assert family.pull_back(params, z, -u).shape == (family.size,)
