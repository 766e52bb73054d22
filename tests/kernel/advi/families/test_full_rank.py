import numpy as np

from ppl.kernel.advi.families.full_rank import FullRank

FAMILY = FullRank(3)


def test_params_are_the_lower_triangle_by_rows():
    params = np.array([9.0, 9, 9, 1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(FAMILY.factor(params), [[1, 0, 0], [2, 3, 0], [4, 5, 6]])


def test_push_forward_by_a_triangle_maps_every_draw():
    rng = np.random.default_rng(1)
    params, centre, factor = rng.normal(size=9), rng.normal(size=3), np.tril(rng.normal(size=(3, 3)))
    z = rng.normal(size=(4, 3))
    expected = centre + FAMILY.transform(params, z) @ factor.T
    np.testing.assert_allclose(FAMILY.transform(FAMILY.push_forward(params, centre, factor), z), expected)


def test_the_sign_of_a_diagonal_entry_changes_nothing_about_q():
    params = np.array([0.5, -1, 2, 1, 0, 3, 0, 0, 6])
    flipped = params * np.array([1, 1, 1, 1, 1, -1, 1, 1, 1])
    u = np.random.default_rng(0).normal(size=(4, 3))
    assert FAMILY.entropy(params) == FAMILY.entropy(flipped)
    np.testing.assert_allclose(FAMILY.log_density(params, u), FAMILY.log_density(flipped, u))
    np.testing.assert_allclose(FAMILY.covariance(params), FAMILY.covariance(flipped))
