"""Sums by position, which stand for a loop that adds to entries of a container."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.batching import sum_at

AT = np.array([2, 1, 2, 4, 2])


def test_numbers_are_added_where_their_positions_say():
    values = np.array([1.0, 10.0, 100.0, 1000.0, 0.5])
    assert_allclose(sum_at(NUMPY, values, np.zeros(4), AT), [10.0, 101.5, 0.0, 1000.0])


def test_each_number_has_the_slope_of_the_entry_it_is_added_to():
    weights = np.array([3.0, 5.0, 7.0, 11.0])
    _, slope = value_and_grad(
        lambda values: AUTOGRAD.np.sum(weights * sum_at(AUTOGRAD, values, np.zeros(4), AT)), np.ones(5)
    )
    assert_allclose(slope, [5.0, 3.0, 5.0, 11.0, 5.0])


def test_vectors_are_added_at_several_indices():
    rng = np.random.default_rng(0)
    rows, columns, values = rng.integers(1, 4, 20), rng.integers(1, 3, 20), rng.normal(size=(20, 2))
    want = np.zeros((3, 2, 2))
    np.add.at(want, (rows - 1, columns - 1), values)
    assert_allclose(sum_at(NUMPY, values, want, rows, columns), want)
    weights = rng.normal(size=want.shape)
    _, slope = value_and_grad(
        lambda x: AUTOGRAD.np.sum(weights * sum_at(AUTOGRAD, x, want, rows, columns)), values
    )
    assert_allclose(slope, weights[rows - 1, columns - 1])


@pytest.mark.parametrize("wrong", [0, 5])
def test_a_position_outside_is_refused(wrong):
    with pytest.raises(IndexError, match=f"index {wrong} is out of range: there are 4"):
        sum_at(NUMPY, np.ones(2), np.zeros(4), np.array([1, wrong]))
