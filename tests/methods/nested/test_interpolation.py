"""Interpolation between outer points."""

import numpy as np
import pytest

from ppl.methods.nested.interpolation import Interpolation
from ppl.methods.nested.outer import spread_of


@pytest.mark.parametrize(("d", "degree", "within"), [(1, 3, 0.01), (3, 2, 0.1), (3, 1, 1e-9), (5, 1, 1e-9)])
def test_powers_of_a_linear_map_are_had_between_points_and_lines_exactly(d, degree, within):
    rng = np.random.default_rng(d)
    outer, other = rng.normal(size=(2, 200, d)) @ rng.normal(size=(d, d))
    about, by = spread_of(outer), rng.normal(size=(d, 2))
    known = outer[Interpolation.between(outer, about, 3.0).is_near(outer)]
    interpolation = Interpolation.between(known, about, 3.0)
    inside = other[interpolation.is_near(other)]
    exact, wide = (inside @ by) ** degree, (known @ by) ** degree
    off = interpolation.weights(inside) @ wide - exact
    assert np.sqrt((off**2).mean()) < within * exact.std()
    np.testing.assert_allclose(interpolation.weights(known) @ wide, wide, atol=within * exact.std())


def test_far_away_all_is_constant_along_a_ray():
    outer = np.random.default_rng(1).normal(size=(50, 2))
    interpolation = Interpolation.between(outer, spread_of(outer), 3.0)
    far = interpolation.mean + 10.0 ** np.arange(1, 4)[:, None] * [1.0, 1.0]
    assert not interpolation.is_near(far).any()
    values = interpolation.weights(far) @ outer
    np.testing.assert_allclose(values[1:], np.repeat(values[:1], 2, axis=0))
