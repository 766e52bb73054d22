import numpy as np
import pytest
from toy_targets import HalfSpace, correlated

from ppl.errors import InferenceError
from ppl.kernel.advi.start import start_point


def rng():
    return np.random.default_rng(1)


def test_radius_bounds_the_start_and_zero_is_the_origin():
    u = start_point(correlated(50), 0.5, rng())
    assert np.abs(u).max() <= 0.5 and np.abs(u).max() > 0.3
    np.testing.assert_array_equal(start_point(correlated(3), 0, rng()), np.zeros(3))


def test_a_given_vector_is_kept_and_its_nan_entries_are_drawn():
    given = np.array([1.0, np.nan, -3.0])
    u = start_point(correlated(3), given, rng())
    np.testing.assert_array_equal(u[[0, 2]], [1.0, -3.0])
    assert -2 <= u[1] <= 2


def test_retries_until_the_density_is_finite():
    assert all(start_point(HalfSpace(2, 1.5), 2.0, np.random.default_rng(k))[0] > 1.5 for k in range(20))


@pytest.mark.parametrize(
    ("init", "where"), [(2.0, "100 random starting points"), (0, "the given starting point")]
)
def test_a_start_that_cannot_be_had_names_the_statement(init, where):
    with pytest.raises(InferenceError, match=where + r"\.\n.*line 7: sqrt of"):
        start_point(HalfSpace(2, 5.0), init, rng())


@pytest.mark.parametrize(("init", "message"), [(-1.0, "at least 0"), (np.zeros(2), r"expected \(3,\)")])
def test_an_init_that_makes_no_sense_is_refused(init, message):
    with pytest.raises(InferenceError, match=message):
        start_point(correlated(3), init, rng())
