import numpy as np

from ppl.inference.families.full_rank import FullRank

FAMILY = FullRank(3)


def test_params_are_the_lower_triangle_by_rows():
    params = np.array([9.0, 9, 9, 1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(FAMILY.factor(params), [[1, 0, 0], [2, 3, 0], [4, 5, 6]])


def test_the_sign_of_a_diagonal_entry_changes_nothing_about_q():
    params = np.array([0.5, -1, 2, 1, 0, 3, 0, 0, 6])
    flipped = params * np.array([1, 1, 1, 1, 1, -1, 1, 1, 1])
    u = np.random.default_rng(0).normal(size=(4, 3))
    assert FAMILY.entropy(params) == FAMILY.entropy(flipped)
    np.testing.assert_allclose(FAMILY.log_density(params, u), FAMILY.log_density(flipped, u))
    np.testing.assert_allclose(FAMILY.covariance(params), FAMILY.covariance(flipped))
