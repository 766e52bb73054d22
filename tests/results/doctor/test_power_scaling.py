"""The distance and sensitivity agree with what closed forms say."""

import numpy as np

from ppl.results.doctor.parameters import cjs, sensitivity


def test_the_distance_of_the_same_weights_is_zero_and_of_disjoint_ones_one():
    x, p = np.linspace(0, 1, 101), np.full(101, 1 / 101)
    assert cjs(x, p, p) == 0
    low, high = np.where(x < 0.5, 1.0, 0.0), np.where(x >= 0.5, 1.0, 0.0)
    assert 0.5 < cjs(x, low / low.sum(), high / high.sum()) <= 1


def test_it_is_invariant_to_units_and_symmetric():
    rng = np.random.default_rng(1)
    x, (p, q) = np.sort(rng.normal(size=200)), rng.dirichlet(np.ones(200), 2)
    assert np.isclose(cjs(x, p, q), cjs(x, q, p)) and np.isclose(cjs(x, p, q), cjs(1000 * x + 3, p, q))


def test_a_marginal_that_the_component_does_not_touch_is_not_sensitive():
    rng = np.random.default_rng(2)
    own, other = rng.normal(size=(2, 1000))
    component = -0.5 * (own - 3) ** 2
    touched, untouched = (sensitivity(x, component, np.zeros(1000)) for x in (own, other))
    assert touched > 0.2 and untouched < 0.05
